//! The serving session, rule by rule. Each script runs with whole chunks, byte by byte and in
//! slices of one step: frames and events must be the same.

// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_family = "wasm"))]

use serde_json::{Value, json};
use toolwire::session::event::RpcFault;
use toolwire::session::server::event::ServerEvent;
use toolwire::session::server::options::ServerOptions;
use toolwire::session::server::{Headers, Outgoing, ServerSession};

const TOOLS: &str = r#"[{"name":"echo","inputSchema":{"type":"object"}},{"name":"list","outputSchema":{"type":"array"}}]"#;

struct Driver {
    session: ServerSession,
    now: f64,
    bytewise: bool,
    steps: u64,
    stalled: bool,
    sent: Vec<Value>,
    said: Vec<String>,
    calls: Vec<u32>,
}

impl Driver {
    fn raw(&mut self, bytes: &[u8]) {
        if self.bytewise {
            for byte in bytes {
                self.session.receive(&[*byte], self.now);
            }
        } else {
            self.session.receive(bytes, self.now);
        }
        self.drain();
    }

    fn say(&mut self, message: Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id: Value = id.into();
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.say(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn begin(&mut self, version: &str) {
        self.request(0, "initialize", json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } }));
        self.notify("notifications/initialized", json!({}));
    }

    fn call(&mut self, id: impl Into<Value>, arguments: Value) -> u32 {
        self.request(id, "tools/call", json!({ "name": "echo", "arguments": arguments }));
        *self.calls.last().unwrap()
    }

    fn respond(&mut self, token: u32, text: &str) {
        self.session.respond(token, Ok(text.to_owned()), self.now);
        self.drain();
    }

    fn drain(&mut self) {
        loop {
            let mut progressed = false;
            while self.session.has_work() {
                self.session.work(self.steps, self.now);
                progressed = true;
            }
            while !self.stalled
                && let Some(frame) = self.session.take_output()
            {
                assert_eq!(frame.iter().filter(|byte| **byte == b'\n').count(), 1);
                self.sent.push(serde_json::from_slice(&frame).unwrap());
                progressed = true;
            }
            while let Some(event) = self.session.poll_event() {
                if let ServerEvent::Call(call) = &event {
                    self.calls.push(call.token);
                }
                self.said.push(shown(&event));
                progressed = true;
            }
            if !progressed {
                return;
            }
        }
    }

    /// The frames since the last look.
    fn frames(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.sent)
    }

    /// The one frame since the last look.
    #[track_caller]
    fn frame(&mut self) -> Value {
        let mut frames = self.frames();
        assert_eq!(frames.len(), 1, "{frames:?}");
        frames.remove(0)
    }

    #[track_caller]
    fn error(&mut self) -> (Value, i64) {
        let frame = self.frame();
        (frame["id"].clone(), frame["error"]["code"].as_i64().unwrap_or_default())
    }

    fn events(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }
}

fn shown(event: &ServerEvent) -> String {
    match event {
        ServerEvent::Call(call) => {
            format!("call {} {} {}", call.token, call.name, call.arguments)
        }
        ServerEvent::Cancelled { token } => format!("cancelled {token}"),
        ServerEvent::Initialized { protocol_version, .. } => {
            format!("initialized {protocol_version}")
        }
        ServerEvent::LogLevel { level } => format!("level {level}"),
        ServerEvent::Diagnostic { code, .. } => (*code).to_owned(),
        ServerEvent::Closed { error } => match error {
            Some(error) => format!("closed {}", error.reason()),
            None => "closed".to_owned(),
        },
    }
}

fn options() -> ServerOptions {
    ServerOptions::new("s", "1", TOOLS)
}

#[track_caller]
fn run_with(options: ServerOptions, script: impl Fn(&mut Driver)) {
    for (bytewise, steps) in [(false, u64::MAX), (true, u64::MAX), (false, 1), (true, 3)] {
        let mut driver = Driver {
            session: ServerSession::new(options.clone()).unwrap(),
            now: 0.0,
            bytewise,
            steps,
            stalled: false,
            sent: Vec::new(),
            said: Vec::new(),
            calls: Vec::new(),
        };
        script(&mut driver);
    }
}

#[track_caller]
fn run(script: impl Fn(&mut Driver)) {
    run_with(options(), script);
}

fn modern(mut params: Value) -> Value {
    let meta = params.as_object_mut().unwrap().entry("_meta").or_insert(json!({}));
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params
}

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

