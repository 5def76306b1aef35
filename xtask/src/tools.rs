//! Programs that the commands need and a fresh machine may lack, installed when they are missing.
//!
//! Invariant: nothing is installed twice, and nothing outside `target/` without saying so.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{Failure, Outcome, capture, run, say, step, succeeds, version_of};
use crate::tree;

/// The target the core is compiled for.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// The version of wasm-pack that the browser tests were written against.
const WASM_PACK: &str = "0.15.1";

/// The oldest Node that the package supports.
const NODE_MAJOR: u32 = 20;

/// The cargo that runs us, so that both use the same toolchain.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(tree::root());
    command
}

/// Adds the WebAssembly target to the toolchain when its standard library is missing.
pub(crate) fn ensure_wasm_target() -> Outcome<()> {
    let sysroot =
        capture(Command::new("rustc").args(["--print", "sysroot"]).current_dir(tree::root()))?;
    if PathBuf::from(sysroot.trim()).join("lib/rustlib").join(WASM).join("lib").is_dir() {
        return Ok(());
    }
    step(&format!("Rust's {WASM} target"), || {
        run(Command::new("rustup").args(["target", "add", WASM]).current_dir(tree::root()))
    })
}

/// Adds rustfmt and clippy when the toolchain came without them.
pub(crate) fn ensure_components() -> Outcome<()> {
    for (component, command) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if !succeeds(cargo().args([command, "--version"])) {
            step(&format!("Rust's {component}"), || {
                run(Command::new("rustup").args(["component", "add", component]))
            })?;
        }
    }
    Ok(())
}

/// Checks that Node is there and new enough.
pub(crate) fn ensure_node() -> Outcome<()> {
    let version = version_of("node").ok_or_else(|| {
        Failure::new(format!("Node.js {NODE_MAJOR} or newer is needed, and `node` is not on PATH"))
    })?;
    let major =
        version.trim_start_matches('v').split('.').next().and_then(|text| text.parse::<u32>().ok());
    match major {
        Some(major) if major >= NODE_MAJOR => Ok(()),
        _ => Err(Failure::new(format!("Node.js {NODE_MAJOR} or newer is needed, found {version}"))),
    }
}

/// The folder with the programs that `cargo install` built for us.
pub(crate) fn bin() -> PathBuf {
    tree::root().join("target/tools/bin")
}

/// Builds wasm-bindgen's test runner and wasm-pack into `target/tools`.
pub(crate) fn ensure_wasm_pack() -> Outcome<()> {
    // The runner must have the version of wasm-bindgen that the core is linked with. The lock file
    // of its crate is not used: it names a version that not every registry still has.
    install("wasm-bindgen-cli", "wasm-bindgen", &locked_version("wasm-bindgen")?, &[])?;
    // It only starts other programs: optimised it would take three times as long to build.
    install("wasm-pack", "wasm-pack", WASM_PACK, &["--locked", "--debug"])
}

fn install(package: &str, program: &str, version: &str, how: &[&str]) -> Outcome<()> {
    let present = version_of(bin().join(program));
    if present.is_some_and(|line| line == format!("{program} {version}")) {
        return Ok(());
    }
    step(&format!("{package} {version} into target/tools (minutes, once)"), || {
        let mut command = cargo();
        command.args(["install", package, "--version", version, "--force"]);
        command.arg("--root").arg(tree::root().join("target/tools"));
        run(command.args(how))
    })
}

/// The version of a package that `Cargo.lock` decides on.
pub(crate) fn locked_version(package: &str) -> Outcome<String> {
    let lock = tree::read_text(&tree::root().join("Cargo.lock"))?;
    version_in_lock(&lock, package)
        .ok_or_else(|| Failure::new(format!("Cargo.lock names no version of {package}")))
}

fn version_in_lock(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?;
    Some(version.to_owned())
}

/// A browser and the driver that belongs to it.
pub(crate) struct Browser {
    pub(crate) chromium: PathBuf,
    pub(crate) driver: PathBuf,
}

/// Finds Chromium and its driver; as root, or with `sudo`, installs them when they are missing.
pub(crate) fn ensure_chromium() -> Outcome<Browser> {
    if let Some(found) = find_chromium() {
        say(&format!("using {} and {}", found.chromium.display(), found.driver.display()));
        return Ok(found);
    }
    apt_install("Chromium and its driver", &["chromium", "chromium-driver"])?;
    find_chromium().ok_or_else(|| {
        Failure::new(
            "the browser tests need Chromium and chromedriver: put both on PATH, name them in \
             CHROME and CHROMEDRIVER, or run this as root or with sudo on a system with apt-get",
        )
    })
}

/// Finds a Redis server for the tests that run through one, or installs it as Chromium is. Where
/// that cannot be, says so in a line; those tests are skipped then.
pub(crate) fn ensure_redis() {
    let redis = || on_path(&["redis-server"]);
    if redis().is_none()
        && let Err(failure) = apt_install("a Redis server", &["redis-server"])
    {
        say(&format!("redis-server was not installed: {failure}"));
    }
    match redis() {
        Some(path) => say(&format!("using {}", path.display())),
        None => say("no redis-server: the tests of calls through Redis are skipped"),
    }
}

/// Installs packages of the system as root or with `sudo`, where there is apt-get; else does
/// nothing.
fn apt_install(what: &str, packages: &[&str]) -> Outcome<()> {
    let prefix: &[&str] = if is_root() {
        &[]
    } else if succeeds(Command::new("sudo").args(["-n", "true"])) {
        &["sudo", "-n"]
    } else {
        return Ok(());
    };
    if on_path(&["apt-get"]).is_none() {
        return Ok(());
    }
    step(&format!("{what} (apt-get)"), || {
        let apt = |arguments: &[&str]| {
            let line =
                [prefix, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], arguments].concat();
            let (program, rest) = line.split_first().unwrap_or((&"apt-get", &[]));
            run(Command::new(program).args(rest))
        };
        apt(&["update"])?;
        apt(&[&["install", "-y", "--no-install-recommends"], packages].concat())
    })
}

fn find_chromium() -> Option<Browser> {
    let named =
        |variable| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_file());
    let chromium = named("CHROME").or_else(|| {
        on_path(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
    })?;
    let driver = named("CHROMEDRIVER").or_else(|| on_path(&["chromedriver"]))?;
    Some(Browser { chromium, driver })
}

fn is_root() -> bool {
    capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut candidates =
        names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_is_read_for_one_package() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.2.3\"\n\n[[package]]\nname = \"ab\"\nversion = \"4.0.0\"\n";
        assert_eq!(version_in_lock(lock, "a").as_deref(), Some("1.2.3"));
        assert_eq!(version_in_lock(lock, "ab").as_deref(), Some("4.0.0"));
        assert_eq!(version_in_lock(lock, "b"), None);
    }

    #[test]
    fn the_glue_generator_has_the_version_of_the_library() {
        let library = locked_version("wasm-bindgen").unwrap();
        assert_eq!(library, locked_version("wasm-bindgen-cli-support").unwrap());
    }
}
