//! Which era a server turns out to be of: the probe, `initialize` beside it, respawn, and evidence
//! that comes late.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_family = "wasm"))]

mod support;

use support::{auto, contain, run, strict};
use toolwire::session::State;
use toolwire::session::options::{Era, Prior, SessionOptions};

const GREETING: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#;
const DISCOVERED: &str =
    r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"n"}}"#;

fn prior(era: Era, version: &str) -> SessionOptions {
    SessionOptions { prior: Some(Prior { era, protocol_version: version.into() }), ..auto() }
}

#[test]
fn the_probe_says_who_asks() {
    let driver = run(auto(), |driver| driver.connect());
    let frames = driver.frames();
    assert_eq!(driver.methods(), ["server/discover"]);
    let meta = &frames[0]["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "toolwire");
    assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
}

#[test]
fn strict_and_legacy_never_probe() {
    for options in [strict(), contain(), SessionOptions { era: Era::Auto, ..strict() }] {
        let driver = run(options, |driver| driver.connect());
        assert_eq!(driver.methods(), ["initialize"]);
    }
    assert!(SessionOptions { era: Era::Modern, ..strict() }.check().is_err());
    let none = SessionOptions { revisions: vec!["2026-07-28".into()], ..contain() };
    assert!(none.check().is_err());
}

#[test]
fn a_modern_server_is_never_initialised() {
    let driver = run(auto(), |driver| driver.modern(r#"{"tools":{}}"#, "[]"));
    assert_eq!(driver.methods(), ["server/discover", "tools/list"]);
    assert_eq!(driver.eras(), ["modern"]);
    assert_eq!(driver.session.protocol_version(), Some("2026-07-28"));
    let meta = &driver.frames()[1]["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
}

#[test]
fn any_other_error_means_legacy() {
    for code in [-32601, -32602, -32600, -32000, 7] {
        let driver = run(auto(), |driver| {
            driver.connect();
            driver.refuse(1, code, "null");
            driver.reply(2, GREETING);
            driver.reply(3, r#"{"tools":[]}"#);
        });
        assert_eq!(driver.eras(), ["legacy"]);
        assert_eq!(
            driver.methods(),
            ["server/discover", "initialize", "notifications/initialized", "tools/list"]
        );
    }
}

#[test]
fn what_is_no_answer_means_legacy_too() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"result":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":"2026-07-28"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2025-06-18"]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m","data":{"supported":["2024-11-05"]}}}"#,
    ] {
        let driver = run(auto(), |driver| {
            driver.connect();
            driver.line(line);
        });
        assert_eq!(driver.methods(), ["server/discover", "initialize"], "{line}");
    }
}

#[test]
fn the_answer_is_read_leniently() {
    for result in [
        r#"{"supportedVersions":["2026-07-28"]}"#,
        r#"{"supportedVersions":["2031-01-01",7,"2026-07-28","2025-11-25"],"capabilities":null}"#,
    ] {
        let driver = run(auto(), |driver| {
            driver.connect();
            driver.reply(1, result);
        });
        assert_eq!(driver.eras(), ["modern"], "{result}");
        assert!(driver.diagnostics().contains(&"not_advertised"));
    }
}

#[test]
fn no_common_revision_is_an_error() {
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.reply(1, r#"{"supportedVersions":["2031-01-01"]}"#);
    });
    assert_eq!(driver.closed_with(), ("protocol_error", "init_version_unsupported"));
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.refuse(1, -32022, r#"{"supported":["2031-01-01"]}"#);
    });
    assert_eq!(driver.closed_with(), ("protocol_error", "init_version_unsupported"));
    assert_eq!(driver.methods(), ["server/discover"]);
}

#[test]
fn complaints_of_a_modern_server_are_not_hidden() {
    for code in [-32020, -32021] {
        let driver = run(auto(), |driver| {
            driver.connect();
            driver.refuse(1, code, "null");
        });
        assert_eq!(driver.closed_with(), ("protocol_error", "remote"));
        assert_eq!(driver.closed().unwrap().get_facts().rpc_code, Some(i64::from(code)));
    }
}

#[test]
fn a_named_revision_is_asked_for_once() {
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.refuse(1, -32022, r#"{"supported":["2026-07-28"]}"#);
        driver.reply(2, DISCOVERED);
    });
    assert_eq!(driver.methods(), ["server/discover", "server/discover", "tools/list"]);
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.refuse(1, -32022, r#"{"supported":["2026-07-28"]}"#);
        driver.refuse(2, -32022, r#"{"supported":["2026-07-28"]}"#);
    });
    assert_eq!(driver.closed_with(), ("protocol_error", "init_version_unsupported"));
}

