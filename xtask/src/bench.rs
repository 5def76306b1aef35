//! `cargo xtask bench`: measures the built package against its targets and its rivals.
//!
//! The measuring is done by `benches/run.mjs`, which writes `benches/RESULTS.md`; what is built
//! and installed for it is decided here. Further arguments are passed on: `--quick` is short.

use std::process::Command;

use crate::build;
use crate::npm;
use crate::process::{Outcome, run, step};
use crate::rival;
use crate::tree;

/// Builds the package, installs what it is compared with, and measures.
pub(crate) fn all(arguments: &[&str]) -> Outcome<()> {
    npm::ensure_packages()?;
    build::package()?;
    rival::ensure();
    step("benchmarks (benches/run.mjs)", || {
        run(Command::new("node").arg(tree::root().join("benches/run.mjs")).args(arguments))
    })
}
