/// <reference lib="esnext.disposable" />

/** A JSON Schema document. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** JSON text. Exact numbers and repeated members survive only in this form, not in objects. */
export type JsonText = string | Uint8Array;

/** Options of `compileSchema`. */
export interface SchemaOptions {
  /**
   * The dialect of a document without `$schema`; default "2020-12". Another value than these throws
   * `invalid_arguments` with reason "option_invalid". A `$schema` decides for its document or embedded
   * resource, whatever stands here. It names one of these dialects (with or without an empty fragment,
   * by http or https) or a meta-schema in `resources`, whose `$vocabulary` then chooses among the
   * keywords of its dialect; anything else, or a required vocabulary that is not known, is
   * `schema_error` with reason "unsupported_dialect" and the known dialects in `supported`.
   */
  dialect?: "2020-12" | "2019-09" | "draft-07" | "draft-06" | "draft-04";
  /**
   * "full" (default): all keywords of the dialect. "structural": `type`, `required`, `properties`,
   * `items` and `enum` only; compiling then never fails on an object.
   */
  keywords?: "full" | "structural";
  /**
   * Whether `format` is checked; default "annotate": it is not. With "assert" a string must be of the
   * format, if the dialect defines it; other formats never fail. docs/json-schema.md lists them.
   */
  formats?: "annotate" | "assert";
  /**
   * Further documents by absolute URI, for references and as meta-schemas. Nothing is ever fetched;
   * the meta-schemas of the known dialects are there by themselves.
   */
  resources?: { readonly [uri: string]: JsonSchema | string };
  /** What repeated members mean; default "last": the last counts, as for `JSON.parse`. */
  duplicateKeys?: "last" | "reject";
  /** Containers that may nest, in schema and value; default 512. */
  maxDepth?: number;
  /** Errors collected before the list is cut; default 16. */
  maxErrors?: number;
  /**
   * Steps of one verdict, each about 15 ns of work; spent, the verdict is "unknown". By default they
   * are in proportion to the value: 3_500_000, and 40 for each value and name in it and 1 for each
   * byte, but no more than 50_000_000.
   */
  maxSteps?: number;
  /** Subschemas of one schema; default 50_000. */
  maxSubschemas?: number;
  /** Bytes of one schema's text; default 1_048_576. */
  maxSchemaBytes?: number;
}

/**
 * Compiles a schema. A string is JSON text.
 *
 * Throws `schema_error` with `reason` ("unresolved_ref", "unsupported_dialect", "invalid_keyword",
 * "limit", "not_a_schema", "reference_cycle", "bad_pattern") and `at`, a JSON Pointer into the
 * schema; `invalid_arguments` for an option or a schema that is not JSON.
 */
export function compileSchema<T = unknown>(
  schema: JsonSchema | JsonText,
  options?: SchemaOptions,
): Schema<T>;

/** The same in slices of about 4 ms, between which timers and input run. Rejects `aborted` too. */
export function compileSchemaAsync<T = unknown>(
  schema: JsonSchema | JsonText,
  options?: SchemaOptions & { signal?: AbortSignal | undefined },
): Promise<Schema<T>>;

/**
 * A compiled schema. It owns WebAssembly memory: `free()` it, or forget it and it is freed some
 * time later. Using it after `free()` throws `freed`. After a trap it compiles itself anew.
 *
 * JavaScript values are copied as JSON first: no getter and no `toJSON` runs, `undefined` members
 * are left out, a bigint counts as the number of its digits; a value that is not JSON throws
 * `invalid_arguments`.
 *
 * `T` is the type that you say its values have; nothing checks that it agrees with the schema.
 */
