// `toolwire/sdk` as the official SDK takes it.
import type { jsonSchemaValidator as ValidatorV1 } from "@modelcontextprotocol/sdk/validation";
import { Client, type jsonSchemaValidator as ValidatorV2 } from "@modelcontextprotocol/client";
import { ToolwireJsonSchemaValidator } from "toolwire/sdk";

const validator = new ToolwireJsonSchemaValidator({ onUncompilable: "report", formats: "assert" });
export const v1: ValidatorV1 = validator;
export const v2: ValidatorV2 = validator;
export const client = new Client(
  { name: "types", version: "1.0.0" },
  { jsonSchemaValidator: validator },
);

const judged = validator.getValidator<{ words: number }>({ type: "object" })({ words: 4 });
export const words: number | undefined = judged.valid ? judged.data.words : undefined;
export const why: string | undefined = judged.errorMessage;

// @ts-expect-error: there is no third way.
new ToolwireJsonSchemaValidator({ onUncompilable: "ignore" });
