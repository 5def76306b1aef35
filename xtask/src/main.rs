//! The project's own commands: `cargo xtask build | test | peers | demo | bench | fuzz | www |
//! unicode`.
//!
//! Each does its own set-up and says what it is doing. Nothing here is published.

mod bench;
mod build;
mod demo;
mod fuzz;
mod idna;
mod npm;
mod peers;
mod process;
mod rival;
mod test;
mod tools;
mod tree;
mod unicode;
mod www;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  build   write the publishable npm package to pkg/; --quick for one that is larger and slower
  test    run every test: Rust, Node, packaging, then the browser
  peers   put the servers from PyPI and crates.io that tests connect to into target/peers
  demo    run the README's quickstart, then real MCP servers from npm
  bench   measure the package: benches/RESULTS.md; --quick is short
  fuzz    run the randomised tests for a minute each, or so many seconds as given;
          fuzz judge COUNT [SEED] compares verdicts with those of the crate jsonschema
  www     build the playground in www/ and serve it on localhost
  unicode write the Unicode tables of patterns: src/schema/pattern/unicode.bin
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["build"] => build::package().map(|_| ()),
        ["build", "--quick"] => build::quick_package().map(|_| ()),
        ["test"] => test::all(),
        ["peers"] => {
            peers::ensure();
            Ok(())
        }
        ["demo"] => demo::all(),
        ["bench", ref arguments @ ..] => bench::all(arguments),
        ["fuzz", "judge", ref arguments @ ..] => fuzz::judge(arguments),
        ["fuzz", ref arguments @ ..] => fuzz::all(arguments),
        ["www"] => www::serve(),
        ["unicode"] => unicode::write(),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nfailed: {failure}");
            ExitCode::FAILURE
        }
    }
}
