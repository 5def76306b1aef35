//! Where a session stands is said by its inputs and the pieces of work done: a session brought there
//! anew, whatever slices brought the first one, goes on alike. Recordings rest on it.

// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::panic)]

use toolwire::session::ClientSession;
use toolwire::session::options::{CallOptions, Profile, RequestOptions, SessionOptions};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const CATALOG: &str = r#"{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"properties":{"n":{"items":{"type":"integer"}}}}}]}"#;

/// What a script does to a session.
#[derive(Clone, Debug)]
enum Step {
    Work(u64),
    Take,
    Line(String),
    Call,
    Ping,
    Stderr,
    Cancel(u32),
    Advance(f64),
    Close,
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

    fn step(&mut self) -> Step {
        let id = 1 + self.below(8);
        let reply = |result: &str| {
            Step::Line(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"))
        };
        match self.below(20) {
            0..7 => Step::Work(1 + self.below(40)),
            7..9 => Step::Take,
            9 | 10 => reply(CATALOG),
            11 => reply(r#"{"content":[],"structuredContent":{"n":[1,2,3,4,5,6,7,8,"x"]}}"#),
            12 => Step::Line(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")),
            13 => Step::Line("[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"},7]\n".to_owned()),
            14 | 15 => Step::Call,
            16 => Step::Ping,
            17 => Step::Stderr,
            18 if self.below(3) > 0 => Step::Cancel(1 + self.below(4) as u32),
            19 if self.below(20) == 0 => Step::Close,
            _ => Step::Advance(self.below(30) as f64),
        }
    }
}

/// Gives an input, if it is one.
fn give(session: &mut ClientSession, step: &Step, now: f64, output: &mut Vec<Vec<u8>>) {
    match step {
        Step::Work(_) => {}
        Step::Take => output.extend(session.take_output()),
        Step::Line(line) => session.receive(line.as_bytes(), now),
        Step::Call => {
            let options = CallOptions::default();
            session.call_tool("a", Ok("{}".to_owned()), options, now).unwrap();
        }
        Step::Ping => {
            session.request("ping", None, RequestOptions::default(), now).unwrap();
        }
        Step::Stderr => session.stderr(b"oops\n", now),
        Step::Cancel(handle) => session.cancel(*handle, None, now),
        Step::Advance(_) => session.advance(now),
        Step::Close => session.close(now),
    }
}

fn options(random: &mut Random) -> SessionOptions {
    let profile = if random.below(3) == 0 { Profile::Strict } else { Profile::Contain };
    let mut options = SessionOptions::new("s", profile);
    options.limits.queue_capacity = 1.0 + random.below(3) as f64;
    options.limits.request_timeout_ms = 200.0;
    options.revisions = vec!["2025-03-26".to_owned()];
    options
}

fn events(session: &mut ClientSession) -> Vec<String> {
    std::iter::from_fn(|| session.poll_event()).map(|event| format!("{event:?}")).collect()
}

/// Gives how many inputs came while work was left.
fn check(seed: u64) -> usize {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let options = options(&mut random);
    let initialized = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}}}}"#;
    let mut steps = vec![Step::Take, Step::Line(format!("{initialized}\n"))];
    steps.extend((0..random.below(120)).map(|_| random.step()));
    let mut live = ClientSession::new(options.clone()).unwrap();
    live.connect(0.0);
    let (mut now, mut output, mut recorded) = (0.0, Vec::new(), Vec::new());
    for step in &steps {
        match step {
            Step::Work(slice) => live.work(*slice, now),
            step => {
                if let Step::Advance(ms) = step {
                    now += ms;
                }
                recorded.push((live.has_work().then(|| live.work_done()), step.clone(), now));
                give(&mut live, step, now, &mut output);
            }
        }
    }
    live.work_until(u64::MAX, u64::MAX);
    let mut again = ClientSession::new(options).unwrap();
    again.connect(0.0);
    let mut taken = Vec::new();
    for (done, step, now) in &recorded {
        again.work_until(done.unwrap_or(u64::MAX), u64::MAX);
        assert_eq!(*done, again.has_work().then(|| again.work_done()), "seed {seed}, {step:?}");
        give(&mut again, step, *now, &mut taken);
    }
    again.work_until(u64::MAX, u64::MAX);
    assert_eq!(taken, output, "seed {seed}");
    assert_eq!(events(&mut again), events(&mut live), "seed {seed}");
    recorded.iter().filter(|(done, ..)| done.is_some()).count()
}

#[test]
fn a_session_is_brought_to_where_another_stood() {
    let amid: usize = (1..1500).map(check).sum();
    assert!(amid > 10_000, "{amid}");
}