export class Schema<T = unknown> {
  private constructor();
  /**
   * The schema by Standard Schema, version 1, for libraries that take schemas of any maker. It judges
   * synchronously and gives back the very value; messages of issues hold no value and no name.
   */
  readonly "~standard": StandardSchemaProps<T>;
  /** True if the verdict is "valid". */
  isValid(value: unknown): boolean;
  /** Judges a JavaScript value. */
  validate(value: unknown): Verdict;
  /**
   * Judges JSON text: the fastest form, and exact. Text that is not JSON is invalid with keyword
   * "json".
   */
  validateJson(text: JsonText): Verdict;
  /** Judges in slices. The value is copied before this returns. */
  validateAsync(value: unknown, options?: { signal?: AbortSignal | undefined }): Promise<Verdict>;
  /** Judges in slices. Bytes must not change until the promise settles. */
  validateJsonAsync(
    text: JsonText,
    options?: { signal?: AbortSignal | undefined },
  ): Promise<Verdict>;
  /**
   * Makes a value fit the schema: fills what is required and absent, replaces what has the wrong type
   * by the default of its schema or by a value made up for it (`""`, `0`, `false`, `[]`, the first
   * value of an `enum`), pads and cuts arrays, and chooses the best branch of a choice.
   *
   * A value that satisfies the schema, and one in which nothing is changed, is the very value that
   * was given; it is never changed itself. Otherwise the value is a new one made of JSON, in which
   * integers stay bigints if some were. `undefined` is made a value of the schema.
   *
   * Throws `schema_error` with `at`, a JSON Pointer into the schema: "not_castable" where it gives no
   * value to make up (a `pattern` or `format` without `default`, `uniqueItems`, `not`, `false`),
   * "unresolved_ref" where the mode does not follow a reference, "reference_cycle" for a type that
   * must hold itself. Throws `limit`, reason "cast_limit", when `maxSteps` or `maxMadeBytes` are
   * spent; `invalid_arguments` for a value that is not JSON.
   */
  cast(value: unknown, options?: CastOptions): { value: T; changes: Change[] };
  /**
   * Fills absent members that declare a `default`, and changes nothing else: in objects and arrays
   * as deep as they go, through references and `allOf`, and in the first branch of `anyOf` or
   * `oneOf`, and the branch of `if`, that the value satisfies as it came. A default is filled in
   * turn. Without anything to fill, the value is the very value that was given. Not followed:
   * `patternProperties`, and `additionalProperties` beside them.
   *
   * Throws `limit` and `invalid_arguments` as `cast` does.
   */
  applyDefaults(
    value: unknown,
    options?: Pick<CastOptions, "maxMadeBytes">,
  ): { value: unknown; changes: Change[] };
  /**
   * The dialect the schema's root is read by, a value of `SchemaOptions.dialect`; under a meta-schema
   * of its own the one whose rules that builds on.
   */
  readonly dialect: string;
  /** What is odd about the schema; never fatal. */
  readonly problems: readonly SchemaProblem[];
  /** Gives the memory back. May be called again. */
  free(): void;
  [Symbol.dispose](): void;
}

/** What Standard Schema, version 1, asks of a schema. */
export interface StandardSchemaProps<T> {
  readonly version: 1;
  readonly vendor: "toolwire";
  readonly validate: (value: unknown) => StandardResult<T>;
  /** For types alone; there is no such member at run time. */
  readonly types?: { readonly input: T; readonly output: T } | undefined;
}

/** The value, or what is wrong with it. A value that cannot be judged has one issue that says so. */
export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        /** The keys that lead there; none for the value itself. */
        readonly path: readonly (string | number)[];
      }[];
    };

/** A finding about a schema that is not fatal. */
export interface SchemaProblem {
  code: string;
  /** A JSON Pointer into the schema. */
  at: string;
  message: string;
}

/** Options of `Schema.cast`. */
export interface CastOptions {
  /**
   * "cast" (default): as TypeBox 0.34 casts, but undeclared members stay, and references, formats,
   * `contains` and typed `additionalProperties` mean what they mean to the validator.
   *
   * "cast-0.34": exactly as `Value.Cast` of TypeBox 0.34 does to types converted from JSON Schema.
   * An object that does not fit loses what it does not declare. Keywords that the conversion does not
   * understand (a list of types, `const`, `prefixItems`, `patternProperties`) count for nothing;
   * a `$ref` with a path, typed `additionalProperties` and `contains` throw where they are met, and no
   * string has a `format`.
   *
   * A schema made with TypeBox is read as its types in both modes. A function as `default`, which
   * that library allows, is called for each cast.
   */
  mode?: "cast" | "cast-0.34" | undefined;
  /** Bytes that may be made, about; default 16_777_216. Infinity is no limit. */
  maxMadeBytes?: number | undefined;
}

