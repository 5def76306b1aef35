//! Requests that the server answers with a question (2026-07-28, multi round-trip requests): the
//! questions go to the host as requests of the server's do, and the request is sent again with the
//! answers.
//!
//! Invariant: a request is open, or in a round, or settled. A round holds what the request was made
//! of and nothing of earlier rounds; the server's state is passed back byte by byte, and only in
//! the round it came with. Rounds of one request are counted and bounded; one that asks nothing is
//! followed by a pause.

use std::rc::Rc;

use crate::error::{Code, Facts};
use crate::json::Value;
use crate::table::Set;
use crate::wire::encode::quote;

use super::call::Dispatch;
use super::core::Core;
use super::document::repeats;
use super::event::{Event, Handle, RpcFault};
use super::pending::{Kind, Pending, Times};
use super::revision;
use super::timers::Timer;

/// Milliseconds before a request is sent again that the server answered with its state alone.
const PACE_MS: f64 = 250.0;

/// What a request is made of, to be sent again.
#[derive(Clone)]
pub(super) struct Again {
    /// JSON text of its params without `_meta` and without the answers of a round.
    pub(super) params: Rc<str>,
    /// JSON text of the host's `_meta`.
    pub(super) meta: Option<Rc<str>>,
    /// Rounds so far.
    pub(super) rounds: u32,
    /// True once it was sent again because the server found its headers wrong.
    pub(super) refreshed: bool,
}

impl Again {
    pub(super) fn new(params: &str, meta: Option<&str>) -> Self {
        Again { params: params.into(), meta: meta.map(Into::into), rounds: 0, refreshed: false }
    }
}

/// What the server's token stands for.
pub(super) enum Asked {
    /// A request of the server's: the JSON text of its id.
    Request(String),
    /// A question of a round.
    Round(Handle),
}

/// A question, and the host's answer once it is there.
struct Question {
    /// The key as it stands in the message, escapes and all.
    key: String,
    token: u32,
    answer: Option<String>,
}

/// A request that waits for the host's answers, or for its pause to end.
pub(super) struct Round {
    kind: Kind,
    method: Rc<str>,
    again: Again,
    made: f64,
    times: Times,
    has_token: bool,
    questions: Vec<Question>,
    /// True if the server asked, though it may have asked nothing.
    asked: bool,
    /// JSON text of the server's state.
    state: Option<String>,
}

/// The members of a result that are read here.
const READ: [&str; 3] = ["resultType", "inputRequests", "requestState"];

/// What a result says it is.
pub(super) enum ResultType {
    Complete,
    InputRequired,
    Unknown,
}

/// Reads `resultType`; absent, or from a revision without it, is complete.
pub(super) fn result_type(result: Value<'_>) -> ResultType {
    match result.get("resultType").map(Value::text) {
        None => ResultType::Complete,
        Some(Some(text)) if text.eq_str("complete") => ResultType::Complete,
        Some(Some(text)) if text.eq_str("input_required") => ResultType::InputRequired,
        Some(_) => ResultType::Unknown,
    }
}

impl Core {
    /// Looks at what a result says it is. Gives the request back if the result is its end.
    pub(super) fn completes(&mut self, pending: Pending, result: Value<'_>) -> Option<Pending> {
        let typed = self.revision.is_some_and(|revision| revision.typed_results);
        if !typed || matches!(pending.kind, Kind::Probe | Kind::Initialize) {
            return Some(pending);
        }
        if repeats(result, &READ) {
            self.refuse_result(&pending, "duplicate_member", result);
            return None;
        }
        match result_type(result) {
            ResultType::Complete => Some(pending),
            ResultType::InputRequired if pending.again.is_some() => {
                self.start_round(pending, result);
                None
            }
            _ => {
                self.refuse_result(&pending, "result_type", result);
                None
            }
        }
    }

    /// Fails a request because of what its result holds.
    pub(super) fn refuse_result(
        &mut self,
        pending: &Pending,
        reason: &'static str,
        result: Value<'_>,
    ) {
        let facts = Facts {
            method: Some(pending.method.to_string()),
            at: Some("/result".to_owned()),
            ..Facts::default()
        };
        let private = format!("{{\"path\":\"\",\"value\":{}}}", result.raw());
        let error = self.error(Code::ProtocolError, reason).facts(facts).private(private);
        self.fail_pending(pending, error);
    }

