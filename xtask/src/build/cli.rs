//! The command line: bundled with the libraries it uses, so that the package has no dependency.
//!
//! Invariant: the program and the licences of what is in it are made together, or neither is.

use std::path::Path;
use std::process::Command;

use crate::npm;
use crate::process::{Outcome, run, say};
use crate::tree;

/// Files of the package by their path in it.
pub(super) type Files = Vec<(String, Vec<u8>)>;

/// Bundles `pkg-template/cli/` with npm's esbuild; nothing without npm's packages, which is said.
pub(super) fn bundle(work: &Path) -> Outcome<Option<Files>> {
    if let Err(why) = npm::packages_or_why() {
        say(&format!("NO COMMAND LINE: npm's esbuild could not be installed ({why})"));
        return Ok(None);
    }
    let output = work.join("cli");
    let mut command = Command::new("node");
    command.arg(tree::root().join("xtask/src/build/cli.mjs"));
    command.arg(tree::root().join("pkg-template/cli/main.mjs"));
    command.arg(npm::folder().join("node_modules")).arg(&output);
    run(&mut command)?;
    let files = ["toolwire.cjs", "THIRD-PARTY.txt"];
    let read = |name: &str| Ok((format!("cli/{name}"), tree::read(&output.join(name))?));
    files.into_iter().map(read).collect::<Outcome<Files>>().map(Some)
}
