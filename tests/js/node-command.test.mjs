// How a command line becomes a process. The Windows half is decided by text, so it is tested here;
// what the interpreter makes of it needs Windows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveCommand } from "./support/internals.mjs";

const FILES = new Set([
  "C:\\node\\node.EXE",
  "C:\\node\\npx",
  "C:\\node\\npx.CMD",
  "C:\\tools\\own.server.EXE",
  "C:\\work\\local.CMD",
]);

function onWindows(command, args = [], environment = {}) {
  return resolveCommand(command, args, {
    cwd: "C:\\work",
    platform: "win32",
    environment: { Path: '"C:\\node";C:\\tools', ComSpec: "C:\\W\\cmd.exe", ...environment },
    exists: (path) => FILES.has(path),
  });
}

test("elsewhere the system searches by itself", () => {
  const plan = resolveCommand("npx", ["-y", "a b"], { platform: "linux", environment: {} });
  assert.deepEqual(plan, { file: "npx", args: ["-y", "a b"], verbatim: false });
});

test("a program is found by PATH and PATHEXT and started as it is", () => {
  assert.deepEqual(onWindows("node", ["a b"]), {
    file: "C:\\node\\node.EXE",
    args: ["a b"],
    verbatim: false,
  });
  assert.equal(onWindows("own.server").file, "C:\\tools\\own.server.EXE");
});

test("a shim is run by the interpreter, and the POSIX script beside it is not taken for it", () => {
  const plan = onWindows("npx", ["-y", "server"]);
  assert.equal(plan.file, "C:\\W\\cmd.exe");
  assert.equal(plan.verbatim, true);
  assert.deepEqual(plan.args.slice(0, 4), ["/e:ON", "/v:OFF", "/d", "/c"]);
  assert.equal(plan.args[4], '""C:\\node\\npx.CMD" "-y" "server""');
});

test("arguments of a shim cannot leave their quotes", () => {
  const [, , , , line] = onWindows("npx", ['a" & calc "', "%PATH%", "end\\", 'q\\"']).args;
  const words = [
    '"C:\\node\\npx.CMD"',
    '"a"" & calc """',
    '"%%cd:~,%PATH%%cd:~,%"',
    '"end\\\\"',
    '"q\\\\"""',
  ];
  assert.equal(line, `"${words.join(" ")}"`);
  for (const word of words) {
    assert.equal(word.match(/"/g).length % 2, 0, `${word} closes every quote it opens`);
  }
  assert.throws(() => onWindows("npx", ["one\ntwo"]), { code: "EINVAL" });
});

test("a bare name is not looked for in the current directory; a path is", () => {
  assert.deepEqual(onWindows("local"), { file: "local", args: [], verbatim: false });
  assert.match(onWindows(".\\local").args[4], /C:\\work\\local\.CMD/);
});

test("PATHEXT may name what only a shell can start", () => {
  assert.equal(onWindows("npx", [], { PATHEXT: ".JS;.VBS;.cmd" }).verbatim, true);
  assert.equal(onWindows("node", [], { PATHEXT: ".JS" }).file, "C:\\node\\node.EXE");
});
