//! `cargo xtask www`: builds the package and serves the page in `www/` on localhost.

use std::process::Command;

use crate::build;
use crate::process::{Outcome, become_program};
use crate::tree;

/// Serves until it is stopped.
pub(crate) fn serve() -> Outcome<()> {
    build::package()?;
    println!("\n==> the page");
    become_program(Command::new("node").arg(tree::root().join("www/serve.mjs")))
}
