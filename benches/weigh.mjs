// Says what the linked WebAssembly is made of: bytes of code by crate and module, and the largest
// functions. Reads the module as cargo links it, where functions still have names.
//
//   node benches/weigh.mjs [FILE] [COUNT]
import { existsSync, readFileSync } from "node:fs";
import { fileOf } from "./support/packages.mjs";

const [file = fileOf("target/wasm32-unknown-unknown/release/toolwire.wasm"), count = "25"] =
  process.argv.slice(2);
if (!existsSync(file)) {
  console.error(`${file} is not there: run cargo xtask build`);
  process.exit(1);
}
const bytes = readFileSync(file);
let at = 8;

function number() {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at];
    at += 1;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) {
      return value;
    }
  }
}

function text() {
  const length = number();
  at += length;
  return bytes.toString("utf8", at - length, at);
}

const CUSTOM = 0;
const IMPORT = 2;
const CODE = 10;
const DATA = 11;

const sizes = [];
const names = new Map();
let imported = 0;
let data = 0;
while (at < bytes.length) {
  const id = bytes[at];
  at += 1;
  const end = number() + at;
  if (id === IMPORT) {
    for (let left = number(); left > 0; left -= 1) {
      text();
      text();
      imported += readImport();
    }
  } else if (id === CODE) {
    for (let left = number(); left > 0; left -= 1) {
      const size = number();
      sizes.push(size);
      at += size;
    }
  } else if (id === DATA) {
    data = end - at;
  } else if (id === CUSTOM && text() === "name") {
    readNames(end);
  }
  at = end;
}

/** Skips what is imported; 1 for a function. */
function readImport() {
  const kind = bytes[at];
  at += 1;
  if (kind === 0) {
    number();
    return 1;
  }
  // A table has a type before its limits, a global one and whether it changes.
  if (kind === 3) {
    at += 2;
    return 0;
  }
  at += kind === 1 ? 1 : 0;
  const bounded = number();
  number();
  if ((bounded & 1) === 1) {
    number();
  }
  return 0;
}

function readNames(end) {
  while (at < end) {
    const kind = bytes[at];
    at += 1;
    const after = number() + at;
    if (kind === 1) {
      for (let left = number(); left > 0; left -= 1) {
        const index = number();
        names.set(index, text());
      }
    }
    at = after;
  }
}

/** A legible name of a mangled one: its path, without hash and type arguments. */
function legible(mangled) {
  const parts = [];
  const body = /^_ZN(.*)E$/.exec(mangled)?.[1];
  if (body === undefined) {
    return mangled;
  }
  for (let rest = body; ; ) {
    const length = /^\d+/.exec(rest)?.[0];
    if (length === undefined) {
      break;
    }
    const start = length.length;
    parts.push(rest.slice(start, start + Number(length)));
    rest = rest.slice(start + Number(length));
  }
  return parts
    .slice(0, -1)
    .join("::")
    .replace(/\$LT\$/g, "<")
    .replace(/\$GT\$/g, ">")
    .replace(/\$u20\$/g, " ")
    .replace(/\$RF\$/g, "&")
    .replace(/\$C\$/g, ",")
    .replace(/\.\./g, "::");
}

const functions = sizes.map((size, index) => ({
  size,
  name: legible(names.get(index + imported) ?? "?"),
}));

/** The crate and module a function belongs to; an impl belongs to the type it is for. */
function areaOf(name) {
  const path = name.replace(/^_?<(impl )?&?/, "").split(/[<> ]/)[0];
  const [crate, ...inner] = path.split("::");
  return crate === "toolwire" ? `toolwire::${inner.slice(0, inner[0] === "schema" ? 2 : 1).join("::")}` : `${crate}::${inner[0] ?? ""}`;
}

function print(title, entries) {
  console.log(`\n${title}`);
  for (const [name, size] of entries.sort((one, other) => other[1] - one[1]).slice(0, Number(count))) {
    console.log(`${String(size).padStart(8)}  ${name}`);
  }
}

const areas = new Map();
for (const { name, size } of functions) {
  areas.set(areaOf(name), (areas.get(areaOf(name)) ?? 0) + size);
}
const same = new Map();
for (const { name, size } of functions) {
  same.set(name, (same.get(name) ?? 0) + size);
}
const code = sizes.reduce((sum, size) => sum + size, 0);
console.log(`${bytes.length} bytes: code ${code}, data ${data}`);
print("by area", [...areas]);
print("by function, all copies", [...same]);
