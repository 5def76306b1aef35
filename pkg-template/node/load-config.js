/**
 * Owns the reading of a configuration file; `parseConfig` reads what is in it.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../lib/config.js";
import { ToolwireError } from "../lib/errors.js";
import { sentence } from "../lib/sentences.js";

/**
 * The entries of the file at `path`, a path or a `file:` URL. Rejects with what `parseConfig`
 * throws, and with `config_not_entries` for a file that cannot be read. Messages name the file.
 */
async function loadConfig(path) {
  const source = path instanceof URL ? fileURLToPath(path) : String(path);
  let text;
  try {
    text = await readFile(source, "utf8");
  } catch (cause) {
    throw new ToolwireError({
      code: "invalid_arguments",
      reason: "config_not_entries",
      message: `${source}: ${sentence("config_unreadable")}`,
      private: { code: cause?.code, message: cause?.message },
    });
  }
  return parseConfig(text, { source });
}

export { loadConfig };
