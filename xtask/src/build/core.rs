//! Compiling the core to WebAssembly with cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Outcome, capture, run};
use crate::tools;
use crate::tree;

/// Compiles the core with further flags for cargo, and returns the linked module, not yet seen by
/// wasm-bindgen. `anywhere` gives the same binary wherever it is built; without it, dependencies
/// compiled in another folder serve here too.
pub(super) fn compile(flags: &[&str], target: &Path, anywhere: bool) -> Outcome<Vec<u8>> {
    let mut command = tools::cargo();
    // Only the cdylib: beside an rlib, cargo leaves link-time optimisation out.
    command.args(["rustc", "--release", "--package", "toolwire", "--lib"]);
    command.args(["--crate-type", "cdylib", "--target", tools::WASM]);
    command.arg("--target-dir").arg(target);
    command.args(flags);
    if anywhere {
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", rustflags());
    }
    command.env("TOOLWIRE_GIT_REVISION", revision());
    run(&mut command)?;
    tree::read(&target.join(tools::WASM).join("release/toolwire.wasm"))
}

/// With `opt-level = 3` these give the smallest binary and one of the fastest: the loops that matter
/// say themselves what belongs into them (`#[inline(always)]`), and inlining elsewhere only adds
/// bytes. Measured beside `opt-level = "s"`: 0.93 of its time on structured lines, 5 % smaller.
/// Calls in loops have a threshold of their own; with that of loops' copies it is 5 % of the binary.
const CODE: [&str; 5] = [
    "-Cllvm-args=-inline-threshold=8",
    "-Cllvm-args=-inlinehint-threshold=60",
    "-Cllvm-args=-locally-hot-callsite-threshold=20",
    "-Cllvm-args=-unroll-threshold=10",
    "-Cllvm-args=-unswitch-threshold=10",
];

/// Keeps this machine's folders out of the panic messages in the binary, so that it is the same
/// wherever it is built.
fn rustflags() -> String {
    let root = tree::root();
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let sources = home.map(|home| home.join("registry/src"));
    let registries = sources.and_then(|sources| std::fs::read_dir(sources).ok());
    // One folder a registry; sorted, because other flags would compile everything again.
    let mut folders: Vec<PathBuf> =
        registries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let mut flags: Vec<String> = CODE.iter().map(|&flag| flag.to_owned()).collect();
    flags.push(format!("--remap-path-prefix={}=toolwire", root.display()));
    flags.extend(
        folders.iter().map(|folder| format!("--remap-path-prefix={}=crates", folder.display())),
    );
    flags.join(" ")
}

/// The last commit that changed the core, so that others do not build it again; empty outside a git
/// repository.
fn revision() -> String {
    let mut command = Command::new("git");
    command.args([
        "log",
        "-1",
        "--format=%h",
        "--abbrev=12",
        "--",
        "src",
        "Cargo.toml",
        "Cargo.lock",
    ]);
    command.current_dir(tree::root());
    capture(&mut command).map(|text| text.trim().to_owned()).unwrap_or_default()
}