#[test]
fn versions_are_negotiated() {
    for (asked, given) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2099-01-01", "2025-11-25"),
        // A revision without a handshake is never agreed on in one.
        ("2026-07-28", "2025-11-25"),
    ] {
        run(|driver| {
            driver.begin(asked);
            let frame = driver.frame();
            assert_eq!(frame["result"]["protocolVersion"], given);
            assert_eq!(
                frame["result"]["capabilities"],
                json!({ "tools": { "listChanged": true } })
            );
            assert_eq!(frame["result"]["serverInfo"], json!({ "name": "s", "version": "1" }));
            assert!(frame["result"].get("resultType").is_none());
            assert_eq!(driver.events(), [format!("initialized {given}")]);
            // Once is enough.
            driver.begin(asked);
            assert_eq!(driver.error(), (json!(0), -32600));
            assert_eq!(driver.events(), [""; 0]);
        });
    }
}

#[test]
fn a_server_of_one_era_says_so() {
    let mut only_modern = options();
    only_modern.revisions = vec!["2026-07-28".into()];
    run_with(only_modern, |driver| {
        driver.begin("2025-11-25");
        let frame = driver.frame();
        assert_eq!(frame["error"]["code"], -32022);
        assert_eq!(
            frame["error"]["data"],
            json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" })
        );
    });
    let mut only_legacy = options();
    only_legacy.revisions = vec!["2025-06-18".into()];
    run_with(only_legacy, |driver| {
        driver.request(1, "server/discover", modern(json!({})));
        assert_eq!(driver.error(), (json!(1), -32602));
        driver.begin("2025-11-25");
        assert_eq!(driver.frame()["result"]["protocolVersion"], "2025-06-18");
        driver.request(1, "server/discover", modern(json!({})));
        assert_eq!(driver.error(), (json!(1), -32601));
    });
}

#[test]
fn before_initialize_only_ping_is_answered() {
    run(|driver| {
        driver.request("p", "ping", json!({}));
        assert_eq!(driver.frame(), json!({ "jsonrpc": "2.0", "id": "p", "result": {} }));
        driver.request(1, "tools/list", json!({}));
        assert_eq!(driver.error(), (json!(1), -32602));
        driver.request(2, "tools/call", json!({ "name": "echo" }));
        assert_eq!(driver.error(), (json!(2), -32602));
        driver.notify("notifications/initialized", json!({}));
        assert_eq!(driver.events(), [""; 0]);
        driver.request(3, "initialize", json!({}));
        assert_eq!(driver.error(), (json!(3), -32602));
        // A client that does not wait for the handshake's end is served.
        driver.request(4, "initialize", json!({ "protocolVersion": "2025-06-18" }));
        driver.frame();
        driver.request(5, "tools/list", json!({}));
        assert_eq!(driver.frame()["result"]["tools"][0]["name"], "echo");
    });
}

#[test]
fn lists_are_paged() {
    let mut paged = options();
    paged.limits.page_size = 1.0;
    run_with(paged, |driver| {
        driver.begin("2025-11-25");
        driver.frame();
        driver.request(1, "tools/list", json!({ "cursor": null }));
        let first = driver.frame();
        let cursor = first["result"]["nextCursor"].clone();
        driver.request(2, "tools/list", json!({ "cursor": cursor }));
        let second = driver.frame();
        assert_eq!(second["result"]["tools"][0]["name"], "list");
        assert_eq!(second["result"]["tools"][0]["outputSchema"]["required"], json!(["result"]));
        assert!(second["result"].get("nextCursor").is_none());
        for bad in [json!(""), json!("x"), json!(1), json!("0000000000000000-1")] {
            driver.request(3, "tools/list", json!({ "cursor": bad }));
            assert_eq!(driver.error(), (json!(3), -32602));
        }
        driver.session.set_tools(r#"[{"name":"other"}]"#, 0.0).unwrap();
        driver.drain();
        assert_eq!(driver.frame()["method"], "notifications/tools/list_changed");
        // Who was in the middle of the list reads on, until the next change.
        driver.request(4, "tools/list", json!({ "cursor": cursor }));
        assert_eq!(driver.frame()["result"]["tools"][0]["name"], "list");
        driver.session.set_tools("[]", 0.0).unwrap();
        driver.drain();
        driver.frame();
        driver.request(5, "tools/list", json!({ "cursor": cursor }));
        assert_eq!(driver.error(), (json!(5), -32602));
    });
}

#[test]
fn calls_are_handed_over_as_they_arrived() {
    run(|driver| {
        driver.begin("2025-06-18");
        driver.frame();
        driver.events();
        driver.raw(b"{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{ \"n\":9007199254740993 }}}\n");
        assert_eq!(driver.events(), ["call 1 echo { \"n\":9007199254740993 }"]);
        driver.respond(
            1,
            r#"{"content":[],"structuredContent":{"n":9007199254740993},"isError":false}"#,
        );
        let frame = driver.frame();
        assert_eq!(frame["id"], json!(1));
        assert_eq!(frame["result"]["structuredContent"]["n"], json!(9_007_199_254_740_993_i64));
        // Once.
        driver.respond(1, "{}");
        assert!(driver.frames().is_empty());
        for absent in [json!({ "name": "echo" }), json!({ "name": "echo", "arguments": null })] {
            driver.request("", "tools/call", absent);
            let token = *driver.calls.last().unwrap();
            assert_eq!(driver.events(), [format!("call {token} echo {{}}")]);
            driver.session.respond(
                token,
                Err(RpcFault { code: -7, message: "m".into(), data: Some("[1]".into()) }),
                0.0,
            );
            driver.drain();
            let error = json!({ "code": -7, "message": "m", "data": [1] });
            assert_eq!(driver.frame(), json!({ "jsonrpc": "2.0", "id": "", "error": error }));
        }
    });
}

#[test]
fn bad_calls_are_refused_without_a_word_of_theirs() {
    run(|driver| {
        driver.begin("2025-11-25");
        driver.frame();
        driver.events();
        for params in [
            json!({}),
            json!({ "name": 7 }),
            json!({ "name": "secret" }),
            json!({ "name": "echo", "arguments": [] }),
            json!({ "name": "echo", "arguments": "secret" }),
            json!({ "name": "echo", "arguments": 0 }),
            json!([]),
        ] {
            driver.request(1, "tools/call", params);
            let frame = driver.frame();
            assert_eq!(frame["error"]["code"], -32602);
            assert!(!frame.to_string().contains("secret"));
        }
        driver.raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"name\":\"list\"}}\n");
        assert_eq!(driver.error(), (json!(1), -32602));
        for method in ["prompts/list", "logging/setLevel", "secret", "server/discover"] {
            driver.request(2, method, json!({}));
            assert_eq!(driver.error(), (json!(2), -32601));
        }
        assert_eq!(driver.events(), [""; 0]);
    });
}

