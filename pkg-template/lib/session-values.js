/**
 * Owns what both session facades do with small values on their way out of the core, and how they
 * refuse an option. Invariant: nothing here knows which side a session is on.
 */

/** JSON text as a value; what is absent stays so. */
function parsed(text) {
  return text === undefined ? undefined : JSON.parse(text);
}

/** The event without the members that are undefined. */
function present(event) {
  for (const [name, value] of Object.entries(event)) {
    if (value === undefined) {
      delete event[name];
    }
  }
  return event;
}

/** What a bad option of a session is refused with. */
function badOption(option) {
  return { code: "protocol_error", reason: "option_invalid", option };
}

export { badOption, parsed, present };
