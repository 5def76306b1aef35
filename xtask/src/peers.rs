//! Servers from PyPI and crates.io that the tests of real servers connect to.
//!
//! Invariant: they are in `target/peers` alone, are made anew exactly when what pins them has
//! changed, and where they cannot be had one line says so: the tests of them are skipped then.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Attempting as _, Outcome, run, say, step};
use crate::tools;
use crate::tree;

/// Makes what is missing.
pub(crate) fn ensure() {
    for (what, made) in [("PyPI", python()), ("crates.io", rmcp())] {
        if let Err(failure) = made {
            say(&format!("the servers from {what} are not tested: {failure}"));
        }
    }
}

fn folder() -> PathBuf {
    tree::root().join("target/peers")
}

/// A virtual environment with what `tests/peers/requirements.txt` pins.
fn python() -> Outcome<()> {
    let requirements = tree::root().join("tests/peers/requirements.txt");
    let pinned = tree::read(&requirements)?;
    let environment = folder().join("python");
    let stamp = environment.join(".toolwire-requirements");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == pinned) {
        return Ok(());
    }
    step("servers from PyPI into target/peers (tests/peers/requirements.txt)", || {
        let installed = install(&environment, &requirements);
        if installed.is_err() && environment.is_dir() {
            // Half an environment would be taken for a whole one.
            std::fs::remove_dir_all(&environment)
                .attempting(|| format!("cannot remove {}", environment.display()))?;
        }
        installed?;
        tree::write(&stamp, &pinned)
    })
}

fn install(environment: &Path, requirements: &Path) -> Outcome<()> {
    let [python, programs] = if cfg!(windows) { ["python", "Scripts"] } else { ["python3", "bin"] };
    run(Command::new(python).args(["-m", "venv", "--clear"]).arg(environment))?;
    let quietly = ["--quiet", "--disable-pip-version-check", "--no-input", "--retries=1"];
    run(Command::new(environment.join(programs).join("python"))
        .args(["-m", "pip", "install", "--only-binary=:all:"])
        .args(quietly)
        .arg("--requirement")
        .arg(requirements))
}

/// The server in `tests/peers/rmcp`. Cargo knows whether there is something to do.
fn rmcp() -> Outcome<()> {
    step("a server on rmcp into target/peers (the first time takes minutes)", || {
        run(tools::cargo()
            .args([
                "build",
                "--quiet",
                "--locked",
                "--manifest-path",
                "tests/peers/rmcp/Cargo.toml",
            ])
            .arg("--target-dir")
            .arg(folder().join("rmcp")))
    })
}
