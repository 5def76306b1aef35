// Owns where the JSON Schema Test Suite comes from: a folder that is given, or a copy that Python's
// package `jsonschema` carries in its source distribution, fetched once into target/.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const requirements = fileURLToPath(new URL("../schema-suite-requirements.txt", import.meta.url));
const cache = fileURLToPath(new URL("../../target/schema-suite", import.meta.url));

/** True for a folder that holds the suite. */
function isSuite(folder) {
  return existsSync(join(folder, "tests", "draft2020-12")) && existsSync(join(folder, "remotes"));
}

/** The folder of the suite; throws an error for a person when there is none. */
function suiteFolder(given = process.env.JSON_SCHEMA_TEST_SUITE) {
  if (given !== undefined && given !== "") {
    if (!isSuite(given)) {
      throw new Error(`${given} is no checkout of the JSON Schema Test Suite`);
    }
    return given;
  }
  const [, name, version] = /^(\w+)==([\d.]+)/m.exec(readFileSync(requirements, "utf8"));
  const folder = join(cache, `${name}-${version}`, "json");
  if (!isSuite(folder)) {
    fetchInto(cache);
  }
  return folder;
}

function fetchInto(folder) {
  mkdirSync(folder, { recursive: true });
  const download = ["download", "--quiet", "--disable-pip-version-check", "--no-deps"];
  // pip checks the hash that the requirements file names.
  const source = ["--no-binary", ":all:", "--require-hashes", "-r", requirements, "-d", folder];
  try {
    execFileSync("python3", ["-m", "pip", ...download, ...source], {
      stdio: ["ignore", "inherit", "pipe"],
    });
  } catch (error) {
    const why = String(error.stderr ?? error.message).trim().split("\n").at(-1);
    throw new Error(
      `the JSON Schema Test Suite could not be fetched with pip (${why}); give a checkout of it as an argument or in JSON_SCHEMA_TEST_SUITE`,
    );
  }
  for (const archive of readdirSync(folder).filter((file) => file.endsWith(".tar.gz"))) {
    execFileSync("tar", ["-xzf", archive], { cwd: folder });
    rmSync(join(folder, archive));
  }
}

export { suiteFolder };
