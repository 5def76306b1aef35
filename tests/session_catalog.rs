//! Catalogs: pages, entries, refreshes, in both profiles.

// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::{Value, json};
use support::{Driver, contain, run, strict};
use toolwire::session::State;
use toolwire::session::event::{Event, Settlement};
use toolwire::session::options::{Limits, SessionOptions};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const GREETING: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#;

/// A connect whose catalog has these pages.
fn walk(options: SessionOptions, pages: &[&str]) -> Driver {
    run(options, |driver| {
        driver.connect();
        driver.reply(1, GREETING);
        for (id, page) in (2..).zip(pages) {
            driver.reply(id, page);
        }
    })
}

fn limited(mut options: SessionOptions, change: impl Fn(&mut Limits)) -> SessionOptions {
    change(&mut options.limits);
    options
}

fn tool(name: &str) -> String {
    format!(r#"{{"name":{name:?},"inputSchema":{{"type":"object"}}}}"#)
}

fn problems(driver: &Driver) -> Vec<Value> {
    serde_json::from_str(driver.session.problems_json()).unwrap()
}

#[test]
fn strict_refuses_the_first_fault() {
    for (pages, reason, index) in [
        (&[r#"{"notTools":[]}"#][..], "no_tools_array", None),
        (&[r#"{"tools":[],"nextCursor":null}"#], "cursor_type", None),
        (&[r#"{"tools":[],"nextCursor":""}"#], "cursor_type", None),
        (
            &[r#"{"tools":[],"nextCursor":"x"}"#, r#"{"tools":[],"nextCursor":"\u0078"}"#],
            "cursor_repeated",
            None,
        ),
        (&[r#"{"tools":[null]}"#], "tool_not_object", Some(0)),
        (
            &[
                r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"1"}"#,
                r#"{"tools":[{"name":"b","inputSchema":{"type":"object"}},{}]}"#,
            ],
            "tool_no_name",
            Some(1),
        ),
        (
            &[r#"{"tools":[{"name":"a/b","inputSchema":{"type":"object"}}]}"#],
            "tool_name_forbidden",
            None,
        ),
        (
            &[r#"{"tools":[{"name":"a\ud800b","inputSchema":{"type":"object"}}]}"#],
            "tool_name_forbidden",
            None,
        ),
        (
            &[
                r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"\u0061","inputSchema":{"type":"object"}}]}"#,
            ],
            "tool_name_duplicate",
            Some(1),
        ),
        (
            &[r#"{"tools":[{"name":"a","inputSchema":{"type":["object"]}}]}"#],
            "input_schema",
            Some(0),
        ),
        (
            &[r#"{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":null}]}"#],
            "output_schema",
            Some(0),
        ),
    ] {
        let driver = walk(strict(), pages);
        assert_eq!(driver.closed_with(), ("invalid_response", reason));
        assert_eq!(driver.closed().unwrap().get_facts().index, index, "{reason}");
    }
}

#[test]
fn strict_keeps_its_bounds() {
    let two = &[r#"{"tools":[],"nextCursor":"1"}"#, r#"{"tools":[],"nextCursor":"2"}"#][..];
    let pages = |max| limited(strict(), move |limits| limits.max_catalog_pages = max);
    assert_eq!(walk(pages(2.0), two).closed_with().1, "too_many_pages");
    assert_eq!(walk(pages(3.0), two).session.state(), State::Connecting);
    let repeat = &[r#"{"tools":[],"nextCursor":"1"}"#, r#"{"tools":[],"nextCursor":"1"}"#];
    assert_eq!(walk(pages(2.0), repeat).closed_with().1, "cursor_repeated");
    let three = format!(r#"{{"tools":[{},{},7]}}"#, tool("a"), tool("b"));
    let tools = limited(strict(), |limits| limits.max_tools = 2.0);
    assert_eq!(walk(tools, &[&three]).closed_with().1, "too_many_tools");
    let name = limited(strict(), |limits| limits.max_tool_name_bytes = 3.0);
    let long = format!(r#"{{"tools":[{}]}}"#, tool("a/b/c"));
    assert_eq!(walk(name, &[&long]).closed_with().1, "tool_name_too_long");
    let page =
        r#"{"tools":[{"name":"a","inputSchema":{ "type" : "object" },"description":"ééééx"}]}"#;
    let document = |max| limited(strict(), move |limits| limits.max_tool_document_bytes = max);
    assert_eq!(walk(document(26.0), &[page]).session.state(), State::Ready);
    assert_eq!(walk(document(25.0), &[page]).closed_with().1, "tool_document_too_long");
}

#[test]
fn contain_lists_every_usable_entry() {
    // S44
    let page = r#"{"tools":[{"name":"good","inputSchema":{"type":"object"}},null,{"name":"r","inputSchema":{"type":"object","required":null}},{"name":"e","inputSchema":{}},{"name":"m"},{"inputSchema":{"type":"object"}},{"name":"s","inputSchema":{"type":"string"}},{"name":"u","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"d":{"type":"unknown"}}}},{"name":"n","inputSchema":{"type":"object","properties":null},"description":null}]}"#;
    let driver = walk(contain(), &[page]);
    assert_eq!(driver.tools(), ["good", "r", "e", "m", "s", "u", "n"]);
    let found: Vec<String> = problems(&driver)
        .iter()
        .map(|problem| {
            format!(
                "{} {} {} {} {}",
                problem["index"],
                problem["part"].as_str().unwrap(),
                problem["code"].as_str().unwrap(),
                problem["at"].as_str().unwrap_or("-"),
                problem["skipped"]
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "1 entry not_an_object - true",
            "5 entry no_name - true",
            "2 inputSchema uncompilable /required false",
            "3 inputSchema root_type_missing - false",
            "4 inputSchema missing - false",
            "6 inputSchema root_not_object - false",
            "7 outputSchema uncompilable /properties/d/type false",
            "8 inputSchema uncompilable /properties false",
        ]
    );
    let tools: Value = serde_json::from_str(driver.session.tools_json()).unwrap();
    assert_eq!(tools[1]["problems"][0]["code"], "uncompilable");
    assert!(tools[3].get("inputSchema").is_none());
}

#[test]
fn contain_keeps_what_entries_say() {
    let page = r#"{"tools":[{"name":"a","title":"A","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[],"_meta":{"k":1},"execution":{}},{"name":"b","title":7,"inputSchema":{"type":"object"},"annotations":null}]}"#;
    let driver = walk(contain(), &[page]);
    assert_eq!(
        driver.session.tools_json(),
        r#"[{"name":"a","title":"A","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[],"_meta":{"k":1}},{"name":"b","inputSchema":{"type":"object"}}]"#
    );
    assert_eq!(driver.diagnostics(), ["null_optional"]);
}

#[test]
fn contain_skips_what_has_no_usable_name() {
    // S52
    let page = format!(
        r#"{{"tools":[{{"name":"x","description":"1","inputSchema":{{"type":"object"}}}},{},{},{},{},{},{}]}}"#,
        tool("x"),
        tool("__proto__"),
        tool("constructor"),
        tool("a/b"),
        tool("much-too-long"),
        r#"{"name":"big","inputSchema":{"type":"object"},"outputSchema":{"description":"ddddddddddddddddddddddddddddddddddddddddd"}}"#
    );
    let options = limited(contain(), |limits| {
        limits.max_tool_name_bytes = 11.0;
        limits.max_tool_document_bytes = 50.0;
    });
    let driver = walk(options, &[&page]);
    assert_eq!(driver.tools(), ["x", "__proto__", "constructor"]);
    assert_eq!(
        driver.diagnostics(),
        ["duplicate_tool", "tool_skipped", "tool_skipped", "tool_skipped"]
    );
    let codes: Vec<_> = problems(&driver).iter().map(|problem| problem["code"].clone()).collect();
    assert_eq!(codes, ["duplicate", "name_forbidden", "name_too_long", "too_large"]);
}

#[test]
fn contain_follows_cursors_with_care() {
    // S25, S26
    let page =
        |name: &str, cursor: &str| format!(r#"{{"tools":[{}],"nextCursor":{cursor}}}"#, tool(name));
    let driver = walk(contain(), &[&page("a", r#""""#), &page("b", r#""""#), &page("b", r#""""#)]);
    assert_eq!(driver.tools(), ["a", "b"]);
    assert_eq!(driver.frames()[3]["params"], json!({"cursor":""}));
    assert_eq!(driver.diagnostics(), ["duplicate_tool", "repeated_cursor"]);
    let driver = walk(contain(), &[&page("a", "null")]);
    assert_eq!(driver.session.state(), State::Ready);
    assert_eq!(driver.diagnostics(), [""; 0]);
    let driver = walk(contain(), &[&page("a", "42")]);
    assert_eq!(driver.diagnostics(), ["catalog_truncated"]);
    let pages = limited(contain(), |limits| limits.max_catalog_pages = 2.0);
    let driver = walk(pages, &[&page("a", r#""1""#), &page("b", r#""2""#)]);
    assert_eq!(driver.tools(), ["a", "b"]);
    assert_eq!(driver.diagnostics(), ["catalog_truncated"]);
    let tools = limited(contain(), |limits| limits.max_tools = 1.0);
    let both = format!(r#"{{"tools":[{},{}],"nextCursor":"1"}}"#, tool("a"), tool("b"));
    assert_eq!(walk(tools, &[&both]).tools(), ["a"]);
    let bytes = limited(contain(), |limits| limits.max_catalog_bytes = 100.0);
    let driver = walk(bytes, &[&page("a", r#""1""#), &page("b", r#""2""#)]);
    assert_eq!(driver.tools(), ["a"]);
    let driver = walk(contain(), &[&page("a", r#""1""#), "{}"]);
    assert_eq!(driver.tools(), ["a"]);
    let driver = walk(contain(), &["{}"]);
    assert_eq!(driver.closed_with(), ("invalid_response", "no_tools_array"));
}

#[test]
fn servers_without_tools_have_none() {
    // S33, S34
    let script = |driver: &mut Driver| {
        driver.connect();
        driver.reply(1, r#"{"protocolVersion":"2025-06-18","capabilities":{"prompts":{}}}"#);
        if driver.session.state() == State::Ready {
            driver.refresh();
        }
    };
    let driver = run(contain(), script);
    assert!(driver.outcome(1).is_ok());
    assert_eq!(driver.diagnostics(), ["not_advertised"; 2]);
    assert_eq!(driver.sent.len(), 2);
    let mut options = contain();
    options.require_tools = true;
    assert_eq!(run(options, script).closed_with(), ("protocol_error", "init_no_tools"));
    let driver = run(contain(), |driver| {
        driver.connect();
        driver.reply(1, GREETING);
        driver.line(
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"tools not supported"}}"#,
        );
    });
    assert_eq!(driver.session.state(), State::Ready);
    assert_eq!(driver.diagnostics(), ["remote_error", "list_not_supported"]);
}

#[test]
fn a_refresh_tells_what_changed() {
    let driver = run(contain(), |driver| {
        driver.ready("2025-06-18", &format!("[{},{},{}]", tool("a"), tool("b"), tool("c")));
        let refresh = driver.refresh();
        driver.reply(3, &format!(r#"{{"tools":[{}],"nextCursor":"1"}}"#, tool("c")));
        assert!(driver.is_open(refresh));
        driver.reply(
            4,
            r#"{"tools":[{"name":"b","description":"new","inputSchema":{"type":"object"}},{"name":"d","inputSchema":{"type":"object"}}]}"#,
        );
    });
    assert!(matches!(driver.outcome(1), Ok(Settlement::Done)));
    let last = driver.events.iter().rev().find_map(|event| match event {
        Event::Tools { added, removed, changed, .. } => {
            Some((added.clone(), removed.clone(), changed.clone()))
        }
        _ => None,
    });
    let names = |name: &str| vec![name.to_owned()];
    assert_eq!(last, Some((names("d"), names("a"), names("b"))));
    assert_eq!(driver.tools(), ["c", "b", "d"]);
}

#[test]
fn a_failed_refresh_leaves_the_catalog() {
    let driver = run(contain(), |driver| {
        driver.ready("2025-06-18", &format!("[{}]", tool("a")));
        driver.refresh();
        driver.refresh();
        driver.line(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"busy"}}"#);
        driver.tick(10_000.0);
    });
    assert_eq!(driver.error(1), ("protocol_error", "remote"));
    assert_eq!(driver.error(2), ("timeout", "deadline"));
    assert_eq!(driver.tools(), ["a"]);
    assert_eq!(driver.session.state(), State::Ready);
}

#[test]
fn list_changed_leads_to_one_refresh() {
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let driver = run(contain(), |driver| {
        driver.ready("2025-06-18", &format!("[{}]", tool("a")));
        driver.line(changed);
        driver.tick(50.0);
        driver.line(changed);
        driver.tick(49.0);
        assert_eq!(driver.sent.len(), 3);
        driver.tick(1.0);
        assert_eq!(driver.sent.len(), 4);
        driver.line(changed);
        driver.line(changed);
        driver.reply(3, &format!(r#"{{"tools":[{}]}}"#, tool("b")));
        driver.tick(100.0);
        driver.reply(4, &format!(r#"{{"tools":[{}]}}"#, tool("c")));
        driver.tick(1000.0);
    });
    assert_eq!(driver.sent.len(), 5);
    assert_eq!(driver.tools(), ["c"]);
    let strict = run(strict(), |driver| {
        driver.ready("2025-06-18", "[]");
        driver.line(changed);
        driver.tick(1000.0);
    });
    assert_eq!(strict.sent.len(), 3);
}

#[test]
fn a_call_is_judged_by_the_schema_it_was_made_under() {
    let list = |kind: &str| {
        format!(
            r#"[{{"name":"a","inputSchema":{{"type":"object"}},"outputSchema":{{"properties":{{"n":{{"type":"{kind}"}}}}}}}}]"#
        )
    };
    let driver = run(contain(), |driver| {
        driver.ready("2025-06-18", &list("string"));
        driver.call("a", "{}");
        driver.refresh();
        driver.reply(4, &format!(r#"{{"tools":{}}}"#, list("number")));
        driver.reply(3, r#"{"content":[],"structuredContent":{"n":"x"}}"#);
        driver.call("a", "{}");
        driver.reply(5, r#"{"content":[],"structuredContent":{"n":"x"}}"#);
    });
    assert!(driver.outcome(1).is_ok());
    assert_eq!(driver.error(3), ("invalid_response", "output_schema_violation"));
}

#[test]
fn a_page_read_by_hand_joins_the_catalog() {
    // S28
    let mut options = contain();
    options.tools = Some("[]".to_owned());
    let driver = run(options, |driver| {
        driver.connect();
        driver.reply(1, GREETING);
        driver.request("tools/list", Some("{}"));
        driver.reply(2, r#"{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}],"nextCursor":"2"}"#);
        driver.request("tools/list", Some(r#"{"cursor":"2"}"#));
        driver.reply(3, &format!(r#"{{"tools":[{}]}}"#, tool("u")));
        driver.call("t", "{}");
        driver.reply(4, r#"{"content":[],"structuredContent":{"bad":1}}"#);
    });
    assert!(driver.outcome(1).is_ok() && driver.outcome(2).is_ok());
    assert_eq!(driver.tools(), ["t", "u"]);
    assert_eq!(driver.error(3), ("invalid_response", "output_schema_violation"));
}

#[test]
fn a_given_catalog_needs_no_walk() {
    let mut options = contain();
    options.tools = Some(format!("[{},null]", tool("a")));
    let driver = run(options.clone(), |driver| {
        driver.connect();
        driver.reply(1, GREETING);
    });
    assert_eq!(driver.tools(), ["a"]);
    assert_eq!(driver.sent.len(), 2);
    assert_eq!(problems(&driver).len(), 1);
    options.tools = Some("{}".to_owned());
    let error = toolwire::session::ClientSession::new(options).err().unwrap();
    assert_eq!(error.get_facts().option.as_deref(), Some("tools"));
}

#[test]
fn ten_thousand_calls_at_once() {
    let mut driver =
        run(contain(), |driver| driver.ready("2025-06-18", &format!("[{}]", tool("a"))));
    let calls: Vec<u32> = (0..10_000).map(|_| driver.call("a", "{}")).collect();
    let mut lines = String::new();
    for id in (3..10_003).rev() {
        lines.push_str(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n"
        ));
    }
    driver.bytes(lines.as_bytes());
    let settled =
        driver.events.iter().filter(|event| matches!(event, Event::Settled { outcome: Ok(_), .. }));
    assert_eq!(settled.count(), calls.len());
    assert_eq!(driver.session.next_deadline(), None);
}

#[test]
fn entries_that_are_skipped_count_against_the_bound() {
    let entries = vec!["7"; 1_000].join(",");
    let options = limited(contain(), |limits| limits.max_tools = 10.0);
    let driver = walk(options, &[&format!(r#"{{"tools":[{entries}]}}"#)]);
    assert_eq!(problems(&driver).len(), 10);
    assert_eq!(driver.session.state(), State::Ready);
}

#[test]
fn repeated_members_of_a_catalog() {
    let twice = r#"{"tools":[],"tools":[{"name":"a","inputSchema":{"type":"object"}}]}"#;
    let driver = walk(contain(), &[twice]);
    assert_eq!(driver.closed_with(), ("protocol_error", "duplicate_member"));
    assert_eq!(walk(strict(), &[twice]).tools(), ["a"]);
    let entry =
        r#"{"tools":[{"name":"a","title":"1","title":"2","inputSchema":{"type":"object"}}]}"#;
    let driver = walk(contain(), &[entry]);
    assert!(driver.session.tools_json().contains(r#""title":"2""#));
    assert_eq!(driver.diagnostics(), ["duplicate_member"]);
}
