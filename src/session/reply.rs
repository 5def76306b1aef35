//! What comes in: messages to their place, replies to the request they answer, each request
//! settled once (rows R28 to R30, R45 to R50, and the table of DESIGN.md 6.2).

use std::rc::Rc;

use crate::error::{Code, Error, Facts};
use crate::json::Value;
use crate::wire::{Id, Malformed, Message, Remote, Rules, classify};

use super::core::{Core, Line};
use super::event::{Event, Handle, Settlement};
use super::pending::{Kind, Pending, Stale};
use super::report::source;
use super::result;
use super::timers::Timer;

impl Core {
    /// Takes one message of a line to its place.
    pub(super) fn message(&mut self, line: &Rc<Line>, at: u32) {
        let rules = Rules { profile: self.options.profile, lenient_ids: self.options.lenient_ids };
        let root = line.tape.value(&line.bytes, at);
        let (deep, overflow) = (line.tape.is_too_deep(), line.tape.has_number_overflow());
        let classified = classify(root, rules, deep, overflow);
        if !matches!(classified.message, Message::Noise | Message::Batch(_)) {
            self.heard = true;
        }
        for _ in 0..classified.nulls {
            self.reports.note_line("null_member", root.raw().as_bytes());
        }
        let of = line.in_reply_to;
        match classified.message {
            Message::Noise => self.noise(root.raw().as_bytes(), false, of),
            Message::Batch(_) => self.batch(line, at),
            Message::Request { id, method, params } => {
                self.peer_request(id.to_json(), &method.to_str(), params.map(Value::raw));
            }
            Message::Notification { method, params } => {
                self.peer_notification(&method.to_str(), params);
            }
            Message::Result { id, .. } | Message::Error { id, .. } if self.is_astray(id, of) => {
                self.reports.note_line("unknown_id", root.raw().as_bytes());
                if let Some(handle) = of {
                    self.reply_refused(handle, "wrong_reply_id");
                }
            }
            Message::Result { id, result } => match self.claim(id) {
                Ok((id, pending)) => self.result(id, pending, line, result),
                Err(stale) => self.stale(stale, result),
            },
            Message::Error { id, error } => match self.claim(id) {
                Ok((id, pending)) => self.remote_error(id, pending, error),
                Err(stale) => self.stale(stale, error.object),
            },
            // Without an id, but in the response to a request: there is nothing else it can be about.
            Message::Uncorrelated(error) if !self.strict() && self.is_awaited(of) => {
                let id = of.and_then(|handle| self.request_of(handle));
                if let Some(id) = id
                    && let Some(pending) = self.close_request(i64::from(id))
                {
                    self.remote_error(id, pending, error);
                }
            }
            Message::Uncorrelated(error) => {
                self.uncorrelated = (self.uncorrelated.0 + 1, error.code);
                self.report_remote(error);
                self.reports.event(Event::UncorrelatedError { rpc_code: error.code });
            }
            Message::Malformed(malformed) => self.malformed(malformed, root, of),
        }
    }

    /// True if a reply came in the response to a request and answers another.
    fn is_astray(&self, id: Id<'_>, of: Option<Handle>) -> bool {
        let expected = of.and_then(|handle| self.request_of(handle));
        let number = match id {
            Id::Number(number) => Some(number),
            Id::Text(_) => None,
        };
        expected.is_some_and(|expected| number != Some(i64::from(expected)))
    }

    fn is_awaited(&self, of: Option<Handle>) -> bool {
        of.is_some_and(|handle| self.request_of(handle).is_some())
    }

