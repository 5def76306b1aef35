//! Making the binary small with npm's binaryen, and keeping the result while its input stays.

use std::path::Path;
use std::process::Command;

use super::glue;
use crate::npm;
use crate::process::{Outcome, capture, run, say};
use crate::tree;

/// What the package is laid out from.
pub(super) struct Parts {
    /// The module that exports `createGlue`.
    pub(super) glue: String,
    /// The WebAssembly binary.
    pub(super) binary: Vec<u8>,
}

/// Exactly the features that Rust's target uses: with fewer, wasm-opt refuses the module; with
/// more, it may use what the oldest supported engines do not know.
const FEATURES: [&str; 8] = [
    "--mvp-features",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Strips here and not in cargo: wasm-bindgen reads what cargo would strip. `-O3` gives code as fast
/// as `-Oz` and a larger binary. Twice, because the second run finds what the first left.
const PASSES: [&str; 5] =
    ["-Oz", "-Oz", "--strip-debug", "--strip-producers", "--strip-target-features"];

/// Binds and shrinks the linked module, or returns what an earlier run made of the same input.
///
/// `no_binaryen` says why binaryen is missing: the binary is then left as it is.
pub(super) fn glue_and_binary(
    raw: &[u8],
    work: &Path,
    shrink: bool,
    no_binaryen: Option<&str>,
) -> Outcome<Parts> {
    let shrinks = shrink && no_binaryen.is_none();
    if let (true, Some(why)) = (shrink, no_binaryen) {
        say(&format!("NOT OPTIMISED: npm's binaryen could not be installed ({why})"));
    }
    let key = tree::fingerprint(&[
        raw,
        include_bytes!("glue.rs"),
        include_bytes!("shrink.rs"),
        &[u8::from(shrinks)],
        &tree::read(&npm::folder().join("package-lock.json"))?,
    ]);
    let (stamp, glue_path, binary_path) =
        (work.join("stamp"), work.join("glue.js"), work.join("toolwire.wasm"));
    if tree::read_text(&stamp).is_ok_and(|made| made == key) {
        return Ok(Parts { glue: tree::read_text(&glue_path)?, binary: tree::read(&binary_path)? });
    }
    let bound = glue::bind(raw.to_vec(), &work.join("bindgen"))?;
    tree::write(&glue_path, bound.glue.as_bytes())?;
    tree::write(&binary_path, &bound.binary)?;
    if shrinks {
        optimise(&binary_path)?;
    }
    let binary = tree::read(&binary_path)?;
    say(&sizes(&binary_path, binary.len())?);
    tree::write(&stamp, key.as_bytes())?;
    Ok(Parts { glue: bound.glue, binary })
}

/// Rewrites the binary in place.
fn optimise(binary: &Path) -> Outcome<()> {
    say("optimising the binary (npm's binaryen)");
    let mut command = Command::new("node");
    command.arg(npm::installed("binaryen/bin/wasm-opt")).args(FEATURES).args(PASSES);
    run(command.arg(binary).arg("-o").arg(binary))
}

/// The sizes that matter to who downloads the binary, in bytes.
fn sizes(binary: &Path, raw: usize) -> Outcome<String> {
    let script = "const bytes = require('fs').readFileSync(process.argv[1]); \
                  console.log(require('zlib').brotliCompressSync(bytes).length)";
    let brotli = capture(Command::new("node").args(["-e", script]).arg(binary))?;
    Ok(format!("toolwire.wasm: {raw} bytes, {} with brotli", brotli.trim()))
}