#[test]
fn results_that_are_none_become_errors() {
    let mut narrow = options();
    narrow.limits.max_outbound_frame_bytes = 200.0;
    run_with(narrow, |driver| {
        driver.request(1, "initialize", json!({ "protocolVersion": "2025-11-25" }));
        driver.frames();
        for bad in ["[]", "7", "{", &format!("{{\"a\":\"{}\"}}", "x".repeat(300))] {
            let token = driver.call("id", json!({}));
            driver.respond(token, bad);
            assert_eq!(driver.error(), (json!("id"), -32603), "{bad}");
        }
    });
}

#[test]
fn cancelled_calls_get_no_answer() {
    run(|driver| {
        driver.begin("2025-11-25");
        driver.frame();
        driver.events();
        let first = driver.call("a", json!({}));
        let second = driver.call(2, json!({}));
        driver.events();
        // The type of an id is part of it.
        driver.notify("notifications/cancelled", json!({ "requestId": "2" }));
        driver.notify("notifications/cancelled", json!({ "requestId": 7 }));
        assert_eq!(driver.events(), [""; 0]);
        driver.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"\\u0061\"}}\n");
        assert_eq!(driver.events(), [format!("cancelled {first}")]);
        driver.respond(first, "{}");
        assert!(driver.frames().is_empty());
        driver.respond(second, "{}");
        assert_eq!(driver.frame()["id"], json!(2));
        // The id is free again.
        let third = driver.call("a", json!({}));
        driver.respond(third, "{}");
        assert_eq!(driver.frame()["id"], json!("a"));
        driver.events();
        driver.notify("notifications/cancelled", json!({}));
        assert_eq!(driver.events(), ["malformed_notification"]);
    });
}

#[test]
fn progress_is_told_to_who_asked_and_only_rises() {
    for (version, with_words) in [("2024-11-05", false), ("2025-11-25", true)] {
        run(|driver| {
            driver.begin(version);
            driver.frame();
            let silent = driver.call(1, json!({}));
            driver.session.progress(silent, 1.0, None, None, 0.0);
            driver.drain();
            assert!(driver.frames().is_empty());
            driver.request(
                2,
                "tools/call",
                json!({ "name": "echo", "_meta": { "progressToken": 0 } }),
            );
            let token = *driver.calls.last().unwrap();
            for (progress, total) in [
                (0.0, None),
                (0.5, Some(2.0)),
                (0.5, None),
                (0.1, None),
                (f64::NAN, None),
                (f64::INFINITY, None),
                (3.0, Some(f64::NAN)),
            ] {
                driver.session.progress(token, progress, total, Some("é".into()), 0.0);
                driver.drain();
            }
            let frames = driver.frames();
            let told: Vec<_> =
                frames.iter().map(|frame| frame["params"]["progress"].as_f64().unwrap()).collect();
            assert_eq!(told, [0.0, 0.5, 3.0]);
            assert_eq!(frames[1]["params"]["total"], 2.0);
            assert_eq!(frames[1]["params"]["progressToken"], json!(0));
            assert_eq!(frames[1]["params"].get("message").is_some(), with_words);
            assert!(frames[2]["params"].get("total").is_none());
            driver.respond(token, "{}");
            driver.frame();
            driver.session.progress(token, 9.0, None, None, 0.0);
            driver.drain();
            assert!(driver.frames().is_empty());
        });
    }
}

