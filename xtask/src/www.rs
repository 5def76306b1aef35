//! `cargo xtask www`: builds the package and the playground in `www/`, and serves it on localhost.
//!
//! Invariant: `www/dist/` is a static site of the package as it was just built.

use std::path::PathBuf;
use std::process::Command;

use crate::build;
use crate::npm;
use crate::process::{Outcome, become_program, run, step};
use crate::tools;
use crate::tree;

fn folder() -> PathBuf {
    tree::root().join("www")
}

/// Serves until it is stopped.
pub(crate) fn serve() -> Outcome<()> {
    build::package()?;
    build()?;
    println!("\n==> the playground");
    become_program(Command::new("node").arg(folder().join("serve.mjs")))
}

/// Checks the playground's types and writes it to `www/dist/`. The package must have been built.
pub(crate) fn build() -> Outcome<()> {
    tools::ensure_node()?;
    npm::install_in(&folder(), "npm packages of the playground (www/package-lock.json)")?;
    step("the playground (www/dist/)", || {
        let installed = |path: &str| folder().join("node_modules").join(path);
        run(Command::new("node").arg(installed("typescript/bin/tsc")).current_dir(folder()))?;
        let mut vite = Command::new("node");
        vite.arg(installed("vite/bin/vite.js")).args(["build", "--logLevel", "warn"]);
        run(vite.current_dir(folder()))
    })
}
