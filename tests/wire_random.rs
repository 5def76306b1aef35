//! Framing and classification against plain models of the rows, on bytes made at random.
//!
//! Frames are compared with a split of the whole stream (R41, R42), messages in `strict` with the
//! rows R43 to R49 read off a `serde_json` value. `TOOLWIRE_FUZZ_SECONDS` runs it longer;
//! `TOOLWIRE_FUZZ_SEED` makes another run.

// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use toolwire::wire::{Frame, LineReader, Message, Profile, Rules, classify_line, trim};

/// xorshift64*: enough to spread edits, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Calls `round` with one source of chance for two seconds, or as long as the settings say.
fn repeatedly(mut round: impl FnMut(&mut Random)) {
    let seed = setting("TOOLWIRE_FUZZ_SEED").unwrap_or(0x9E37_79B9_7F4A_7C15).max(1);
    let end = Instant::now() + Duration::from_secs(setting("TOOLWIRE_FUZZ_SECONDS").unwrap_or(2));
    let mut random = Random(seed);
    let mut rounds = 0_u64;
    while Instant::now() < end || rounds < 2_000 {
        round(&mut random);
        rounds += 1;
    }
    println!("{rounds} rounds from seed {seed}");
}

const PIECES: &[&[u8]] = &[
    b"\n",
    b"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"\r\r\n",
    b"a",
    b"{}",
    b" ",
    b"\t",
    b"\xef\xbb\xbf",
    b"\xc2\xa0",
    b"12345678",
    b"\xff\xfe",
    b"\xe2\x82\xac",
    b"\xf0\x9f\x98\x80",
    b"0123456789abcdef0123456789abcdef",
    b"\x0b",
];

/// Lines of a whole stream: how `contain` reads them, and how many are over the bound.
fn model(stream: &[u8], max: usize) -> (Vec<Vec<u8>>, u64) {
    let (mut lines, mut skipped) = (Vec::new(), 0);
    let mut at_start = true;
    for line in stream.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let first = std::mem::take(&mut at_start);
        if line.len() > max {
            skipped += 1;
            continue;
        }
        let line = if first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if !trim(line).is_empty() {
            lines.push(line.to_vec());
        }
    }
    (lines, skipped)
}

fn frames(
    stream: &[u8],
    max: usize,
    profile: Profile,
    cuts: &mut dyn FnMut() -> usize,
) -> (Vec<Vec<u8>>, u64, bool) {
    let mut reader = LineReader::new(max, profile);
    let mut rest = stream;
    let mut failed = false;
    while !rest.is_empty() && !failed {
        let (chunk, after) = rest.split_at(cuts().clamp(1, rest.len()));
        failed = reader.push(chunk).is_err();
        rest = after;
    }
    reader.end();
    let mut lines = Vec::new();
    while let Some(frame) = reader.next_frame() {
        if let Frame::Line(line) = frame {
            lines.push(line);
        }
    }
    (lines, reader.skipped(), failed)
}

#[test]
fn however_a_stream_is_cut_its_lines_are_those_of_the_whole() {
    repeatedly(|random| {
        let stream: Vec<u8> =
            (0..random.below(24)).flat_map(|_| random.pick(PIECES).to_vec()).collect();
        let max = 1 + random.below(40);
        let (lines, skipped) = model(&stream, max);
        let contained = frames(&stream, max, Profile::Contain, &mut || 1 + random.below(9));
        assert_eq!(contained, (lines.clone(), skipped, false), "{stream:?} at {max}");
        let whole = frames(&stream, max, Profile::Strict, &mut || usize::MAX);
        let byte_wise = frames(&stream, max, Profile::Strict, &mut || 1);
        assert_eq!(whole, byte_wise, "{stream:?} at {max}");
        assert_eq!(
            whole.2,
            skipped > 0,
            "strict ends at a line over the bound: {stream:?} at {max}"
        );
    });
}

