//! Our client against our server over a simulated pipe: bytes are split anywhere and wait, hosts act
//! in any order, answers come late or never, either side may vanish. Every request settles exactly
//! once, every call ends exactly once for its host, and what arrives is what was sent.
//!
//! `TOOLWIRE_FUZZ_SECONDS` runs it longer; `TOOLWIRE_FUZZ_SEED` makes another run.

// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_family = "wasm"))]

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;
use toolwire::session::ClientSession;
use toolwire::session::event::{Event, Handle, RpcFault, Settlement};
use toolwire::session::options::{CallOptions, Era, Profile, RequestOptions, SessionOptions};
use toolwire::session::server::ServerSession;
use toolwire::session::server::event::ServerEvent;
use toolwire::session::server::options::ServerOptions;

const TOOLS: [&str; 2] = [
    r#"[{"name":"echo","outputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]"#,
    r#"[{"name":"echo"},{"name":"more","inputSchema":{"type":"object","title":"é"}}]"#,
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        // xorshift64*: the same everywhere.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }
}

/// What a handle stands for.
#[derive(PartialEq, Debug)]
enum Asked {
    Echo(u64),
    Unknown,
    Other,
}

struct Pair {
    random: Random,
    client: ClientSession,
    server: ServerSession,
    now: f64,
    to_server: VecDeque<u8>,
    to_client: VecDeque<u8>,
    asked: HashMap<Handle, Asked>,
    settled: HashSet<Handle>,
    cancelled: HashSet<Handle>,
    /// Calls the server's host works on, with the number to echo.
    open: Vec<(u32, u64)>,
    ended: HashSet<u32>,
    client_closed: bool,
    server_closed: bool,
    vanishing: bool,
    next: u64,
    answered: u64,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed | 1);
        let mut options = SessionOptions::new("s", Profile::Contain);
        options.era = match random.below(3) {
            0 => Era::Legacy,
            1 => Era::Modern,
            _ => Era::Auto,
        };
        options.limits.queue_capacity = 1.0 + random.below(8) as f64;
        options.revisions = match random.below(3) {
            _ if options.era != Era::Legacy => Vec::new(),
            0 => Vec::new(),
            1 => vec!["2025-03-26".to_owned()],
            _ => vec!["2024-11-05".to_owned()],
        };
        let mut serving = ServerOptions::new("s", "1", TOOLS[0]);
        serving.limits.queue_capacity = 1.0 + random.below(8) as f64;
        serving.limits.max_open_calls = 1.0 + random.below(16) as f64;
        serving.limits.page_size = 1.0;
        if random.one_in(3) {
            serving.limits.call_timeout_ms = 20_000.0;
        }
        Pair {
            random,
            client: ClientSession::new(options).unwrap(),
            server: ServerSession::new(serving).unwrap(),
            now: 0.0,
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            asked: HashMap::new(),
            settled: HashSet::new(),
            cancelled: HashSet::new(),
            open: Vec::new(),
            ended: HashSet::new(),
            client_closed: false,
            server_closed: false,
            vanishing: false,
            next: 0,
            answered: 0,
        }
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=2 => self.deliver(true),
            3..=5 => self.deliver(false),
            6 => self.client.work(1 + self.random.below(50), self.now),
            7 => self.server.work(1 + self.random.below(50), self.now),
            8..=9 => self.take(true),
            10..=11 => self.take(false),
            12 => self.call(),
            13 => self.other(),
            14 => self.cancel(),
            15..=16 => self.respond(),
            17 => self.progress(),
            18 => {
                let tools = TOOLS[self.random.below(2) as usize];
                if self.random.one_in(8) {
                    self.server.set_tools(tools, self.now).unwrap();
                }
            }
            _ => {
                let far = self.random.one_in(40);
                self.now += self.random.below(if far { 60_000 } else { 20 }) as f64;
                self.client.advance(self.now);
                self.server.advance(self.now);
            }
        }
        self.listen();
    }

    fn deliver(&mut self, to_server: bool) {
        let some = 1 + self.random.below(300) as usize;
        let pipe = if to_server { &mut self.to_server } else { &mut self.to_client };
        let chunk: Vec<u8> = pipe.drain(..some.min(pipe.len())).collect();
        if chunk.is_empty() {
            return;
        }
        if to_server {
            self.server.receive(&chunk, self.now);
        } else {
            self.client.receive(&chunk, self.now);
        }
    }

    fn take(&mut self, of_client: bool) {
        if of_client {
            self.to_server.extend(self.client.take_output().into_iter().flatten());
        } else {
            self.to_client.extend(self.server.take_output().into_iter().flatten());
        }
    }

    fn call(&mut self) {
        if self.client_closed {
            return;
        }
        let known = !self.random.one_in(8);
        let name = if known { "echo" } else { "nothing" };
        let n = self.next;
        self.next += 1;
        let arguments = Ok(format!("{{\"n\":{n}, \"s\":\"é\\u2028\"}}"));
        let handle =
            self.client.call_tool(name, arguments, CallOptions::default(), self.now).unwrap();
        self.asked.insert(handle, if known { Asked::Echo(n) } else { Asked::Unknown });
    }

    fn other(&mut self) {
        if self.client_closed {
            return;
        }
        let handle = match self.random.below(4) {
            0 => self.client.refresh_tools(self.now),
            1 => self.client.notify("notifications/x", None, self.now),
            which => {
                let method = if which == 2 { "ping" } else { "prompts/list" };
                let options = RequestOptions::default();
                self.client.request(method, None, options, self.now).unwrap()
            }
        };
        self.asked.insert(handle, Asked::Other);
    }

    fn cancel(&mut self) {
        if self.asked.is_empty() || !self.random.one_in(3) {
            return;
        }
        let handle = 1 + self.random.below(self.asked.len() as u64) as Handle;
        self.client.cancel(handle, None, self.now);
        self.cancelled.insert(handle);
    }

    fn respond(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let index = self.random.below(self.open.len() as u64) as usize;
        let (token, n) = self.open.swap_remove(index);
        let outcome = if self.random.one_in(6) {
            Err(RpcFault { code: -1, message: "no".to_owned(), data: None })
        } else {
            Ok(format!("{{\"content\":[],\"structuredContent\":{{\"n\":{n}}}}}"))
        };
        assert!(self.ended.insert(token), "call {token} ended twice");
        self.server.respond(token, outcome, self.now);
    }

    fn progress(&mut self) {
        if let Some(&(token, _)) = self.open.first() {
            let progress = self.random.below(1_000) as f64;
            self.server.progress(token, progress, None, Some("x".to_owned()), self.now);
        }
    }

    /// Looks at all that was said.
    fn listen(&mut self) {
        while let Some(event) = self.client.poll_event() {
            // A request made while the end still waited behind a line fails after it.
            let late = matches!(&event, Event::Settled { outcome: Err(_), .. });
            assert!(!self.client_closed || late, "after the end: {event:?}");
            match event {
                Event::Settled { handle, outcome } => {
                    assert!(self.settled.insert(handle), "{handle} settled twice");
                    match (&self.asked[&handle], outcome) {
                        (Asked::Echo(n), Ok(Settlement::Tool(tool))) => {
                            let result: Value = serde_json::from_str(&tool.json).unwrap();
                            assert_eq!(result["structuredContent"]["n"], *n);
                            self.answered += 1;
                        }
                        (Asked::Echo(_), Ok(other)) => panic!("{other:?}"),
                        (Asked::Unknown, Ok(other)) => panic!("{other:?}"),
                        _ => {}
                    }
                }
                Event::Diagnostic { code, .. } => {
                    let fine = [
                        "late_response",
                        "remote_error",
                        "unknown_progress_token",
                        "transport",
                        "stderr",
                        "repeated_cursor",
                        "catalog_truncated",
                    ];
                    assert!(self.vanishing || fine.contains(&code), "{code}");
                }
                // A pipe that closed on the probe: this host does not start the process again.
                Event::Respawn => self.client.close(self.now),
                Event::Closed { .. } => self.client_closed = true,
                _ => {}
            }
        }
        while let Some(event) = self.server.poll_event() {
            assert!(!self.server_closed, "after the end: {event:?}");
            match event {
                ServerEvent::Call(call) => {
                    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                    assert_eq!(arguments["s"], "é\u{2028}");
                    self.open.push((call.token, arguments["n"].as_u64().unwrap()));
                }
                ServerEvent::Cancelled { token } => {
                    // It may cross with an answer that waits behind a line.
                    self.open.retain(|(open, _)| *open != token);
                    self.ended.insert(token);
                }
                // Whoever vanishes leaves half a message behind.
                ServerEvent::Diagnostic { code, .. } => assert!(self.vanishing, "{code}"),
                ServerEvent::Closed { .. } => self.server_closed = true,
                _ => {}
            }
        }
    }

    /// Lets everything come to rest: all bytes arrive, all calls are answered.
    fn rest(&mut self) {
        for _ in 0..20_000 {
            let before = (self.settled.len(), self.to_server.len(), self.to_client.len());
            self.client.work(u64::MAX, self.now);
            self.server.work(u64::MAX, self.now);
            self.take(true);
            self.take(false);
            while !self.to_server.is_empty() {
                self.deliver(true);
            }
            while !self.to_client.is_empty() {
                self.deliver(false);
            }
            self.respond();
            self.listen();
            let busy = self.client.has_work()
                || self.server.has_work()
                || self.client.is_blocked()
                || self.server.is_blocked()
                || !self.open.is_empty()
                || before != (self.settled.len(), self.to_server.len(), self.to_client.len());
            if !busy && self.settled.len() == self.asked.len() {
                return;
            }
            if !busy {
                // What waits is a debounced refresh.
                self.now += 10.0;
                self.client.advance(self.now);
                self.server.advance(self.now);
            }
        }
        let missing: Vec<_> =
            self.asked.iter().filter(|(handle, _)| !self.settled.contains(handle)).collect();
        panic!("not settled: {missing:?}");
    }

    /// Somebody vanishes, in one of the ways a host can see it.
    fn vanish(&mut self) {
        self.vanishing = true;
        match self.random.below(4) {
            0 => self.client.close(self.now),
            1 => self.client.exited(Some(1), self.now),
            2 => self.client.end(self.now),
            _ => self.client.write_failed(self.now),
        }
        match self.random.below(3) {
            0 => self.server.end(self.now),
            1 => self.server.write_failed(self.now),
            _ => self.server.close(self.now),
        }
        self.listen();
        for _ in 0..1_000 {
            self.client.work(u64::MAX, self.now);
            self.server.work(u64::MAX, self.now);
            while self.server.take_output().is_some() {}
            while self.client.take_output().is_some() {}
            self.respond();
            self.now += 300.0;
            self.client.advance(self.now);
            self.server.advance(self.now);
            self.listen();
            if self.client_closed && self.server_closed {
                break;
            }
        }
        assert!(self.client_closed, "the client is {:?}", self.client.state());
        assert!(
            self.server_closed,
            "the server has work {}, is blocked {}, {} calls open",
            self.server.has_work(),
            self.server.is_blocked(),
            self.open.len()
        );
        for handle in self.asked.keys() {
            assert!(self.settled.contains(handle), "{handle} did not settle");
        }
    }
}

fn play(seed: u64) -> u64 {
    let mut pair = Pair::new(seed);
    pair.client.connect(0.0);
    let steps = 200 + pair.random.below(2_000);
    for _ in 0..steps {
        pair.step();
    }
    // Short handshakes may be cut off too.
    if pair.random.one_in(2) {
        pair.rest();
        assert!(pair.client_closed || pair.open.is_empty());
    }
    pair.vanish();
    pair.answered
}

#[test]
fn every_request_settles_once() {
    let base: u64 =
        std::env::var("TOOLWIRE_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let seconds: f64 = std::env::var("TOOLWIRE_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.0);
    let began = std::time::Instant::now();
    let (mut round, mut answered) = (0, 0);
    while round < 100 || began.elapsed().as_secs_f64() < seconds {
        let seed = base.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(round * 2 + 1);
        let calls = std::panic::catch_unwind(|| play(seed));
        answered += calls.unwrap_or_else(|_| panic!("seed {base}, round {round}"));
        round += 1;
    }
    // Most runs get through the handshake and have calls answered.
    assert!(answered > round, "{answered} calls in {round} runs");
}
