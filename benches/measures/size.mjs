// What the WebAssembly file weighs.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { fileOf } from "../support/packages.mjs";
import { table } from "../support/report.mjs";

function run() {
  const bytes = readFileSync(fileOf("pkg/toolwire.wasm"));
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotli.length };
}

function report({ toolwire }) {
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  return table(
    ["toolwire.wasm", "gzip -9", "brotli 11"],
    [[kilobytes(toolwire.raw), kilobytes(toolwire.gzip), kilobytes(toolwire.brotli)]],
  );
}

const title = "Size";
const engines = ["toolwire"];

export { engines, report, run, title };
