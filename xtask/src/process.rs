//! Running other programs, and saying what is being done and how long it took.
//!
//! Invariant: a program that cannot be started or ends with another code than 0 is a [`Failure`]
//! that names its command line; nothing fails silently.

use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Why a command of ours could not finish: one line for a person.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What every step returns.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// Adds what was being attempted to an error of the standard library.
pub(crate) trait Attempting<T> {
    fn attempting(self, what: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: fmt::Display> Attempting<T> for Result<T, E> {
    fn attempting(self, what: impl FnOnce() -> String) -> Outcome<T> {
        self.map_err(|error| Failure(format!("{}: {error}", what())))
    }
}

/// Prints a heading, runs the step, and prints how long it took.
pub(crate) fn step<T>(title: &str, body: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    println!("\n==> {title}");
    let started = Instant::now();
    let outcome = body();
    let seconds = started.elapsed().as_secs_f64();
    let end = if outcome.is_ok() { "done" } else { "FAILED" };
    println!("    {end} in {seconds:.1} s: {title}");
    outcome
}

/// Says one fact about what is going on.
pub(crate) fn say(what: &str) {
    println!("    {what}");
}

/// Runs a program on this terminal and waits for its end.
pub(crate) fn run(command: &mut Command) -> Outcome<()> {
    let status = command.status().attempting(|| format!("cannot start {}", shown(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure(format!("{} ended with {status}", shown(command))))
    }
}

/// Hands this process over to a program, where the system can, so that whoever stops us stops it.
pub(crate) fn become_program(command: &mut Command) -> Outcome<()> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        let error = command.exec();
        Err(Failure(format!("cannot start {}: {error}", shown(command))))
    }
    #[cfg(not(unix))]
    run(command)
}

/// Runs a program on this terminal and also returns what it wrote to its standard output.
pub(crate) fn run_and_read(command: &mut Command) -> Outcome<String> {
    let cannot = || "cannot read what a program prints".to_owned();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .attempting(|| format!("cannot start {}", shown(command)))?;
    let mut printed = String::new();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.attempting(cannot)?;
            println!("{line}");
            printed.push_str(&line);
            printed.push('\n');
        }
    }
    let status = child.wait().attempting(cannot)?;
    if status.success() {
        Ok(printed)
    } else {
        Err(Failure(format!("{} ended with {status}", shown(command))))
    }
}

/// Runs a program and returns what it wrote to its standard output.
pub(crate) fn capture(command: &mut Command) -> Outcome<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .attempting(|| format!("cannot start {}", shown(command)))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Failure(format!("{} ended with {}\n{said}", shown(command), output.status)))
    }
}

/// Whether a program runs and ends with code 0; its output is not shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    matches!(silent.status(), Ok(status) if status.success())
}

/// The command line as a person would type it, without the environment.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The first line a program prints when asked for its version, if it is there.
pub(crate) fn version_of(program: impl AsRef<std::ffi::OsStr>) -> Option<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let text = String::from_utf8(output.ok().filter(|output| output.status.success())?.stdout);
    Some(text.ok()?.lines().next()?.trim().to_owned())
}
