/**
 * `toolwire/sdk`: adapters for the official MCP SDK, `@modelcontextprotocol/sdk` (version 1) and
 * `@modelcontextprotocol/client` and `server` (version 2). Neither is imported: the shapes agree.
 */
import type { SchemaOptions } from "./index.js";

export { init, initSync, ToolwireError } from "./index.js";

/** What a validator of the SDK answers. */
export type ValidatorResult<T> =
  | {
      valid: true;
      /** The very value that was given. */
      data: T;
      errorMessage: undefined;
    }
  | {
      valid: false;
      data: undefined;
      /** Fixed words, keywords and counts: no value, no property name, nothing of the schema. */
      errorMessage: string;
    };

export interface ValidatorOptions extends SchemaOptions {
  /**
   * What becomes of a schema that does not compile. "throw" (default): `getValidator` throws
   * `ToolwireError` "schema_error"; version 2 of the SDK then refuses that tool's calls, version 1
   * fails the whole `listTools`. "report": the validator finds every value invalid and says why, so
   * that in version 1 too only the calls of that tool fail.
   */
  onUncompilable?: "throw" | "report";
}

/**
 * The `jsonSchemaValidator` option of the SDK's `Client` and `Server`: JSON Schema without `eval`,
 * synchronous, each schema in a registry of its own. A schema object is compiled once, and what was
 * compiled is released when the object is.
 *
 * A value that cannot be judged (`maxSteps`) is not valid; `errorMessage` says that it was not
 * judged. Formats are annotations; a schema without `$schema` is read
 * as JSON Schema 2020-12 unless `dialect` says otherwise.
 */
export class ToolwireJsonSchemaValidator {
  constructor(options?: ValidatorOptions);
  getValidator<T>(schema: object): (input: unknown) => ValidatorResult<T>;
}
