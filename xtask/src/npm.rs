//! npm packages for building and testing: `tests/package-lock.json` decides which. The playground's own
//! are in `www/package-lock.json`.
//!
//! Invariant: `node_modules` is installed anew exactly when the lock file differs from the one it
//! was last installed from, and a run of ours tries that once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::process::{Failure, Outcome, run, step};
use crate::tools;
use crate::tree;

/// Where npm's packages are: the manifest, its lock file, and `node_modules`.
pub(crate) fn folder() -> PathBuf {
    tree::root().join("tests")
}

/// A file inside one of the installed packages.
pub(crate) fn installed(path: &str) -> PathBuf {
    folder().join("node_modules").join(path)
}

/// npm as a command, whatever its file is called on this system.
pub(crate) fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// Installs what the lock file names. Needs a registry or a warm cache.
pub(crate) fn ensure_packages() -> Outcome<()> {
    packages_or_why().map_err(Failure::new)
}

/// Installs the packages, or says in one line why they are not there.
pub(crate) fn packages_or_why() -> Result<(), String> {
    static TRIED: OnceLock<Result<(), String>> = OnceLock::new();
    TRIED.get_or_init(|| install().map_err(|failure| failure.to_string())).clone()
}

fn install() -> Outcome<()> {
    tools::ensure_node()?;
    install_in(&folder(), "npm packages for building and testing (tests/package-lock.json)")
}

/// Installs what the lock file in a folder names, unless that was done.
pub(crate) fn install_in(folder: &Path, title: &str) -> Outcome<()> {
    let lock = tree::read(&folder.join("package-lock.json"))?;
    let stamp = folder.join("node_modules/.toolwire-lock");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    step(title, || {
        let flags = ["--no-audit", "--no-fund", "--fetch-retries=1", "--loglevel=error"];
        run(npm().arg("ci").args(flags).current_dir(folder))?;
        tree::write(&stamp, &lock)
    })
}
