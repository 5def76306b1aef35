//! `cargo xtask test`: every test, the quick ones first and the browser last.
//!
//! Invariant: a suite that ran no test has failed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build;
use crate::npm;
use crate::peers;
use crate::process::{Attempting, Failure, Outcome, run, run_and_read, say, step};
use crate::tools;
use crate::tree;
use crate::www;

/// Test files that need more than Node, by the folder below `tests/` they are in.
const PACKAGING: &str = "packaging/";
const PAGES: &str = "pages/";

/// So many failing files of a suite are run a second time: where processes, timers and deadlines are
/// tested, a machine that stalls for seconds can fail one. More than that is no accident.
const RUN_AGAIN: usize = 2;

/// Runs everything; the first failure ends the run.
pub(crate) fn all() -> Outcome<()> {
    tools::ensure_components()?;
    tools::ensure_wasm_target()?;
    tools::ensure_node()?;
    step("formatting (cargo fmt)", || run(tools::cargo().args(["fmt", "--all", "--check"])))?;
    step("lints, native (cargo clippy)", || clippy(&["--workspace", "--all-targets"]))?;
    step("lints, WebAssembly (cargo clippy)", || {
        clippy(&["--package", "toolwire", "--lib", "--target", tools::WASM, "--all-features"])
    })?;
    step("Rust tests, native (cargo test)", || run(tools::cargo().args(["test", "--workspace"])))?;
    npm::ensure_packages()?;
    build::package()?;
    build::package_with_traps()?;
    let suites = node_suites()?;
    tools::ensure_redis();
    peers::ensure();
    let quick =
        suites.iter().filter(|path| !path.starts_with(PACKAGING) && !path.starts_with(PAGES));
    step("Node tests (node --test)", || node_tests(quick, &[]))?;
    step("types (tsc)", types)?;
    let browser = tools::ensure_chromium()?;
    let packaging = suites.iter().filter(|path| path.starts_with(PACKAGING));
    step("packaging tests (npm pack), in every host", || {
        node_tests(packaging, &[("TOOLWIRE_CHROMIUM", &browser.chromium)])
    })?;
    tools::ensure_wasm_pack()?;
    step("Rust tests in Chromium (wasm-pack test)", || rust_in_browser(&browser))?;
    www::build()?;
    let pages = suites.iter().filter(|path| path.starts_with(PAGES));
    step("pages in Chromium (playwright-core)", || {
        node_tests(pages, &[("TOOLWIRE_CHROMIUM", &browser.chromium)])
    })?;
    println!("\nall tests passed");
    Ok(())
}

fn clippy(selection: &[&str]) -> Outcome<()> {
    run(tools::cargo().arg("clippy").args(selection).args(["--", "--deny", "warnings"]))
}

/// Every file of Node's test runner below `tests/`.
fn node_suites() -> Outcome<Vec<String>> {
    let files = tree::files_below(&npm::folder())?;
    let ours = files.into_iter().filter(|path| !path.contains("node_modules/"));
    Ok(ours.filter(|path| path.ends_with(".test.mjs")).collect())
}

fn node_tests<'a>(
    suites: impl Iterator<Item = &'a String>,
    environment: &[(&str, &Path)],
) -> Outcome<()> {
    let suites: Vec<&str> = suites.map(String::as_str).collect();
    if suites.is_empty() {
        return Err(Failure::new("no test file found"));
    }
    let failed = tree::root().join("target/failed-test-files");
    let outcome = run(&mut node_test_command(&suites, environment, &failed));
    let Err(failure) = outcome else { return Ok(()) };
    let failed_files = tree::read_text(&failed).unwrap_or_default();
    let again = run_again(&failed_files);
    if again.is_empty() {
        return Err(failure);
    }
    say(&format!("failed, and run once more, each alone: {}", again.join(", ")));
    for file in &again {
        run(&mut node_test_command(&[*file], environment, &failed))?;
    }
    say("passed the second time: look for what in them depends on the speed of the machine");
    Ok(())
}

/// The failed files, one a line, if they are few enough to be run again.
fn run_again(failed: &str) -> Vec<&str> {
    let files: Vec<&str> = failed.lines().collect();
    if files.len() > RUN_AGAIN { Vec::new() } else { files }
}

