//! `cargo xtask build`: from Rust sources and `pkg-template/` to a publishable npm package.
//!
//! 1. cargo compiles the core for WebAssembly (`core`);
//! 2. wasm-bindgen writes the glue, which becomes a factory (`glue`);
//! 3. npm's binaryen makes the binary small (`shrink`);
//! 4. the template's modules and their CommonJS twins (`twin`) are checked against each other
//!    (`graph`) and laid out with the generated files (`layout`); the manifest is checked against
//!    what is there (`manifest`);
//! 5. npm's esbuild bundles the command line (`cli`).
//!
//! Invariant: the same sources give the same package; what has not changed is not done again.

mod cli;
mod core;
mod glue;
mod graph;
mod layout;
mod manifest;
mod shrink;
mod twin;

use std::path::PathBuf;

use crate::process::{Outcome, step};
use crate::tree;

/// One way of building the package.
struct Variant {
    /// Further flags for cargo.
    flags: &'static [&'static str],
    /// Cargo's target folder: each set of flags has its own, or they would evict each other.
    target: PathBuf,
    /// Where glue and binary are kept between runs.
    work: PathBuf,
    /// The name under which programs in this repository import it.
    name: &'static str,
    /// Where the package is written.
    package: PathBuf,
    /// Whether binaryen is run over the binary.
    shrink: bool,
    /// Whether it has the command line.
    cli: bool,
}

/// Traps are the same in quickly built code.
const TRAPS: [&str; 8] = [
    "--features",
    "test-traps",
    "--config",
    "profile.release.lto=false",
    "--config",
    "profile.release.codegen-units=16",
    "--config",
    "profile.release.opt-level=1",
];

/// For trying something out: cargo compiles only what changed, and the binary is large and slow.
const QUICK: [&str; 8] = [
    "--config",
    "profile.release.lto=false",
    "--config",
    "profile.release.codegen-units=256",
    "--config",
    "profile.release.opt-level=1",
    "--config",
    "profile.release.incremental=true",
];

/// Writes to `pkg/` a package that behaves as the published one but is larger and slower, in a few
/// seconds, and returns that folder.
pub(crate) fn quick_package() -> Outcome<PathBuf> {
    let target = tree::root().join("target");
    write_package(
        "the package, built quickly (pkg/)",
        &Variant {
            name: "toolwire",
            flags: &QUICK,
            work: target.join("quick/package"),
            target: target.join("quick"),
            package: tree::root().join("pkg"),
            shrink: false,
            cli: true,
        },
    )
}

/// Writes the package that is published, to `pkg/`, and returns that folder.
pub(crate) fn package() -> Outcome<PathBuf> {
    let target = tree::root().join("target");
    write_package(
        "the package (pkg/)",
        &Variant {
            name: "toolwire",
            flags: &[],
            work: target.join("package"),
            target,
            package: tree::root().join("pkg"),
            shrink: true,
            cli: true,
        },
    )
}

/// Writes the package whose core can be made to trap, to `target/pkg-traps/`, for tests only.
pub(crate) fn package_with_traps() -> Outcome<PathBuf> {
    let target = tree::root().join("target");
    write_package(
        "the package with test traps (target/pkg-traps/)",
        &Variant {
            name: "toolwire-traps",
            flags: &TRAPS,
            target: target.join("traps"),
            work: target.join("traps/package"),
            package: target.join("pkg-traps"),
            shrink: false,
            cli: false,
        },
    )
}

fn write_package(title: &str, variant: &Variant) -> Outcome<PathBuf> {
    crate::tools::ensure_wasm_target()?;
    crate::tools::ensure_node()?;
    let no_binaryen = if variant.shrink { crate::npm::packages_or_why().err() } else { None };
    step(title, || {
        let raw = core::compile(variant.flags, &variant.target, variant.shrink)?;
        let parts =
            shrink::glue_and_binary(&raw, &variant.work, variant.shrink, no_binaryen.as_deref())?;
        let program = if variant.cli { cli::bundle(&variant.work)? } else { None };
        layout::write(&parts, program, &variant.package)?;
        tree::link(&tree::root().join("node_modules").join(variant.name), &variant.package)?;
        Ok(variant.package.clone())
    })
}
