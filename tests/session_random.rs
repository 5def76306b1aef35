//! Scripts put together at random: whatever the server and the host do, every handle settles
//! exactly once, and how bytes and work are cut changes nothing.
//!
//! `TOOLWIRE_FUZZ_SECONDS` runs it longer; `TOOLWIRE_FUZZ_SEED` makes another run.

// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::HashMap;

use support::{Driver, auto, contain, run, strict};
use toolwire::error::{Code, Error};
use toolwire::session::event::Event;
use toolwire::session::options::{SessionOptions, Validation};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// What lines are made of; `#` stands for a small number, so that ids often fit.
const LINES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":#,"result":{"content":[]}}"#,
    r#"{"jsonrpc":"2.0","id":#,"result":{"content":[{"type":"text","text":"é"},7],"structuredContent":{"n":#}}}"#,
    r#"{"jsonrpc":"2.0","id":#,"result":{"structuredContent":{"n":"x","n":1}}}"#,
    r#"{"jsonrpc":"2.0","id":#,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"properties":{"n":{"type":"integer"}}}}],"nextCursor":"c#"}}"#,
    r#"{"jsonrpc":"2.0","id":#,"result":{"tools":[{"name":"b","inputSchema":{"type":"object"},"outputSchema":{"properties":7}},null]}}"#,
    r#"{"jsonrpc":"2.0","id":#,"result":null,"error":null}"#,
    r#"{"jsonrpc":"2.0","id":#,"error":{"code":-3260#,"message":"Unknown tool"}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
    r##"{"jsonrpc":"2.0","id":"#","result":{}}"##,
    r#"{"jsonrpc":"2.0","id":#,"id":#,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":#}"#,
    r#"{"jsonrpc":"1.0","id":#,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":#,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":#,"method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":#,"progress":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":#}}"#,
    r#"[{"jsonrpc":"2.0","id":#,"result":{"content":[]}},{"jsonrpc":"2.0","id":#,"method":"ping"}]"#,
    r#"{"jsonrpc":"2.0","id":#,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}}"#,
    r#"{"jsonrpc":"2.0","id":#,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":#,"error":{"code":-32022,"message":"v","data":{"supported":["2026-07-28"]}}}"#,
    r#"{"jsonrpc":"2.0","id":#,"result":{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}},"requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":#,"result":{"resultType":"input_required","requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":#,"result":{"resultType":"odd"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":#}}}"#,
    "log line",
    "{",
    "",
];

#[derive(Clone, Debug)]
enum Action {
    Connect,
    Bytes(Vec<u8>),
    Call(bool),
    Request,
    Notify,
    Refresh,
    Cancel(u32),
    Respond(u32),
    Tick(f64),
    Stall,
    Flow,
    Stderr,
    StderrEnded,
    End,
    Exited,
    WriteFailed,
}

/// How the server answers at first.
#[derive(Clone, Copy)]
enum Opening {
    Legacy,
    Modern,
    /// Not at all: what comes of it is left to the script.
    Open,
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        // xorshift64*: the same everywhere.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    fn line(&mut self) -> Vec<u8> {
        let template = LINES[self.below(LINES.len() as u64) as usize];
        let mut line: Vec<u8> = Vec::new();
        for byte in template.bytes() {
            match byte {
                b'#' => line.extend_from_slice(self.below(9).to_string().as_bytes()),
                byte => line.push(byte),
            }
        }
        if self.below(12) == 0 && !line.is_empty() {
            let at = self.below(line.len() as u64) as usize;
            line[at] = [b'"', b'}', b',', 0xFF, b'\n', b'7'][self.below(6) as usize];
        }
        if self.below(30) == 0 {
            line.extend_from_slice(&[b'y'; 600]);
        }
        line.push(b'\n');
        line
    }

    fn action(&mut self) -> Action {
        match self.below(60) {
            0..25 => Action::Bytes(self.line()),
            25..28 => {
                let mut bytes = self.line();
                bytes.extend(self.line());
                bytes.truncate(bytes.len().saturating_sub(self.below(5) as usize));
                Action::Bytes(bytes)
            }
            28..38 => Action::Call(self.below(10) > 0),
            38..40 => Action::Request,
            40..42 => Action::Notify,
            42..44 => Action::Refresh,
            44..48 => Action::Cancel(1 + self.below(12) as u32),
            48..50 => Action::Respond(1 + self.below(4) as u32),
            50..53 => Action::Tick(self.below(60) as f64),
            53 => Action::Stall,
            54 => Action::Flow,
            55 => Action::Connect,
            56 => Action::Stderr,
            57 if self.below(2) == 0 => Action::StderrEnded,
            58 if self.below(4) == 0 => Action::End,
            59 if self.below(4) == 0 => Action::Exited,
            _ if self.below(40) == 0 => Action::WriteFailed,
            _ => Action::Bytes(self.line()),
        }
    }

    fn options(&mut self, opening: Opening) -> SessionOptions {
        let mut options = match opening {
            Opening::Legacy if self.below(3) == 0 => strict(),
            Opening::Legacy => contain(),
            Opening::Modern | Opening::Open => auto(),
        };
        options.capabilities = r#"{"roots":{}}"#.to_owned();
        options.check_arguments = self.below(4) == 0;
        options.limits.queue_capacity = 1.0 + self.below(4) as f64;
        options.limits.max_frame_bytes = 500.0;
        options.limits.request_timeout_ms = 50.0;
        options.limits.handshake_timeout_ms = 80.0;
        options.limits.probe_hedge_ms = 30.0;
        options.limits.probe_timeout_ms = 70.0;
        options.limits.max_input_rounds = 3.0;
        if self.below(2) == 0 {
            options.validation = Validation::Report;
        }
        options
    }
}

