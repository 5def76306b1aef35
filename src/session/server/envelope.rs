//! Under which revision a request is judged (DESIGN.md 6.7): the one its own `_meta` names, or the
//! one `initialize` agreed on.
//!
//! Invariant: nothing said by an earlier request decides about one that names its revision.

use crate::json::Value;
use crate::session::revision::{self, Family, Revision, meta};
use crate::wire::encode::quote;

use super::answer::{Fault, MISSING_CAPABILITY, UNSUPPORTED_VERSION};
use super::options::ServerOptions;

/// What an HTTP request says about the message it carries. A message that comes with headers is
/// judged by itself: there is no handshake before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// `MCP-Protocol-Version`.
    pub protocol_version: Option<String>,
    /// `Mcp-Method`.
    pub method: Option<String>,
    /// `Mcp-Name`, decoded.
    pub name: Option<String>,
    /// `Mcp-Param-*`: the rest of the name in lower case, and the value, decoded; none for one that
    /// cannot be decoded.
    pub params: Vec<(String, Option<String>)>,
}

/// A request that names its revision.
pub(super) struct Envelope<'a> {
    pub(super) revision: &'static Revision,
    /// The client's capabilities, an object.
    pub(super) capabilities: Value<'a>,
    /// The level from which on log messages are wanted.
    pub(super) log_level: Option<Value<'a>>,
}

/// Judges a request by its `_meta` and headers. None: it names no revision.
pub(super) fn judge<'a>(
    method: &str,
    params: Option<Value<'a>>,
    headers: Option<&Headers>,
    options: &ServerOptions,
) -> Result<Option<Envelope<'a>>, Fault> {
    if options.served_by(Family::Modern).next().is_none() {
        return Ok(None);
    }
    let envelope = params.and_then(|params| params.get("_meta"));
    let member = |name| envelope.and_then(|envelope: Value<'a>| envelope.get(name));
    let Some(version) = member(meta::VERSION) else {
        return match headers {
            Some(_) => Err(Fault::envelope("_meta names no protocol version")),
            None => Ok(None),
        };
    };
    let Some(version) = version.as_str() else {
        return Err(Fault::envelope("The protocol version in _meta is not a string"));
    };
    if let Some(headers) = headers {
        check_headers(&version, method, params, headers)?;
    }
    let served = options.served_by(Family::Modern).find(|revision| revision.name == version);
    let Some(revision) = served else { return Err(unsupported(options, &version)) };
    let Some(capabilities) = member(meta::CAPABILITIES).filter(|value| value.is_object()) else {
        return Err(Fault::envelope("_meta names no client capabilities"));
    };
    Ok(Some(Envelope { revision, capabilities, log_level: member(meta::LOG_LEVEL) }))
}

fn check_headers(
    version: &str,
    method: &str,
    params: Option<Value<'_>>,
    headers: &Headers,
) -> Result<(), Fault> {
    let fits = |header: &Option<String>, text: &str| header.as_deref() == Some(text);
    if !fits(&headers.protocol_version, version) {
        return Err(Fault::header("MCP-Protocol-Version differs from the message"));
    }
    if !fits(&headers.method, method) {
        return Err(Fault::header("Mcp-Method differs from the message"));
    }
    let name = params.and_then(|params| params.get("name")).and_then(Value::as_str);
    if method == "tools/call" && name.is_some_and(|name| !fits(&headers.name, &name)) {
        return Err(Fault::header("Mcp-Name differs from the message"));
    }
    Ok(())
}

/// -32022 with every revision that is served.
pub(super) fn unsupported(options: &ServerOptions, requested: &str) -> Fault {
    let data =
        format!("{{\"supported\":{},\"requested\":{}}}", supported(options), quote(requested));
    Fault {
        data: Some(data),
        ..Fault::new(UNSUPPORTED_VERSION, "Unsupported protocol version", 400)
    }
}

/// JSON text of the names of the revisions served, newest first.
pub(super) fn supported(options: &ServerOptions) -> String {
    let names: Vec<String> = options.served().map(|revision| quote(revision.name)).collect();
    format!("[{}]", names.join(","))
}

/// Of the client's capabilities those that decide something, which is all that a call keeps.
pub(super) fn declared(capabilities: Value<'_>) -> String {
    let named: Vec<String> = revision::ASKING_CAPABILITIES
        .into_iter()
        .filter(|name| capabilities.get(name).is_some())
        .map(|name| format!("{}:{{}}", quote(name)))
        .collect();
    format!("{{{}}}", named.join(","))
}

