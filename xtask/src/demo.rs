//! `cargo xtask demo`: the README's quickstart, then real servers from npm.

use std::process::Command;

use crate::build;
use crate::npm;
use crate::process::{Outcome, run, say, step};
use crate::tree;

/// Runs both programs against the package that is built from this tree.
pub(crate) fn all() -> Outcome<()> {
    build::package()?;
    let examples = tree::root().join("docs");
    step("the README's quickstart (docs/quickstart/program.mjs)", || {
        run(Command::new("node").arg(examples.join("quickstart/program.mjs")))
    })?;
    let missing = npm::packages_or_why().err();
    step("real MCP servers from npm (docs/demo/servers.mjs)", || {
        if let Some(why) = missing {
            say(&format!("npm's packages could not be installed: {why}"));
        }
        run(Command::new("node").arg(examples.join("demo/servers.mjs")))
    })
}