#[test]
fn what_is_no_message_is_answered_once() {
    run(|driver| {
        driver.begin("2025-11-25");
        driver.frame();
        driver.events();
        let deep = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\",\"params\":{}{}}}",
            "[".repeat(200),
            "]".repeat(200)
        );
        for (line, id, code) in [
            ("garbage", json!(null), -32700),
            ("{", json!(null), -32700),
            ("42", json!(null), -32700),
            (r#"{"id":1,"method":"ping"}"#, json!(1), -32600),
            (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, json!("x"), -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(null), -32600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(null), -32600),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, json!(null), -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, json!(null), -32600),
            (r#"{"jsonrpc":"2.0"}"#, json!(null), -32600),
            ("[]", json!(null), -32600),
            (&deep, json!(4), -32600),
        ] {
            driver.raw(format!("{line}\n").as_bytes());
            assert_eq!(driver.error(), (id, code), "{line}");
            assert_eq!(driver.events().len(), 1, "{line}");
        }
        driver.raw(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"x\xff\"}\n");
        assert_eq!(driver.error(), (json!(5), -32700));
        // Nothing that looks like an answer is answered.
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","error":7}"#,
        ] {
            driver.raw(format!("{line}\n").as_bytes());
            assert!(driver.frames().is_empty(), "{line}");
        }
        driver.raw(b"\n \r\n\t\n");
        assert!(driver.frames().is_empty());
    });
}

#[test]
fn a_line_that_is_too_long_is_skipped_and_answered() {
    let mut narrow = options();
    narrow.limits.max_frame_bytes = 100.0;
    run_with(narrow, |driver| {
        driver.raw(
            format!("{{\"id\":9,\"method\":\"x\",\"p\":\"{}\"}}\n", "y".repeat(500)).as_bytes(),
        );
        assert_eq!(driver.error(), (json!(9), -32700));
        driver.raw(
            format!("{{\"p\":\"{}\",\"id\":9,\"method\":\"x\"}}\n", "y".repeat(500)).as_bytes(),
        );
        assert_eq!(driver.error(), (json!(null), -32700));
        driver.raw(format!("{{\"id\":9,\"result\":\"{}\"}}\n", "y".repeat(500)).as_bytes());
        assert!(driver.frames().is_empty());
        driver.request(1, "ping", json!({}));
        assert_eq!(driver.frame()["result"], json!({}));
    });
}

#[test]
fn an_id_in_flight_cannot_be_used_again() {
    run(|driver| {
        driver.begin("2025-11-25");
        driver.frame();
        let token = driver.call(7, json!({}));
        driver.request(7, "tools/call", json!({ "name": "echo" }));
        assert_eq!(driver.error(), (json!(null), -32600));
        driver.request(7, "ping", json!({}));
        assert_eq!(driver.error(), (json!(null), -32600));
        // A string is another id.
        driver.request("7", "ping", json!({}));
        assert_eq!(driver.frame()["id"], json!("7"));
        driver.respond(token, "{}");
        assert_eq!(driver.frame()["id"], json!(7));
        assert_eq!(driver.calls.len(), 1);
    });
}

#[test]
fn arrays_are_answered_by_arrays_where_the_revision_has_them() {
    let ping = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let call = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "echo" } });
    run(|driver| {
        driver.say(json!([ping(1)]));
        assert_eq!(driver.error(), (json!(null), -32600));
        driver.begin("2025-03-26");
        driver.frame();
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 4 } });
        driver.say(json!([ping(1), call(2), 7, [ping(9)], call(4), cancelled]));
        assert!(driver.frames().is_empty());
        let token = driver.calls[0];
        driver.respond(token, "{}");
        let frame = driver.frame();
        let got: Vec<_> = frame
            .as_array()
            .unwrap()
            .iter()
            .map(|reply| (reply["id"].clone(), reply["error"]["code"].as_i64()))
            .collect();
        assert_eq!(
            got,
            [
                (json!(1), None),
                (json!(null), Some(-32600)),
                (json!(null), Some(-32600)),
                (json!(2), None)
            ]
        );
        driver.say(json!([{ "jsonrpc": "2.0", "method": "x" }]));
        assert!(driver.frames().is_empty());
        driver.say(json!([]));
        assert_eq!(driver.error(), (json!(null), -32600));
        driver.say(Value::Array((0..65).map(ping).collect()));
        assert_eq!(driver.error(), (json!(null), -32600));
        driver.say(json!([{ "jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": modern(json!({})) }]));
        assert_eq!(driver.frame()[0]["error"]["code"], -32600);
    });
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        run(|driver| {
            driver.begin(version);
            driver.frame();
            driver.say(json!([ping(1)]));
            assert_eq!(driver.error(), (json!(null), -32600));
        });
    }
}