/// Node's test runner on these files. The paths of those that fail are left in `failed`.
fn node_test_command(suites: &[&str], environment: &[(&str, &Path)], failed: &Path) -> Command {
    let mut command = Command::new("node");
    command.args(["--test", "--test-reporter=spec", "--test-reporter-destination=stdout"]);
    command.args(["--test-reporter=./js/support/failed-files.mjs", "--test-reporter-destination"]);
    command.arg(failed).args(suites).current_dir(npm::folder());
    command.envs(environment.iter().copied());
    command
}

/// Type checks what a user may write against the declarations of the package.
fn types() -> Outcome<()> {
    let mut command = Command::new("node");
    command
        .arg(npm::installed("typescript/bin/tsc"))
        .arg("--project")
        .arg(npm::folder().join("types"));
    run(&mut command)?;
    say("the declarations and the programs in tests/types agree");
    Ok(())
}

/// Runs the crate's unit tests, and the files of `tests/` that are written for both, in headless
/// Chromium.
fn rust_in_browser(browser: &tools::Browser) -> Outcome<()> {
    let mut command = Command::new(tools::bin().join("wasm-pack"));
    command.args(["test", "--headless", "--chrome", "--chromedriver"]).arg(&browser.driver);
    command.args(["--mode", "no-install", "--", "--lib"]);
    for name in browser_suites()? {
        command.arg("--test").arg(name);
    }
    // Unoptimised code and all tests of a file in one page take longer than the default 20 s.
    command.env("WASM_BINDGEN_TEST_TIMEOUT", "300");
    command.current_dir(tree::root()).env("PATH", path_with_tools()?);
    let printed = run_and_read(&mut command)?;
    match passed(&printed) {
        0 => Err(Failure::new("wasm-pack ran no test in the browser")),
        count => {
            say(&format!("{count} Rust tests passed in Chromium"));
            Ok(())
        }
    }
}

/// The names of the files in `tests/` that say they run in a browser.
fn browser_suites() -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for path in tree::files_below(&npm::folder())? {
        let Some(name) = path.strip_suffix(".rs").filter(|name| !name.contains('/')) else {
            continue;
        };
        let text = tree::read_text(&npm::folder().join(&path))?;
        if text.contains("wasm_bindgen_test_configure!(run_in_browser)") {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// wasm-pack looks for wasm-bindgen's test runner on PATH.
fn path_with_tools() -> Outcome<std::ffi::OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> =
        std::iter::once(tools::bin()).chain(std::env::split_paths(&path)).collect();
    std::env::join_paths(folders).attempting(|| "cannot extend PATH".to_owned())
}

/// The sum of the passed tests in the closing lines of Rust's test runners.
fn passed(printed: &str) -> u32 {
    let closing = printed.lines().filter_map(|line| line.trim().strip_prefix("test result: ok. "));
    closing.filter_map(|rest| rest.split(' ').next()?.parse::<u32>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_test_also_runs_in_the_browser() {
        let sources = tree::root().join("src");
        let paths = tree::files_below(&sources).unwrap();
        for path in paths.iter().filter(|path| path.ends_with(".rs")) {
            let text = tree::read_text(&sources.join(path)).unwrap();
            let tests = text.contains("#[test]");
            let alias = text.contains("use wasm_bindgen_test::wasm_bindgen_test as test;");
            assert!(!tests || alias, "the tests of src/{path} run natively only");
        }
    }

    #[test]
    fn few_failed_files_are_run_again_and_many_are_not() {
        assert_eq!(run_again("/a.test.mjs\n/b.test.mjs\n"), ["/a.test.mjs", "/b.test.mjs"]);
        assert!(run_again("").is_empty());
        assert!(run_again("/a\n/b\n/c\n").is_empty());
    }

    #[test]
    fn closing_lines_are_added_up() {
        let printed = "\
running 2 tests
test a ... ok
test result: ok. 2 passed; 0 failed; 0 ignored
test result: ok. 0 passed; 0 failed
 test result: ok. 30 passed; 0 failed
";
        assert_eq!(passed(printed), 32);
        assert_eq!(passed("no tests to run!"), 0);
    }
}
