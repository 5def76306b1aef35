// Owns the text that stands for what a replay gave: each frame byte by byte, each event with all
// there is to see of it, what does not print included. It runs in Node and in a page.

/** The text of frames and events, one a line. */
function written({ output, events }) {
  return [
    ...output.map((frame) => JSON.stringify(bare(frame))),
    ...events.map((event) => JSON.stringify(bare(event))),
  ].join("\n");
}

/** A value with its own and its hidden members as plain JSON, in the order that they have. */
function bare(value) {
  if (typeof value === "bigint" || typeof value === "undefined") {
    return { [typeof value]: String(value) };
  }
  if (typeof value !== "object" || value === null) {
    return Object.is(value, -0) ? { number: "-0" } : value;
  }
  if (value instanceof Uint8Array) {
    return { bytes: [...value].map((byte) => byte.toString(16).padStart(2, "0")).join("") };
  }
  if (Array.isArray(value)) {
    return value.map(bare);
  }
  if (typeof value.reveal === "function") {
    return { redacted: bare(value.reveal()) };
  }
  const members = Object.getOwnPropertyNames(value).filter((name) => name !== "stack");
  const hidden = value instanceof Error ? ["private"] : [];
  return Object.fromEntries(
    [...new Set([...members, ...hidden])].map((name) => [name, shown(value, name)]),
  );
}

/** A member; functions are asked, because results give what is long by one. */
function shown(value, name) {
  const member = value[name];
  return bare(typeof member === "function" ? member.call(value) : member);
}

export { bare, written };
