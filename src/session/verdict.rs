//! What a tool's result comes to: its shape, the verdict on its structured value, and what the
//! policy makes of it (rows R28 and R29, and the table of DESIGN.md 6.2).

use std::rc::Rc;
use std::task::Poll;

use crate::error::{Code, Error, Facts};
use crate::json::Value;
use crate::schema::{Judge, Outcome, Verdict};

use super::core::{Core, Line, Task};
use super::event::{Handle, LineText, Settlement, ToolOutcome};
use super::options::{Numbers, OnUnknown, Validation};
use super::pending::ToolCall;
use super::report::source;
use super::result::{self, Shape, violations_json};

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
    /// A tool's result: its shape, then its structured value.
    pub(super) fn tool_result(&mut self, call: ToolCall, line: &Rc<Line>, at: u32) {
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
        let Line { bytes, tape, .. } = &*task.line;
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
                json: LineText::new(&line.bytes, value.range()),
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
