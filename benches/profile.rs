//! Runs one piece of the core again and again, for profilers that count instructions:
//!
//! ```text
//! cargo build --profile profiling --example profile
//! valgrind --tool=callgrind target/profiling/examples/profile read LINE COUNT
//! ```
//!
//! `read FILE COUNT`, `judge SCHEMA FILE COUNT`, `session SCHEMA LINE COUNT` (the line answers id 2)
//! and `compile FILE COUNT` (a JSON array of schemas, or of objects with a member `schema`).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a program for measuring fails by stopping"
)]
#![cfg_attr(target_family = "wasm", allow(unused))]

use std::hint::black_box;

use toolwire::json::{self, Limits};
use toolwire::schema::{self, CompileOptions, Verdict};
use toolwire::session::ClientSession;
use toolwire::session::event::{Event, Settlement};
use toolwire::session::options::{Era, SessionOptions};
use toolwire::wire::Profile;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["read", file, count] => read(&bytes(file), number(count)),
        ["judge", schema, file, count] => judge(&bytes(schema), &bytes(file), number(count)),
        ["session", schema, line, count] => session(schema, &bytes(line), number(count)),
        ["compile", file, count] => compile(&bytes(file), number(count)),
        _ => panic!("read FILE N | judge SCHEMA FILE N | session SCHEMA LINE N | compile FILE N"),
    }
}

fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(file).unwrap()
}

fn number(text: &str) -> usize {
    text.parse().unwrap()
}

fn read(text: &[u8], count: usize) {
    for _ in 0..count {
        black_box(json::read(black_box(text), Limits::depth(512)).ok().unwrap());
    }
}

/// Judges the member `result.structuredContent` if there is one, else the whole text.
fn judge(schema: &[u8], text: &[u8], count: usize) {
    let program = schema::compile(schema, &CompileOptions::default()).ok().unwrap();
    let tape = json::read(text, Limits::depth(512)).ok().unwrap();
    let root = tape.root(text);
    let value = root.get("result").and_then(|result| result.get("structuredContent"));
    let position = value.unwrap_or(root).position();
    for _ in 0..count {
        let outcome = schema::judge(&program, black_box(text), &tape, position);
        assert!(outcome.verdict == Verdict::Valid);
    }
}

fn session(schema: &str, line: &[u8], count: usize) {
    let mut options = SessionOptions::new("bench", Profile::Contain);
    // The hello below is that of a handshake.
    options.era = Era::Legacy;
    let schema = std::fs::read_to_string(schema).unwrap();
    options.tools =
        Some(format!(r#"[{{"name":"query","inputSchema":{{}},"outputSchema":{schema}}}]"#));
    let mut session = ClientSession::new(options).ok().unwrap();
    session.connect(0.0);
    session.take_output();
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}}"#;
    session.receive(format!("{hello}\n").as_bytes(), 0.0);
    session.work(u64::MAX, 0.0);
    while session.take_output().is_some() {}
    while session.poll_event().is_some() {}
    let after_id = line.iter().position(|&byte| byte == b',').unwrap() + 1;
    let tail = line[after_id..].iter().position(|&byte| byte == b',').unwrap() + after_id;
    for _ in 0..count {
        let made = session.call_tool("query", Ok("{}".to_owned()), Default::default(), 0.0);
        assert!(made.is_ok());
        let request = String::from_utf8(session.take_output().unwrap()).unwrap();
        let id = request.split_once("\"id\":").unwrap().1;
        let id: String = id.chars().take_while(char::is_ascii_digit).collect();
        let mut reply = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}").into_bytes();
        reply.extend_from_slice(&line[tail..]);
        reply.push(b'\n');
        answer(&mut session, &reply);
    }
}

/// What a profile is to show: one reply from its bytes to its event.
#[inline(never)]
fn answer(session: &mut ClientSession, reply: &[u8]) {
    session.receive(reply, 0.0);
    while session.has_work() {
        session.work(u64::MAX, 0.0);
    }
    let mut settled = false;
    while let Some(event) = session.poll_event() {
        if let Event::Settled { outcome: Ok(Settlement::Tool(tool)), .. } = &event {
            assert_eq!(tool.verdict, "valid");
            settled = true;
        }
        black_box(event);
    }
    assert!(settled);
}

fn compile(file: &[u8], count: usize) {
    let tape = json::read(file, Limits::depth(512)).ok().unwrap();
    let schemas: Vec<&str> = tape
        .root(file)
        .elements()
        .map(|element| element.get("schema").unwrap_or(element).raw())
        .collect();
    for index in 0..count {
        let text = schemas[index % schemas.len()].as_bytes();
        assert!(schema::compile(black_box(text), &CompileOptions::default()).is_ok());
    }
}
