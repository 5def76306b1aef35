// The referee names `globSync` of `fs` at import, which Node.js has from version 22 on. It is used
// for nothing that is run here, so that older versions get a name without a function behind it.
import { register } from "node:module";

const FS = "toolwire:fs";
const NAMES = "existsSync, mkdtempSync, promises, readFileSync, readdirSync, writeFileSync";
const SOURCE = `import fs from "node:fs"; export const { ${NAMES}, globSync } = fs;`;

const hooks = `
  export async function resolve(specifier, context, next) {
    const referee = context.parentURL?.includes("/@modelcontextprotocol/conformance/");
    return referee && specifier === "fs"
      ? { url: ${JSON.stringify(FS)}, format: "module", shortCircuit: true }
      : next(specifier, context);
  }
  export async function load(url, context, next) {
    return url === ${JSON.stringify(FS)}
      ? { format: "module", source: ${JSON.stringify(SOURCE)}, shortCircuit: true }
      : next(url, context);
  }
`;

register(`data:text/javascript,${encodeURIComponent(hooks)}`);
