//! The crate's Rust interface, from bytes to verdicts and results, natively and in a browser.
//!
//! The same functions are `#[test]`s natively and, through `wasm-pack test --headless --chrome`,
//! `#[wasm_bindgen_test]`s in Chromium, so that both builds of the core are held to one table.

// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use support::{contain, run};
use toolwire::json::{Limits, read};
use toolwire::schema::{CompileOptions, Verdict, compile, judge};
use toolwire::session::event::Settlement;
use toolwire::wire::{Frame, LineReader, Profile};

#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[cfg(target_family = "wasm")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

/// The verdict, and the instance paths of the violations.
fn verdict(schema: &str, value: &str) -> (Verdict, Vec<String>) {
    let program = compile(schema.as_bytes(), &CompileOptions::default()).unwrap();
    let tape = read(value.as_bytes(), Limits::depth(512)).unwrap();
    let outcome = judge(&program, value.as_bytes(), &tape, 0);
    let paths = outcome.violations.into_iter().map(|violation| violation.instance_path);
    (outcome.verdict, paths.collect())
}

#[test]
fn values_are_judged_on_the_digits_that_arrived() {
    let schema = r#"{"const": 9007199254740993}"#;
    assert_eq!(verdict(schema, "9007199254740993").0, Verdict::Valid);
    assert_eq!(verdict(schema, "9007199254740992").0, Verdict::Invalid);
    assert_eq!(verdict(schema, "9007199254740993.0").0, Verdict::Valid);
    let cents = r#"{"multipleOf": 0.01}"#;
    assert_eq!(verdict(cents, "19.99").0, Verdict::Valid);
    assert_eq!(verdict(cents, "19.999").0, Verdict::Invalid);
}

#[test]
fn violations_say_where() {
    let schema = r##"{
        "$defs": {"row": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}},
        "items": {"$ref": "#/$defs/row"}
    }"##;
    assert_eq!(verdict(schema, r#"[{"n": 1}, {"n": 2.0}]"#), (Verdict::Valid, vec![]));
    let (verdict, paths) = verdict(schema, r#"[{"n": "1"}, {}]"#);
    assert_eq!((verdict, paths), (Verdict::Invalid, vec!["/0/n".to_owned(), "/1".to_owned()]));
}

#[test]
fn lines_are_found_wherever_the_bytes_are_split() {
    let text = "\u{feff}{\"a\":\"é\"}\r\n \t\n[1]\nlong line that does not fit\nlast";
    for size in 1..=text.len() {
        let mut reader = LineReader::new(16, Profile::Contain);
        for piece in text.as_bytes().chunks(size) {
            reader.push(piece).unwrap();
        }
        reader.end();
        let frames = std::iter::from_fn(|| reader.next_frame());
        let lines: Vec<_> = frames
            .filter_map(|frame| match frame {
                Frame::Line(line) => Some(String::from_utf8(line).unwrap()),
                Frame::Bom | Frame::TooLong(_) => None,
            })
            .collect();
        assert_eq!(lines, ["{\"a\":\"é\"}", "[1]", "last"], "in pieces of {size}");
        assert_eq!(reader.skipped(), 1);
    }
}

const TOOLS: &str = r#"[{
    "name": "count",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object", "properties": {"words": {"type": "integer"}}, "required": ["words"]}
}]"#;

#[test]
fn a_session_delivers_what_it_judged() {
    // `run` plays the script in whole chunks, byte by byte and in slices of one step.
    run(contain(), |session| {
        quick_handshake(session);
        let handle = session.call("count", r#"{"text":"a b"}"#);
        session.reply(next_id(session), r#"{"content":[],"structuredContent":{"words":2}}"#);
        let Ok(Settlement::Tool(outcome)) = session.outcome(handle) else { panic!("no result") };
        assert!(outcome.json.contains(r#""words":2"#));
    });
}

#[test]
fn a_session_rejects_what_breaks_the_tools_own_schema() {
    run(contain(), |session| {
        quick_handshake(session);
        let handle = session.call("count", "{}");
        session.reply(next_id(session), r#"{"content":[],"structuredContent":{"words":"many"}}"#);
        let error = session.outcome(handle).unwrap_err();
        assert_eq!(error.code().as_str(), "invalid_response");
        assert!(!error.message().contains("many"));
        // The next call is not affected.
        let handle = session.call("count", "{}");
        session.reply(next_id(session), r#"{"content":[],"structuredContent":{"words":1}}"#);
        assert!(session.outcome(handle).is_ok());
    });
}

#[test]
fn a_malformed_reply_fails_its_request_and_no_other() {
    run(contain(), |session| {
        quick_handshake(session);
        let first = session.call("count", "{}");
        let id = next_id(session);
        let second = session.call("count", "{}");
        session.line(&format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#));
        assert_eq!(session.outcome(first).unwrap_err().server(), Some("s"));
        assert!(session.is_open(second));
        session.reply(next_id(session), r#"{"content":[],"structuredContent":{"words":1}}"#);
        assert!(session.outcome(second).is_ok());
    });
}

/// The id of the latest request that was sent.
fn next_id(session: &support::Driver) -> u32 {
    let frames = session.frames();
    let ids = frames.iter().filter_map(|frame| frame["id"].as_u64());
    u32::try_from(ids.max().unwrap()).unwrap()
}

/// Answers whatever the session asks until it is ready.
fn quick_handshake(session: &mut support::Driver) {
    session.connect();
    let mut answered = 0;
    while answered < session.sent.len() {
        let frame = session.frames().swap_remove(answered);
        answered += 1;
        let Some(id) = frame["id"].as_u64() else { continue };
        let id = u32::try_from(id).unwrap();
        match frame["method"].as_str() {
            Some("initialize") => session.reply(
                id,
                r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}"#,
            ),
            Some("tools/list") => session.reply(id, &format!(r#"{{"tools":{}}}"#, TOOLS.replace('\n', " "))),
            _ => session.line(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#
            )),
        }
    }
    assert_eq!(session.tools(), ["count"]);
}
