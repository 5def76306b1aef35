//! What comes in: messages to their place, replies to the request they answer, each request
//! settled once (rows R28 to R30, R45 to R50, and the table of DESIGN.md 6.2).

use std::rc::Rc;
use std::task::Poll;

use crate::error::{Code, Error, Facts};
use crate::json::Value;
use crate::schema::{Judge, Outcome, Verdict};
use crate::wire::{Id, Malformed, Message, Remote, Rules, classify};

use super::core::{Core, Line, Task};
use super::event::{Event, Handle, Settlement, ToolOutcome};
use super::options::{Numbers, OnUnknown, Validation};
use super::pending::{Kind, Pending, Stale, ToolCall};
use super::report::source;
use super::result::{self, Shape, violations_json};
use super::timers::Timer;

/// Content blocks of one result that are each worth a diagnostic; the outcome lists more.
const MAX_BLOCKS_NOTED: usize = 16;

/// A tool's result whose structured value is being judged.
pub(super) struct JudgeTask {
    judge: Judge,
    line: Rc<Line>,
    result: u32,
    call: ToolCall,
    shape: Shape,
}

impl JudgeTask {
    pub(super) fn handle(&self) -> Handle {
        self.call.handle
    }
}

/// What was found about a structured value.
struct Judged {
    verdict: &'static str,
    reason: Option<&'static str>,
    outcome: Option<Outcome>,
    violation: Option<&'static str>,
}

impl Judged {
    fn unchecked(reason: &'static str) -> Self {
        let reason = Some(reason);
        Judged { verdict: "unchecked", reason, outcome: None, violation: None }
    }

    fn violates(violation: &'static str) -> Self {
        let violation = Some(violation);
        Judged { verdict: "invalid", reason: None, outcome: None, violation }
    }

