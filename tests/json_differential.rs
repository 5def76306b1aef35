//! The tape reader against serde_json, on texts grown from seeds by random edits.
//!
//! Both must accept the same texts and see the same values. They may differ in exactly three
//! ways, all on the side of `JSON.parse`: the tape accepts lone surrogate escapes and numbers
//! beyond a double, and it refuses nothing for its depth here.
//!
//! `TOOLWIRE_FUZZ_SECONDS` runs it longer; `TOOLWIRE_FUZZ_SEED` makes another run.

// Tests fail by panicking, in their helpers too; this one says how much it compared.
#![allow(clippy::indexing_slicing, clippy::print_stdout)]

use std::time::{Duration, Instant};

use serde_json::Value as Reference;
use toolwire::json::{Fault, Kind, Limits, Progress, Reader, Tape, Value, read};

const LIMITS: Limits = Limits::depth(512);

const SEEDS: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"5"}],"isError":false}}"#,
    r#"[0,-0,1.5,-2e10,3E-7,123456789012345678901234567890,1e400,0.0000001]"#,
    r#"{"a":"\u00e9\ud83d\ude00\n\\\"\/","b":{"c":[[],{},null,true,false]}}"#,
    r#"["é€😀","plain ascii that is longer than eight bytes","\ud800","\udc00\ud800"]"#,
    r#"  { "__proto__" : { } , "__proto__" : [ 1 , 2 ] , "" : "" }  "#,
    "[[[[[[[[[[[[1]]]]]]]]]]]]",
];

const PIECES: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"0",
    b"-",
    b".",
    b"e",
    b"E+",
    b"\\u",
    b"\\ud83d",
    b"true",
    b"null",
    b"false",
    b" ",
    b"\n",
    b"\x00",
    b"\xff",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\xf0\x9f",
    b"1e999",
    b"\"a\":",
    b"\\n",
    b"\\x",
    b"aaaaaaaaaaaaaaaa",
    b"\xef\xbb\xbf",
    b"\t",
    b"00",
    b"9",
];

/// xorshift64*: enough to spread edits, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

fn edited(random: &mut Random) -> Vec<u8> {
    let mut text = SEEDS[random.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..random.below(6) {
        let at = random.below(text.len() + 1);
        match random.below(4) {
            0 => drop(text.splice(at..at, PIECES[random.below(PIECES.len())].iter().copied())),
            1 if at < text.len() => drop(text.remove(at)),
            2 if at < text.len() => text[at] = random.next() as u8,
            _ => {
                let end = (at + random.below(12)).min(text.len());
                let copy = text[at.min(end)..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, copy);
            }
        }
    }
    text
}

fn same(value: Value<'_>, reference: &Reference) -> bool {
    match (value.kind(), reference) {
        (Kind::Null, Reference::Null) => true,
        (Kind::Boolean, Reference::Bool(flag)) => value.as_bool() == Some(*flag),
        (Kind::Number, Reference::Number(number)) => {
            let ours = value.number().and_then(|text| text.parse::<f64>().ok());
            // serde_json rounds long decimals to within one unit in the last place only.
            ours.zip(number.as_f64()).is_some_and(|(a, b)| (a - b).abs() <= a.abs() * 1e-15)
        }
        (Kind::String, Reference::String(text)) => value.text().is_some_and(|it| it.eq_str(text)),
        (Kind::Array, Reference::Array(items)) => {
            value.len() as usize == items.len()
                && value.elements().zip(items).all(|(value, item)| same(value, item))
        }
        (Kind::Object, Reference::Object(members)) => {
            let names = value.members().map(|(name, _)| name.to_str().into_owned());
            names.collect::<std::collections::BTreeSet<_>>().len() == members.len()
                && members
                    .iter()
                    .all(|(name, item)| value.get(name).is_some_and(|value| same(value, item)))
        }
        _ => false,
    }
}

fn in_slices(text: &[u8], budget: usize) -> Result<Tape, Fault> {
    let mut reader = Reader::new(LIMITS);
    loop {
        if reader.run(text, budget)? == Progress::Done {
            return Ok(reader.finish());
        }
    }
}

#[test]
fn accepts_and_sees_what_serde_json_does() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("TOOLWIRE_FUZZ_SEED").unwrap_or(0x9E37_79B9_7F4A_7C15).max(1);
    let end = Instant::now() + Duration::from_secs(number("TOOLWIRE_FUZZ_SECONDS").unwrap_or(2));
    let mut random = Random(seed);
    let (mut runs, mut accepted) = (0_u64, 0_u64);
    while Instant::now() < end || runs < 20_000 {
        let text = edited(&mut random);
        let shown = String::from_utf8_lossy(&text).into_owned();
        let ours = read(&text, LIMITS);
        let reference = serde_json::from_slice::<Reference>(&text);
        match (&ours, &reference) {
            (Ok(tape), Ok(reference)) => {
                assert!(same(tape.root(&text), reference), "seed {seed}, run {runs}: {shown}");
                accepted += 1;
            }
            (Ok(tape), Err(error)) => assert!(
                tape.has_lone_surrogate() || tape.has_number_overflow(),
                "seed {seed}, run {runs}: only the tape accepts {shown} ({error})"
            ),
            (Err(fault), Ok(_)) => {
                panic!("seed {seed}, run {runs}: only serde_json accepts {shown} ({fault:?})")
            }
            (Err(_), Err(_)) => {}
        }
        let budget = 1 + random.below(9);
        let sliced = in_slices(&text, budget);
        assert_eq!(sliced.is_ok(), ours.is_ok(), "seed {seed}, run {runs}: {shown}");
        if let (Ok(sliced), Ok(whole)) = (sliced, ours) {
            assert_eq!(sliced.len(), whole.len(), "seed {seed}, run {runs}: {shown}");
            assert_eq!(sliced.depth(), whole.depth(), "seed {seed}, run {runs}: {shown}");
        }
        runs += 1;
    }
    println!("{runs} texts, {accepted} accepted by both");
    assert!(accepted > runs / 20, "the edits must leave enough texts well formed");
}
