//! How a result reads to a peer: stamps in the modern era only, values in the form its revision
//! knows.
//!
//! Invariant: content, structured value and numbers in them are the host's own text.

use crate::json::{self, Value};
use crate::session::revision::{Revision, meta};
use crate::wire::encode::quote;

use super::answer::Fault;
use super::envelope::check_input_requests;
use super::tools::Tool;
use super::wrap::wrap_value;

/// Whom a result is for.
pub(super) struct Peer<'a> {
    pub(super) revision: &'static Revision,
    /// JSON text of an object.
    pub(super) server_info: &'a str,
    /// JSON text of the client's capabilities.
    pub(super) capabilities: Option<&'a str>,
}

impl Peer<'_> {
    fn is_modern(&self) -> bool {
        self.revision.typed_results
    }
}

/// A result of the session's own, with these members. `cache` are the members that say how long it
/// may be kept.
pub(super) fn complete(peer: &Peer<'_>, members: &str, cache: &str) -> String {
    if !peer.is_modern() {
        return format!("{{{members}}}");
    }
    format!(
        "{{\"resultType\":\"complete\",{members}{cache},\"_meta\":{{\"{}\":{}}}}}",
        meta::SERVER_INFO,
        peer.server_info
    )
}

/// What a host gave as the result of a call, as its peer reads it.
pub(super) fn tool_result(text: &str, tool: &Tool, peer: &Peer<'_>) -> Result<String, Fault> {
    let unusable = Fault::internal("The tool gave no usable result");
    let tape = json::read(text.as_bytes(), json::Limits::depth(crate::wire::MAX_DEPTH))
        .ok()
        .filter(|tape| !tape.is_too_deep())
        .ok_or_else(|| unusable.clone())?;
    let root = tape.root(text.as_bytes());
    if !root.is_object() {
        return Err(unusable);
    }
    let kind = root.get("resultType").and_then(Value::as_str);
    let completes = kind.as_deref().is_none_or(|kind| kind == "complete");
    if !completes && !peer.is_modern() {
        return Err(Fault::internal("The tool needs more than this protocol revision offers"));
    }
    if let Some(requests) = root.get("inputRequests").filter(|_| !completes) {
        check_capabilities(requests, peer)?;
    }
    let mut out = Members::default();
    if peer.is_modern() {
        out.push("resultType", &quote(kind.as_deref().unwrap_or("complete")));
    }
    if completes {
        push_content(&mut out, root, tool, peer);
    }
    let written: &[&str] = if completes {
        &["resultType", "_meta", "content", "structuredContent"]
    } else {
        &["resultType", "_meta"]
    };
    for (name, value) in root.members() {
        if !written.iter().any(|written| name.eq_str(written)) {
            out.push_raw(name.raw(), value.raw());
        }
    }
    push_meta(&mut out, root.get("_meta").filter(|meta| meta.is_object()), peer);
    Ok(out.finish())
}

fn check_capabilities(requests: Value<'_>, peer: &Peer<'_>) -> Result<(), Fault> {
    let text = peer.capabilities.unwrap_or("{}");
    let tape = json::read(text.as_bytes(), json::Limits::depth(crate::wire::MAX_DEPTH)).ok();
    let declared = tape.as_ref().map(|tape| tape.root(text.as_bytes()));
    check_input_requests(requests, declared)
}

fn push_content(out: &mut Members, root: Value<'_>, tool: &Tool, peer: &Peer<'_>) {
    let any = peer.revision.any_structured;
    let structured = root.get("structuredContent");
    // Before values of any type were known, null was nothing, unless a schema says otherwise.
    let structured = structured.filter(|value| any || tool.is_wrapped() || !value.is_null());
    let content = root.get("content").filter(|content| content.is_array());
    match (content.filter(|content| !content.is_empty()), structured) {
        (Some(content), _) => out.push("content", content.raw()),
        (None, Some(value)) => {
            let text = quote(value.raw());
            out.push("content", &format!("[{{\"type\":\"text\",\"text\":{text}}}]"));
        }
        (None, None) => out.push("content", "[]"),
    }
    let Some(value) = structured else { return };
    if !any && (tool.is_wrapped() || !value.is_object()) {
        out.push("structuredContent", &wrap_value(value.raw()));
    } else {
        out.push("structuredContent", value.raw());
    }
}