#[test]
fn silence_is_hedged() {
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.tick(499.0);
        assert_eq!(driver.sent.len(), 1);
        driver.tick(1.0);
        assert_eq!(driver.methods(), ["server/discover", "initialize"]);
        driver.reply(2, GREETING);
        driver.reply(3, r#"{"tools":[]}"#);
        // The probe's answer comes when nothing can be undone any more.
        driver.reply(1, DISCOVERED);
        driver.tick(60_000.0);
    });
    assert_eq!(driver.eras(), ["legacy"]);
    assert_eq!(driver.session.state(), State::Ready);
    assert!(!driver.methods().contains(&"notifications/cancelled".to_owned()));
}

#[test]
fn a_late_modern_answer_overrules_a_pending_legacy_one() {
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.tick(2_000.0);
        driver.reply(1, DISCOVERED);
        // As servers do that were asked for both.
        driver.refuse(2, -32022, r#"{"supported":["2026-07-28"]}"#);
        driver.reply(3, r#"{"tools":[]}"#);
    });
    assert_eq!(driver.eras(), ["modern"]);
    assert_eq!(driver.methods(), ["server/discover", "initialize", "tools/list"]);
}

#[test]
fn a_late_modern_answer_overrules_a_fresh_legacy_one() {
    // Both answers in one piece: the first request after the legacy one was not handed out.
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.tick(500.0);
        let lines = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{GREETING}}}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{DISCOVERED}}}\n"
        );
        driver.bytes(lines.as_bytes());
        let page = *driver.ids_of("tools/list").last().unwrap();
        driver.reply(page, r#"{"tools":[]}"#);
    });
    assert_eq!(driver.eras(), ["modern"]);
    assert_eq!(driver.methods(), ["server/discover", "initialize", "tools/list"]);

    // With a catalog of the host's the session was ready already: it says so anew.
    let given = SessionOptions { tools: Some("[]".into()), ..auto() };
    let driver = run(given, |driver| {
        driver.connect();
        driver.tick(500.0);
        driver.reply(2, GREETING);
        assert_eq!(driver.eras(), ["legacy"]);
        driver.reply(1, DISCOVERED);
        let handle = driver.request("prompts/list", None);
        assert!(driver.is_open(handle));
    });
    assert_eq!(driver.eras(), ["legacy", "modern"]);
    let last = driver.frames().pop().unwrap();
    assert!(last["params"]["_meta"].is_object());
}

/// As servers of the official SDK do that speak both eras: what opened the pipe last counts.
#[test]
fn a_handshake_that_is_accepted_after_the_probe_counts() {
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.tick(2_000.0);
        driver.reply(1, DISCOVERED);
        driver.reply(2, GREETING);
        driver.reply(3, r#"{"tools":[{"name":"modern","inputSchema":{"type":"object"}}]}"#);
        let page = *driver.ids_of("tools/list").last().unwrap();
        driver.reply(page, r#"{"tools":[]}"#);
    });
    assert_eq!(driver.eras(), ["legacy"]);
    assert_eq!(
        driver.methods(),
        ["server/discover", "initialize", "tools/list", "notifications/initialized", "tools/list"]
    );
    assert_eq!(driver.session.tools_json(), "[]");
    assert!(driver.frames()[4]["params"].get("_meta").is_none());
}

#[test]
fn a_refused_handshake_waits_for_the_probe() {
    let late = |answer: fn(&mut support::Driver)| {
        run(auto(), move |driver| {
            driver.connect();
            driver.tick(500.0);
            driver.refuse(2, -32601, "null");
            answer(driver);
        })
    };
    let driver = late(|driver| driver.reply(1, DISCOVERED));
    assert_eq!(driver.methods(), ["server/discover", "initialize", "tools/list"]);
    let driver = late(|driver| driver.refuse(1, -32601, "null"));
    assert_eq!(driver.closed_with(), ("protocol_error", "remote"));
    let driver = late(|driver| driver.tick(10_000.0));
    assert_eq!(driver.closed_with(), ("protocol_error", "remote"));
    // A server that refuses `initialize` because it is modern is asked again at once.
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.tick(500.0);
        driver.refuse(2, -32022, r#"{"supported":["2026-07-28"]}"#);
        driver.reply(3, DISCOVERED);
        driver.reply(4, r#"{"tools":[]}"#);
    });
    assert_eq!(driver.eras(), ["modern"]);
}

