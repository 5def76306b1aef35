//! Laying out the package: which file of the template goes where, and what is generated beside it.
//!
//! | template | package |
//! |---|---|
//! | `package.json` | `package.json` with the version |
//! | `types/x.d.ts` | `types/x.d.ts` and its CommonJS twin `types/x.d.cts` |
//! | `a/x.js` | `esm/a/x.js` and its CommonJS twin `cjs/a/x.cjs` |
//! | `a/x.mjs` | `esm/a/x.mjs`: only an ECMAScript module can say it |
//! | `cli/` | `cli/toolwire.cjs`, one program with the libraries it uses, and their licences |
//! | generated | `lib/glue.js` and `lib/bytes.js`, treated like files of the template |
//! | generated | `shared/a/x.js` for each one that the manifest names: Node's ECMAScript modules over the CommonJS twin, so that a process has one copy |
//! | repository | README, changelog, licences |
//!
//! Invariant: the folder holds exactly these files afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::cli;
use super::graph::Graph;
use super::manifest;
use super::shrink::Parts;
use super::twin;
use crate::process::{Attempting, Failure, Outcome, say};
use crate::tools;
use crate::tree;

/// Files of the repository that the package carries.
const COPIED: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Writes the package and removes what an earlier one left.
pub(super) fn write(parts: &Parts, program: Option<cli::Files>, package: &Path) -> Outcome<()> {
    let files = files(parts, program)?;
    for (path, bytes) in &files {
        tree::write(&package.join(path), bytes)?;
    }
    #[cfg(unix)]
    executable(&package.join("cli/toolwire.cjs"))?;
    for stale in tree::files_below(package)?.iter().filter(|path| !files.contains_key(*path)) {
        let stale = package.join(stale);
        std::fs::remove_file(&stale).attempting(|| format!("cannot remove {}", stale.display()))?;
    }
    say(&format!("{} files in {}", files.len(), package.display()));
    Ok(())
}

/// Lets the program be run by its path, in the folder as in the tarball.
#[cfg(unix)]
fn executable(program: &Path) -> Outcome<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if !program.exists() {
        return Ok(());
    }
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(program, mode)
        .attempting(|| format!("cannot make {} executable", program.display()))
}

/// Every file of the package by its path.
fn files(parts: &Parts, program: Option<cli::Files>) -> Outcome<BTreeMap<String, Vec<u8>>> {
    let root = tree::root();
    let template = root.join("pkg-template");
    let mut files = BTreeMap::new();
    let mut modules = BTreeMap::new();
    modules.insert("lib/glue.js".to_owned(), parts.glue.clone());
    modules.insert("lib/bytes.js".to_owned(), bytes_module(&parts.binary));
    let mut manifest = None;
    for path in tree::files_below(&template)? {
        let text = tree::read_text(&template.join(&path))?;
        if path == "package.json" {
            manifest = Some(manifest::fill(&text, &tools::locked_version("toolwire")?)?);
        } else if path.starts_with("cli/") {
            // Bundled.
        } else if let Some(stem) = path.strip_suffix(".d.ts") {
            files.insert(format!("{stem}.d.cts"), declaration_twin(&text).into_bytes());
            files.insert(path, text.into_bytes());
        } else if path.ends_with(".mjs") {
            files.insert(format!("esm/{path}"), text.into_bytes());
        } else if path.ends_with(".js") {
            modules.insert(path, text);
        } else {
            return Err(Failure::new(format!("pkg-template/{path} has no place in the package")));
        }
    }
    let mut manifest = manifest.ok_or_else(|| Failure::new("pkg-template has no package.json"))?;
    match program {
        Some(program) => files.extend(program),
        None => manifest = manifest::without_program(&manifest)?,
    }
    let mut twins = BTreeMap::new();
    for (path, source) in modules {
        twins.insert(path.clone(), twin::read(&format!("pkg-template/{path}"), &source)?);
        files.insert(format!("esm/{path}"), source.into_bytes());
    }
    let graph = Graph::new(twins)?;
    for (path, twin) in graph.modules() {
        files.insert(commonjs_path(path), twin.commonjs.clone().into_bytes());
    }
    let named = manifest::paths(&manifest)?;
    for path in &named {
        if let Some(module) = path.strip_prefix("shared/") {
            let names = graph.exports(module).ok_or_else(|| {
                Failure::new(format!(
                    "the manifest names {path}, but there is no pkg-template/{module}"
                ))
            })?;
            files.insert(path.clone(), shared_module(module, &names).into_bytes());
        }
    }
    for path in COPIED {
        files.insert(path.to_owned(), tree::read(&root.join(path))?);
    }
    files.insert("toolwire.wasm".to_owned(), parts.binary.clone());
    files.insert("package.json".to_owned(), manifest.into_bytes());
    match named.iter().find(|path| !files.contains_key(*path)) {
        Some(missing) => {
            Err(Failure::new(format!("the manifest names {missing}, which is not built")))
        }
        None => Ok(files),
    }
}

/// Where the twin of a module is.
fn commonjs_path(module: &str) -> String {
    format!("cjs/{}.cjs", module.strip_suffix(".js").unwrap_or(module))
}

/// The module that carries the binary as text.
fn bytes_module(binary: &[u8]) -> String {
    format!(
        "// Generated by `cargo xtask build`: the bytes of toolwire.wasm in base64.\n\
         const wasmBase64 = \"{}\";\n\nexport {{ wasmBase64 }};\n",
        STANDARD.encode(binary)
    )
}

/// The module that Node's `import` gets: the names of the CommonJS twin.
fn shared_module(module: &str, names: &BTreeSet<&str>) -> String {
    let up = "../".repeat(module.matches('/').count() + 1);
    let twin = commonjs_path(module);
    let mut text = format!(
        "// Generated by `cargo xtask build`: under Node `import` and `require` share one copy.\n\
         import cjs from \"{up}{twin}\";\n\n"
    );
    for name in names {
        text.push_str(&format!("export const {name} = cjs.{name};\n"));
    }
    text
}

/// Declarations for `require`: the same, with the twins' names.
fn declaration_twin(text: &str) -> String {
    let mut twin = String::with_capacity(text.len());
    for (index, piece) in text.split('"').enumerate() {
        if index > 0 {
            twin.push('"');
        }
        match piece
            .strip_suffix(".js")
            .filter(|_| piece.starts_with("./") || piece.starts_with("../"))
        {
            Some(stem) => twin.push_str(&format!("{stem}.cjs")),
            None => twin.push_str(piece),
        }
    }
    twin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_name_their_twins() {
        let text =
            "export * from \"./a.js\";\nimport \"node:fs\";\ntype B = import(\"../b.js\").B;\n";
        let twin = declaration_twin(text);
        assert_eq!(
            twin,
            "export * from \"./a.cjs\";\nimport \"node:fs\";\ntype B = import(\"../b.cjs\").B;\n"
        );
    }

    #[test]
    fn the_shared_module_names_every_export() {
        let text = shared_module("entry/index.js", &BTreeSet::from(["a", "b"]));
        assert!(text.contains("import cjs from \"../../cjs/entry/index.cjs\";"));
        assert!(text.contains("export const a = cjs.a;\nexport const b = cjs.b;\n"));
    }
}
