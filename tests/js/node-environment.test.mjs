// The environment a server starts with (row R03, case C-019).
import assert from "node:assert/strict";
import { test } from "node:test";
import { childEnvironment } from "./support/internals.mjs";

const AMBIENT = { PATH: "/bin", HOME: "/h", LC_ALL: "C", OPENAI_API_KEY: "k", GH_TOKEN: "g" };

test("C-019: an allow-list, and over it what is declared", () => {
  const environment = childEnvironment({ TOKEN: "t" }, AMBIENT, "linux");
  assert.deepEqual({ ...environment }, { PATH: "/bin", HOME: "/h", LC_ALL: "C", TOKEN: "t" });
});

test("every name of the list passes, and nothing that only looks like one", () => {
  const names = ["PATH", "HOME", "USER", "LANG", "LC_CTYPE", "TERM", "TMPDIR", "SHELL"];
  const others = [
    "path",
    "Home",
    "LANGUAGE",
    "LC",
    "XLC_ALL",
    "PATH_INFO",
    "SHELLOPTS",
    "SystemRoot",
  ];
  const ambient = Object.fromEntries([...names, ...others].map((name) => [name, "v"]));
  assert.deepEqual(Object.keys(childEnvironment({}, ambient, "darwin")).sort(), names.sort());
});

test("a declared variable wins, also over a name on the list", () => {
  assert.equal(childEnvironment({ PATH: "/mine" }, AMBIENT, "linux").PATH, "/mine");
});

test("on Windows names are compared without case, and the system's own names are on the list", () => {
  const ambient = {
    Path: "C:\\bin",
    SystemRoot: "C:\\Windows",
    ComSpec: "cmd",
    PATHEXT: ".EXE",
    AppData: "a",
    LOCALAPPDATA: "l",
    Temp: "t",
    TMP: "t",
    USERPROFILE: "u",
    SECRET: "s",
  };
  const environment = childEnvironment({ PATH: "D:\\mine", systemroot: "D:\\W" }, ambient, "win32");
  assert.deepEqual(
    { ...environment },
    {
      PATH: "D:\\mine",
      systemroot: "D:\\W",
      ComSpec: "cmd",
      PATHEXT: ".EXE",
      AppData: "a",
      LOCALAPPDATA: "l",
      Temp: "t",
      TMP: "t",
      USERPROFILE: "u",
    },
  );
});

test("names of Object.prototype are names like others", () => {
  const declared = JSON.parse('{"__proto__": "p", "constructor": "c"}');
  const environment = childEnvironment(declared, {}, "linux");
  assert.deepEqual(Object.entries(environment), [
    ["__proto__", "p"],
    ["constructor", "c"],
  ]);
});
