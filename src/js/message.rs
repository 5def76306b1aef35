//! `classifyLine`: what one line is, without a session.

use wasm_bindgen::prelude::*;

use crate::json::Text;
use crate::session::options::Limits;
use crate::wire::{Classified, Id, Message, Profile, Rules, classify_line};

use super::plain::Plain;

/// What is absent reads as undefined.
#[derive(Default)]
struct Line {
    kind: &'static str,
    /// JSON text: a string keeps even what UTF-8 cannot hold.
    id: Option<String>,
    method: Option<String>,
    rpc_code: Option<f64>,
    reason: Option<&'static str>,
}

impl Line {
    fn out(&self) -> JsValue {
        Plain::new()
            .text("kind", self.kind)
            .maybe_text("id", self.id.as_deref())
            .maybe_text("method", self.method.as_deref())
            .maybe_number("rpcCode", self.rpc_code)
            .maybe_text("reason", self.reason)
            .done()
    }
}

/// The profile a flag names.
pub(super) fn profile(strict: bool) -> Profile {
    if strict { Profile::Strict } else { Profile::Contain }
}

/// Classifies the bytes of one line.
#[wasm_bindgen(js_name = classifyLine)]
pub fn classify(line: &[u8], strict: bool) -> JsValue {
    let profile = profile(strict);
    let rules = Rules { profile, lenient_ids: strict };
    let max_tokens = Limits::of(profile).max_tokens as u32;
    classify_line(line, rules, max_tokens, |classified| {
        let line = match classified {
            Ok(Classified { message, .. }) => describe(message),
            Err(reason) => Line { kind: "malformed", reason: Some(reason), ..Line::default() },
        };
        line.out()
    })
}

fn describe(message: Message<'_>) -> Line {
    let id = |id: Id<'_>| Some(id.to_json());
    let method = |method: Text<'_>| Some(method.to_str().into_owned());
    match message {
        Message::Noise => Line { kind: "noise", ..Line::default() },
        // A line by itself has no revision under which a batch could be read.
        Message::Batch(_) => Line { kind: "noise", reason: Some("batch"), ..Line::default() },
        Message::Request { id: request, method: name, .. } => {
            Line { kind: "request", id: id(request), method: method(name), ..Line::default() }
        }
        Message::Notification { method: name, .. } => {
            Line { kind: "notification", method: method(name), ..Line::default() }
        }
        Message::Result { id: reply, .. } => {
            Line { kind: "result", id: id(reply), ..Line::default() }
        }
        Message::Error { id: reply, error } => Line {
            kind: "error",
            id: id(reply),
            rpc_code: Some(error.code as f64),
            ..Line::default()
        },
        Message::Uncorrelated(error) => {
            Line { kind: "uncorrelated", rpc_code: Some(error.code as f64), ..Line::default() }
        }
        Message::Malformed(malformed) => {
            Line { kind: "malformed", reason: Some(malformed.reason), ..Line::default() }
        }
    }
}
