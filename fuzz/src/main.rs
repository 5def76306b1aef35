//! Random schemas and values of all dialects: this project's verdicts against those of the crate
//! `jsonschema`.
//!
//!   cargo run --release --manifest-path fuzz/Cargo.toml -- COUNT [SEED] [DIALECT]
//!
//! COUNT is how many verdicts are compared, over all dialects or in the one named. Each schema is
//! compiled once and judges many values. A difference is either explained by a named rule of
//! `explained.rs`, which quotes the specification, or printed; then the program exits with 1.

mod explained;
mod generate;
mod random;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use toolwire::json::{Limits, read};
use toolwire::schema::{CompileOptions, Dialect, Program, Verdict, compile, judge};

use explained::{Case, Found};
use generate::Generator;
use random::Random;

/// Values judged by each schema.
const VALUES: u64 = 250;

/// Differences printed in full.
const SHOWN: usize = 20;

/// What the comparisons came to.
#[derive(Default)]
struct Counts {
    schemas: u64,
    /// Schemas that neither compiles.
    refused: u64,
    compared: u64,
    valid: u64,
    /// Differences by the rule that explains them.
    explained: BTreeMap<&'static str, u64>,
    unexplained: u64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some((count, seed, dialects)) = parse(&arguments) else {
        eprintln!("usage: toolwire-fuzz COUNT [SEED] [DIALECT]");
        return ExitCode::from(2);
    };
    println!("{count} verdicts, seed {seed}");
    let mut unexplained = 0;
    let share = count.div_ceil(dialects.len() as u64);
    for &dialect in &dialects {
        let start = Instant::now();
        let counts = compare(dialect, share, Random::new(seed ^ dialect as u64));
        let Counts { schemas, refused, compared, valid, explained, .. } = &counts;
        println!(
            "{}: {compared} verdicts by {schemas} schemas ({refused} refused by both), \
             {valid} valid, {} explained, {} unexplained, {:.0} s",
            dialect.name(),
            explained.values().sum::<u64>(),
            counts.unexplained,
            start.elapsed().as_secs_f64(),
        );
        for (rule, count) in explained {
            println!("  explained: {rule}: {count}");
        }
        unexplained += counts.unexplained;
    }
    if unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(arguments: &[&str]) -> Option<(u64, u64, Vec<Dialect>)> {
    let count = arguments.first()?.replace('_', "").parse().ok().filter(|&count| count > 0)?;
    let seed = match arguments.get(1) {
        Some(seed) => seed.parse().ok()?,
        None => SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos() as u64,
    };
    let dialects = match arguments.get(2) {
        Some(name) => vec![Dialect::from_name(name)?],
        None => Dialect::ALL.to_vec(),
    };
    Some((count, seed, dialects))
}

/// Compares so many verdicts of one dialect.
fn compare(dialect: Dialect, count: u64, mut random: Random) -> Counts {
    let mut counts = Counts::default();
    let options = CompileOptions { dialect, ..CompileOptions::default() };
    while counts.compared < count {
        let mut generator = Generator::new(&mut random, dialect);
        let schema = generator.root();
        counts.schemas += 1;
        let oracle = Oracle::new(&schema, dialect);
        let program = compile(schema.as_bytes(), &options).map_err(|error| error.reason);
        let (oracle, program) = match (oracle, program) {
            (Ok(oracle), Ok(program)) => (oracle, program),
            (Err(_), Err(_)) => {
                counts.refused += 1;
                continue;
            }
            (oracle, program) => {
                let found = Found {
                    ours: program.err().unwrap_or("compiles"),
                    theirs: oracle.err().unwrap_or_else(|| "compiles".to_owned()),
                };
                note(&mut counts, Case { dialect, schema: &schema, value: None }, found);
                continue;
            }
        };
        for _ in 0..VALUES.min(count - counts.compared) {
            let value = generator.value();
            counts.compared += 1;
            let ours = verdict(&program, &value);
            let theirs = oracle.verdict(&value);
            if ours == theirs {
                counts.valid += u64::from(ours == "valid");
            } else {
                let found = Found { ours, theirs: theirs.to_owned() };
                let case = Case { dialect, schema: &schema, value: Some(&value) };
                note(&mut counts, case, found);
            }
        }
    }
    counts
}

fn note(counts: &mut Counts, case: Case<'_>, found: Found) {
    if let Some(rule) = explained::rule(&case, &found) {
        *counts.explained.entry(rule).or_default() += 1;
        return;
    }
    counts.unexplained += 1;
    if counts.unexplained as usize <= SHOWN {
        println!("{}: ours {}, theirs {}", case.dialect.name(), found.ours, found.theirs);
        println!("  schema {}", case.schema);
        if let Some(value) = case.value {
            println!("  value  {value}");
        }
    }
}

fn verdict(program: &Program, value: &str) -> &'static str {
    let Ok(tape) = read(value.as_bytes(), Limits::depth(program.max_depth())) else {
        return "no JSON";
    };
    match judge(program, value.as_bytes(), &tape, 0).verdict {
        Verdict::Valid => "valid",
        Verdict::Invalid => "invalid",
        Verdict::Unknown => "unknown",
    }
}

/// The other implementation.
struct Oracle {
    validator: jsonschema::Validator,
}

impl Oracle {
    /// Compiles a schema; the error is the other implementation's.
    fn new(schema: &str, dialect: Dialect) -> Result<Self, String> {
        let draft = match dialect {
            Dialect::Draft4 => jsonschema::Draft::Draft4,
            Dialect::Draft6 => jsonschema::Draft::Draft6,
            Dialect::Draft7 => jsonschema::Draft::Draft7,
            Dialect::Draft2019 => jsonschema::Draft::Draft201909,
            Dialect::Draft2020 => jsonschema::Draft::Draft202012,
        };
        let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        let options = jsonschema::options()
            .with_draft(draft)
            .should_validate_formats(false)
            .offline();
        let validator = options.build(&schema).map_err(|error| error.to_string())?;
        Ok(Oracle { validator })
    }

    fn verdict(&self, value: &str) -> &'static str {
        match serde_json::from_str::<Value>(value) {
            Ok(value) if self.validator.is_valid(&value) => "valid",
            Ok(_) => "invalid",
            Err(_) => "no JSON",
        }
    }
}
