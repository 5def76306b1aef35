//! Sessions without a handshake (2026-07-28): what requests carry, questions in place of results,
//! subscriptions, giving up; and messages one by one, as HTTP sends them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_family = "wasm"))]

mod support;

use serde_json::{Value, json};
use support::{Driver, auto, run};
use toolwire::session::event::{Event, RpcFault, Settlement};
use toolwire::session::options::{CallOptions, Era, Profile, RequestOptions, SessionOptions};
use toolwire::session::{ClientSession, ReplyOutcome};

const TOOLS: &str = r#"[{"name":"t","inputSchema":{"type":"object"}},
    {"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"integer"}}]"#;
const TOOLS_CAPABILITY: &str = r#"{"tools":{}}"#;

fn able() -> SessionOptions {
    let capabilities = r#"{"elicitation":{},"roots":{},"sampling":{}}"#.to_owned();
    SessionOptions { capabilities, ..auto() }
}

fn ready(driver: &mut Driver) {
    driver.modern(TOOLS_CAPABILITY, &TOOLS.replace('\n', " "));
}

fn last(driver: &Driver) -> Value {
    driver.frames().pop().unwrap()
}

fn last_id(driver: &Driver) -> u32 {
    last(driver)["id"].as_u64().unwrap() as u32
}

#[test]
fn every_request_says_who_asks_and_what_the_host_adds() {
    let driver = run(able(), |driver| {
        ready(driver);
        let meta = r#"{"traceparent":"00-aa-bb-01","tracestate":"v=1","progressToken":"mine"}"#;
        driver.call_with("t", "{}", CallOptions { meta: Some(meta.into()), ..Default::default() });
        driver.request("prompts/list", Some(r#"{"cursor":"c","_meta":{"baggage":"k=v"}}"#));
        driver.request("prompts/get", Some(r#"{"name":"p","_meta":{"x/y":1}}"#));
        driver.request("completion/complete", None);
    });
    let frames = driver.frames();
    for frame in &frames {
        let meta = &frame["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{frame}");
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({"elicitation":{},"roots":{},"sampling":{}})
        );
    }
    let call = &frames[2]["params"];
    assert_eq!(call["_meta"]["traceparent"], "00-aa-bb-01");
    assert_eq!(call["_meta"]["tracestate"], "v=1");
    assert_eq!(call["_meta"]["progressToken"], frames[2]["id"]);
    assert_eq!(frames[3]["params"]["cursor"], "c");
    assert_eq!(frames[3]["params"]["_meta"]["baggage"], "k=v");
    assert_eq!(frames[4]["params"]["_meta"]["x/y"], 1);
    assert_eq!(frames[4]["params"]["name"], "p");
}

#[test]
fn a_result_says_what_it_is() {
    let driver = run(auto(), |driver| {
        ready(driver);
        for (result, expected) in [
            (r#"{"content":[]}"#, None),
            (r#"{"resultType":"complete","content":[]}"#, None),
            (r#"{"resultType":"vendor/odd","content":[]}"#, Some("result_type")),
            (r#"{"resultType":null,"content":[]}"#, Some("result_type")),
            (r#"{"resultType":"task","taskId":"1"}"#, Some("result_type")),
            (
                r#"{"resultType":"complete","resultType":"complete","content":[]}"#,
                Some("duplicate_member"),
            ),
        ] {
            let handle = driver.call("t", "{}");
            let id = last_id(driver);
            driver.reply(id, result);
            match expected {
                None => assert!(driver.outcome(handle).is_ok(), "{result}"),
                Some(reason) => assert_eq!(driver.error(handle), ("protocol_error", reason)),
            }
        }
        let handle = driver.request("prompts/list", None);
        let id = last_id(driver);
        driver.reply(id, r#"{"resultType":"input_required","requestState":"s"}"#);
        assert_eq!(driver.error(handle), ("protocol_error", "result_type"));
    });
    assert_eq!(driver.ids_of("prompts/list").len(), 1);
}

#[test]
fn structured_content_may_be_any_value() {
    run(auto(), |driver| {
        ready(driver);
        for (value, verdict) in [("0", "valid"), ("7", "valid")] {
            let handle = driver.call("n", "{}");
            let id = last_id(driver);
            driver.reply(id, &format!(r#"{{"content":[],"structuredContent":{value}}}"#));
            match driver.outcome(handle).unwrap() {
                Settlement::Tool(tool) => {
                    assert_eq!((tool.verdict, tool.structured), (verdict, true))
                }
                other => panic!("{other:?}"),
            }
        }
        let handle = driver.call("n", "{}");
        let id = last_id(driver);
        driver.reply(id, r#"{"content":[],"structuredContent":null}"#);
        assert_eq!(driver.error(handle), ("invalid_response", "output_schema_violation"));
    });
}

#[test]
fn a_question_is_answered_and_the_request_sent_again() {
    let driver = run(able(), |driver| {
        ready(driver);
        let meta = Some(r#"{"traceparent":"00-aa-bb-01"}"#.to_owned());
        let options = CallOptions { meta, ..Default::default() };
        let handle = driver.call_with("t", r#"{"a":[1]}"#, options);
        let first = last_id(driver);
        driver.reply(
            first,
            r#"{"resultType":"input_required","inputRequests":{"q\u0031":{"method":"elicitation/create","params":{"message":"?"}},"r":{"method":"roots/list"}},"requestState":"é\u0000\u2028 opaque"}"#,
        );
        assert!(driver.is_open(handle));
        let questions = driver.questions();
        assert_eq!(questions[0].1, "elicitation/create");
        assert_eq!(questions[1].1, "roots/list");
        driver.respond(questions[1].0, Ok(r#"{"roots":[]}"#));
        assert_eq!(last_id(driver), first, "sent again too early");
        driver
            .respond(questions[0].0, Ok(r#"{"action":"accept","content":{"n":9007199254740993}}"#));
        let second = last_id(driver);
        assert_ne!(second, first);
        // The second round brings no state: none is sent, nor the answers of the first.
        driver.reply(
            second,
            r#"{"resultType":"input_required","inputRequests":{"s":{"method":"roots/list"}}}"#,
        );
        let token = driver.questions()[2].0;
        driver.respond(token, Ok(r#"{"roots":[1]}"#));
        let third = last_id(driver);
        driver
            .reply(third, r#"{"resultType":"complete","content":[{"type":"text","text":"done"}]}"#);
        assert!(driver.outcome(handle).is_ok());
    });
    let calls: Vec<Value> =
        driver.frames().into_iter().filter(|frame| frame["method"] == "tools/call").collect();
    assert_eq!(calls.len(), 3);
    let second = &calls[1]["params"];
    assert_eq!(second["name"], "t");
    assert_eq!(second["arguments"], json!({"a":[1]}));
    assert_eq!(second["requestState"], "é\0\u{2028} opaque");
    assert_eq!(second["inputResponses"]["r"], json!({"roots":[]}));
    let sent = driver.sent.iter().filter(|text| text.contains("tools/call")).nth(1).unwrap();
    assert!(sent.contains("9007199254740993"), "{sent}");
    assert_eq!(second["_meta"]["traceparent"], "00-aa-bb-01");
    assert_eq!(second["_meta"]["progressToken"], calls[1]["id"]);
    let third = &calls[2]["params"];
    assert_eq!(third["inputResponses"], json!({"s":{"roots":[1]}}));
    assert!(third.get("requestState").is_none());
}

#[test]
fn state_alone_is_paced_and_rounds_are_counted() {
    let driver = run(SessionOptions { ..able() }, |driver| {
        ready(driver);
        let handle = driver.request("resources/read", Some(r#"{"uri":"a:b"}"#));
        for round in 0..11 {
            let id = last_id(driver);
            driver.reply(id, r#"{"resultType":"input_required","requestState":"s"}"#);
            if round < 10 {
                assert_eq!(last_id(driver), id);
                driver.tick(249.0);
                assert_eq!(last_id(driver), id);
                driver.tick(1.0);
                assert_ne!(last_id(driver), id);
            }
        }
        assert_eq!(driver.error(handle), ("limit", "input_rounds"));
    });
    assert_eq!(driver.ids_of("resources/read").len(), 11);
    assert_eq!(last(&driver)["params"]["requestState"], "s");
    assert!(last(&driver)["params"].get("inputResponses").is_none());
}

#[test]
fn questions_that_cannot_be_asked_fail_the_request() {
    run(able(), |driver| {
        ready(driver);
        for (result, reason) in [
            (r#"{"resultType":"input_required"}"#, "input_malformed"),
            (r#"{"resultType":"input_required","inputRequests":[]}"#, "input_malformed"),
            (r#"{"resultType":"input_required","inputRequests":{"q":7}}"#, "input_malformed"),
            (
                r#"{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list","params":7}}}"#,
                "input_malformed",
            ),
            (
                r#"{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"},"q":{"method":"roots/list"}}}"#,
                "input_malformed",
            ),
            (r#"{"resultType":"input_required","requestState":7}"#, "input_malformed"),
            (
                r#"{"resultType":"input_required","inputRequests":{"q":{"method":"tasks/get"}}}"#,
                "input_undeclared",
            ),
            (
                r#"{"resultType":"input_required","inputRequests":{"q":{"method":"other"}}}"#,
                "input_undeclared",
            ),
        ] {
            let handle = driver.call("t", "{}");
            let id = last_id(driver);
            driver.reply(id, result);
            assert_eq!(driver.error(handle), ("protocol_error", reason), "{result}");
        }
        assert!(driver.questions().is_empty());
    });
}

#[test]
fn a_host_without_an_answer_ends_the_request() {
    let driver = run(able(), |driver| {
        ready(driver);
        let handle = driver.call("t", "{}");
        let id = last_id(driver);
        driver.reply(
            id,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}}"#,
        );
        let token = driver.questions()[0].0;
        let fault = RpcFault { code: -32603, message: "no".into(), data: None };
        driver.respond(token, Err(fault));
        assert_eq!(driver.error(handle), ("protocol_error", "input_refused"));
    });
    // The other question is void.
    let void =
        driver.events.iter().any(|event| matches!(event, Event::RequestCancelled { token: 2 }));
    assert!(void);
    assert_eq!(driver.ids_of("tools/call").len(), 1);
}

#[test]
fn a_round_ends_with_its_request() {
    let ask = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#;
    // Given up.
    let driver = run(able(), |driver| {
        ready(driver);
        let handle = driver.call("t", "{}");
        let id = last_id(driver);
        driver.reply(id, ask);
        driver.cancel(handle);
        assert_eq!(driver.error(handle), ("aborted", "aborted"));
        driver.respond(1, Ok("{}"));
    });
    assert!(!driver.methods().contains(&"notifications/cancelled".to_owned()));
    assert_eq!(driver.ids_of("tools/call").len(), 1);
    // Out of time: the total spans the rounds.
    run(able(), |driver| {
        ready(driver);
        let total = Some(1_000.0);
        let options = CallOptions { max_total_timeout_ms: total, ..Default::default() };
        let handle = driver.call_with("t", "{}", options);
        driver.tick(600.0);
        let id = last_id(driver);
        driver.reply(id, ask);
        driver.tick(399.0);
        assert!(driver.is_open(handle));
        driver.tick(1.0);
        assert_eq!(driver.error(handle), ("timeout", "max_total"));
    });
    // Closed.
    run(able(), |driver| {
        ready(driver);
        let handle = driver.call("t", "{}");
        let id = last_id(driver);
        driver.reply(id, ask);
        driver.close();
        assert_eq!(driver.error(handle), ("connection_closed", "scope_closed"));
    });
}

#[test]
fn the_log_level_travels_with_each_request() {
    let driver = run(auto(), |driver| {
        ready(driver);
        let handle = driver.request("logging/setLevel", Some(r#"{"level":"debug"}"#));
        assert!(matches!(driver.outcome(handle), Ok(Settlement::Value(json)) if json == "{}"));
        driver.call("t", "{}");
    });
    assert!(driver.ids_of("logging/setLevel").is_empty());
    assert_eq!(last(&driver)["params"]["_meta"]["io.modelcontextprotocol/logLevel"], "debug");
}

#[test]
fn giving_up_is_told_with_what_every_message_carries() {
    let driver = run(auto(), |driver| {
        ready(driver);
        let handle = driver.call("t", "{}");
        driver.cancel(handle);
    });
    let frame = last(&driver);
    assert_eq!(frame["method"], "notifications/cancelled");
    assert_eq!(frame["params"]["requestId"], driver.ids_of("tools/call")[0]);
    assert!(frame["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string());
}

#[test]
fn other_notifications_of_a_client_are_not_sent() {
    let driver = run(auto(), |driver| {
        ready(driver);
        let handle = driver.notify("notifications/roots/list_changed");
        assert_eq!(driver.error(handle), ("protocol_error", "notification_not_allowed"));
    });
    assert_eq!(driver.sent.len(), 2);
}

#[test]
fn progress_belongs_to_the_round_it_names() {
    let driver = run(able(), |driver| {
        ready(driver);
        let handle = driver.call("t", "{}");
        let first = last_id(driver);
        driver.reply(first, r#"{"resultType":"input_required","requestState":"s"}"#);
        driver.tick(250.0);
        let second = last_id(driver);
        for id in [first, second] {
            driver.line(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
            ));
        }
        driver.reply(second, r#"{"content":[]}"#);
        assert!(driver.outcome(handle).is_ok());
    });
    let count =
        driver.events.iter().filter(|event| matches!(event, Event::Progress { .. })).count();
    assert_eq!(count, 1);
    assert!(driver.diagnostics().contains(&"unknown_progress_token"));
}

const LISTENING: &str =
    r#"{"tools":{"listChanged":true},"resources":{"listChanged":true},"prompts":{}}"#;

fn acknowledge(driver: &mut Driver, id: u32) {
    driver.line(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
    ));
}

#[test]
fn changes_are_subscribed_to() {
    let driver = run(auto(), |driver| {
        driver.modern(LISTENING, "[]");
        let listen = driver.ids_of("subscriptions/listen")[0];
        acknowledge(driver, listen);
        driver.tick(120_000.0);
        driver.line(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{listen}}}}}}}"#
        ));
        driver.tick(100.0);
        let page = *driver.ids_of("tools/list").last().unwrap();
        driver.reply(page, r#"{"tools":[{"name":"new","inputSchema":{"type":"object"}}]}"#);
    });
    let frames = driver.frames();
    let listen = frames.iter().find(|frame| frame["method"] == "subscriptions/listen").unwrap();
    assert_eq!(
        listen["params"]["notifications"],
        json!({"toolsListChanged":true,"resourcesListChanged":true})
    );
    assert!(driver.session.tools_json().contains("new"));
    assert_eq!(driver.ids_of("subscriptions/listen").len(), 1);
}

#[test]
fn what_changed_before_the_subscription_stood_is_read() {
    for (capabilities, lists) in
        [(LISTENING, 2), (r#"{"tools":{},"prompts":{"listChanged":true}}"#, 1)]
    {
        let driver = run(auto(), |driver| {
            driver.modern(capabilities, "[]");
            acknowledge(driver, driver.ids_of("subscriptions/listen")[0]);
            driver.tick(100.0);
            if let Some(page) = driver.ids_of("tools/list").get(1) {
                driver
                    .reply(*page, r#"{"tools":[{"name":"new","inputSchema":{"type":"object"}}]}"#);
            }
            driver.tick(60_000.0);
        });
        assert_eq!(driver.ids_of("tools/list").len(), lists);
        assert_eq!(driver.session.tools_json().contains("new"), lists == 2);
    }
}

#[test]
fn a_subscription_that_ends_is_opened_again_and_what_was_missed_is_read() {
    for graceful in [true, false] {
        let driver = run(auto(), |driver| {
            driver.modern(LISTENING, "[]");
            let listen = driver.ids_of("subscriptions/listen")[0];
            acknowledge(driver, listen);
            if graceful {
                driver.reply(listen, r#"{"resultType":"complete"}"#);
            } else {
                driver.line(&format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{listen}}}}}"#
                ));
            }
            driver.tick(999.0);
            assert_eq!(driver.ids_of("subscriptions/listen").len(), 1);
            driver.tick(1.0);
            let again = driver.ids_of("subscriptions/listen")[1];
            acknowledge(driver, again);
            driver.tick(100.0);
            assert_eq!(driver.ids_of("tools/list").len(), 2);
            // The pause doubles.
            driver.reply(again, r#"{"resultType":"complete"}"#);
            driver.tick(1_999.0);
            assert_eq!(driver.ids_of("subscriptions/listen").len(), 2);
            driver.tick(1.0);
            assert_eq!(driver.ids_of("subscriptions/listen").len(), 3);
        });
        assert!(driver.closed().is_none());
    }
}

#[test]
fn a_refused_subscription_costs_nothing_else() {
    let driver = run(auto(), |driver| {
        driver.modern(LISTENING, "[]");
        let listen = driver.ids_of("subscriptions/listen")[0];
        driver.refuse(listen, -32601, "null");
        driver.tick(300_000.0);
    });
    assert_eq!(driver.ids_of("subscriptions/listen").len(), 1);
    assert!(driver.closed().is_none());
    let driver = run(auto(), |driver| {
        driver.modern(LISTENING, "[]");
        driver.tick(10_000.0);
    });
    assert_eq!(last(&driver)["method"], "notifications/cancelled");
    assert!(driver.closed().is_none());
}

#[test]
fn a_catalog_says_how_long_it_may_be_kept() {
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.reply(1, r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#);
        driver.reply(2, r#"{"tools":[],"ttlMs":5000,"cacheScope":"public","nextCursor":""}"#);
        driver.reply(3, r#"{"tools":[],"ttlMs":-7,"cacheScope":"private"}"#);
    });
    let hint = driver.events.iter().find_map(|event| match event {
        Event::Tools { cache, .. } => *cache,
        _ => None,
    });
    let hint = hint.unwrap();
    assert_eq!((hint.ttl_ms, hint.public), (0.0, false));
}

#[test]
fn a_cursor_too_long_to_send_ends_the_walk() {
    let cursor = "c".repeat(2_000_000);
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.reply(1, r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#);
        driver
            .reply(2, &format!(r#"{{"tools":{TOOLS},"nextCursor":"{cursor}"}}"#).replace('\n', ""));
    });
    assert_eq!(driver.diagnostics(), ["catalog_truncated"]);
    assert!(driver.session.tools_json().contains("\"t\""));
}

/// A host that sends each message by itself.
struct Http {
    session: ClientSession,
    now: f64,
    events: Vec<Event>,
}

struct Sent {
    json: Value,
    headers: Vec<(String, String)>,
    handle: u32,
    expects_reply: bool,
}

impl Http {
    fn new(options: SessionOptions) -> Self {
        let session = ClientSession::new(options).unwrap();
        let mut http = Http { session, now: 0.0, events: Vec::new() };
        http.session.connect(0.0);
        http
    }

    fn drain(&mut self) {
        while self.session.has_work() {
            self.session.work(u64::MAX, self.now);
        }
        while let Some(event) = self.session.poll_event() {
            self.events.push(event);
        }
    }

    fn take(&mut self) -> Sent {
        self.drain();
        let message = self.session.take_message().unwrap();
        self.drain();
        let json = serde_json::from_slice(&message.json).unwrap();
        assert!(!message.json.contains(&b'\n'));
        let (headers, handle, expects_reply) =
            (message.headers, message.handle, message.expects_reply);
        Sent { json, headers, handle, expects_reply }
    }

    fn none_left(&mut self) {
        self.drain();
        assert!(self.session.take_message().is_none());
    }

    fn reply(&mut self, to: &Sent, result: &str) {
        let json = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, to.json["id"]);
        self.message(to.handle, &json);
    }

    fn message(&mut self, handle: u32, json: &str) {
        self.session.receive_message(json.as_bytes(), self.now, Some(handle));
        self.drain();
    }

    fn ended(&mut self, handle: u32, outcome: ReplyOutcome) {
        self.session.reply_ended(handle, outcome, self.now);
        self.drain();
    }

    fn tick(&mut self, ms: f64) {
        self.now += ms;
        self.session.advance(self.now);
        self.drain();
    }

    fn modern(tools: &str) -> Self {
        let mut http = Http::new(auto());
        let probe = http.take();
        http.reply(&probe, r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#);
        let page = http.take();
        http.reply(&page, &format!(r#"{{"tools":{tools}}}"#));
        http
    }

    fn call(&mut self, name: &str, arguments: &str) -> u32 {
        let options = CallOptions::default();
        let handle = self.session.call_tool(name, Ok(arguments.into()), options, self.now).unwrap();
        self.drain();
        handle
    }

    fn outcome(&self, handle: u32) -> Option<Result<(), (&'static str, &'static str)>> {
        self.events.iter().find_map(|event| match event {
            Event::Settled { handle: of, outcome } if *of == handle => Some(
                outcome
                    .as_ref()
                    .map(|_| ())
                    .map_err(|error| (error.code().as_str(), error.reason())),
            ),
            _ => None,
        })
    }

    fn closed_with(&self) -> Option<(&'static str, &'static str)> {
        self.events.iter().find_map(|event| match event {
            Event::Closed { error: Some(error) } => Some((error.code().as_str(), error.reason())),
            _ => None,
        })
    }
}

fn status(status: u16) -> ReplyOutcome {
    ReplyOutcome { status: Some(status), ..Default::default() }
}

fn named(headers: &[(String, String)]) -> Vec<String> {
    headers.iter().map(|(name, value)| format!("{name}: {value}")).collect()
}

const REGION: &str = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}},
    {"name":"bad","inputSchema":{"type":"object","properties":{"r":{"type":"object","x-mcp-header":"R"}}}}]"#;

#[test]
fn messages_go_out_one_by_one_with_their_headers() {
    let mut http = Http::modern(REGION);
    // A tool that asks for headers it cannot have is not listed over HTTP.
    assert!(!http.session.tools_json().contains("bad"));
    assert!(http.session.problems_json().contains("bad_header"));
    let handle = http.call("t", r#"{"region":"eu west"}"#);
    let call = http.take();
    assert_eq!(call.handle, handle);
    assert!(call.expects_reply);
    assert_eq!(
        named(&call.headers),
        [
            "MCP-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/call",
            "Mcp-Name: t",
            "Mcp-Param-Region: eu west"
        ]
    );
    http.reply(&call, r#"{"content":[]}"#);
    assert_eq!(http.outcome(handle), Some(Ok(())));
    http.ended(handle, status(200));
    http.none_left();
}

#[test]
fn a_tool_with_odd_headers_is_listed_over_a_pipe() {
    let driver = run(auto(), |driver| {
        driver.modern(TOOLS_CAPABILITY, &REGION.replace('\n', " "));
    });
    assert!(driver.session.tools_json().contains("bad"));
}

#[test]
fn an_exchange_without_an_answer_fails_its_request() {
    let mut http = Http::modern(REGION);
    for (outcome, expected) in [
        (status(200), ("connection_closed", "unanswered")),
        (status(500), ("protocol_error", "http_status")),
        (
            ReplyOutcome { unreachable: true, ..Default::default() },
            ("connection_closed", "unreachable"),
        ),
        (
            ReplyOutcome { reason: Some("http_content_type"), ..status(200) },
            ("protocol_error", "http_content_type"),
        ),
    ] {
        let handle = http.call("t", "{}");
        let call = http.take();
        http.ended(call.handle, outcome);
        assert_eq!(http.outcome(handle), Some(Err(expected)));
    }
    // What is no JSON-RPC, and what answers another request.
    for (json, reason) in [
        ("hello", "not_jsonrpc"),
        ("[]", "batch"),
        (r#"{"a":1}"#, "not_jsonrpc"),
        (r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, "wrong_reply_id"),
        (r#"{"jsonrpc":"2.0","id":"1","result":{}}"#, "wrong_reply_id"),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"m"}}"#, "remote"),
    ] {
        let handle = http.call("t", "{}");
        let call = http.take();
        http.message(call.handle, json);
        if reason == "batch" {
            assert_eq!(http.outcome(handle), None);
            http.ended(call.handle, status(200));
            assert_eq!(http.outcome(handle), Some(Err(("connection_closed", "unanswered"))));
        } else {
            assert_eq!(http.outcome(handle).unwrap().unwrap_err().1, reason, "{json}");
        }
    }
    assert_eq!(http.closed_with(), None);
}

#[test]
fn closing_the_exchange_gives_a_modern_request_up() {
    let mut http = Http::modern(REGION);
    let handle = http.call("t", "{}");
    let call = http.take();
    http.session.cancel(handle, None, http.now);
    http.drain();
    http.none_left();
    let abandoned = http
        .events
        .iter()
        .any(|event| matches!(event, Event::Abandoned { handle } if *handle == call.handle));
    assert!(abandoned);
    assert_eq!(http.outcome(handle), Some(Err(("aborted", "aborted"))));
}

#[test]
fn headers_that_do_not_fit_any_more_cost_a_look_at_the_catalog() {
    let mut http = Http::modern(REGION);
    let handle = http.call("t", r#"{"region":"x","zone":"y"}"#);
    let call = http.take();
    let mismatch = |call: &Sent| {
        let id = &call.json["id"];
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32020,"message":"m"}}}}"#)
    };
    http.message(call.handle, &mismatch(&call));
    http.ended(call.handle, status(400));
    let page = http.take();
    assert_eq!(page.json["method"], "tools/list");
    http.reply(&page, &format!(r#"{{"tools":{}}}"#, REGION.replace("region", "zone")));
    let again = http.take();
    assert_eq!(again.handle, handle);
    assert_eq!(named(&again.headers)[3], "Mcp-Param-Region: y");
    http.message(again.handle, &mismatch(&again));
    assert_eq!(http.outcome(handle), Some(Err(("tool_failed", "remote"))));
}

#[test]
fn a_refused_probe_over_http_means_legacy() {
    for refusal in [400, 404, 405, 406, 500] {
        let mut http = Http::new(auto());
        let probe = http.take();
        assert_eq!(named(&probe.headers)[1], "Mcp-Method: server/discover");
        // There is no hedge: an answer is not a matter of time here.
        http.tick(600.0);
        http.none_left();
        http.ended(probe.handle, status(refusal));
        let opening = http.take();
        assert_eq!(opening.json["method"], "initialize");
        assert_eq!(named(&opening.headers), [""; 0]);
        http.reply(&opening, r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#);
        let noted = http.take();
        assert!(!noted.expects_reply);
        assert_eq!(named(&noted.headers), ["MCP-Protocol-Version: 2025-06-18"]);
        let page = http.take();
        http.reply(&page, r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#);
        // A legacy server is told.
        let handle = http.call("t", "{}");
        http.take();
        http.session.cancel(handle, None, http.now);
        assert_eq!(http.take().json["method"], "notifications/cancelled");
    }
    for (outcome, expected) in [
        (status(401), ("protocol_error", "http_status")),
        (
            ReplyOutcome { unreachable: true, ..Default::default() },
            ("connection_closed", "unreachable"),
        ),
    ] {
        let mut http = Http::new(auto());
        let probe = http.take();
        http.ended(probe.handle, outcome);
        assert_eq!(http.closed_with(), Some(expected));
    }
}

#[test]
fn a_lost_session_ends_everything() {
    let mut http = Http::new(SessionOptions { era: Era::Legacy, ..auto() });
    let opening = http.take();
    http.reply(&opening, r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#);
    http.take();
    let page = http.take();
    http.reply(&page, r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#);
    let (first, second) = (http.call("t", "{}"), http.call("t", "{}"));
    let call = http.take();
    http.take();
    http.session.stderr_ended(http.now);
    http.ended(call.handle, ReplyOutcome { reason: Some("session_ended"), ..status(404) });
    for handle in [first, second] {
        assert_eq!(http.outcome(handle), Some(Err(("connection_closed", "session_ended"))));
    }
    assert_eq!(http.closed_with(), Some(("connection_closed", "session_ended")));
}

#[test]
fn a_message_over_the_bound_fails_what_it_answers() {
    let mut options = SessionOptions::new("s", Profile::Strict);
    options.limits.max_frame_bytes = 512.0;
    let mut http = Http::new(options);
    let opening = http.take();
    http.reply(&opening, r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#);
    http.take();
    let page = http.take();
    http.reply(&page, r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#);
    let handle = http.call("t", "{}");
    let call = http.take();
    http.message(call.handle, &format!("\"{}\"", "x".repeat(600)));
    assert_eq!(http.outcome(handle), Some(Err(("protocol_error", "frame_too_long"))));
    let options = RequestOptions::default();
    let handle = http.session.request("ping", None, options, 0.0).unwrap();
    let ping = http.take();
    http.reply(&ping, "{}");
    assert_eq!(http.outcome(handle), Some(Ok(())));
}