/// -32021 if a request of the host's inside a result needs what the client did not declare.
pub(super) fn check_input_requests(
    requests: Value<'_>,
    capabilities: Option<Value<'_>>,
) -> Result<(), Fault> {
    let mut missing: Vec<&str> = Vec::new();
    for (_, request) in requests.members() {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let Some(needed) = revision::capability_of(&method) else { continue };
        let declared = capabilities.is_some_and(|declared| declared.get(needed).is_some());
        if !declared && !missing.contains(&needed) {
            missing.push(needed);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = missing.iter().map(|name| format!("{}:{{}}", quote(name))).collect();
    let data = Some(format!("{{\"requiredCapabilities\":{{{}}}}}", named.join(",")));
    Err(Fault { data, ..Fault::new(MISSING_CAPABILITY, "A client capability is missing", 400) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn judged(meta: &str, headers: Option<&Headers>, method: &str) -> String {
        let text = format!(r#"{{"name":"a","_meta":{meta}}}"#);
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        let options = ServerOptions::new("s", "1", "[]");
        match judge(method, Some(tape.root(text.as_bytes())), headers, &options) {
            Ok(None) => "none".to_owned(),
            Ok(Some(envelope)) => envelope.revision.name.to_owned(),
            Err(fault) => format!("{} {}", fault.code, fault.status),
        }
    }

    fn envelope(version: &str) -> String {
        format!(r#"{{"{}":{version},"{}":{{}}}}"#, meta::VERSION, meta::CAPABILITIES)
    }

    #[test]
    fn a_request_names_its_revision() {
        let of = |meta: &str| judged(meta, None, "tools/call");
        assert_eq!(of("{}"), "none");
        assert_eq!(of("7"), "none");
        assert_eq!(of(&envelope("\"2026-07-28\"")), "2026-07-28");
        assert_eq!(of(&envelope("\"2025-11-25\"")), "-32022 400");
        assert_eq!(of(&envelope("\"1900-01-01\"")), "-32022 400");
        assert_eq!(of(&envelope("7")), "-32602 400");
        assert_eq!(
            of(&envelope("\"2026-07-28\"")
                .replace("clientCapabilities\":{}", "clientCapabilities\":7")),
            "-32602 400"
        );
    }

    #[test]
    fn headers_say_what_the_message_says() {
        let headers = |version: &str, method: &str, name: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Headers {
                protocol_version: some(version),
                method: some(method),
                name: some(name),
                params: Vec::new(),
            }
        };
        let of = |meta: &str, headers: Headers| judged(meta, Some(&headers), "tools/call");
        let good = envelope("\"2026-07-28\"");
        assert_eq!(of(&good, headers("2026-07-28", "tools/call", "a")), "2026-07-28");
        assert_eq!(of("{}", headers("2026-07-28", "tools/call", "a")), "-32602 400");
        for wrong in [
            headers("2025-11-25", "tools/call", "a"),
            headers("", "tools/call", "a"),
            headers("2026-07-28", "tools/list", "a"),
            headers("2026-07-28", "", "a"),
            headers("2026-07-28", "tools/call", "b"),
            headers("2026-07-28", "tools/call", ""),
        ] {
            assert_eq!(of(&good, wrong.clone()), "-32020 400", "{wrong:?}");
        }
        assert_eq!(
            of(&envelope("\"1900-01-01\""), headers("1900-01-01", "tools/call", "a")),
            "-32022 400"
        );
        let list = headers("2026-07-28", "tools/list", "");
        assert_eq!(judged(&good, Some(&list), "tools/list"), "2026-07-28");
    }

    #[test]
    fn capabilities_are_required_by_what_is_asked() {
        let text = r#"[{"a":{"method":"roots/list"},"b":{"method":"sampling/createMessage"},
            "c":{"method":"roots/list"}},{"sampling":{}}]"#;
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        let part = |index| tape.root(text.as_bytes()).at(index);
        let fault = check_input_requests(part(0).unwrap(), part(1)).unwrap_err();
        assert_eq!(fault.data.unwrap(), r#"{"requiredCapabilities":{"roots":{}}}"#);
        assert_eq!(check_input_requests(part(1).unwrap(), None).err(), None);
    }
}