fn play(driver: &mut Driver, actions: &[Action], opening: Opening, version: &str) -> u32 {
    driver.connect();
    match opening {
        Opening::Legacy => driver.reply(
            1,
            &format!(r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}}}}"#),
        ),
        Opening::Modern => driver.reply(
            1,
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}"#,
        ),
        Opening::Open => {}
    }
    if !matches!(opening, Opening::Open) {
        driver.reply(2, r#"{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"properties":{"n":{"type":"integer"}}}}]}"#);
    }
    let mut last = 0;
    for action in actions {
        let made = match action.clone() {
            Action::Connect => {
                driver.connect();
                continue;
            }
            Action::Bytes(bytes) => {
                driver.bytes(&bytes);
                continue;
            }
            Action::Call(true) => driver.call("a", r#"{"q":1}"#),
            Action::Call(false) => {
                driver.call_refused("a", Error::new(Code::ProtocolError, "args_not_json"))
            }
            Action::Request => driver.request("tools/list", Some("{}")),
            Action::Notify => driver.notify("n"),
            Action::Refresh => driver.refresh(),
            Action::Cancel(handle) => {
                driver.cancel(handle);
                continue;
            }
            Action::Respond(token) => {
                driver.respond(token, Ok("{}"));
                continue;
            }
            Action::Tick(ms) => {
                driver.tick(ms);
                continue;
            }
            Action::Stall => {
                driver.stall();
                continue;
            }
            Action::Flow => {
                driver.flow();
                continue;
            }
            Action::Stderr => {
                driver.stderr("oops\n");
                continue;
            }
            Action::StderrEnded => {
                driver.stderr_ended();
                continue;
            }
            Action::End => {
                driver.end();
                continue;
            }
            Action::Exited => {
                driver.exited(Some(1));
                continue;
            }
            Action::WriteFailed => {
                driver.write_failed();
                continue;
            }
        };
        assert_eq!(made, last + 1);
        last = made;
    }
    driver.close();
    last
}

fn check(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let opening = match random.below(4) {
        0 | 1 => Opening::Legacy,
        2 => Opening::Modern,
        _ => Opening::Open,
    };
    let options = random.options(opening);
    let version = if random.below(2) == 0 { "2025-03-26" } else { "2025-06-18" };
    let count = 5 + random.below(60);
    let actions: Vec<Action> = (0..count).map(|_| random.action()).collect();
    let made = std::cell::Cell::new(0);
    let driver = run(options, |driver| made.set(play(driver, &actions, opening, version)));
    let mut settled: HashMap<u32, u32> = HashMap::new();
    let mut closed = 0;
    for event in &driver.events {
        match event {
            Event::Settled { handle, .. } => *settled.entry(*handle).or_default() += 1,
            Event::Closed { .. } => closed += 1,
            _ => {}
        }
    }
    for handle in 1..=made.get() {
        assert_eq!(settled.get(&handle), Some(&1), "seed {seed}, handle {handle}, {actions:#?}");
    }
    assert_eq!((settled.len() as u32, closed), (made.get(), 1), "seed {seed}");
    assert_eq!(driver.session.next_deadline(), None, "seed {seed}");
}

#[test]
fn every_handle_settles_once_however_the_work_is_cut() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("TOOLWIRE_FUZZ_SEED").unwrap_or(1);
    let Some(seconds) = number("TOOLWIRE_FUZZ_SECONDS") else {
        return (first..first + 400).for_each(check);
    };
    let start = std::time::Instant::now();
    let mut seed = first;
    while start.elapsed().as_secs() < seconds {
        check(seed);
        seed += 1;
    }
}