fn push_meta(out: &mut Members, sent: Option<Value<'_>>, peer: &Peer<'_>) {
    if !peer.is_modern() {
        if let Some(sent) = sent {
            out.push("_meta", sent.raw());
        }
        return;
    }
    let mut inner = Members::default();
    let mut has_info = false;
    for (name, value) in sent.into_iter().flat_map(Value::members) {
        has_info |= name.eq_str(meta::SERVER_INFO);
        inner.push_raw(name.raw(), value.raw());
    }
    if !has_info {
        inner.push(meta::SERVER_INFO, peer.server_info);
    }
    out.push("_meta", &inner.finish());
}

/// An object being written.
#[derive(Default)]
struct Members(String);

impl Members {
    fn push(&mut self, name: &str, value: &str) {
        self.push_raw(name, value);
    }

    /// `name` is what stands between the quotes.
    fn push_raw(&mut self, name: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
        self.0.push_str(value);
    }

    fn finish(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::ServerLimits;
    use super::super::tools::Catalog;
    use super::*;
    use crate::session::revision::named;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn told(revision: &str, output: &str, result: &str) -> String {
        let tools = match output {
            "" => r#"[{"name":"t"}]"#.to_owned(),
            schema => format!(r#"[{{"name":"t","outputSchema":{schema}}}]"#),
        };
        let catalog = Catalog::read(&tools, &ServerLimits::default()).unwrap();
        let peer = Peer {
            revision: named(revision).unwrap(),
            server_info: "{}",
            capabilities: Some(r#"{"roots":{}}"#),
        };
        match tool_result(result, catalog.get("t").unwrap(), &peer) {
            Ok(text) => text,
            Err(fault) => fault.code.to_string(),
        }
    }

    const META: &str = r#""_meta":{"io.modelcontextprotocol/serverInfo":{}}"#;

    #[test]
    fn stamps_are_of_the_modern_era() {
        let result = r#"{"isError":true,"content":[7],"_meta":{"a":1.0},"resultType":"complete"}"#;
        assert_eq!(
            told("2025-11-25", "", result),
            r#"{"content":[7],"isError":true,"_meta":{"a":1.0}}"#
        );
        assert_eq!(
            told("2026-07-28", "", result),
            r#"{"resultType":"complete","content":[7],"isError":true,"_meta":{"a":1.0,"io.modelcontextprotocol/serverInfo":{}}}"#
        );
        assert_eq!(told("2025-11-25", "", "{}"), r#"{"content":[]}"#);
        for bad in ["[]", "", "7", "{"] {
            assert_eq!(told("2025-11-25", "", bad), "-32603", "{bad}");
        }
    }

    #[test]
    fn values_take_the_form_a_revision_knows() {
        let array = r#"{"structuredContent":[9007199254740993]}"#;
        let text = r#""content":[{"type":"text","text":"[9007199254740993]"}]"#;
        let wrapped = format!(r#"{{{text},"structuredContent":{{"result":[9007199254740993]}}}}"#);
        assert_eq!(told("2025-06-18", r#"{"type":"array"}"#, array), wrapped);
        assert_eq!(told("2025-06-18", "", array), wrapped);
        assert_eq!(
            told("2026-07-28", r#"{"type":"array"}"#, array),
            format!(
                r#"{{"resultType":"complete",{text},"structuredContent":[9007199254740993],{META}}}"#
            )
        );
        let object = r#"{"content":[1],"structuredContent":{"a":1}}"#;
        assert_eq!(told("2025-06-18", r#"{"type":"object"}"#, object), object);
        assert_eq!(
            told("2025-06-18", r#"{"anyOf":[]}"#, object),
            r#"{"content":[1],"structuredContent":{"result":{"a":1}}}"#
        );
        let null = r#"{"content":[1],"structuredContent":null}"#;
        assert_eq!(told("2025-06-18", "", null), r#"{"content":[1]}"#);
        assert!(told("2026-07-28", "", null).contains(r#""structuredContent":null"#));
    }

    #[test]
    fn more_input_is_asked_of_clients_that_can_give_it() {
        let asks = |method: &str| {
            format!(
                r#"{{"resultType":"input_required","inputRequests":{{"k":{{"method":"{method}"}}}},"requestState":"s"}}"#
            )
        };
        assert_eq!(told("2025-11-25", "", &asks("roots/list")), "-32603");
        assert_eq!(told("2026-07-28", "", &asks("sampling/createMessage")), "-32021");
        assert_eq!(
            told("2026-07-28", "", &asks("roots/list")),
            asks("roots/list").replace(r#""s"}"#, &format!(r#""s",{META}}}"#))
        );
    }
}
