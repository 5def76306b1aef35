/**
 * Owns what a command ends with: the exit codes that docs/cli.md documents, and how an error of any
 * kind becomes one of them.
 */
import { ToolwireError } from "toolwire";

const EXIT = {
  /** Everything is as it should be. */
  FINE: 0,
  /** It ran, and what was looked at is not as it should be. */
  FOUND: 1,
  /** The command line, or a file it names, is at fault. */
  USAGE: 2,
  /** A server could not be started or reached, or broke the protocol. */
  SERVER: 3,
  /** A fault of this program. */
  INTERNAL: 4,
};

/** By the signal that stops the program; shells count from 128. */
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** The command line is at fault; the message is for the one who wrote it. */
class UsageError extends Error {
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}

/** Codes that blame what the caller gave. */
const GIVEN = new Set(["invalid_arguments", "schema_error", "tool_not_found"]);

function exitCodeOf(error) {
  if (error instanceof UsageError) {
    return EXIT.USAGE;
  }
  if (!(error instanceof ToolwireError)) {
    return EXIT.INTERNAL;
  }
  const rejected = error.reason === "arguments_rejected" || error.option !== undefined;
  return GIVEN.has(error.code) || (error.code === "protocol_error" && rejected)
    ? EXIT.USAGE
    : EXIT.SERVER;
}

export { EXIT, SIGNALS, UsageError, exitCodeOf };