#[test]
fn an_array_of_answers_that_is_too_long_comes_in_pieces() {
    let mut narrow = options();
    narrow.limits.max_outbound_frame_bytes = 300.0;
    run_with(narrow, |driver| {
        driver.request(0, "initialize", json!({ "protocolVersion": "2025-03-26" }));
        driver.frame();
        let ping = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        driver.say(Value::Array((0..10).map(ping).collect()));
        assert_eq!(driver.frames().len(), 10);
    });
}

#[test]
fn open_calls_are_bounded() {
    let mut narrow = options();
    narrow.limits.max_open_calls = 2.0;
    run_with(narrow, |driver| {
        driver.begin("2025-11-25");
        driver.frame();
        let first = driver.call(1, json!({}));
        driver.call(2, json!({}));
        driver.request(3, "tools/call", json!({ "name": "echo" }));
        assert_eq!(driver.error(), (json!(3), -32603));
        // An answer that was not taken counts.
        driver.stalled = true;
        driver.respond(first, "{}");
        driver.request(4, "tools/call", json!({ "name": "echo" }));
        driver.stalled = false;
        driver.drain();
        assert_eq!(driver.frames()[1]["error"]["code"], -32603);
        driver.call(5, json!({}));
        assert_eq!(driver.calls.len(), 3);
    });
}

#[test]
fn who_does_not_read_is_not_read() {
    let mut narrow = options();
    narrow.limits.queue_capacity = 2.0;
    run_with(narrow, |driver| {
        driver.begin("2025-11-25");
        driver.frame();
        let token = driver.call(100, json!({}));
        driver.stalled = true;
        for id in 0..20 {
            driver.request(id, "ping", json!({}));
        }
        assert!(driver.session.is_blocked() && !driver.session.has_work());
        driver.respond(token, "{}");
        driver.session.set_tools("[]", 0.0).unwrap();
        driver.stalled = false;
        driver.drain();
        let frames = driver.frames();
        let ids: Vec<_> = frames.iter().filter_map(|frame| frame["id"].as_i64()).collect();
        assert_eq!(ids, (0..20).chain([100]).collect::<Vec<_>>());
        assert_eq!(frames.len(), 22);
    });
}

#[test]
fn list_changes_are_told_once_while_nobody_reads() {
    run(|driver| {
        driver.session.set_tools("[]", 0.0).unwrap();
        driver.begin("2025-06-18");
        driver.frame();
        driver.stalled = true;
        for _ in 0..100 {
            driver.session.set_tools(TOOLS, 0.0).unwrap();
            driver.drain();
        }
        driver.stalled = false;
        driver.drain();
        assert_eq!(driver.frame()["method"], "notifications/tools/list_changed");
        driver.session.set_tools("[]", 0.0).unwrap();
        driver.drain();
        assert_eq!(
            driver.frame(),
            json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })
        );
        assert!(driver.session.set_tools("[7]", 0.0).is_err());
    });
}

#[test]
fn overdue_calls_fail() {
    let mut timed = options();
    timed.limits.call_timeout_ms = 100.0;
    run_with(timed, |driver| {
        driver.begin("2025-11-25");
        driver.frame();
        driver.events();
        let first = driver.call(1, json!({}));
        driver.now = 60.0;
        driver.call(2, json!({}));
        driver.events();
        assert_eq!(driver.session.next_deadline(), Some(100.0));
        driver.session.advance(99.0);
        driver.drain();
        assert!(driver.frames().is_empty());
        driver.session.advance(100.0);
        driver.drain();
        assert_eq!(driver.error(), (json!(1), -32603));
        assert_eq!(driver.events(), [format!("cancelled {first}")]);
        assert_eq!(driver.session.next_deadline(), Some(160.0));
    });
}

#[test]
fn log_messages_go_to_who_wants_them() {
    let mut logging = options();
    logging.logging = true;
    run_with(logging, |driver| {
        driver.begin("2025-11-25");
        assert_eq!(driver.frame()["result"]["capabilities"]["logging"], json!({}));
        driver.events();
        let log = |driver: &mut Driver, token, level: &str| {
            driver.session.log(token, level, Some("l".into()), "[1]".into(), 0.0).unwrap();
            driver.drain();
        };
        log(driver, None, "debug");
        let params = json!({ "level": "debug", "logger": "l", "data": [1] });
        assert_eq!(
            driver.frame(),
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
        );
        driver.request(1, "logging/setLevel", json!({ "level": "warning" }));
        assert_eq!(driver.frame()["result"], json!({}));
        assert_eq!(driver.events(), ["level warning"]);
        log(driver, None, "notice");
        assert!(driver.frames().is_empty());
        log(driver, None, "error");
        driver.frame();
        driver.request(2, "logging/setLevel", json!({ "level": "loud" }));
        assert_eq!(driver.error(), (json!(2), -32602));
        // In the modern era a request says what it wants.
        for (level, told) in [(None, 0), (Some("error"), 0), (Some("info"), 1)] {
            let mut params = modern(json!({ "name": "echo" }));
            if let Some(level) = level {
                params["_meta"]["io.modelcontextprotocol/logLevel"] = json!(level);
            }
            driver.request("m", "tools/call", params);
            let token = *driver.calls.last().unwrap();
            log(driver, Some(token), "warning");
            assert_eq!(driver.frames().len(), told, "{level:?}");
            driver.respond(token, "{}");
            driver.frame();
        }
        assert!(driver.session.log(None, "loud", None, "1".into(), 0.0).is_err());
    });
}

