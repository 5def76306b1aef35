// Owns the reading of a suite file without losing how its values are written: schemas and data are
// taken as spans of the file's text, so that numbers reach the engine digit for digit.

/** The texts of the members of an object, or of the items of an array, by name or index. */
function partsOf(text) {
  const parts = {};
  const isObject = text[0] === "{";
  let at = skipSpace(text, 1);
  for (let index = 0; text[at] !== "}" && text[at] !== "]"; index += 1) {
    let name = index;
    if (isObject) {
      const end = skipValue(text, at);
      name = JSON.parse(text.slice(at, end));
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    const end = skipValue(text, at);
    parts[name] = text.slice(at, end);
    at = skipSpace(text, end);
    if (text[at] === ",") {
      at = skipSpace(text, at + 1);
    }
  }
  return parts;
}

function skipSpace(text, from) {
  let at = from;
  while (" \t\r\n".includes(text[at])) {
    at += 1;
  }
  return at;
}

/** Where the value that starts at `from` ends. The text is known to be JSON. */
function skipValue(text, from) {
  let depth = 0;
  let at = from;
  do {
    const character = text[at];
    if (character === '"') {
      at = skipString(text, at);
    } else if ("[{".includes(character)) {
      depth += 1;
      at += 1;
    } else if ("]}".includes(character)) {
      depth -= 1;
      at += 1;
    } else if (/[-\w.+]/.test(character)) {
      at += /^[-\w.+]+/.exec(text.slice(at, at + 4096))[0].length;
    } else {
      at += 1;
    }
  } while (depth > 0);
  return at;
}

function skipString(text, from) {
  let at = from + 1;
  while (text[at] !== '"') {
    at += text[at] === "\\" ? 2 : 1;
  }
  return at + 1;
}

/** The groups of a suite file: `schema` and each test's `data` as JSON text. */
function readGroups(text) {
  JSON.parse(text);
  return Object.values(partsOf(text.trim())).map((group) => {
    const { description, schema, tests } = partsOf(group);
    return {
      description: JSON.parse(description),
      schema,
      tests: Object.values(partsOf(tests)).map((test) => {
        const parts = partsOf(test);
        return {
          description: JSON.parse(parts.description),
          data: parts.data,
          valid: JSON.parse(parts.valid),
        };
      }),
    };
  });
}

export { partsOf, readGroups };
