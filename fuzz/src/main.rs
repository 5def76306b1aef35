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
mod shrink;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use toolwire::json::{Limits, read};
use toolwire::schema::{CompileOptions, Dialect, Program, SchemaError, Verdict, compile, judge};

use explained::{Case, Found};
use generate::Generator;
use random::Random;
use shrink::shrink;

/// Values judged by each schema.
const VALUES: u64 = 250;

/// Differences printed in full.
const SHOWN: usize = 10;

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
    while counts.compared < count {
        let mut generator = Generator::new(&mut random, dialect);
        let schema = generator.root();
        counts.schemas += 1;
        let both = Both::new(&schema, dialect);
        if both.ours.is_err() && both.theirs.is_err() {
            counts.refused += 1;
            continue;
        }
        if let Some(found) = both.refusal() {
            note(&mut counts, &both, &schema, None, found);
            continue;
        }
        for _ in 0..VALUES.min(count - counts.compared) {
            let value = generator.value();
            counts.compared += 1;
            let (ours, theirs) = both.verdicts(&value);
            if ours == theirs {
                counts.valid += u64::from(ours == "valid");
            } else {
                let found = Found { ours, theirs: theirs.to_owned() };
                note(&mut counts, &both, &schema, Some(&value), found);
            }
        }
    }
    counts
}

fn note(counts: &mut Counts, both: &Both, schema: &str, value: Option<&str>, found: Found) {
    let dialect = both.dialect;
    if let Some(rule) = both.rule(schema, value, &found) {
        *counts.explained.entry(rule).or_default() += 1;
        return;
    }
    counts.unexplained += 1;
    if counts.unexplained as usize > SHOWN {
        return;
    }
    println!("{}: ours {}, theirs {}", dialect.name(), found.ours, found.theirs);
    let still = |schema: &str, value: Option<&str>| {
        let both = Both::new(schema, dialect);
        let now = match value {
            None => both.refusal(),
            Some(value) => {
                let (ours, theirs) = both.verdicts(value);
                Some(Found { ours, theirs: theirs.to_owned() })
            }
        };
        now.is_some_and(|now| {
            let same = now.ours == found.ours && (value.is_none() || now.theirs == found.theirs);
            same && both.rule(schema, value, &now).is_none()
        })
    };
    let mut value = value.map(str::to_owned);
    let mut schema = shrink(schema, |schema| still(schema, value.as_deref()));
    if let Some(large) = value {
        let small = shrink(&large, |value| still(&schema, Some(value)));
        schema = shrink(&schema, |schema| still(schema, Some(&small)));
        value = Some(small);
    }
    println!("  schema {schema}");
    if let Some(value) = value {
        println!("  value  {value}");
    }
}

/// A schema compiled by both.
struct Both {
    dialect: Dialect,
    ours: Result<Program, SchemaError>,
    theirs: Result<Oracle, String>,
}

impl Both {
    fn new(schema: &str, dialect: Dialect) -> Self {
        let options = CompileOptions { dialect, ..CompileOptions::default() };
        let ours = compile(schema.as_bytes(), &options);
        Both { dialect, ours, theirs: Oracle::new(schema, dialect) }
    }

    /// What they came to, if only one compiled the schema.
    fn refusal(&self) -> Option<Found> {
        let (ours, theirs) = match (&self.ours, &self.theirs) {
            (Ok(_), Err(theirs)) => ("compiles", theirs.clone()),
            (Err(ours), Ok(_)) => (ours.reason, "compiles".to_owned()),
            _ => return None,
        };
        Some(Found { ours, theirs })
    }

    fn verdicts(&self, value: &str) -> (&'static str, &'static str) {
        match (&self.ours, &self.theirs) {
            (Ok(ours), Ok(theirs)) => (verdict(ours, value), theirs.verdict(value)),
            _ => ("no program", "no program"),
        }
    }

    /// The rule that explains a difference.
    fn rule(&self, schema: &str, value: Option<&str>, found: &Found) -> Option<&'static str> {
        let agree = |schema: &str| {
            let both = Both::new(schema, self.dialect);
            let (ours, theirs) = both.verdicts(value.unwrap_or("null"));
            both.ours.is_ok() && both.theirs.is_ok() && ours == theirs
        };
        let case = Case {
            dialect: self.dialect,
            schema,
            agree: &agree,
            unused: self.ours.as_ref().is_ok_and(|program| {
                program.problems().iter().any(|problem| problem.code == "unresolved_ref")
            }),
            target: self.ours.as_ref().err().and_then(|error| error.target.clone()),
        };
        explained::rule(&case, found)
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
        let options =
            jsonschema::options().with_draft(draft).should_validate_formats(false).offline();
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
