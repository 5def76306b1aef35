//! The crate `jsonschema` as WebAssembly, for the benchmarks: `benches/rival/`, built and optimised as
//! its users would.
//!
//! Invariant: `target/bench/rival/` holds what was made of the crate as it stands, or nothing; where it
//! cannot be built, one line says so and the benchmarks go on without it.

use std::path::PathBuf;
use std::process::Command;

use wasm_bindgen_cli_support::Bindgen;

use crate::npm;
use crate::process::{Attempting as _, Outcome, run, say, step};
use crate::tools;
use crate::tree;

/// The name of the files that wasm-bindgen writes.
const NAME: &str = "rival";

fn folder() -> PathBuf {
    tree::root().join("target/bench/rival")
}

/// Makes what the benchmarks import, `target/bench/rival/pkg/rival.js`, unless it is there.
pub(crate) fn ensure() {
    if let Err(failure) = build() {
        say(&format!("the crate jsonschema is not compared: {failure}"));
        let _ = std::fs::remove_dir_all(folder().join("pkg"));
    }
}

fn build() -> Outcome<()> {
    tools::ensure_wasm_target()?;
    step("the crate jsonschema as WebAssembly (the first time takes minutes)", || {
        run(tools::cargo()
            .args(["build", "--quiet", "--locked", "--release", "--target", tools::WASM])
            .args(["--manifest-path", "benches/rival/Cargo.toml", "--target-dir"])
            .arg(folder())
            // What draws its seeds for hash maps wants to be told where from.
            .env(
                "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
                "--cfg getrandom_backend=\"wasm_js\"",
            ))?;
        bind()
    })
}

/// Binds and optimises what cargo made, unless that was done with the same.
fn bind() -> Outcome<()> {
    let raw = tree::read(&folder().join(tools::WASM).join("release/toolwire_rival.wasm"))?;
    let package = folder().join("pkg");
    let stamp = package.join("stamp");
    let key = tree::fingerprint(&[&raw, include_bytes!("rival.rs")]);
    if tree::read_text(&stamp).is_ok_and(|made| made == key) {
        return Ok(());
    }
    let mut bindgen = Bindgen::new();
    bindgen.input_bytes(NAME, raw).typescript(false);
    bindgen.nodejs(true).attempting(|| "wasm-bindgen".to_owned())?;
    let mut output = bindgen
        .generate_output()
        .attempting(|| "wasm-bindgen cannot read the crate jsonschema".to_owned())?;
    output.emit(&package).attempting(|| "wasm-bindgen cannot write its glue".to_owned())?;
    let binary = package.join(format!("{NAME}_bg.wasm"));
    let mut optimise = Command::new("node");
    // Which features it may use stands in the binary.
    optimise.arg(npm::installed("binaryen/bin/wasm-opt")).arg("-O3").arg(&binary);
    run(optimise.arg("-o").arg(&binary))?;
    tree::write(&stamp, key.as_bytes())
}
