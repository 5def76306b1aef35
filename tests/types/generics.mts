// Types that a caller gives to results and schemas, and Standard Schema. Checked, never run.
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { compileSchema, compileSchemaAsync, type Client, type Schema, type ToolResult } from "toolwire";

interface Words {
  words: number;
}

declare const client: Client;

const result: ToolResult<Words> = await client.callTool<Words>("count", { text: "a" });
export const words: number | undefined = result.structuredContent?.words;
export const anything: unknown = (await client.callTool("count")).structuredContent;
export const prompts: { prompts: unknown[] } = await client.request<{ prompts: unknown[] }>("prompts/list");
// A typed result goes wherever a result goes.
export const plain: ToolResult = result;

const schema: Schema<Words> = compileSchema<Words>({ type: "object" });
export const later: Promise<Schema<Words>> = compileSchemaAsync<Words>("{}");
export const cast: number = schema.cast({}).value.words;
export const untyped: Schema = schema;

const standard: StandardSchemaV1<Words, Words> = schema;
export type Judged = StandardSchemaV1.InferOutput<typeof schema>;
const judged: Judged = { words: 1 };
const answer = schema["~standard"].validate({});
export const value: Words | undefined = answer.issues === undefined ? answer.value : undefined;
export const path: readonly (string | number)[] | undefined = answer.issues?.[0]?.path;

// @ts-expect-error: what it was said to be.
export const wrong: string = result.structuredContent;
// @ts-expect-error: likewise of schemas.
const other: StandardSchemaV1<string> = schema;
export { judged, other, standard };
