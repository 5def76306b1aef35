//! Runs the official JSON Schema test suite in the folder that `JSON_SCHEMA_TEST_SUITE` names:
//! `cargo test --test schema_suite -- --ignored`.
//!
//! A test whose verdict is `unknown` counts as undecided, one whose schema does not compile for
//! want of support as unsupported; a wrong verdict fails. `JSON_SCHEMA_TEST_VERBOSE` lists all
//! that did not pass.

// Helpers of tests may panic too: that is how they fail.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::task::Poll;

use serde_json::value::RawValue;
use toolwire::json::{Limits, Tape, read};
use toolwire::schema::{CompileOptions, Dialect, Judge, Outcome, Program, Verdict, compile, judge};

#[derive(serde::Deserialize)]
struct Group {
    description: String,
    schema: Box<RawValue>,
    tests: Vec<Test>,
}

#[derive(serde::Deserialize)]
struct Test {
    description: String,
    data: Box<RawValue>,
    valid: bool,
}

#[derive(Default, Debug)]
struct Tally {
    passed: usize,
    undecided: usize,
    unsupported: usize,
    wrong: usize,
    /// Invalid without a violation, or the reverse.
    untold: usize,
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut work = vec![folder.to_owned()];
    while let Some(folder) = work.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                work.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn remotes(root: &Path) -> Vec<(String, Vec<u8>)> {
    let folder = root.join("remotes");
    json_files(&folder)
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
            (format!("http://localhost:1234/{name}"), fs::read(path).unwrap())
        })
        .collect()
}

/// Which optional folders a draft is held to here: all but formats, which are annotations.
fn is_format(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "format")
}

fn judge_in_slices(program: &Program, bytes: &[u8], tape: &Tape, slice: u64) -> Outcome {
    let mut judge = Judge::new(program, 0);
    loop {
        if let Poll::Ready(outcome) = judge.step(program, bytes, tape, &mut { slice }) {
            return outcome;
        }
    }
}

fn run(root: &Path, folder: &str, dialect: Dialect) -> BTreeMap<String, Tally> {
    let verbose = std::env::var_os("JSON_SCHEMA_TEST_VERBOSE").is_some();
    let options = CompileOptions { dialect, resources: remotes(root), ..Default::default() };
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let base = root.join("tests").join(folder);
    for path in json_files(&base) {
        if is_format(&path) {
            continue;
        }
        let name = path.strip_prefix(&base).unwrap().to_str().unwrap().to_owned();
        let kind = if name.starts_with("optional") { "optional" } else { "required" };
        let tally = tallies.entry(kind.to_owned()).or_default();
        let groups: Vec<Group> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for group in groups {
            let program = compile(group.schema.get().as_bytes(), &options);
            for test in group.tests {
                let title = || format!("{name}: {} / {}", group.description, test.description);
                let program = match &program {
                    Ok(program) => program,
                    Err(error) => {
                        tally.unsupported += 1;
                        if verbose {
                            println!("unsupported {} {error:?}", title());
                        }
                        continue;
                    }
                };
                let bytes = test.data.get().as_bytes();
                let tape = read(bytes, Limits::depth(program.max_depth())).unwrap();
                let outcome = judge(program, bytes, &tape, 0);
                for slice in [1, 5] {
                    let sliced = judge_in_slices(program, bytes, &tape, slice);
                    assert_eq!(sliced, outcome, "{} in slices of {slice}", title());
                }
                let expected = if test.valid { Verdict::Valid } else { Verdict::Invalid };
                if outcome.verdict == expected {
                    tally.passed += 1;
                    let told = !outcome.violations.is_empty();
                    if told == test.valid {
                        tally.untold += 1;
                        println!("untold {}", title());
                    }
                } else if outcome.verdict == Verdict::Unknown {
                    tally.undecided += 1;
                    if verbose {
                        println!("undecided {}", title());
                    }
                } else {
                    tally.wrong += 1;
                    if verbose {
                        println!("wrong {}", title());
                    }
                }
            }
        }
    }
    tallies
}

#[test]
#[ignore = "needs JSON_SCHEMA_TEST_SUITE"]
fn the_suite_finds_no_wrong_verdict() {
    let root = PathBuf::from(std::env::var_os("JSON_SCHEMA_TEST_SUITE").unwrap());
    for (folder, dialect) in [
        ("draft2020-12", Dialect::Draft2020),
        ("draft2019-09", Dialect::Draft2019),
        ("draft7", Dialect::Draft7),
        ("draft6", Dialect::Draft6),
        ("draft4", Dialect::Draft4),
    ] {
        let tallies = run(&root, folder, dialect);
        println!("{folder}: {tallies:#?}");
        let required = &tallies["required"];
        assert_eq!(required.wrong + required.undecided + required.unsupported, 0, "{folder}");
        assert_eq!(required.untold, 0, "{folder}");
    }
}