    fn start_round(&mut self, pending: Pending, result: Value<'_>) {
        let asked = result.get("inputRequests").filter(|asked| !asked.is_null());
        let state = result.get("requestState").filter(|state| !state.is_null());
        let well_formed = asked.is_none_or(|asked| asked.is_object() && distinct_keys(asked))
            && state.is_none_or(Value::is_string)
            && (asked.is_some() || state.is_some());
        let questions: Option<Vec<_>> = asked.map_or(Some(Vec::new()), |asked| {
            let question = |(key, ask): (crate::json::Text<'_>, Value<'_>)| {
                let method = ask.get("method").and_then(Value::text)?.to_str().into_owned();
                let params = ask.get("params").filter(|params| !params.is_null());
                let fine = params.is_none_or(Value::is_object);
                fine.then(|| (key.raw().to_owned(), method, params.map(|it| it.raw().to_owned())))
            };
            asked.members().map(question).collect()
        });
        let Some(questions) = questions.filter(|_| well_formed) else {
            return self.refuse_result(&pending, "input_malformed", result);
        };
        let Pending { kind, method, made, times, has_token, again: Some(mut again), .. } = pending
        else {
            return;
        };
        let Some(handle) = handle_of(&kind) else { return };
        again.rounds += 1;
        let facts = |limit: f64| Facts {
            method: Some(method.to_string()),
            limit: Some(limit as u64),
            ..Facts::default()
        };
        let limits = self.options.limits;
        if f64::from(again.rounds) > limits.max_input_rounds {
            let error = self.error(Code::Limit, "input_rounds");
            return self.fail(handle, error.facts(facts(limits.max_input_rounds)));
        }
        if (self.peer.len() + questions.len()) as f64 > limits.max_peer_requests {
            let error = self.error(Code::Limit, "input_requests");
            return self.fail(handle, error.facts(facts(limits.max_peer_requests)));
        }
        let undeclared = questions
            .iter()
            .any(|(_, asks, _)| revision::capability_of(asks).is_none() || !self.declares(asks));
        if undeclared {
            let facts = Facts { method: Some(method.to_string()), ..Facts::default() };
            let private = format!("{{\"value\":{}}}", result.raw());
            let error = self.error(Code::ProtocolError, "input_undeclared").facts(facts);
            return self.fail(handle, error.private(private));
        }
        let mut round = Round {
            kind,
            method,
            again,
            made,
            times,
            has_token,
            questions: Vec::with_capacity(questions.len()),
            asked: asked.is_some(),
            state: state.map(|state| state.raw().to_owned()),
        };
        for (key, method, params) in questions {
            self.last_token += 1;
            let token = self.last_token;
            self.peer.insert(token, Asked::Round(handle));
            round.questions.push(Question { key, token, answer: None });
            self.reports.event(Event::Request { token, method, params });
        }
        let total = made + times.total;
        let at = if round.questions.is_empty() { total.min(self.now + PACE_MS) } else { total };
        self.timers.set(Timer::Round(handle), at);
        self.rounds.insert(handle, round);
    }

    /// The host answered a question.
    pub(super) fn round_answered(
        &mut self,
        handle: Handle,
        token: u32,
        outcome: Result<String, RpcFault>,
    ) {
        let answer = match outcome {
            Ok(answer) => answer,
            Err(fault) => {
                let Some(round) = self.drop_round(handle) else { return };
                let facts = Facts {
                    method: Some(round.method.to_string()),
                    rpc_code: Some(fault.code),
                    ..Facts::default()
                };
                let private =
                    format!("{{\"code\":{},\"message\":{}}}", fault.code, quote(&fault.message));
                let error = self.error(Code::ProtocolError, "input_refused").facts(facts);
                return self.fail(handle, error.private(private));
            }
        };
        let Some(round) = self.rounds.get_mut(&handle) else { return };
        for question in &mut round.questions {
            if question.token == token {
                question.answer = Some(answer);
                break;
            }
        }
        if round.questions.iter().all(|question| question.answer.is_some()) {
            self.next_round(handle);
        }
    }

    /// The request's time is over, or its pause.
    pub(super) fn round_due(&mut self, handle: Handle) {
        let Some(round) = self.rounds.get(&handle) else { return };
        let total = round.times.total;
        if self.now < round.made + total {
            return self.next_round(handle);
        }
        let facts =
            Facts { method: Some(round.method.to_string()), ms: Some(total), ..Facts::default() };
        self.drop_round(handle);
        let error = self.error(Code::Timeout, "max_total").facts(facts);
        self.fail(handle, error);
    }

    /// Sends the request again.
    fn next_round(&mut self, handle: Handle) {
        let Some(round) = self.rounds.remove(&handle) else { return };
        self.timers.unset(Timer::Round(handle));
        let Round { kind, method, again, made, times, has_token, questions, asked, state } = round;
        let mut params = again.params.strip_suffix('}').unwrap_or("{").to_owned();
        let mut member = |name: &str, value: &str| {
            if !params.ends_with('{') {
                params.push(',');
            }
            params.push_str(&format!("\"{name}\":{value}"));
        };
        if asked {
            let answers: Vec<String> = questions
                .iter()
                .map(|question| {
                    let answer = question.answer.as_deref().unwrap_or("null");
                    format!("\"{}\":{answer}", question.key)
                })
                .collect();
            member("inputResponses", &format!("{{{}}}", answers.join(",")));
        }
        if let Some(state) = state {
            member("requestState", &state);
        }
        params.push('}');
        let meta = again.meta.clone();
        let again = Some(again);
        self.dispatch(Dispatch { kind, method, params, meta, again, times, has_token, made });
    }

    /// Forgets a round and tells the host that its questions are void.
    pub(super) fn drop_round(&mut self, handle: Handle) -> Option<Round> {
        let round = self.rounds.remove(&handle)?;
        self.timers.unset(Timer::Round(handle));
        for question in &round.questions {
            if self.peer.remove(&question.token).is_some() {
                self.reports.event(Event::RequestCancelled { token: question.token });
            }
        }
        Some(round)
    }
}

fn handle_of(kind: &Kind) -> Option<Handle> {
    match kind {
        Kind::Tool(call) => Some(call.handle),
        Kind::Plain(handle) => Some(*handle),
        _ => None,
    }
}

/// True if no key is there twice.
fn distinct_keys(object: Value<'_>) -> bool {
    let mut seen = Set::new();
    object.members().all(|(key, _)| seen.insert(key.to_wtf8().into_owned()))
}