const MEMBERS: &[&str] = &[
    r#""jsonrpc":"2.0""#,
    r#""jsonrpc":"2.0""#,
    r#""jsonrpc":"2.0""#,
    r#""jsonrpc":null"#,
    r#""jsonrpc":"1.0""#,
    r#""id":1"#,
    r#""id":1"#,
    r#""id":"1""#,
    r#""id":"01""#,
    r#""id":"x""#,
    r#""id":1.5"#,
    r#""id":null"#,
    r#""id":9007199254740993"#,
    r#""id":-3"#,
    r#""id":1e0"#,
    r#""method":"m""#,
    r#""method":7"#,
    r#""params":{}"#,
    r#""params":[]"#,
    r#""params":null"#,
    r#""result":{}"#,
    r#""result":null"#,
    r#""error":{"code":1,"message":"x"}"#,
    r#""error":{"code":1.5,"message":"x"}"#,
    r#""error":{"message":"x"}"#,
    r#""error":null"#,
    r#""other":[1,{}]"#,
];

fn safe(value: &Value) -> bool {
    value
        .as_f64()
        .is_some_and(|number| number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0)
}

fn canonical(text: &str) -> bool {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits
        && (text == "0" || !text.starts_with('0'))
        && text.parse::<u64>().is_ok_and(|it| it < 1 << 53)
}

/// The rows R43 to R49, in order, on an object that was read without them.
fn rows(object: &Map<String, Value>) -> &'static str {
    let Some(version) = object.get("jsonrpc") else { return "noise" };
    if version != "2.0" {
        return "version";
    }
    let (id, result, error) = (object.get("id"), object.get("result"), object.get("error"));
    if let Some(method) = object.get("method") {
        return match (method, object.get("params"), id) {
            (method, _, _) if !method.is_string() => "method_type",
            _ if result.is_some() || error.is_some() => "method_with_outcome",
            (_, Some(params), _) if !params.is_object() => "params_type",
            (_, _, None) => "notification",
            (_, _, Some(id)) if id.is_string() || safe(id) => "request",
            _ => "request_id",
        };
    }
    let good = |error: &Value| {
        error["code"].as_f64().is_some_and(|code| code.fract() == 0.0)
            && error["message"].is_string()
    };
    match id {
        None => "reply_no_id",
        // A null id is the fault only where the body has none of its own.
        Some(Value::Null) => match (result, error) {
            (None, None) => "reply_neither",
            (Some(_), Some(_)) => "reply_both",
            (Some(_), None) => "reply_id",
            (None, Some(error)) if good(error) => "uncorrelated",
            _ => "reply_error_object",
        },
        Some(id) if !safe(id) && !id.as_str().is_some_and(canonical) => "reply_id",
        Some(_) => match (result, error) {
            (None, None) => "reply_neither",
            (Some(_), Some(_)) => "reply_both",
            (Some(_), None) => "result",
            (None, Some(error)) if good(error) => "error",
            _ => "reply_error_object",
        },
    }
}

fn classified(line: &str, profile: Profile) -> &'static str {
    let rules = Rules { profile, lenient_ids: false };
    classify_line(line.as_bytes(), rules, u32::MAX, |read| match read {
        Err(reason) => reason,
        Ok(read) => match read.message {
            Message::Noise => "noise",
            Message::Request { .. } => "request",
            Message::Notification { .. } => "notification",
            Message::Result { .. } => "result",
            Message::Error { .. } => "error",
            Message::Uncorrelated(_) => "uncorrelated",
            Message::Batch(_) => "batch",
            Message::Malformed(malformed) => malformed.reason,
        },
    })
}

#[test]
fn strict_reads_messages_as_the_rows_say() {
    repeatedly(|random| {
        let members: Vec<&str> = (0..random.below(6)).map(|_| random.pick(MEMBERS)).collect();
        let mut line = format!("{{{}}}", members.join(","));
        if random.below(8) == 0 {
            let at = random.below(line.len());
            line.remove(at);
        }
        let expected = match serde_json::from_str(&line) {
            Ok(Value::Object(object)) => rows(&object),
            _ => "noise",
        };
        let found = classified(&line, Profile::Strict);
        assert_eq!(found, expected, "{line}");
        // In contain a line is never more than its own fault, and a message without one is the same.
        let contained = classified(&line, Profile::Contain);
        if ["request", "notification", "noise"].contains(&expected)
            && contained != "duplicate_member"
        {
            assert_eq!(contained, expected, "{line}");
        }
    });
}
