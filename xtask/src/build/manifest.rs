//! The package's manifest: the template's, with the crate's version, checked against the files.
//!
//! Invariant: every path the manifest names is a file of the package.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::process::{Attempting, Failure, Outcome};

/// Where the template wants the version.
const PLACEHOLDER: &str = "\"version\": \"0.0.0\"";

/// Fills in the version.
pub(super) fn fill(template: &str, version: &str) -> Outcome<String> {
    if template.matches(PLACEHOLDER).count() == 1 {
        Ok(template.replace(PLACEHOLDER, &format!("\"version\": \"{version}\"")))
    } else {
        Err(Failure::new(format!("pkg-template/package.json must hold {PLACEHOLDER} once")))
    }
}

/// Where the template names the program.
const PROGRAM: &str = "  \"bin\": { \"toolwire\": \"./cli/toolwire.cjs\" },\n";

/// The manifest of a package without the command line.
pub(super) fn without_program(manifest: &str) -> Outcome<String> {
    if manifest.matches(PROGRAM).count() == 1 {
        Ok(manifest.replace(PROGRAM, ""))
    } else {
        Err(Failure::new(format!("pkg-template/package.json must hold {PROGRAM} once")))
    }
}

/// Every path of the package that the manifest names: entries, types, programs.
pub(super) fn paths(manifest: &str) -> Outcome<BTreeSet<String>> {
    let manifest: Value = serde_json::from_str(manifest)
        .attempting(|| "pkg-template/package.json is not JSON".to_owned())?;
    let mut found = BTreeSet::new();
    let mut open = Vec::new();
    for member in ["main", "module", "types", "bin", "exports", "imports"] {
        open.extend(manifest.get(member));
    }
    while let Some(value) = open.pop() {
        match value {
            Value::String(path) => {
                found.extend(path.strip_prefix("./").map(str::to_owned));
            }
            Value::Object(members) => open.extend(members.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_filled_in_once() {
        let filled = fill("{\n  \"version\": \"0.0.0\"\n}", "1.2.3").unwrap();
        assert_eq!(filled, "{\n  \"version\": \"1.2.3\"\n}");
        assert!(fill("{}", "1.2.3").is_err());
    }

    #[test]
    fn the_program_is_left_out() {
        let manifest = format!("{{\n{PROGRAM}  \"type\": \"module\"\n}}");
        assert_eq!(without_program(&manifest).unwrap(), "{\n  \"type\": \"module\"\n}");
        assert!(without_program("{}").is_err());
    }

    #[test]
    fn every_named_path_is_found() {
        let manifest = r#"{
            "main": "./cjs/a.cjs",
            "exports": { ".": { "node": { "import": { "types": "./a.d.ts" } }, "default": "./b.js" } },
            "bin": { "a": "./cli.js" },
            "files": ["c"],
            "homepage": "./d"
        }"#;
        let expected = ["a.d.ts", "b.js", "cjs/a.cjs", "cli.js"].map(str::to_owned);
        assert_eq!(paths(manifest).unwrap(), BTreeSet::from(expected));
    }
}
