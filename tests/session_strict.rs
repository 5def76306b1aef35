//! The strict profile: system C's client, row by row, each script whole, byte by byte and sliced.

// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{Driver, run, strict};
use toolwire::session::event::{Event, Settlement};
use toolwire::session::options::{CallOptions, SessionOptions};
use toolwire::session::{ClientSession, State};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const VERSION: &str = "2025-06-18";
const TOOL: &str = r#"[{"name":"a","inputSchema":{"type":"object"}}]"#;
const OK: &str = r#"{"content":[]}"#;

/// A ready session with one tool, and what the script adds; frames of the handshake are dropped.
fn with_tool(options: SessionOptions, script: impl Fn(&mut Driver)) -> Driver {
    let mut driver = run(options, |driver| {
        driver.ready(VERSION, TOOL);
        driver.stderr_ended();
        script(driver);
    });
    driver.sent.drain(..3);
    driver
}

fn limited(change: impl Fn(&mut toolwire::session::options::Limits)) -> SessionOptions {
    let mut options = strict();
    change(&mut options.limits);
    options
}

fn call_frame(id: u32) -> Value {
    json!({"jsonrpc":"2.0","id":id,"method":"tools/call","params":{"name":"a","arguments":{}}})
}

#[test]
fn handshake_and_exact_frames() {
    let driver = run(strict(), |driver| {
        driver.connect();
        driver.line("starting...");
        driver.line(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#);
        driver.line(r#"{"jsonrpc":"2.0","id":999,"result":{}}"#);
        driver.line(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#);
        driver.reply(1, r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#);
        driver.tick(9_000.0);
        driver.reply(
            2,
            r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"é\u0031"}"#,
        );
        driver.tick(9_000.0);
        driver.reply(3, r#"{"tools":[{"name":"b","inputSchema":{"type":"object"},"title":"B"}]}"#);
    });
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        driver.sent,
        [
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-06-18","capabilities":{{}},"clientInfo":{{"name":"toolwire","version":"{version}"}}}}}}"#
            ),
            r#"{"jsonrpc":"2.0","id":9,"result":{}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"é\u0031"}}"#
                .to_owned(),
        ]
    );
    assert_eq!(driver.session.state(), State::Ready);
    assert_eq!(driver.session.protocol_version(), Some(VERSION));
    assert_eq!(
        driver.session.tools_json(),
        r#"[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]"#
    );
    assert_eq!(driver.diagnostics(), [""; 0]);
}

#[test]
fn handshake_faults_end_the_session() {
    for (result, reason) in [
        ("null", "init_not_object"),
        (r#"{"protocolVersion":7}"#, "init_version_type"),
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#,
            "init_version_unsupported",
        ),
        (r#"{"protocolVersion":"2025-06-18","capabilities":[]}"#, "init_capabilities_type"),
        (r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":true}}"#, "init_no_tools"),
    ] {
        let driver = run(strict(), |driver| {
            driver.connect();
            driver.reply(1, result);
        });
        assert_eq!(driver.closed_with(), ("protocol_error", reason));
        assert_eq!(driver.session.state(), State::Closed);
    }
    let driver = run(strict(), |driver| {
        driver.connect();
        driver.line(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"SECRET"}}"#);
    });
    let error = driver.closed().unwrap();
    assert_eq!((error.reason(), error.get_facts().rpc_code), ("remote", Some(-32603)));
    assert!(!error.message().contains("SECRET"));
    assert_eq!(driver.diagnostics(), ["remote_error"]);
}

#[test]
fn each_step_of_the_handshake_has_its_deadline() {
    let driver = run(strict(), |driver| {
        driver.connect();
        driver.tick(9_999.0);
        assert_eq!(driver.session.state(), State::Connecting);
        driver.tick(1.0);
    });
    let error = driver.closed().unwrap();
    assert_eq!((error.code().as_str(), error.reason()), ("timeout", "deadline"));
    assert_eq!(error.get_facts().ms, Some(10_000.0));
    assert_eq!(driver.sent.len(), 1, "initialize is never cancelled");
}

#[test]
fn malformed_lines_close_and_settle_everything_alike() {
    let driver = with_tool(strict(), |driver| {
        driver.call("a", "{}");
        driver.call("a", "{}");
        driver.line(r#"{"jsonrpc":"2.0","id":3,"error":null}"#);
        driver.call("a", "{}");
        driver.reply(4, OK);
    });
    for handle in 1..=3 {
        assert_eq!(driver.error(handle), ("protocol_error", "reply_error_object"));
    }
    assert_eq!(driver.closed_with(), ("protocol_error", "reply_error_object"));
}

#[test]
fn an_over_long_line_closes_at_once() {
    let driver = with_tool(limited(|limits| limits.max_frame_bytes = 200.0), |driver| {
        driver.call("a", "{}");
        driver.bytes("x".repeat(201).as_bytes());
    });
    let error = driver.outcome(1).unwrap_err();
    assert_eq!((error.code().as_str(), error.reason()), ("protocol_error", "frame_too_long"));
    assert_eq!(error.get_facts().limit, Some(200));
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let driver = with_tool(strict(), |driver| {
        driver.call("a", "{}");
        driver
            .bytes(b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"t\":\"\xff\"}]}}\n");
    });
    match driver.outcome(1) {
        Ok(Settlement::Tool(outcome)) => assert!(outcome.json.contains('\u{fffd}')),
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_settle_in_any_order_and_late_replies_are_dropped() {
    let driver = with_tool(limited(|limits| limits.request_timeout_ms = 50.0), |driver| {
        driver.call("a", "{}");
        driver.call("a", "{}");
        driver.reply(4, OK);
        driver.tick(50.0);
        driver.reply(3, r#"{"content":[{"late":true}]}"#);
        driver.call("a", "{}");
        driver.reply(5, OK);
    });
    let error = driver.outcome(1).unwrap_err();
    assert_eq!((error.code().as_str(), error.reason()), ("timeout", "deadline"));
    assert_eq!(error.message(), "No answer to \"tools/call\" within 50 ms");
    assert!(driver.outcome(2).is_ok() && driver.outcome(3).is_ok());
    let frames = driver.frames();
    assert_eq!(frames[2]["method"], "notifications/cancelled");
    assert_eq!(frames[2]["params"]["requestId"], 3);
    assert_eq!((frames.len(), &frames[3]), (4, &call_frame(5)));
    assert_eq!(driver.diagnostics(), [""; 0]);
}

#[test]
fn what_is_still_queued_is_taken_back_without_a_word() {
    let driver = with_tool(strict(), |driver| {
        driver.stall();
        let call = driver.call("a", "{}");
        driver.cancel(call);
        driver.flow();
        let call = driver.call("a", "{}");
        driver.cancel(call);
        driver.cancel(call);
    });
    let frames = driver.frames();
    assert_eq!(frames[0], call_frame(4));
    assert_eq!((frames.len(), &frames[1]["params"]["requestId"]), (2, &json!(4)));
    assert_eq!(driver.error(1), ("aborted", "aborted"));
    assert_eq!(driver.error(2), ("aborted", "aborted"));
}

#[test]
fn offers_wait_for_room_until_their_deadline() {
    let options = limited(|limits| {
        limits.request_timeout_ms = 25.0;
        limits.queue_capacity = 1.0;
    });
    let driver = with_tool(options.clone(), |driver| {
        driver.stall();
        driver.notify("one");
        driver.take_one();
        driver.notify("two");
        driver.notify("three");
        driver.tick(25.0);
    });
    assert!(driver.outcome(1).is_ok() && driver.outcome(2).is_ok());
    let error = driver.outcome(3).unwrap_err();
    assert_eq!(error.get_facts().method.as_deref(), Some("three"));
    assert_eq!(driver.sent, [r#"{"jsonrpc":"2.0","method":"one"}"#]);
    let driver = with_tool(options, |driver| {
        driver.stall();
        for _ in 0..4 {
            driver.call("a", "{}");
        }
        driver.flow();
    });
    assert_eq!(driver.frames(), (3..7).map(call_frame).collect::<Vec<_>>());
}

#[test]
fn an_answer_that_finds_no_room_ends_the_session() {
    let options = limited(|limits| {
        limits.request_timeout_ms = 25.0;
        limits.queue_capacity = 1.0;
    });
    let driver = with_tool(options, |driver| {
        driver.stall();
        driver.notify("one");
        driver.take_one();
        driver.notify("two");
        driver.line(r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#);
        driver.line(r#"{"jsonrpc":"2.0","id":100,"method":"ping"}"#);
        driver.tick(25.0);
        driver.notify("later");
    });
    assert_eq!(driver.error(3), ("timeout", "response_admission"));
    assert_eq!(driver.closed_with(), ("timeout", "response_admission"));
}

#[test]
fn answers_keep_the_ids_of_the_server() {
    let driver = with_tool(strict(), |driver| {
        driver.call("a", "{}");
        driver.line(r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":{"_meta":{}}}"#);
        driver.line(r#"{"jsonrpc":"2.0","id":"","method":"ping"}"#);
        driver.line(r#"{"jsonrpc":"2.0","id":-1.0,"method":"roots/list"}"#);
        driver.reply(3, OK);
    });
    assert!(driver.outcome(1).is_ok());
    assert_eq!(driver.sent[1], r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert_eq!(driver.sent[2], r#"{"jsonrpc":"2.0","id":"","result":{}}"#);
    let refusal = &driver.frames()[3];
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(-1), &json!(-32601)));
}

#[test]
fn an_over_long_frame_fails_its_call_alone() {
    let driver = with_tool(limited(|limits| limits.max_outbound_frame_bytes = 200.0), |driver| {
        driver.call("a", &format!(r#"{{"s":"{}"}}"#, "é".repeat(80)));
        driver.call("a", "{}");
        driver.reply(4, OK);
    });
    let error = driver.outcome(1).unwrap_err();
    assert_eq!(error.reason(), "outbound_frame_too_long");
    assert_eq!(error.get_facts().method.as_deref(), Some("tools/call"));
    assert!(driver.outcome(2).is_ok());
    assert_eq!(driver.frames(), [call_frame(4)]);
}

#[test]
fn the_end_waits_for_stderr() {
    // Row R60: 250 ms, or the end of stderr; a shorter deadline or the host wins.
    let script = |options: SessionOptions, then: fn(&mut Driver)| {
        run(options, move |driver| {
            driver.ready(VERSION, TOOL);
            driver.call("a", "{}");
            driver.stderr("boom ");
            driver.exited(Some(17));
            assert!(driver.is_open(1));
            let late = driver.call("a", "{}");
            assert!(driver.is_open(late));
            then(driver);
        })
    };
    let driver = script(strict(), |driver| {
        driver.stderr("more\n");
        driver.tick(249.0);
        assert!(driver.is_open(1));
        driver.tick(1.0);
    });
    for error in [driver.outcome(1), driver.outcome(2)].map(Result::unwrap_err) {
        assert_eq!((error.reason(), error.get_facts().exit_code), ("exited", Some(17)));
        assert_eq!(error.private_json(), Some(r#"{"stderr":"boom more"}"#));
        assert!(!error.message().contains("boom") && error.message().contains("stderr"));
    }
    let driver = script(strict(), |driver| driver.stderr_ended());
    assert_eq!(driver.error(1), ("connection_closed", "exited"));
    let driver = script(limited(|limits| limits.request_timeout_ms = 10.0), |driver| {
        driver.tick(10.0);
        assert_eq!(driver.error(1), ("timeout", "deadline"));
        driver.tick(250.0);
    });
    assert_eq!(driver.error(2), ("connection_closed", "exited"));
    let driver = script(strict(), |driver| driver.close());
    assert_eq!(driver.error(1), ("connection_closed", "scope_closed"));
    assert_eq!(driver.closed_with(), ("connection_closed", "exited"));
}

#[test]
fn the_first_end_counts() {
    let driver = with_tool(strict(), |driver| {
        driver.call("a", "{}");
        driver.exited(Some(0));
        driver.end();
        driver.write_failed();
        driver.reply(3, OK);
        driver.notify("x");
    });
    assert_eq!(driver.error(1), ("connection_closed", "exited"));
    assert_eq!(driver.error(2), ("connection_closed", "exited"));
    for (end, reason) in [
        ((|driver| driver.end()) as fn(&mut Driver), "stdout_closed"),
        (|driver| driver.write_failed(), "stdin_closed"),
        (|driver| driver.exited(None), "process_exited"),
    ] {
        let driver = with_tool(strict(), |driver| {
            driver.call("a", "{}");
            end(driver);
        });
        assert_eq!(driver.error(1), ("connection_closed", reason));
    }
}

#[test]
fn an_unterminated_last_line_counts() {
    let driver = with_tool(strict(), |driver| {
        driver.call("a", "{}");
        driver.bytes(br#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#);
        driver.end();
    });
    assert!(driver.outcome(1).is_ok());
    assert_eq!(driver.session.state(), State::Closed);
}

#[test]
fn closing_settles_at_once() {
    let driver = with_tool(strict(), |driver| {
        driver.call("a", "{}");
        driver.refresh();
        driver.close();
        driver.call("a", "{}");
        driver.close();
    });
    for handle in 1..=3 {
        assert_eq!(driver.error(handle), ("connection_closed", "scope_closed"));
    }
    let closed = driver.events.iter().filter(|event| matches!(event, Event::Closed { .. }));
    assert_eq!(closed.count(), 1);
    assert!(driver.closed().is_none());
    assert_eq!(driver.session.next_deadline(), None);
}

#[test]
fn an_output_violation_fails_the_call_and_keeps_all_that_came() {
    let tool = r#"[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"properties":{"k":{"type":["number","null"]}},"required":["k"]}}]"#;
    let driver = run(strict(), |driver| {
        driver.ready(VERSION, tool);
        driver.call("a", "{}");
        driver.reply(3, r#"{"content":[{"type":"text","text":"t"}],"structuredContent":{"k":"SECRET"},"isError":true}"#);
        driver.call("a", "{}");
        driver.reply(4, r#"{"structuredContent":{"k":1}}"#);
        driver.call("a", "{}");
        driver.reply(5, OK);
    });
    let error = driver.outcome(1).unwrap_err();
    assert_eq!(
        error.message(),
        "MCP server \"s\" returned structuredContent that its own outputSchema rejects: expected \
         number or null; property path withheld"
    );
    let private: Value = serde_json::from_str(error.private_json().unwrap()).unwrap();
    assert_eq!(private["path"], "/k");
    assert_eq!(private["value"], "SECRET");
    assert_eq!(private["content"][0]["text"], "t");
    assert_eq!(private["structuredContent"]["k"], "SECRET");
    assert_eq!(private["violations"][0]["keyword"], "type");
    assert!(driver.outcome(2).is_ok() && driver.outcome(3).is_ok());
    assert_eq!(driver.diagnostics(), ["output_violation", "invalid_response"]);
}

#[test]
fn times_of_a_call_are_checked_at_once() {
    let mut driver = with_tool(strict(), |_| {});
    for bad in [0.0, -1.0, 0.5, f64::NAN, f64::INFINITY] {
        let options = CallOptions { timeout_ms: Some(bad), ..CallOptions::default() };
        let error = driver.session.call_tool("a", Ok("{}".into()), options, 0.0).unwrap_err();
        assert_eq!(error.reason(), "option_not_positive_integer");
        assert_eq!(error.get_facts().option.as_deref(), Some("timeoutMs"));
    }
}

/// C-441: a validator is built once for a catalog, not for each call. Steps are counted, so that
/// no clock is needed.
#[test]
fn validators_are_built_once_for_a_catalog() {
    let properties: Vec<String> =
        (0..2_000).map(|index| format!(r#""p{index}":{{"type":"string"}}"#)).collect();
    let tools = format!(
        r#"[{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{{"type":"object","properties":{{{}}}}}}}]"#,
        properties.join(",")
    );
    let mut session = ClientSession::new(strict()).unwrap();
    let steps = |session: &mut ClientSession| {
        const BUDGET: u64 = 1 << 40;
        let left = session.work_until(u64::MAX, BUDGET);
        while session.take_output().is_some() || session.poll_event().is_some() {}
        BUDGET - left
    };
    let reply = |session: &mut ClientSession, id: u32, result: &str| {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        session.receive(line.as_bytes(), 0.0);
    };
    session.connect(0.0);
    steps(&mut session);
    let greeting = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#;
    reply(&mut session, 1, greeting);
    steps(&mut session);
    reply(&mut session, 2, &format!(r#"{{"tools":{tools}}}"#));
    let compiling = steps(&mut session);
    assert!(compiling > 2_000, "{compiling}");
    let mut calling = 0;
    for call in 0..1_000 {
        let arguments = Ok("{}".to_owned());
        session.call_tool("t", arguments, CallOptions::default(), 0.0).unwrap();
        calling += steps(&mut session);
        reply(&mut session, 3 + call, r#"{"content":[],"structuredContent":{"p1":"x"}}"#);
        calling += steps(&mut session);
    }
    assert!(calling < 100 * compiling, "{calling} for the calls, {compiling} for the catalog");
}
