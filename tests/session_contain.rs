//! The contain profile: a fault of the server touches the smallest thing it concerns. Ids such as
//! S41 name the public fault reports that a test covers.

// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{Driver, contain, run};
use toolwire::session::State;
use toolwire::session::event::{Event, RpcFault, Settlement, ToolOutcome};
use toolwire::session::options::{CallOptions, OnUnknown, SessionOptions, Validation};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const VERSION: &str = "2025-11-25";
const TOOL: &str = r#"[{"name":"t","inputSchema":{"type":"object"}}]"#;
const OK: &str = r#"{"content":[{"type":"text","text":"ok"}]}"#;

/// A session with the tool `t`, ready; ids go on from 2.
fn given(script: impl Fn(&mut Driver)) -> Driver {
    let mut options = contain();
    options.tools = Some(TOOL.to_owned());
    given_with(options, script)
}

fn given_with(options: SessionOptions, script: impl Fn(&mut Driver)) -> Driver {
    run(options, |driver| {
        greet(driver, VERSION);
        script(driver);
    })
}

fn greet(driver: &mut Driver, version: &str) {
    driver.connect();
    let capabilities = r#"{"tools":{}}"#;
    driver.reply(1, &format!(r#"{{"protocolVersion":"{version}","capabilities":{capabilities}}}"#));
    assert_eq!(driver.session.state(), State::Ready);
}

#[track_caller]
fn tool_outcome(driver: &Driver, handle: u32) -> ToolOutcome {
    match driver.outcome(handle) {
        Ok(Settlement::Tool(outcome)) => outcome,
        other => panic!("{other:?}"),
    }
}

/// The outcome of one call of a tool with this output schema.
fn outcome_of(options: SessionOptions, schema: &str, result: &str) -> Driver {
    let mut options = options;
    options.tools = Some(format!(
        r#"[{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}]"#
    ));
    given_with(options, |driver| {
        driver.call("t", "{}");
        driver.reply(2, result);
    })
}

#[test]
fn noise_is_reported_and_changes_nothing() {
    // S01, S06
    let driver = given(|driver| {
        driver.call("t", "{}");
        driver.bytes(b"Azure Server version : 1.2\n[WebSocket] Closed\nnpm warn exec installing\n{not json\n\"just a string\"\n42\nnull\n");
        driver.bytes(b"\n   \n\r\n\t\n");
        driver.line(&"z".repeat(5000));
        driver.reply(2, OK);
    });
    assert!(driver.outcome(1).is_ok());
    assert_eq!(driver.diagnostics(), ["noise_line"; 8]);
    for event in &driver.events {
        if let Event::Diagnostic { detail, .. } = event {
            assert!(detail.len() <= 200);
        }
    }
}

#[test]
fn replies_that_are_malformed_settle_at_once() {
    // S41
    let driver = given(|driver| {
        for _ in 0..6 {
            driver.call("t", "{}");
        }
        driver.line(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]},"error":null}"#);
        driver.line(
            r#"{"jsonrpc":"2.0","id":3,"result":null,"error":{"code":-32000,"message":"no"}}"#,
        );
        driver.line(r#"{"jsonrpc":"2.0","id":4,"result":{},"error":{"code":1,"message":"both"}}"#);
        driver.line(r#"{"jsonrpc":"2.0","id":5}"#);
        driver.line(r#"{"jsonrpc":"1.0","id":6,"result":{}}"#);
        driver.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[\"\xff\"]}}\n");
    });
    assert!(driver.outcome(1).is_ok());
    assert_eq!(driver.error(2), ("tool_failed", "remote"));
    assert_eq!(driver.error(3), ("protocol_error", "reply_both"));
    assert_eq!(driver.error(4), ("protocol_error", "reply_neither"));
    assert_eq!(driver.error(5), ("protocol_error", "version"));
    assert_eq!(driver.error(6), ("protocol_error", "invalid_utf8"));
    let nulls = driver.diagnostics().iter().filter(|code| **code == "null_member").count();
    assert_eq!(nulls, 2);
    assert_eq!(driver.session.state(), State::Ready);
}

#[test]
fn over_long_lines_are_skipped() {
    let mut options = contain();
    options.tools = Some(TOOL.to_owned());
    options.limits.max_frame_bytes = 10_000.0;
    let driver = given_with(options, |driver| {
        driver.call("t", "{}");
        driver.call("t", "{}");
        driver.bytes(&[b'x'; 20_000]);
        driver.bytes(b"rest\n");
        let long = "y".repeat(20_000);
        driver.reply(2, &format!(r#"{{"content":[{{"type":"text","text":"{long}"}}]}}"#));
        driver.reply(3, OK);
    });
    assert_eq!(driver.error(1), ("protocol_error", "frame_too_long"));
    assert!(driver.outcome(2).is_ok());
    assert_eq!(driver.diagnostics(), ["frame_too_long"; 2]);
}

#[test]
fn repeated_members_are_refused() {
    // S46
    let driver = given(|driver| {
        driver.call("t", "{}");
        driver.line(r#"{"jsonrpc":"2.0","id":2,"id":9999,"result":{"content":[]}}"#);
        driver.reply(2, r#"{"content":[{"type":"text","text":"benign","text":"evil"}]}"#);
        driver.call("t", "{}");
        driver.reply(3, r#"{"content":[{"type":"text","text":"benign","text":"evil"}]}"#);
    });
    assert_eq!(driver.error(1), ("protocol_error", "duplicate_member"));
    assert_eq!(driver.error(2), ("protocol_error", "duplicate_member"));
    assert_eq!(driver.diagnostics(), ["duplicate_member"; 3]);
    let schema = r#"{"properties":{"a":{}}}"#;
    let repeated = r#"{"content":[],"structuredContent":{"a":1,"a":2}}"#;
    let driver = outcome_of(contain(), schema, repeated);
    assert_eq!(driver.error(1), ("protocol_error", "duplicate_member"));
    let undeclared = r#"{"content":[],"structuredContent":{"b":1,"b":2}}"#;
    assert_eq!(tool_outcome(&outcome_of(contain(), schema, undeclared), 1).verdict, "valid");
}

#[test]
fn ids_that_answer_nothing_are_told_apart() {
    // S19
    let driver = given(|driver| {
        driver.call("t", "{}");
        driver.reply(2, OK);
        driver.reply(2, OK);
        driver.reply(77, OK);
        let call = driver.call("t", "{}");
        driver.line(r#"{"jsonrpc":"2.0","id":"3","result":{"content":[]}}"#);
        driver.line(r#"{"jsonrpc":"2.0","id":"x","result":{"content":[]}}"#);
        driver.cancel(call);
        driver.reply(3, OK);
        driver.reply(3, OK);
    });
    assert!(driver.outcome(1).is_ok());
    assert_eq!(
        driver.diagnostics(),
        [
            "duplicate_response",
            "unknown_id",
            "id_type",
            "unknown_id",
            "late_response",
            "duplicate_response"
        ]
    );
    let mut lenient = contain();
    lenient.tools = Some(TOOL.to_owned());
    lenient.lenient_ids = true;
    let driver = given_with(lenient, |driver| {
        driver.call("t", "{}");
        driver.line(r#"{"jsonrpc":"2.0","id":"2","result":{"content":[]}}"#);
    });
    assert!(driver.outcome(1).is_ok());
}

#[test]
fn results_that_are_no_objects() {
    // S42
    let driver = given(|driver| {
        driver.request("ping", None);
        driver.reply(2, "[]");
        driver.call("t", "{}");
        driver.reply(3, "[]");
        driver.request("prompts/list", Some("{}"));
        driver.reply(4, "7");
    });
    assert!(driver.outcome(1).is_ok());
    for handle in [2, 3] {
        let error = driver.outcome(handle).unwrap_err();
        assert_eq!(
            (error.code().as_str(), error.reason()),
            ("protocol_error", "result_not_object")
        );
        assert_eq!(error.get_facts().at.as_deref(), Some("/result"));
    }
    let noted = driver.diagnostics().iter().filter(|code| **code == "non_object_result").count();
    assert_eq!(noted, 3);
}

#[test]
fn an_uncorrelated_error_is_remembered_by_timeouts() {
    // S16
    let driver = given(|driver| {
        driver.line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"early"}}"#);
        let options = CallOptions { timeout_ms: Some(60_000.0), ..CallOptions::default() };
        driver.call_with("t", "{}", options);
        driver
            .line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#);
        assert!(driver.is_open(1));
        driver.tick(60_000.0);
        driver.call("t", "{}");
        driver.tick(120_000.0);
    });
    let code = |handle| driver.outcome(handle).unwrap_err().get_facts().rpc_code;
    assert_eq!((code(1), code(2)), (Some(-32700), None));
    let events = driver.events.iter();
    let codes: Vec<i64> = events
        .filter_map(|event| match event {
            Event::UncorrelatedError { rpc_code } => Some(*rpc_code),
            _ => None,
        })
        .collect();
    assert_eq!(codes, [-1, -32700]);
}

#[test]
fn notifications_are_passed_on_whatever_their_params() {
    // S37, S23
    let driver = given(|driver| {
        driver.line(r#"{"jsonrpc":"2.0","method":"codex/event","params":[1,2]}"#);
        driver.call("t", "{}");
        driver.line(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":8,"total":8}}"#);
        driver.line(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tool-call-4","progress":1}}"#);
        driver
            .line(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#);
        driver.line(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":0.5,"total":2,"message":"half\u0021"}}"#);
        driver.reply(2, OK);
    });
    assert!(driver.outcome(1).is_ok());
    assert_eq!(
        driver.diagnostics(),
        ["unknown_progress_token", "unknown_progress_token", "malformed_notification"]
    );
    let params = driver.events.iter().find_map(|event| match event {
        Event::Notification { method, params } if method == "codex/event" => params.clone(),
        _ => None,
    });
    assert_eq!(params.as_deref(), Some("[1,2]"));
    let progress = driver.events.iter().find_map(|event| match event {
        Event::Progress { handle, progress, total, message } => {
            Some((*handle, *progress, *total, message.clone()))
        }
        _ => None,
    });
    assert_eq!(progress, Some((1, 0.5, Some(2.0), Some("half!".to_owned()))));
}

#[test]
fn progress_restarts_the_clock_but_not_the_total() {
    // S22
    let options = CallOptions {
        timeout_ms: Some(10_000.0),
        max_total_timeout_ms: Some(25_000.0),
        ..CallOptions::default()
    };
    let driver = given(|driver| {
        driver.call_with("t", "{}", options.clone());
        let token = driver.frames()[2]["params"]["_meta"]["progressToken"].clone();
        for progress in 1..4 {
            driver.tick(8_000.0);
            assert!(driver.is_open(1));
            driver.line(
                &json!({"jsonrpc":"2.0","method":"notifications/progress",
                        "params":{"progressToken":token,"progress":progress}})
                .to_string(),
            );
        }
        driver.tick(999.0);
        assert!(driver.is_open(1));
        driver.tick(1.0);
    });
    let error = driver.outcome(1).unwrap_err();
    assert_eq!((error.code().as_str(), error.reason()), ("timeout", "max_total"));
    assert_eq!(error.get_facts().ms, Some(25_000.0));
    assert_eq!(driver.frames().last().unwrap()["method"], "notifications/cancelled");
}

#[test]
fn times_have_no_32_bit_trap() {
    // S24
    let driver = given(|driver| {
        for timeout in [2_147_483_648.0, f64::INFINITY] {
            let options = CallOptions { timeout_ms: Some(timeout), ..CallOptions::default() };
            driver.call_with("t", "{}", options);
        }
        for bad in [0.0, -1.0, f64::NAN] {
            let options = CallOptions { timeout_ms: Some(bad), ..CallOptions::default() };
            let error = driver.session.call_tool("t", Ok("{}".into()), options, driver.now);
            let error = error.unwrap_err();
            assert_eq!(
                (error.code().as_str(), error.reason()),
                ("invalid_arguments", "invalid_time")
            );
        }
        let forever = CallOptions {
            timeout_ms: Some(f64::INFINITY),
            max_total_timeout_ms: Some(f64::INFINITY),
            ..CallOptions::default()
        };
        driver.call_with("t", "{}", forever);
        driver.tick(5_000.0);
        assert!(driver.is_open(1) && driver.is_open(2));
        driver.tick(600_000.0);
    });
    assert_eq!(driver.error(1), ("timeout", "max_total"));
    assert_eq!(driver.error(2), ("timeout", "max_total"));
    assert!(driver.is_open(3));
    assert_eq!(driver.session.next_deadline(), None);
}

#[test]
fn a_full_queue_refuses() {
    let mut options = contain();
    options.tools = Some(TOOL.to_owned());
    options.limits.queue_capacity = 2.0;
    let driver = given_with(options, |driver| {
        driver.stall();
        driver.call("t", "{}");
        driver.notify("n");
        driver.call("t", "{}");
        driver.notify("m");
        driver.line(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
        driver.line(r#"{"jsonrpc":"2.0","method":"seen/later"}"#);
        driver.tick(119_999.0);
        driver.flow();
    });
    assert_eq!(driver.error(3), ("limit", "queue_full"));
    assert_eq!(driver.error(4), ("limit", "queue_full"));
    assert!(driver.outcome(3).unwrap_err().is_retryable());
    assert!(driver.outcome(2).is_ok());
    // The answer waited; what came after it was read once it had room.
    assert_eq!(driver.sent.last().unwrap(), r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
    let passed = driver
        .events
        .iter()
        .any(|event| matches!(event, Event::Notification { method, .. } if method == "seen/later"));
    assert!(passed);
}

#[test]
fn outbound_text_escapes_line_separators() {
    // S07
    let driver = given(|driver| {
        driver.call("t", "{\"q\":\"a\u{2028}b\u{2029}c\u{85}d\"}");
        driver.reply(2, "{\"content\":[{\"type\":\"text\",\"text\":\"x\u{2028}y\u{85}w\"}]}");
    });
    let sent = driver.sent.last().unwrap();
    assert!(sent.contains(r#""a\u2028b\u2029c\u0085d""#), "{sent}");
    assert!(tool_outcome(&driver, 1).json.contains("x\u{2028}y\u{85}w"));
    assert_eq!(driver.diagnostics(), [""; 0]);
}

#[test]
fn content_length_framing_fails_fast() {
    // S12
    let driver = run(contain(), |driver| {
        driver.connect();
        driver.bytes(b"Content-Length: 38\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}  ");
    });
    assert_eq!(driver.closed_with(), ("protocol_error", "lsp_framing"));
    assert_eq!(driver.diagnostics(), ["lsp_framing_detected"]);
}

#[test]
fn pretty_printed_messages_are_suspected() {
    // S13
    let driver = given(|driver| {
        driver.call("t", "{}");
        driver.bytes(b"{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 2,\n  \"result\": {\n    \"content\": []\n  }\n}\n");
        driver.tick(120_000.0);
    });
    assert_eq!(driver.error(1), ("timeout", "deadline"));
    let suspected =
        driver.diagnostics().iter().filter(|code| **code == "embedded_newline_suspected").count();
    assert_eq!(suspected, 1);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    // S05
    let driver = run(contain(), |driver| {
        driver.connect();
        driver.bytes(b"\xEF\xBB\xBF");
        driver.reply(1, r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#);
    });
    assert_eq!(driver.session.state(), State::Ready);
    assert_eq!(driver.diagnostics(), ["bom_skipped", "not_advertised"]);
}

#[test]
fn handshakes_are_forgiven_what_can_be() {
    // S45
    let mut options = contain();
    options.tools = Some("[]".to_owned());
    let driver = run(options, |driver| {
        driver.connect();
        driver.reply(
            1,
            r#"{"protocolVersion":"2025-06-18","capabilities":null,"instructions":null}"#,
        );
    });
    assert_eq!(driver.diagnostics(), ["handshake_shape"; 2]);
    let ready = driver.events.iter().find_map(|event| match event {
        Event::Ready { protocol_version, server_info, capabilities, instructions, era } => Some((
            *protocol_version,
            *era,
            server_info.clone(),
            capabilities.clone(),
            instructions.clone(),
        )),
        _ => None,
    });
    assert_eq!(ready, Some(("2025-06-18", "legacy", None, "{}".to_owned(), None)));
}

#[test]
fn versions_are_negotiated_from_the_newest() {
    // S29, S31
    let driver = run(contain(), |driver| {
        driver.connect();
        driver.reply(1, r#"{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"old","version":"0"}}"#);
    });
    assert_eq!(driver.frames()[0]["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(driver.session.protocol_version(), Some("2024-11-05"));
    let driver = run(contain(), |driver| {
        driver.connect();
        driver.line(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2025-06-18","evil prose"],"requested":"2025-11-25"}}}"#);
    });
    let error = driver.closed().unwrap();
    assert_eq!(error.reason(), "init_version_unsupported");
    assert_eq!(error.get_facts().supported, Some(vec!["2025-06-18".to_owned()]));
    let mut options = contain();
    options.revisions = vec!["2025-03-26".to_owned()];
    let driver = run(options, |driver| {
        driver.connect();
        driver.reply(1, r#"{"protocolVersion":"2025-06-18","capabilities":{}}"#);
    });
    assert_eq!(driver.frames()[0]["params"]["protocolVersion"], "2025-03-26");
    assert_eq!(driver.closed_with(), ("protocol_error", "init_version_unsupported"));
}

#[test]
fn the_first_bytes_start_the_handshakes_clock() {
    let silent = run(contain(), |driver| {
        driver.connect();
        driver.tick(59_999.0);
        assert_eq!(driver.session.state(), State::Connecting);
        driver.tick(1.0);
    });
    assert_eq!(silent.closed_with(), ("timeout", "connect_timeout"));
    let noisy = run(contain(), |driver| {
        driver.connect();
        driver.tick(30_000.0);
        driver.line("booting");
        driver.tick(9_999.0);
        assert_eq!(driver.session.state(), State::Connecting);
        driver.tick(1.0);
    });
    assert_eq!(noisy.closed_with(), ("timeout", "deadline"));
}

#[test]
fn batches_are_read_where_the_revision_has_them() {
    let options = || {
        let mut options = contain();
        options.tools = Some(TOOL.to_owned());
        options
    };
    let batch = r#"[{"jsonrpc":"2.0","id":2,"result":{"content":[]}},7,{"jsonrpc":"2.0","id":"p","method":"ping"},{"jsonrpc":"2.0","id":3,"result":{"content":[]}}]"#;
    let script = |version: &'static str| {
        run(options(), move |driver| {
            greet(driver, version);
            driver.call("t", "{}");
            driver.call("t", "{}");
            driver.line(batch);
        })
    };
    let driver = script("2025-03-26");
    assert!(driver.outcome(1).is_ok() && driver.outcome(2).is_ok());
    assert_eq!(driver.sent.last().unwrap(), r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
    assert_eq!(driver.diagnostics(), ["noise_line"]);
    let driver = script("2025-06-18");
    assert!(driver.is_open(1));
    assert_eq!(driver.diagnostics(), ["batch"]);
}

#[test]
fn declared_requests_are_handed_to_the_host() {
    let mut options = contain();
    options.tools = Some(TOOL.to_owned());
    options.capabilities = r#"{"roots":{}}"#.to_owned();
    let driver = given_with(options, |driver| {
        driver.line(r#"{"jsonrpc":"2.0","id":"r\u0031","method":"roots/list"}"#);
        driver.line(r#"{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{}}"#);
        driver.respond(1, Ok(r#"{"roots":[]}"#));
        driver.respond(1, Ok("{}"));
        driver.line(r#"{"jsonrpc":"2.0","id":6,"method":"roots/list","params":{}}"#);
        driver.respond(2, Err(RpcFault { code: -1, message: "no".into(), data: None }));
        driver.line(r#"{"jsonrpc":"2.0","id":8,"method":"roots/list","params":[]}"#);
        driver.line(r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#);
        driver.line(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        );
        driver.respond(3, Ok("{}"));
        driver.line(r#"{"jsonrpc":"2.0","id":9,"method":"roots/list"}"#);
        driver.respond(4, Ok(&format!("{{\"roots\":\"{}\"}}", "x".repeat(1_048_576))));
    });
    let frames = &driver.sent[2..];
    assert_eq!(frames.len(), 5);
    assert!(frames[3].contains(r#""id":8,"error":{"code":-32602"#));
    assert!(frames[4].contains(r#""id":9,"error":{"code":-32603"#));
    assert!(frames[0].contains(r#""id":5,"error":{"code":-32601"#));
    assert_eq!(frames[1], r#"{"jsonrpc":"2.0","id":"r\u0031","result":{"roots":[]}}"#);
    assert_eq!(frames[2], r#"{"jsonrpc":"2.0","id":6,"error":{"code":-1,"message":"no"}}"#);
    assert!(
        driver.events.iter().any(|event| matches!(event, Event::RequestCancelled { token: 3 }))
    );
}

#[test]
fn the_policy_decides_on_violations() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let bad = r#"{"content":[{"type":"text","text":"usable"}],"structuredContent":{"n":"x"}}"#;
    let driver = outcome_of(contain(), schema, bad);
    let error = driver.outcome(1).unwrap_err();
    assert_eq!((error.code().as_str(), error.is_retryable()), ("invalid_response", false));
    let private: Value = serde_json::from_str(error.private_json().unwrap()).unwrap();
    assert_eq!(private["content"][0]["text"], "usable");
    let with = |validation| {
        let mut options = contain();
        options.validation = validation;
        tool_outcome(&outcome_of(options, schema, bad), 1)
    };
    let report = with(Validation::Report);
    assert_eq!((report.verdict, report.violation), ("invalid", Some("schema")));
    assert_eq!(report.violations[0].instance_path, "/n");
    assert_eq!(with(Validation::Off).verdict, "unchecked");
    let good = r#"{"content":[],"structuredContent":{"n":1}}"#;
    assert_eq!(tool_outcome(&outcome_of(contain(), schema, good), 1).verdict, "valid");
    let failed = r#"{"content":[],"structuredContent":{"e":1},"isError":true}"#;
    let failed = tool_outcome(&outcome_of(contain(), schema, failed), 1);
    assert_eq!((failed.verdict, failed.verdict_reason), ("unchecked", Some("is_error")));
}

#[test]
fn results_with_too_little_are_violations_of_their_own() {
    let schema = r#"{"type":"object"}"#;
    let reason = |driver: Driver| driver.error(1).1;
    assert_eq!(reason(outcome_of(contain(), schema, "{}")), "no_content_array");
    let scalar = r#"{"content":[],"structuredContent":[1]}"#;
    assert_eq!(reason(outcome_of(contain(), schema, scalar)), "structured_content_type");
    let mut report = contain();
    report.validation = Validation::Report;
    let outcome = tool_outcome(&outcome_of(report.clone(), schema, "{}"), 1);
    assert_eq!((outcome.verdict, outcome.violation), ("invalid", Some("malformed_result")));
    let outcome = tool_outcome(&outcome_of(report, schema, scalar), 1);
    assert_eq!(outcome.violation, Some("non_object_structured_content"));
    assert!(outcome.structured);
    let missing = outcome_of(contain(), schema, r#"{"content":[]}"#);
    assert_eq!(tool_outcome(&missing, 1).verdict, "unchecked");
    assert_eq!(missing.diagnostics(), ["structured_content_missing"]);
    let mut require = contain();
    require.require_structured = true;
    assert_eq!(
        reason(outcome_of(require, schema, r#"{"content":[]}"#)),
        "structured_content_missing"
    );
}

#[test]
fn good_content_survives_bad_content() {
    // P12, P13
    let driver = given(|driver| {
        driver.call("t", "{}");
        driver.reply(2, r#"{"content":[{"type":"text","text":"keep me"},{"type":"json","json":{}},{"type":"text"},7],"isError":null,"_meta":null}"#);
    });
    let outcome = tool_outcome(&driver, 1);
    assert_eq!(outcome.dropped, [2, 3]);
    assert_eq!(
        outcome.content_problems,
        [(1, "unknown_type"), (2, "missing_text"), (3, "not_an_object")]
    );
    assert_eq!(outcome.violation, Some("bad_content_block"));
    assert_eq!(
        driver.diagnostics(),
        ["null_optional", "content_block", "content_block", "content_block"]
    );
}

#[test]
fn outputs_that_cannot_be_judged() {
    // P14
    let schema =
        r#"{"type":"object","properties":{"r":{"$ref":"https://example.com/number.json"}}}"#;
    let result = r#"{"content":[],"structuredContent":{"r":2}}"#;
    let driver = outcome_of(contain(), schema, result);
    let outcome = tool_outcome(&driver, 1);
    assert_eq!((outcome.verdict, outcome.verdict_reason), ("unknown", Some("uncompilable")));
    assert_eq!(driver.diagnostics(), ["schema_uncompilable", "output_unknown"]);
    let mut reject = contain();
    reject.on_unknown = OnUnknown::Reject;
    let driver = outcome_of(reject, schema, result);
    assert_eq!(driver.error(1), ("invalid_response", "output_unknown"));
}

#[test]
fn integers_that_a_double_would_change_are_reported() {
    let driver = given(|driver| {
        driver.call("t", "{}");
        driver.reply(2, r#"{"content":[],"structuredContent":{"id":9007199254740993}}"#);
    });
    assert_eq!(driver.diagnostics(), ["unsafe_integer"]);
    assert!(tool_outcome(&driver, 1).json.contains("9007199254740993"));
}

#[test]
fn arguments_are_judged_when_asked_for() {
    let mut options = contain();
    options.check_arguments = true;
    options.tools =
        Some(r#"[{"name":"t","inputSchema":{"type":"object","required":["q"]}}]"#.to_owned());
    let driver = given_with(options, |driver| {
        driver.call("t", r#"{"p":1}"#);
        driver.call("t", r#"{"q":1}"#);
        driver.reply(2, OK);
    });
    assert_eq!(driver.error(1), ("invalid_arguments", "arguments_rejected"));
    assert!(driver.outcome(2).is_ok());
}

#[test]
fn giving_up_stops_a_judgement() {
    let mut options = contain();
    options.tools = Some(
        r#"[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"properties":{"a":{"items":{"type":"integer"}}}}}]"#
            .to_owned(),
    );
    let mut driver = given_with(options, |driver| {
        driver.call("t", "{}");
    });
    let numbers = vec!["1"; 10_000].join(",");
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"content\":[],\"structuredContent\":{{\"a\":[{numbers}]}}}}}}\n"
    );
    driver.session.receive(line.as_bytes(), 0.0);
    // Far enough to have read the line, not far enough to have judged it.
    driver.session.work(line.len() as u64 / 16 + 100, 0.0);
    assert!(driver.session.has_work());
    driver.session.cancel(1, None, 0.0);
    assert!(!driver.session.has_work());
    driver.drain();
    assert_eq!(driver.error(1), ("aborted", "aborted"));
    assert_eq!(driver.sent.len(), 3, "an answered request is not cancelled");
}

#[test]
fn what_closes_while_lines_wait_settles_too() {
    let mut driver = given(|driver| {
        driver.call("t", "{}");
    });
    driver.session.receive(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[]}}\n", 0.0);
    let call = driver.session.call_tool("t", Ok("{}".into()), CallOptions::default(), 0.0).unwrap();
    driver.session.close(0.0);
    driver.drain();
    assert_eq!(driver.error(1), ("connection_closed", "scope_closed"));
    assert_eq!(driver.error(call), ("connection_closed", "scope_closed"));
}

#[test]
fn a_reply_in_time_settles_even_if_it_is_read_late() {
    let options = CallOptions { timeout_ms: Some(10.0), ..CallOptions::default() };
    let mut driver = given(|driver| {
        driver.call_with("t", "{}", options.clone());
    });
    driver.session.receive(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[]}}\n", 9.0);
    driver.session.advance(10.0);
    driver.drain();
    assert!(driver.outcome(1).is_ok());
}

#[test]
fn findings_are_bounded() {
    let driver = given(|driver| {
        driver.call("t", "{}");
        let content = vec!["7"; 5_000].join(",");
        driver.reply(2, &format!(r#"{{"content":[{content}]}}"#));
    });
    let outcome = tool_outcome(&driver, 1);
    assert_eq!((outcome.dropped.len(), outcome.content_problems.len()), (5_000, 1_000));
    assert_eq!(driver.diagnostics().len(), 16);
}

#[test]
fn a_bound_on_values_settles_what_the_line_names() {
    let mut options = contain();
    options.tools = Some(TOOL.to_owned());
    options.limits.max_tokens = 200.0;
    let driver = given_with(options, |driver| {
        driver.call("t", "{}");
        let content = vec!["7"; 500].join(",");
        driver.reply(2, &format!(r#"{{"content":[{content}]}}"#));
    });
    let error = driver.outcome(1).unwrap_err();
    assert_eq!((error.reason(), error.get_facts().limit), ("tokens", Some(200)));
    assert_eq!(error.message(), "MCP server \"s\" sent a message with more than 200 values");
}

#[test]
fn nothing_the_server_wrote_is_in_a_message() {
    let driver = given(|driver| {
        driver.call("t", "{}");
        driver.line(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"SECRET-1","data":"SECRET-2"}}"#);
    });
    let error = driver.outcome(1).unwrap_err();
    assert_eq!(
        error.message(),
        "MCP server \"s\" answered \"tools/call\" with JSON-RPC error -32000; its text is withheld"
    );
    let private: Value = serde_json::from_str(error.private_json().unwrap()).unwrap();
    assert_eq!(private, json!({"code":-32000,"message":"SECRET-1","data":"SECRET-2"}));
    assert_eq!(driver.diagnostics(), ["remote_error"]);
}