/** One change that normalizing made. What is inside a change is not told apart from it. */
export interface Change {
  /** A JSON Pointer into the value; one into an array counts elements as they came. */
  path: string;
  /**
   * "default": an absent member was filled by the schema's `default`. "created": it was made up.
   * "replaced": a value that did not fit. "removed": an undeclared member, or an element that repeats
   * another. "padded": an element of an array that was too short. "truncated": an array that was too
   * long.
   */
  kind: "default" | "created" | "replaced" | "removed" | "padded" | "truncated";
}

/** What a judgement came to. */
export interface Verdict {
  /**
   * "unknown": it cannot be judged, see `reason`; neither a violation nor a success. "unchecked"
   * occurs only where a pipeline judged nothing.
   */
  verdict: "valid" | "invalid" | "unknown" | "unchecked";
  /** True only for "valid". */
  valid: boolean;
  /** Violations in a fixed order, at most `maxErrors`. */
  errors: ValidationError[];
  /** True if there are more. */
  truncated: boolean;
  /** Why the verdict is "unknown" or "unchecked". */
  reason?: string;
}

/** One violation. */
export interface ValidationError {
  /** A JSON Pointer into the value; "" is the root. */
  instancePath: string;
  /** A JSON Pointer into the schema, through the references taken. */
  schemaPath: string;
  keyword: string;
  /** Holds no value and no property name. */
  message: string;
  /**
   * What was wanted, in the manner of Ajv; may hold names of the schema. Of `anyOf` and `oneOf`:
   * `nearest`, the index of the branch that the value came nearest to, whose own errors follow, or
   * `passingSchemas`, the indexes (at most 16) of the branches of `oneOf` that all match.
   */
  params?: Record<string, unknown>;
}

/**
 * The errors as Ajv reports them: `schemaPath` begins with "#".
 *
 * @throws ToolwireError `invalid_arguments` if `errors` is no list of errors.
 */
export function toAjvErrors(errors: readonly ValidationError[]): {
  instancePath: string;
  schemaPath: string;
  keyword: string;
  params: Record<string, unknown>;
  message: string;
}[];

/**
 * The verdict in the "basic" output format of JSON Schema 2020-12.
 *
 * @throws ToolwireError `invalid_arguments` if `verdict` is no verdict.
 */
export function toBasicOutput(verdict: Verdict): {
  valid: boolean;
  errors?: { keywordLocation: string; instanceLocation: string; error: string }[];
};

/**
 * Errors as text. For "people" (the default) one line for each: its path and its message. For a
 * "model" each different message once, with how often it occurs: no path, no value, and no name that
 * a peer chose.
 *
 * @throws ToolwireError `invalid_arguments` if `errors` is no list of errors.
 */
export function formatErrors(
  errors: readonly ValidationError[],
  options?: { audience?: "people" | "model" | undefined },
): string;

/**
 * Violations in short: where, as a JSON Pointer ("" is the root), and what. At most `maxErrors` of a
 * compiled schema, 1_000 of a document. A value that cannot be judged has the one error "cannot be
 * judged". Throws `schema_error` and `invalid_arguments` as `compileSchema` and `validate` do.
 */
export function collectErrors(
  schema: JsonSchema | Schema,
  value: unknown,
): { path: string; message: string }[];

/** The errors as lines `<indent><path>: <message>`, joined by newlines; `indent` is "  - " unless given. */
export function formatValueErrors(
  errors: readonly ({ path: string; message: string } | ValidationError)[],
  indent?: string,
): string;
