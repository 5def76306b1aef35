//! `cargo xtask fuzz [SECONDS]`: the randomised tests, for as long as asked; and
//! `cargo xtask fuzz judge COUNT [SEED]`: verdicts against those of another implementation.
//!
//! The former are ordinary tests, run for seconds by `cargo xtask test`; here each runs in a release
//! build with a new seed, which is printed first, so that what it finds can be run again.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::process::{Attempting as _, Failure, Outcome, run, step};
use crate::tools;

/// Each runs for the seconds given by `TOOLWIRE_FUZZ_SECONDS`.
const TESTS: [&str; 4] = ["json_differential", "wire_random", "session_random", "session_pair"];

/// Runs each test for so many seconds (60 if not given).
pub(crate) fn all(arguments: &[&str]) -> Outcome<()> {
    let seconds: u64 = match arguments {
        [] => 60,
        [seconds, ..] => {
            seconds.parse().attempting(|| format!("{seconds} is no number of seconds"))?
        }
    };
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = since_epoch.as_nanos() as u64 | 1;
    for test in TESTS {
        step(&format!("{test}, {seconds} s, TOOLWIRE_FUZZ_SEED={seed}"), || {
            run(tools::cargo()
                .args(["test", "--release", "--test", test, "--", "--nocapture"])
                .env("TOOLWIRE_FUZZ_SECONDS", seconds.to_string())
                .env("TOOLWIRE_FUZZ_SEED", seed.to_string()))
        })?;
    }
    Ok(())
}

/// Compares so many verdicts, over all dialects; the program says what it found.
pub(crate) fn judge(arguments: &[&str]) -> Outcome<()> {
    if arguments.is_empty() {
        return Err(Failure::new("usage: cargo xtask fuzz judge COUNT [SEED] [DIALECT]"));
    }
    step("judge against the crate jsonschema", || {
        run(tools::cargo()
            .args(["run", "--release", "--quiet", "--manifest-path", "fuzz/Cargo.toml", "--"])
            .args(arguments))
    })
}
