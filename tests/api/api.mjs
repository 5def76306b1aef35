/**
 * Writes the API reference, `docs/api.md`, from the package's declarations: `node tests/api/api.mjs
 * --write`. `api.test.mjs` compares, and demands a comment on every export.
 */

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const TYPES = fileURLToPath(new URL("../../pkg-template/types/", import.meta.url));

export const REFERENCE = fileURLToPath(new URL("../../docs/api.md", import.meta.url));

const ENTRIES = [
  ["toolwire", "index"],
  ["toolwire/node", "node"],
  ["toolwire/web", "web"],
  ["toolwire/sdk", "sdk"],
  ["toolwire/ai", "ai"],
];

const HEAD = `# API

Everything that the package exports, from its declarations; written by \`node tests/api/api.mjs --write\`.
Times are milliseconds, sizes bytes. \`toolwire/slim\` exports what \`toolwire\` does.

`;

/** Every export: `{ entry, name, kind, documentation, text }`; names that an entry passes on are apart. */
export function exportsOfPackage() {
  const files = ENTRIES.map(([, file]) => `${TYPES}${file}.d.ts`);
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.esnext.disposable.d.ts"],
    strict: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const seen = new Set();
  return ENTRIES.map(([entry, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(`${TYPES}${file}.d.ts`));
    const own = [];
    const passedOn = [];
    for (const exported of checker.getExportsOfModule(module)) {
      const { flags } = exported;
      const symbol = flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      if (seen.has(symbol)) {
        passedOn.push(exported.name);
      } else {
        seen.add(symbol);
        own.push(described(exported.name, symbol, checker));
      }
    }
    const byName = (first, second) => (first.name < second.name ? -1 : 1);
    return { entry, own: own.sort(byName), passedOn: passedOn.sort() };
  });
}

function described(name, symbol, checker) {
  const declarations = symbol.declarations.map((declaration) =>
    ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration,
  );
  const documentation = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  const tags = symbol.getJsDocTags(checker).map(({ name: tag, text }) => {
    const words = ts.displayPartsToString(text);
    return tag === "throws" ? `Throws ${words.replace(/^ToolwireError /, "")}` : words;
  });
  return {
    name,
    documentation: [documentation, ...tags].filter((text) => text !== "").join("\n\n"),
    text: declarations.map((declaration) => declaration.getText().replace(/^export /, "")).join("\n"),
  };
}

export function written(entries) {
  const parts = [HEAD];
  for (const { entry, own } of entries) {
    parts.push(`- [${entry}](#${entry.replace("/", "")}): ${own.map(({ name }) => `\`${name}\``).join(", ")}\n`);
  }
  for (const { entry, own, passedOn } of entries) {
    parts.push(`\n## ${entry}\n`);
    if (passedOn.length > 0) {
      parts.push(`\nAlso ${passedOn.map((name) => `\`${name}\``).join(", ")}, as in \`toolwire\`.\n`);
    }
    for (const { name, documentation, text } of own) {
      parts.push(`\n### ${name}\n`);
      if (documentation !== "") {
        parts.push(`\n${documentation}\n`);
      }
      parts.push(`\n\`\`\`ts\n${text}\n\`\`\`\n`);
    }
  }
  return parts.join("");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = written(exportsOfPackage());
  if (process.argv[2] === "--write") {
    writeFileSync(REFERENCE, text);
  } else {
    process.stdout.write(text);
  }
}
