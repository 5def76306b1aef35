//! What travels in `_meta` of our requests: the progress token, what revisions without a handshake
//! want in every request, and what the host adds.
//!
//! Invariant: a name is written once, and what the session says of itself wins over the host.

use crate::json::{self, Limits, Value};
use crate::wire::encode::{push_number, quote};

use super::core::Core;
use super::revision::{Revision, meta};

impl Core {
    /// The `_meta` of a request: `token` is its progress token, `given` the host's object.
    pub(super) fn meta_text(
        &self,
        revision: Option<&Revision>,
        token: Option<u32>,
        given: Option<&str>,
    ) -> String {
        let mut text = String::with_capacity(32);
        text.push('{');
        if let Some(token) = token {
            text.push('"');
            text.push_str(meta::PROGRESS);
            text.push_str("\":");
            push_number(&mut text, token);
        }
        let stamped = revision.filter(|revision| revision.stamped);
        if let Some(revision) = stamped {
            separate(&mut text);
            text.push_str(&format!(
                "\"{}\":\"{}\",\"{}\":{},\"{}\":{}",
                meta::VERSION,
                revision.name,
                meta::CLIENT_INFO,
                self.own_info(),
                meta::CAPABILITIES,
                self.own_capabilities(),
            ));
            let given_level = given.is_some_and(|given| has_member(given, meta::LOG_LEVEL));
            if let Some(level) = self.log_level.as_deref().filter(|_| !given_level) {
                text.push_str(&format!(",\"{}\":{}", meta::LOG_LEVEL, quote(level)));
            }
        }
        let own = [meta::PROGRESS, meta::VERSION, meta::CLIENT_INFO, meta::CAPABILITIES];
        let from = if token.is_some() { 0 } else { 1 };
        let to = if stamped.is_some() { own.len() } else { 1 };
        push_members(&mut text, given, own.get(from..to).unwrap_or_default());
        text.push('}');
        text
    }

    /// Params of a request of the session's own with what its revision wants in each; none if that
    /// is nothing.
    pub(super) fn stamp_params(&self, params: &str) -> Option<String> {
        let revision = self.revision.filter(|revision| revision.stamped)?;
        Some(with_meta(&self.meta_text(Some(revision), None, None), Some(params)))
    }

    /// Takes `logging/setLevel` over where the level travels with each request. False if not.
    pub(super) fn keeps_log_level(&mut self, method: &str, params: Option<&str>) -> bool {
        let in_meta = self.revision.is_some_and(|revision| revision.log_level_in_meta);
        if !in_meta || method != "logging/setLevel" {
            return false;
        }
        self.log_level = params.and_then(|params| {
            let tape = json::read(params.as_bytes(), Limits::depth(512)).ok()?;
            let level = tape.root(params.as_bytes()).get("level")?;
            level.text().map(|level| level.to_str().into_owned())
        });
        true
    }
}

/// Params whose `_meta` is this.
pub(super) fn with_meta(meta: &str, params: Option<&str>) -> String {
    let mut text = format!("{{\"_meta\":{meta}");
    push_members(&mut text, params, &["_meta"]);
    text.push('}');
    text
}

/// The text of a member of an object's text.
pub(super) fn member_text(object: &str, name: &str) -> Option<String> {
    let tape = json::read(object.as_bytes(), Limits::depth(512)).ok()?;
    tape.root(object.as_bytes()).get(name).map(|value: Value<'_>| value.raw().to_owned())
}

fn has_member(object: &str, name: &str) -> bool {
    member_text(object, name).is_some()
}

fn separate(text: &mut String) {
    if !text.ends_with('{') {
        text.push(',');
    }
}

/// Appends the members of an object's text, but for some names.
pub(super) fn push_members(text: &mut String, object: Option<&str>, without: &[&str]) {
    let Some(object) = object else { return };
    let Ok(tape) = json::read(object.as_bytes(), Limits::depth(512)) else { return };
    for (name, value) in tape.root(object.as_bytes()).members() {
        if !without.iter().any(|left_out| name.eq_str(left_out)) {
            separate(text);
            text.push_str(&format!("\"{}\":{}", name.raw(), value.raw()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::{Plan, SessionOptions};
    use super::super::revision::REVISIONS;
    use super::*;
    use crate::wire::Profile;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn core() -> Core {
        Core::new(SessionOptions::new("s", Profile::Contain), Plan::Hedge)
    }

    #[test]
    fn tokens_join_what_the_host_gives() {
        let core = core();
        assert_eq!(core.meta_text(None, Some(7), None), r#"{"progressToken":7}"#);
        assert_eq!(
            core.meta_text(None, Some(7), Some(r#"{"progressToken":1,"a/b":{"c":2}}"#)),
            r#"{"progressToken":7,"a/b":{"c":2}}"#
        );
        assert_eq!(core.meta_text(None, None, Some(r#"{"k":1}"#)), r#"{"k":1}"#);
        assert_eq!(
            with_meta(r#"{"k":1}"#, Some(r#"{"uri":"x","_meta":{"z":1}}"#)),
            r#"{"_meta":{"k":1},"uri":"x"}"#
        );
    }

    #[test]
    fn what_the_session_says_of_itself_wins() {
        let mut core = core();
        core.log_level = Some("warning".to_owned());
        let meta = core.meta_text(
            Some(&REVISIONS[0]),
            Some(3),
            Some(r#"{"traceparent":"00-a-b-01","io.modelcontextprotocol/protocolVersion":"x"}"#),
        );
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            meta,
            format!(
                r#"{{"progressToken":3,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"toolwire","version":"{version}"}},"io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/logLevel":"warning","traceparent":"00-a-b-01"}}"#
            )
        );
        let given = Some(r#"{"io.modelcontextprotocol/logLevel":"debug"}"#);
        let meta = core.meta_text(Some(&REVISIONS[0]), None, given);
        assert!(meta.contains("debug") && !meta.contains("warning"), "{meta}");
    }
}