    fn unknown(reason: &'static str) -> Self {
        Judged { verdict: "unknown", reason: Some(reason), outcome: None, violation: None }
    }
}

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
        match classified.message {
            Message::Noise => self.noise(root.raw().as_bytes(), false),
            Message::Batch(_) => self.batch(line, at),
            Message::Request { id, method, params } => {
                self.peer_request(id.to_json(), &method.to_str(), params);
            }
            Message::Notification { method, params } => {
                self.peer_notification(&method.to_str(), params);
            }
            Message::Result { id, result } => match self.claim(id) {
                Ok(pending) => self.result(pending, line, result),
                Err(stale) => self.stale(stale, result),
            },
            Message::Error { id, error } => match self.claim(id) {
                Ok(pending) => self.remote_error(&pending, error),
                Err(stale) => self.stale(stale, error.object),
            },
            Message::Uncorrelated(error) => {
                self.uncorrelated = (self.uncorrelated.0 + 1, error.code);
                self.report_remote(error);
                self.reports.event(Event::UncorrelatedError { rpc_code: error.code });
            }
            Message::Malformed(malformed) => self.malformed(malformed, root),
        }
    }

    /// Closes the request that a reply names, or says what the id stands for.
    fn claim(&mut self, id: Id<'_>) -> Result<Pending, &'static str> {
        let number = match id {
            Id::Number(number) => number,
            Id::Text(text) => {
                let number = text.to_str().parse::<u32>().ok();
                let open = number.is_some_and(|number| self.requests.get(number).is_some());
                return Err(if open { "id_type" } else { "unknown_id" });
            }
        };
        self.close_request(number).ok_or_else(|| match self.requests.stale(number) {
            Stale::Unknown => "unknown_id",
            Stale::Late => "late_response",
            Stale::Duplicate => "duplicate_response",
        })
    }

    /// Closes an open request that was handed out.
    fn close_request(&mut self, id: i64) -> Option<Pending> {
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
    fn malformed(&mut self, malformed: Malformed, root: Value<'_>) {
        let Malformed { reason, ids } = malformed;
        if self.strict() {
            let error = self.error(Code::ProtocolError, reason).facts(self.limit_of(reason));
            self.terminate(error, false);
            return;
        }
        let code = if reason == "duplicate_member" { reason } else { "malformed_message" };
        self.reports.note_line(code, root.raw().as_bytes());
        self.fail_malformed(reason, ids);
    }

    /// Fails the first open request of these.
    pub(super) fn fail_malformed(&mut self, reason: &'static str, ids: [Option<i64>; 2]) {
        let Some(pending) = ids.into_iter().flatten().find_map(|id| self.close_request(id)) else {
            return;
        };
        let facts = Facts { method: Some(pending.method.to_string()), ..self.limit_of(reason) };
        let error = self.error(Code::ProtocolError, reason).facts(facts);
        self.fail_pending(&pending, error);
    }

    fn fail_pending(&mut self, pending: &Pending, error: Error) {
        match pending.handle() {
            Some(handle) => self.fail(handle, error),
            None => self.own_request_failed(&pending.kind, error),
        }
    }

    /// A good reply.
    fn result(&mut self, pending: Pending, line: &Rc<Line>, result: Value<'_>) {
        let is_ping = &*pending.method == "ping";
        if !self.strict() && !result.is_object() {
            self.reports.note_line("non_object_result", result.raw().as_bytes());
            if !is_ping && matches!(pending.kind, Kind::Plain(_) | Kind::Page) {
                let error = self.not_an_object(&pending, result);
                return self.fail_pending(&pending, error);
            }
        }
        let at = result.position();
        match pending.kind {
            Kind::Initialize => self.initialized(result),
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
    fn remote_error(&mut self, pending: &Pending, remote: Remote<'_>) {
        self.report_remote(remote);
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
            Kind::Initialize => self.initialize_refused(remote.object, error),
            Kind::Page => self.page_error(remote.code, error),
            Kind::Tool(_) | Kind::Plain(_) => self.fail_pending(pending, error),
        }
    }

    fn report_remote(&mut self, remote: Remote<'_>) {
        let detail = remote_json(remote);
        self.reports.diagnostic(source::REMOTE_ERROR, "remote_error", &detail);
    }

    /// A tool's result: its shape, then its structured value.
    fn tool_result(&mut self, call: ToolCall, line: &Rc<Line>, at: u32) {
        let value = line.tape.value(&line.bytes, at);
        let any = self.revision.is_some_and(|revision| revision.any_structured);
        let shape = match result::read(value, self.options.profile, any) {
            Ok(shape) => shape,
            Err(fault) if fault.reason == "duplicate_member" => return self.repeats(&call, value),
            Err(fault) => {
                let (source, code) = (source::INVALID_RESPONSE, "invalid_response");
                self.reports.diagnostic(source, code, value.raw());
                let facts = Facts {
                    method: Some("tools/call".to_owned()),
                    index: fault.index,
                    at: fault.at.map(str::to_owned),
                    ..Facts::default()
                };
                let error = self.error(fault.code, fault.reason).facts(facts);
                let private = result::private_json(value, "", value, &[]);
                return self.fail(call.handle, error.private(private));
            }
        };
        self.note_shape(&shape, &call, line, value);
        if let Some(judged) = self.verdict_without_judging(&call, &shape) {
            return self.finish_call(call, line, at, shape, judged);
        }
        let program = call.tool.output.as_ref().map(|output| &output.program);
        if let (Some(Ok(program)), Some(structured)) = (program, shape.structured) {
            if self.is_given_up(call.handle) {
                // Given up while its line was read: judging it would serve nobody.
                return self.fail(call.handle, super::walk::aborted(self));
            }
            let judge = Judge::new(program, structured);
            let task = JudgeTask { judge, line: Rc::clone(line), result: at, call, shape };
            self.task = Some(Task::Judge(Box::new(task)));
        }
    }

    /// A result that repeats a member which is read, or which the output schema declares.
    fn repeats(&mut self, call: &ToolCall, value: Value<'_>) {
        self.reports.note_line("duplicate_member", value.raw().as_bytes());
        let facts = Facts {
            method: Some("tools/call".to_owned()),
            at: Some("/result".to_owned()),
            ..Facts::default()
        };
        let error = self.error(Code::ProtocolError, "duplicate_member").facts(facts);
        self.fail(call.handle, error.private(result::private_json(value, "", value, &[])));
    }

    fn note_shape(&mut self, shape: &Shape, call: &ToolCall, line: &Line, value: Value<'_>) {
        if self.strict() {
            return;
        }
        let from = source::INVALID_RESPONSE;
        if !shape.nulls.is_empty() {
            self.reports.note(from, "null_optional", &shape.nulls.join(" "));
        }
        if shape.content_missing {
            self.reports.note(from, "content_missing", "");
        }
        for (index, reason) in shape.content_problems.iter().take(MAX_BLOCKS_NOTED) {
            self.reports.note(from, "content_block", &format!("/content/{index}: {reason}"));
        }
        if call.numbers == Numbers::Number
            && line.tape.has_long_integer()
            && let Some(pointer) = result::unsafe_integer(value)
        {
            self.reports.note(from, "unsafe_integer", &pointer);
        }
    }

    /// The verdict, unless there is a structured value to be judged by a program.
    fn verdict_without_judging(&mut self, call: &ToolCall, shape: &Shape) -> Option<Judged> {
        let strict = self.strict();
        let declared = call.tool.output.as_ref();
        if call.validation == Validation::Off {
            return Some(Judged::unchecked("off"));
        }
        if shape.is_error && !strict {
            return Some(Judged::unchecked("is_error"));
        }
        if let Some(violation @ ("malformed_result" | "non_object_structured_content")) =
            shape.violation
        {
            return Some(Judged::violates(violation));
        }
        let Some(declared) = declared else { return Some(Judged::unchecked("no_schema")) };
        if shape.structured.is_none() {
            let from = source::INVALID_RESPONSE;
            self.reports.note(from, "structured_content_missing", &call.tool.entry.name);
            return Some(if self.options.require_structured {
                Judged::violates("missing_structured_content")
            } else {
                Judged::unchecked("no_structured_content")
            });
        }
        match &declared.program {
            Ok(_) => None,
            Err(_) => Some(Judged::unknown("uncompilable")),
        }
    }

    /// Goes on judging.
    pub(super) fn judge(&mut self, mut task: Box<JudgeTask>, steps: &mut u64) {
        let program = task.call.tool.output.as_ref().map(|output| &output.program);
        let Some(Ok(program)) = program else { return };
        let Line { bytes, tape } = &*task.line;
        let outcome = match task.judge.step(program, bytes, tape, steps) {
            Poll::Pending => {
                self.task = Some(Task::Judge(task));
                return;
            }
            Poll::Ready(outcome) => outcome,
        };
        if outcome.repeated_member && !self.strict() {
            let JudgeTask { line, result, call, .. } = *task;
            return self.repeats(&call, line.tape.value(&line.bytes, result));
        }
        let (verdict, violation) = match outcome.verdict {
            Verdict::Valid => ("valid", None),
            Verdict::Invalid => ("invalid", Some("schema")),
            Verdict::Unknown => ("unknown", None),
        };
        let judged = Judged { verdict, reason: outcome.reason, outcome: Some(outcome), violation };
        let JudgeTask { line, result, call, shape, .. } = *task;
        self.finish_call(call, &line, result, shape, judged);
    }

    /// The policy: fails the call, or hands the result out with what was found.
    fn finish_call(
        &mut self,
        call: ToolCall,
        line: &Rc<Line>,
        at: u32,
        shape: Shape,
        judged: Judged,
    ) {
        let value = line.tape.value(&line.bytes, at);
        let error = match (judged.violation, judged.verdict) {
            (Some(violation), _) => self.violation(&call, value, violation, &judged),
            (None, "unknown") => self.unknown(&call, value, judged.reason),
            _ => None,
        };
        if let Some(error) = error {
            return self.fail(call.handle, error);
        }
        let (violations, truncated) = match judged.outcome {
            Some(outcome) => (outcome.violations, outcome.truncated),
            None => (Vec::new(), false),
        };
        self.settle(
            call.handle,
            Ok(Settlement::Tool(ToolOutcome {
                json: value.raw().to_owned(),
                dropped: shape.dropped,
                keep_meta: !self.strict(),
                structured: shape.structured.is_some(),
                verdict: judged.verdict,
                verdict_reason: judged.reason,
                violations,
                truncated,
                violation: judged.violation.or(shape.violation),
                content_problems: shape.content_problems,
            })),
        );
    }

    /// Reports a violation; under `enforce` it is the call's error.
    fn violation(
        &mut self,
        call: &ToolCall,
        value: Value<'_>,
        violation: &'static str,
        judged: &Judged,
    ) -> Option<Error> {
        let violations = judged.outcome.as_ref().map_or(&[][..], |outcome| &outcome.violations);
        let schema = call.tool.entry.output.as_deref().unwrap_or("null");
        let issue = violations_json(violations);
        let detail = format!("{{\"issue\":{issue},\"outputSchema\":{schema}}}");
        let detail = if violation == "schema" { &detail } else { violation };
        self.reports.diagnostic(source::INVALID_RESPONSE, "output_violation", detail);
        self.reports.diagnostic(source::INVALID_RESPONSE, "invalid_response", value.raw());
        if call.validation != Validation::Enforce {
            return None;
        }
        let facts = Facts { method: Some("tools/call".to_owned()), ..Facts::default() };
        let error = result::refusal(violation, value, violations).facts(facts);
        Some(error.at_server(&self.options.server))
    }

    /// Reports an output that cannot be judged; under `onUnknown: "reject"` it is an error.
    fn unknown(
        &mut self,
        call: &ToolCall,
        value: Value<'_>,
        reason: Option<&'static str>,
    ) -> Option<Error> {
        let from = source::INVALID_RESPONSE;
        self.reports.note(from, "output_unknown", reason.unwrap_or_default());
        if self.options.on_unknown == OnUnknown::Accept || call.validation != Validation::Enforce {
            return None;
        }
        let facts = Facts { method: Some("tools/call".to_owned()), ..Facts::default() };
        let structured = value.get("structuredContent").unwrap_or(value);
        let private = result::private_json(value, "", structured, &[]);
        Some(self.error(Code::InvalidResponse, "output_unknown").facts(facts).private(private))
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
