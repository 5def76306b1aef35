/**
 * Owns what may be written to a terminal. Invariants: nothing that a peer or a file wrote reaches it
 * with a control or format character in it, and no secret that the program was given is written.
 */

/** What moves a cursor, turns text round, or is nothing to see. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Names of variables whose values are secrets. */
const SECRET_NAME = /token|key|secret|passw|credential|auth|cookie|session|private/i;

/** A value shorter than this occurs by chance. */
const SHORTEST_SECRET = 6;

const secrets = new Set();

/** From now on this text is never written. */
function keepSecret(text) {
  if (typeof text === "string" && text.length >= SHORTEST_SECRET) {
    secrets.add(text);
    const written = JSON.stringify(text).slice(1, -1);
    secrets.add(written);
  }
}

/** Keeps what an entry of a configuration holds secret: tokens, headers, variables so named. */
function keepSecretsOf({ env = {}, headers = {}, bearerTokenEnv }) {
  for (const [name, value] of Object.entries(env)) {
    if (SECRET_NAME.test(name)) {
      keepSecret(value);
    }
  }
  for (const value of Object.values(headers)) {
    keepSecret(value);
    // Of "Bearer abc" the second word alone is one too.
    keepSecret(value.split(" ").pop());
  }
  if (bearerTokenEnv !== undefined) {
    keepSecret(process.env[bearerTokenEnv]);
  }
}

function masked(text) {
  let shown = text;
  for (const secret of secrets) {
    shown = shown.replaceAll(secret, "[REDACTED]");
  }
  return shown;
}

/** A character as JSON and JavaScript write it. */
function escaped(character) {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** Text of several lines: lines and tabs stay, other controls are written as escapes. */
function block(text) {
  return masked(String(text))
    .replaceAll("\r\n", "\n")
    .replace(CONTROLS, (control) =>
      control === "\n" || control === "\t" ? control : escaped(control),
    );
}

/** Text in one line. */
function line(text) {
  return block(text)
    .replace(/\s*[\n\t]\s*/g, " ")
    .trim();
}

/** Text in one line, at most so long. */
function cut(text, most = 60) {
  const characters = [...line(text)];
  return characters.length <= most
    ? characters.join("")
    : `${characters.slice(0, most - 1).join("")}…`;
}

/** JSON text that any terminal can be shown: inside its strings every control is an escape. */
function jsonText(text) {
  return masked(text).replace(CONTROLS, (control) =>
    control === "\n" ? control : escaped(control),
  );
}

/** A name in a file's name. */
function fileName(text) {
  return (
    text
      .replace(/[^A-Za-z0-9._-]/g, "_")
      .replace(/^\.+/, "_")
      .slice(0, 100) || "_"
  );
}

export { block, cut, fileName, jsonText, keepSecret, keepSecretsOf, line };