    /// Closes the request that a reply names, or says what the id stands for.
    fn claim(&mut self, id: Id<'_>) -> Result<(u32, Pending), &'static str> {
        let number = match id {
            Id::Number(number) => number,
            Id::Text(text) => {
                let number = text.to_str().parse::<u32>().ok();
                let open = number.is_some_and(|number| self.requests.get(number).is_some());
                return Err(if open { "id_type" } else { "unknown_id" });
            }
        };
        let id = u32::try_from(number).unwrap_or_default();
        match self.close_request(number) {
            Some(pending) => Ok((id, pending)),
            None => Err(match self.requests.stale(number) {
                Stale::Unknown => "unknown_id",
                Stale::Late => "late_response",
                Stale::Duplicate => "duplicate_response",
            }),
        }
    }

    /// Closes an open request that was handed out.
    pub(super) fn close_request(&mut self, id: i64) -> Option<Pending> {
        let id = u32::try_from(id).ok()?;
        if self.requests.get(id)?.queued.is_some() {
            return None;
        }
        self.timers.unset(Timer::Request(id));
        self.requests.remove(id)
    }

    /// A reply that answers nothing.
    fn stale(&mut self, what: &'static str, body: Value<'_>) {
        let repeats = what == "duplicate_response" && {
            let shape = result::read(body, self.options.profile, true);
            shape.is_err_and(|fault| fault.reason == "duplicate_member")
        };
        let code = if repeats { "duplicate_member" } else { what };
        self.reports.note_line(code, body.raw().as_bytes());
    }

    /// A tagged line that is no message: the end in `strict`; in `contain` it fails the request it
    /// names.
    fn malformed(&mut self, malformed: Malformed, root: Value<'_>, of: Option<Handle>) {
        let Malformed { reason, ids } = malformed;
        if self.strict() && of.is_none() {
            let error = self.error(Code::ProtocolError, reason).facts(self.limit_of(reason));
            self.terminate(error, false);
            return;
        }
        let code = if reason == "duplicate_member" { reason } else { "malformed_message" };
        self.reports.note_line(code, root.raw().as_bytes());
        match of {
            Some(handle) => self.reply_refused(handle, reason),
            None => self.fail_malformed(reason, ids),
        }
    }

    /// Fails the first open request of these.
    pub(super) fn fail_malformed(&mut self, reason: &'static str, ids: [Option<i64>; 2]) {
        let Some(pending) = ids.into_iter().flatten().find_map(|id| self.close_request(id)) else {
            return;
        };
        let facts = Facts { method: Some(pending.method.to_string()), ..self.limit_of(reason) };
        let error = self.error(Code::ProtocolError, reason).facts(facts);
        if matches!(pending.kind, Kind::Probe) {
            self.negotiation.forget_probes();
        }
        self.fail_pending(&pending, error);
    }

    pub(super) fn fail_pending(&mut self, pending: &Pending, error: Error) {
        match pending.handle() {
            Some(handle) => self.fail(handle, error),
            None => self.own_request_failed(&pending.kind, error),
        }
    }

    /// A good reply.
    fn result(&mut self, id: u32, pending: Pending, line: &Rc<Line>, result: Value<'_>) {
        let is_ping = &*pending.method == "ping";
        if !self.strict() && !result.is_object() {
            self.reports.note_line("non_object_result", result.raw().as_bytes());
            if !is_ping && matches!(pending.kind, Kind::Plain(_) | Kind::Page) {
                let error = self.not_an_object(&pending, result);
                return self.fail_pending(&pending, error);
            }
        }
        let at = result.position();
        let Some(pending) = self.completes(pending, result) else { return };
        match pending.kind {
            Kind::Probe => self.discovered(id, result),
            Kind::Listen => self.listen_ended(),
            Kind::Initialize => self.initialized(id, result),
            Kind::Page => self.page(line, at),
            Kind::Tool(call) => self.tool_result(call, line, at),
            Kind::Plain(handle) => {
                let is_page = !self.strict() && &*pending.method == "tools/list";
                if !(is_page && self.joined_page(handle, line, at)) {
                    self.settle(handle, Ok(Settlement::Value(result.raw().to_owned())));
                }
            }
        }
    }

    fn not_an_object(&self, pending: &Pending, result: Value<'_>) -> Error {
        let facts = Facts {
            method: Some(pending.method.to_string()),
            at: Some("/result".to_owned()),
            ..Facts::default()
        };
        let private = format!("{{\"path\":\"\",\"value\":{}}}", result.raw());
        self.error(Code::ProtocolError, "result_not_object").facts(facts).private(private)
    }

    /// An error reply (row R30).
    fn remote_error(&mut self, id: u32, pending: Pending, remote: Remote<'_>) {
        if !self.is_expected(&pending.kind) {
            self.report_remote(remote);
        }
        let Some(pending) = self.refreshes(pending, remote.code) else { return };
        let is_call = matches!(pending.kind, Kind::Tool(_));
        let code = match remote.code {
            -32601 | -32602 if is_call && says_unknown_tool(&remote.message.to_str()) => {
                Code::ToolNotFound
            }
            _ if is_call => Code::ToolFailed,
            _ => Code::ProtocolError,
        };
        let facts = Facts {
            method: Some(pending.method.to_string()),
            rpc_code: Some(remote.code),
            ..Facts::default()
        };
        let error = self.error(code, "remote").facts(facts).private(remote_json(remote));
        match pending.kind {
            Kind::Probe => self.probe_refused(id, remote, error),
            Kind::Initialize => self.initialize_refused(id, remote, error),
            Kind::Page => self.page_error(remote.code, error),
            Kind::Tool(_) | Kind::Plain(_) | Kind::Listen => self.fail_pending(&pending, error),
        }
    }

    fn report_remote(&mut self, remote: Remote<'_>) {
        let detail = remote_json(remote);
        self.reports.diagnostic(source::REMOTE_ERROR, "remote_error", &detail);
    }
}

/// The error object, reduced to the members that are known.
fn remote_json(remote: Remote<'_>) -> String {
    let member = |name: &str| remote.object.get(name).map_or("null", Value::raw);
    let mut text = format!("{{\"code\":{},\"message\":{}", member("code"), member("message"));
    if let Some(data) = remote.object.get("data") {
        text.push_str(",\"data\":");
        text.push_str(data.raw());
    }
    text.push('}');
    text
}

/// Row R30: the whole word "tool", and one of four phrases as whole words, in any case.
fn says_unknown_tool(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    has_words(&message, "tool")
        && ["unknown", "unrecognized", "no such", "not found"]
            .iter()
            .any(|phrase| has_words(&message, phrase))
}

fn has_words(text: &str, phrase: &str) -> bool {
    let is_word =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    text.match_indices(phrase).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at)).copied();
        let after = text.as_bytes().get(at + phrase.len()).copied();
        !is_word(before) && !is_word(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn unknown_tools_are_told_by_whole_words() {
        for message in
            ["Unknown tool: add", "Tool not found: add", "unrecognized tool x", "no such tool"]
        {
            assert!(says_unknown_tool(message), "{message}");
        }
        for message in ["Tool arguments are invalid", "Unknown tools", "tool_x not found", "boom"] {
            assert!(!says_unknown_tool(message), "{message}");
        }
    }
}