#[test]
fn silence_for_good_ends_with_the_connect() {
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.tick(60_000.0);
    });
    assert_eq!(driver.closed_with(), ("timeout", "connect_timeout"));
}

/// S32.
#[test]
fn a_server_that_dies_of_the_probe_is_started_again() {
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.line("some noise");
        driver.end();
        driver.exited(Some(1));
        assert_eq!(driver.respawns(), 1);
        assert_eq!(driver.session.state(), State::Connecting);
        // The old process is not listened to any more.
        driver.line(r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}"#);
        driver.connect();
        driver.reply(2, GREETING);
        driver.reply(3, r#"{"tools":[]}"#);
    });
    assert_eq!(driver.eras(), ["legacy"]);
    assert_eq!(driver.ids_of("server/discover"), [1]);
}

#[test]
fn a_server_is_started_again_once() {
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.exited(Some(1));
        driver.connect();
        driver.exited(Some(3));
        driver.stderr_ended();
    });
    assert_eq!(driver.respawns(), 1);
    assert_eq!(driver.closed_with(), ("connection_closed", "exited"));
    assert_eq!(driver.closed().unwrap().get_facts().exit_code, Some(3));
}

#[test]
fn only_the_probe_is_a_reason_to_start_again() {
    // It answered the probe, or never got it, or the host cannot.
    let answered = run(auto(), |driver| {
        driver.connect();
        driver.refuse(1, -32601, "null");
        driver.exited(Some(1));
    });
    let never_got_it = run(auto(), |driver| {
        driver.stall();
        driver.connect();
        driver.exited(Some(1));
    });
    let cannot = run(SessionOptions { respawn: false, ..auto() }, |driver| {
        driver.connect();
        driver.exited(Some(1));
    });
    let modern = run(SessionOptions { era: Era::Modern, ..auto() }, |driver| {
        driver.connect();
        driver.exited(Some(1));
    });
    for mut driver in [answered, never_got_it, cannot, modern] {
        driver.stderr_ended();
        assert_eq!(driver.respawns(), 0);
        assert_eq!(driver.closed_with(), ("connection_closed", "exited"));
    }
}

#[test]
fn what_is_known_is_not_asked_again() {
    let driver = run(prior(Era::Legacy, "2025-11-25"), |driver| driver.connect());
    assert_eq!(driver.methods(), ["initialize"]);
    // A server that has become modern since is found out.
    let driver = run(prior(Era::Legacy, "2025-11-25"), |driver| {
        driver.connect();
        driver.refuse(1, -32022, r#"{"supported":["2026-07-28"]}"#);
        driver.reply(2, DISCOVERED);
        driver.reply(3, r#"{"tools":[]}"#);
    });
    assert_eq!(driver.eras(), ["modern"]);
    // A modern one is not offered a handshake beside the probe, only behind it.
    let driver = run(prior(Era::Modern, "2026-07-28"), |driver| {
        driver.connect();
        driver.tick(5_000.0);
        assert_eq!(driver.methods(), ["server/discover"]);
        driver.refuse(1, -32601, "null");
    });
    assert_eq!(driver.methods(), ["server/discover", "initialize"]);
}

#[test]
fn modern_means_modern() {
    let modern = || SessionOptions { era: Era::Modern, ..auto() };
    let driver = run(modern(), |driver| {
        driver.connect();
        driver.refuse(1, -32601, "null");
    });
    assert_eq!(driver.closed_with(), ("protocol_error", "remote"));
    let driver = run(modern(), |driver| {
        driver.connect();
        // A slow start is not silence: the clock runs from the first bytes.
        driver.tick(30_000.0);
        driver.line("starting");
        driver.tick(10_000.0);
    });
    assert_eq!(driver.closed_with(), ("timeout", "deadline"));
    assert_eq!(driver.methods(), ["server/discover"]);
}

#[test]
fn requests_of_the_server_wait_for_its_era() {
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.line(ping);
        assert_eq!(driver.methods(), ["server/discover"]);
        driver.refuse(1, -32601, "null");
    });
    assert_eq!(driver.methods(), ["server/discover", "initialize", "-"]);
    let driver = run(auto(), |driver| {
        driver.connect();
        driver.line(ping);
        driver.reply(1, DISCOVERED);
        driver.reply(2, r#"{"tools":[]}"#);
        driver.line(ping);
    });
    assert_eq!(driver.methods(), ["server/discover", "tools/list"]);
    assert_eq!(driver.diagnostics(), ["malformed_message"]);
}