#[test]
fn the_end_waits_for_open_calls() {
    run(|driver| {
        driver.begin("2025-11-25");
        driver.frame();
        let token = driver.call(1, json!({}));
        driver.events();
        driver.raw(br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
        driver.session.end(0.0);
        driver.drain();
        // The last line needs no line end.
        assert_eq!(driver.frame()["id"], json!(2));
        assert_eq!(driver.events(), [""; 0]);
        driver.stalled = true;
        driver.respond(token, "{}");
        assert!(!driver.session.is_closed());
        driver.stalled = false;
        driver.drain();
        assert_eq!(driver.frame()["id"], json!(1));
        assert_eq!(driver.events(), ["closed"]);
        driver.request(3, "ping", json!({}));
        assert!(driver.frames().is_empty());
    });
}

#[test]
fn the_end_comes_also_behind_an_input_that_changes_nothing() {
    let mut narrow = options();
    narrow.limits.queue_capacity = 1.0;
    run_with(narrow, |driver| {
        driver.begin("2025-11-25");
        driver.stalled = true;
        driver.request(1, "ping", json!({}));
        driver.request(2, "ping", json!({}));
        assert!(driver.session.is_blocked());
        driver.session.end(0.0);
        driver.session.respond(99, Ok("{}".to_owned()), 0.0);
        driver.stalled = false;
        driver.drain();
        assert_eq!(driver.frames().len(), 3);
        assert!(driver.session.is_closed());
    });
}

#[test]
fn ends_give_up_what_is_open() {
    for failed in [true, false] {
        run(|driver| {
            driver.begin("2025-11-25");
            driver.frame();
            let token = driver.call(1, json!({}));
            driver.events();
            if failed {
                driver.session.write_failed(0.0);
            } else {
                driver.session.close(0.0);
            }
            driver.drain();
            let end = if failed { "closed client_gone" } else { "closed" };
            assert_eq!(driver.events(), [format!("cancelled {token}"), end.to_owned()]);
            driver.session.close(0.0);
            driver.session.end(0.0);
            driver.respond(token, "{}");
            assert!(driver.events().is_empty() && driver.frames().is_empty());
        });
    }
}

#[test]
fn the_modern_era_is_served_without_a_handshake() {
    run(|driver| {
        driver.request("d", "server/discover", modern(json!({})));
        let result = driver.frame()["result"].clone();
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["supportedVersions"][0], "2026-07-28");
        assert_eq!(result["capabilities"], json!({ "tools": { "listChanged": true } }));
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
        assert_eq!(result["_meta"][SERVER_INFO]["name"], "s");
        driver.request(1, "tools/list", modern(json!({})));
        let result = driver.frame()["result"].clone();
        assert_eq!(result["tools"][1]["outputSchema"], json!({ "type": "array" }));
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["ttlMs"], 0);
        driver.request(2, "tools/call", modern(json!({ "name": "list" })));
        driver.respond(1, r#"{"structuredContent":[1]}"#);
        let result = driver.frame()["result"].clone();
        assert_eq!(result["structuredContent"], json!([1]));
        assert_eq!(result["content"], json!([{ "type": "text", "text": "[1]" }]));
        assert_eq!(result["resultType"], "complete");
        for method in ["ping", "initialize", "logging/setLevel", "resources/list"] {
            driver.request(3, method, modern(json!({})));
            assert_eq!(driver.error(), (json!(3), -32601), "{method}");
        }
        let mut other = modern(json!({}));
        other["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
        driver.request(4, "tools/list", other);
        let error = driver.frame()["error"].clone();
        assert_eq!(error["code"], -32022);
        assert_eq!(error["data"]["requested"], "2030-01-01");
        assert_eq!(error["data"]["supported"][0], "2026-07-28");
        let mut bare = modern(json!({}));
        bare["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
        driver.request(5, "tools/list", bare);
        assert_eq!(driver.error(), (json!(5), -32602));
        // What one request said is not remembered.
        driver.request(6, "tools/list", json!({}));
        assert_eq!(driver.error(), (json!(6), -32602));
    });
}

#[test]
fn both_eras_share_a_pipe() {
    run(|driver| {
        driver.request("d", "server/discover", modern(json!({})));
        driver.frame();
        driver.begin("2025-06-18");
        assert_eq!(driver.frame()["result"]["protocolVersion"], "2025-06-18");
        driver.request(1, "tools/call", json!({ "name": "list" }));
        driver.request(2, "tools/call", modern(json!({ "name": "list" })));
        driver.respond(1, r#"{"structuredContent":[1]}"#);
        let legacy = driver.frame()["result"].clone();
        assert_eq!(legacy["structuredContent"], json!({ "result": [1] }));
        assert!(legacy.get("resultType").is_none() && legacy.get("_meta").is_none());
        driver.respond(2, r#"{"structuredContent":[1]}"#);
        assert_eq!(driver.frame()["result"]["structuredContent"], json!([1]));
    });
}

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

#[test]
fn listeners_are_told_of_list_changes() {
    let mut narrow = options();
    narrow.limits.max_subscriptions = 2.0;
    run_with(narrow, |driver| {
        driver.request(1, "subscriptions/listen", modern(json!({})));
        assert_eq!(driver.error(), (json!(1), -32602));
        let all =
            json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
        driver.request("a", "subscriptions/listen", modern(all.clone()));
        let acknowledged = driver.frame();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(acknowledged["params"]["notifications"], json!({ "toolsListChanged": true }));
        assert_eq!(acknowledged["params"]["_meta"][SUBSCRIPTION], "a");
        driver.request(7, "subscriptions/listen", modern(all.clone()));
        driver.frame();
        driver.request(8, "subscriptions/listen", modern(all));
        assert_eq!(driver.error(), (json!(8), -32603));
        driver.session.set_tools("[]", 0.0).unwrap();
        driver.drain();
        let told: Vec<_> = driver
            .frames()
            .iter()
            .map(|frame| frame["params"]["_meta"][SUBSCRIPTION].clone())
            .collect();
        assert_eq!(told, [json!("a"), json!(7)]);
        driver.notify("notifications/cancelled", json!({ "requestId": 7 }));
        driver.session.set_tools(TOOLS, 0.0).unwrap();
        driver.drain();
        assert_eq!(driver.frame()["params"]["_meta"][SUBSCRIPTION], "a");
        // Nothing that is asked for can come: it is over at once.
        driver.request(9, "subscriptions/listen", modern(json!({ "notifications": {} })));
        let frames = driver.frames();
        assert_eq!(frames[0]["params"]["notifications"], json!({}));
        assert_eq!(frames[1]["result"]["_meta"][SUBSCRIPTION], json!(9));
        driver.events();
        driver.session.end(0.0);
        driver.drain();
        let end = driver.frame();
        assert_eq!(end["id"], "a");
        assert_eq!(end["result"]["resultType"], "complete");
        assert_eq!(end["result"]["_meta"][SUBSCRIPTION], "a");
        assert_eq!(driver.events(), ["closed"]);
    });
}

fn exchange(session: &mut ServerSession, message: &Value, headers: Option<Headers>) -> u32 {
    let number = session.receive_message(message.to_string().as_bytes(), headers, 0.0);
    while session.has_work() {
        session.work(5, 0.0);
    }
    number
}

fn body(outgoing: &Outgoing) -> Value {
    outgoing.json.as_ref().map_or(Value::Null, |json| serde_json::from_slice(json).unwrap())
}

fn headers(method: &str, name: Option<&str>) -> Option<Headers> {
    Some(Headers {
        protocol_version: Some("2026-07-28".to_owned()),
        method: Some(method.to_owned()),
        name: name.map(str::to_owned),
        params: Vec::new(),
    })
}

#[test]
fn messages_that_come_alone_are_answered_in_their_exchange() {
    let mut session = ServerSession::new(options()).unwrap();
    let request = |id: i64, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": modern(params) });
    // The same id in two exchanges is two requests.
    let call =
        request(1, "tools/call", json!({ "name": "echo", "_meta": { "progressToken": "t" } }));
    let first = exchange(&mut session, &call, headers("tools/call", Some("echo")));
    let second = exchange(&mut session, &call, headers("tools/call", Some("echo")));
    assert_eq!(session.take_message(), None);
    let tokens: Vec<u32> = std::iter::from_fn(|| session.poll_event())
        .map(|event| match event {
            ServerEvent::Call(call) => call.token,
            other => panic!("{other:?}"),
        })
        .collect();
    session.progress(tokens[1], 1.0, None, None, 0.0);
    let progress = session.take_message().unwrap();
    assert_eq!((progress.exchange, progress.ends), (Some(second), false));
    session.respond(tokens[1], Ok("{}".to_owned()), 0.0);
    let answer = session.take_message().unwrap();
    assert_eq!((answer.exchange, answer.ends, answer.status), (Some(second), true, 200));
    assert_eq!(body(&answer)["result"]["resultType"], "complete");
    session.abandon(first, 0.0);
    assert!(
        matches!(session.poll_event(), Some(ServerEvent::Cancelled { token }) if token == tokens[0])
    );
    session.respond(tokens[0], Ok("{}".to_owned()), 0.0);
    assert_eq!(session.take_message(), None);

    let mut told = |message: Value, headers: Option<Headers>| {
        let number = exchange(&mut session, &message, headers);
        let outgoing = session.take_message().unwrap();
        assert_eq!((outgoing.exchange, outgoing.ends), (Some(number), true), "{message}");
        (outgoing.status, body(&outgoing)["error"]["code"].as_i64().unwrap_or_default())
    };
    let list = request(1, "tools/list", json!({}));
    assert_eq!(told(list.clone(), headers("tools/list", None)), (200, 0));
    assert_eq!(told(list, headers("tools/call", None)), (400, -32020));
    assert_eq!(told(request(1, "ping", json!({})), headers("ping", None)), (404, -32601));
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    assert_eq!(told(bare, headers("tools/list", None)), (400, -32602));
    assert_eq!(told(json!(7), headers("tools/list", None)), (400, -32700));
    assert_eq!(told(json!({ "a": 1 }), headers("tools/list", None)), (400, -32600));
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assert_eq!(told(notification, headers("notifications/cancelled", None)), (202, 0));
    let reply = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    assert_eq!(told(reply, headers("", None)), (202, 0));
    let unknown = request(1, "tools/call", json!({ "name": "nothing" }));
    assert_eq!(told(unknown, headers("tools/call", Some("nothing"))), (200, -32602));
}

#[test]
fn a_session_of_single_messages_has_its_handshake() {
    let mut session = ServerSession::new(options()).unwrap();
    let mut told = |message: Value| {
        let number = exchange(&mut session, &message, None);
        let outgoing = session.take_message();
        outgoing.map(|outgoing| {
            assert_eq!((outgoing.exchange, outgoing.ends), (Some(number), true), "{message}");
            (outgoing.status, body(&outgoing))
        })
    };
    let request = |id: i64, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let (_, begun) =
        told(request(0, "initialize", json!({ "protocolVersion": "2025-03-26" }))).unwrap();
    assert_eq!(begun["result"]["protocolVersion"], "2025-03-26");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(told(initialized).unwrap().0, 202);
    let (_, both) =
        told(json!([request(1, "ping", json!({})), request(2, "ping", json!({}))])).unwrap();
    assert_eq!(both.as_array().unwrap().len(), 2);
    let silent = json!([{ "jsonrpc": "2.0", "method": "x" }]);
    assert_eq!(told(silent).unwrap().0, 202);
    assert_eq!(told(request(5, "tools/call", json!({ "name": "echo" }))), None);
    // The session has one space of ids, and cancels across its exchanges.
    let (status, refused) = told(request(5, "ping", json!({}))).unwrap();
    assert_eq!((status, refused["error"]["code"].as_i64()), (400, Some(-32600)));
    let number = exchange(
        &mut session,
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 } }),
        None,
    );
    let ended: Vec<_> = std::iter::from_fn(|| session.take_message()).collect();
    assert_eq!(ended.len(), 2);
    assert!(ended.iter().all(|outgoing| outgoing.json.is_none() && outgoing.ends));
    assert_eq!(ended[1].exchange, Some(number));
    session.set_tools("[]", 0.0).unwrap();
    let change = session.take_message().unwrap();
    assert_eq!((change.exchange, change.ends), (None, false));
}

#[test]
fn ids_that_are_kept_are_short() {
    run(|driver| {
        driver.begin("2025-06-18");
        driver.frames();
        let long = "i".repeat(1_023);
        driver.request(long.as_str(), "tools/call", json!({"name":"echo"}));
        assert_eq!(driver.error(), (Value::Null, -32600));
        driver.request(long.as_str(), "ping", json!({}));
        assert_eq!(driver.error(), (Value::Null, -32600));
        let fits = "i".repeat(1_022);
        driver.request(fits.as_str(), "ping", json!({}));
        assert_eq!(driver.frame()["id"], json!(fits));
        // A token that is too long gets no progress; its call is served.
        let params = json!({"name":"echo","_meta":{"progressToken":"t".repeat(2_000)}});
        driver.request(7, "tools/call", params);
        let token = *driver.calls.last().unwrap();
        driver.session.progress(token, 1.0, None, None, driver.now);
        driver.drain();
        assert!(driver.frames().is_empty());
        driver.respond(token, "{}");
        assert_eq!(driver.frame()["id"], json!(7));
    });
}
