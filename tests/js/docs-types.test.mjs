// The examples of README and docs/ are checked against the declarations, strictly but for what
// JavaScript leaves out: types of parameters, and proofs that something is there.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Documents whose blocks are separate programs or fragments; the blocks of others make one program. */
const SEPARATE = new Set(
  ["envelopes", "eras", "json-schema", "oauth", "recordings", "serving"].map((name) => `docs/${name}.md`),
);
SEPARATE.add("README.md");

/** Its code is that of fixtures and tests, word for word: calls-docs.test.mjs compares. */
const ELSEWHERE = new Set(["docs/call-protocol.md"]);

/** What fragments take for granted because the text around them speaks of it. */
const GIVEN = `
  declare function ask(message: string): any;
  declare function now(): number;
  declare function write(frame: Uint8Array): void;
  declare function handle(event: import("toolwire").SessionEvent): void;
  declare function wakeAt(time: number | undefined): void;
  declare function userOf(token: string | null): Promise<{ id: string } | undefined>;
  declare function tokensOf(provider: any, url: string): import("toolwire/web").HttpOptions["authProvider"];
  declare const chunk: Uint8Array;
  declare const identity: import("toolwire").Identity;
  declare const signal: AbortSignal;
  declare const session: import("toolwire").ClientSession;
  declare const worker: import("node:worker_threads").Worker;
  declare const anthropic: import("@anthropic-ai/sdk").default;
  declare const model: string;
  declare const messages: any[];
  declare const client: import("toolwire").Client;
  declare const registry: import("toolwire").OperationRegistry;
  declare const server: import("toolwire").ToolServer<any>;
  declare const tools: import("toolwire").ToolDescription[];
  declare const options: import("toolwire").StreamOptions;
  declare const PendingRequestMap: typeof import("toolwire").PendingRequestMap;
  declare const ToolGateway: typeof import("toolwire").ToolGateway;
  declare const connectStreams: typeof import("toolwire").connectStreams;
  declare const replay: typeof import("toolwire").replay;
`;

/** Findings that ask for a proof, such as an \`if\`, that what is used is there or of that kind. */
const PROOFS = new Set([2532, 2571, 18046, 18047, 18048, 18049]);

function asksForProof({ code, messageText }) {
  const text = ts.flattenDiagnosticMessageText(messageText, " ");
  return (
    PROOFS.has(code) ||
    ((code === 2322 || code === 2345 || code === 2769) && /\bundefined' is not assignable to/.test(text)) ||
    (code === 2339 && /on type '(?:ContentBlock|ResponseMeta|SessionEvent|Event|\{\})'/.test(text)) ||
    // An array that begins empty.
    (code === 2345 && /type 'never'/.test(text))
  );
}

function programsOf(document) {
  const text = readFileSync(path.join(root, document), "utf8");
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, block]) => block);
  return SEPARATE.has(document) || blocks.length === 0 ? blocks : [blocks.join("\n")];
}

test("every example of the documents fits the declarations", (t) => {
  const folder = path.join(root, `tests/node_modules/.docs-types-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const guides = readdirSync(path.join(root, "docs")).filter((name) => name.endsWith(".md"));
  const documents = ["README.md", ...guides.map((name) => `docs/${name}`)];
  const files = [path.join(folder, "given.d.ts")];
  writeFileSync(files[0], GIVEN);
  for (const document of documents.filter((name) => !ELSEWHERE.has(name))) {
    programsOf(document).forEach((program, index) => {
      const file = path.join(folder, `${document.replace(/\W/g, "-")}-${index + 1}.mts`);
      writeFileSync(file, `${program}\nexport {};\n`);
      files.push(file);
    });
  }
  assert.ok(files.length > 30, `${files.length} programs`);
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.esnext.disposable.d.ts"],
    strict: true,
    noImplicitAny: false,
    // The declarations of libraries in examples want those of Node.
    types: ["node"],
    typeRoots: [path.join(root, "tests/node_modules/@types")],
    skipLibCheck: true,
    noEmit: true,
  });
  const findings = ts
    .getPreEmitDiagnostics(program)
    .filter((finding) => !asksForProof(finding))
    .map((finding) => {
      const line = finding.file?.getLineAndCharacterOfPosition(finding.start).line ?? 0;
      const text = ts.flattenDiagnosticMessageText(finding.messageText, " ");
      return `${path.basename(finding.file?.fileName ?? "")}:${line + 1}: ${text}`;
    });
  assert.deepEqual(findings, []);
});
