/** The servers one can choose, by name: what each shows, and what the host does with it. */

export interface ServerChoice {
  name: string;
  title: string;
  about: string;
  script: string;
}

export const serverChoices: readonly ServerChoice[] = [
  {
    name: "quickstart",
    title: "Good: the quickstart's server",
    about: "Answers three methods and is silent on everything else, the era probe included.",
    script: `call word_count {"text": "durable flows release notes"}\ncall explode {}\n`,
  },
  {
    name: "modern",
    title: "Good: revision 2026-07-28",
    about: "Has no handshake. Answers the probe, and refuses initialize by naming what it speaks.",
    script: `call add {"a": 2, "b": 40}\ncall forecast {"city": "Lisbon"}\n`,
  },
  {
    name: "asks",
    title: "Good: asks the person",
    about: "Its tool asks a question in the middle of a call; an answer in the script is the host's.",
    script: `call book {"table": 4}\nanswer {"action": "accept", "content": {"name": "Ada"}}\n`,
  },
  {
    name: "noisy",
    title: "Bad: prints logs to stdout",
    about: "A banner, log lines and a progress bar between messages, and a byte-order mark before them.",
    script: `call word_count {"text": "one two"}\n`,
  },
  {
    name: "liar",
    title: "Bad: breaks its own schemas",
    about: "Results that its output schemas refuse, an integer that JSON.parse would round, no result at all.",
    script: `call wrong_type {}\ncall missing_member {}\ncall big_integer {}\ncall no_structure {}\ncall not_an_object {}\n`,
  },
  {
    name: "sloppy",
    title: "Bad: malformed messages",
    about: "Ids as strings, a repeated member, an error without a code, answers nobody asked for, a bad catalog.",
    script: `call string_id {}\ncall twice {}\ncall bad_error {}\ncall unasked {}\ncall truncated {}\n`,
  },
  {
    name: "slow",
    title: "Bad: slow, or silent",
    about: "One tool reports progress for half a minute, one answers after its deadline, one never does.",
    script: `call patient {}\ncall late {}\ncall never {}\n`,
  },
  {
    name: "crashes",
    title: "Bad: dies in a call",
    about: "Complains on stderr and exits with code 3 while two calls are open.",
    script: `call steady {}\ncall fatal {}\n`,
  },
  {
    name: "lsp",
    title: "Bad: frames like a language server",
    about: "Writes Content-Length headers where MCP wants one message a line.",
    script: "",
  },
];
