/**
 * Measures what the package weighs: `node tests/packaging/size.mjs` prints it, `--write` keeps it in
 * `sizes.txt`, with which `size.test.mjs` compares. Only the published binary is measured: build with
 * `cargo xtask build`.
 */

import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { hostRequire, installHosts, packedProject, root } from "./support/hosts.mjs";

export const SNAPSHOT = fileURLToPath(new URL("sizes.txt", import.meta.url));

const HEAD = `Bytes of the published package. After a change that is meant:
  cargo xtask build && node tests/packaging/size.mjs --write
An entry is bundled and minified as a program that uses all of it; "code" is without the binary.

`;

const ENTRIES = ["toolwire", "toolwire/slim", "toolwire/node", "toolwire/sdk", "toolwire/web", "toolwire/ai"];

/** Why the built binary is not the one that is published, or undefined. */
export function notPublished() {
  const module = new WebAssembly.Module(readFileSync(path.join(root, "pkg/toolwire.wasm")));
  return WebAssembly.Module.customSections(module, "name").length > 0
    ? "pkg/ was built quickly, or without binaryen: cargo xtask build makes what is published"
    : undefined;
}

const gzip = (bytes) => gzipSync(bytes, { level: 9 }).length;

function brotli(bytes) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
  return brotliCompressSync(bytes, { params }).length;
}

/** Every size, by name. */
export async function measure() {
  const { project, size, remove } = await packedProject();
  try {
    const installed = path.join(project, "node_modules/toolwire");
    const wasm = readFileSync(path.join(installed, "toolwire.wasm"));
    const base64 = wasm.toString("base64");
    const sizes = {
      "tarball": size,
      "toolwire.wasm": wasm.length,
      "toolwire.wasm, gzip": gzip(wasm),
      "toolwire.wasm, brotli": brotli(wasm),
    };
    for (const entry of ENTRIES) {
      const { outputFiles } = await hostRequire("esbuild").build({
        stdin: { contents: `export * from ${JSON.stringify(entry)};`, resolveDir: project },
        bundle: true,
        minify: true,
        write: false,
        format: "esm",
        platform: entry === "toolwire/node" ? "node" : "browser",
        logLevel: "silent",
      });
      const { text } = outputFiles[0];
      const code = text.replace(base64, "");
      sizes[entry] = text.length;
      sizes[`${entry}, brotli`] = brotli(text);
      sizes[`${entry}, code`] = code.length;
      sizes[`${entry}, code, brotli`] = brotli(code);
    }
    return sizes;
  } finally {
    await remove();
  }
}

export function written(sizes) {
  const rows = Object.entries(sizes);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, bytes]) => {
    const number = bytes.toLocaleString("en");
    return `${name.padEnd(width)} ${number.padStart(11)}`;
  });
  return `${HEAD}${lines.join("\n")}\n`;
}

export function read(text) {
  const rows = text.slice(HEAD.length).trim().split("\n");
  const parsed = rows.map((row) => /^(.+?)\s+([\d,]+)$/.exec(row));
  return Object.fromEntries(parsed.map(([, name, bytes]) => [name, Number(bytes.replaceAll(",", ""))]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const why = (await installHosts()) ?? notPublished();
  if (why !== undefined) {
    console.error(why);
    process.exit(1);
  }
  const text = written(await measure());
  if (process.argv[2] === "--write") {
    writeFileSync(SNAPSHOT, text);
  }
  process.stdout.write(text);
}
