//! Whether a call is let in: lookup, visibility, access, handler, input, type, in this order. Every
//! path goes through here.
//!
//! Invariant: to a caller from outside, a hidden operation answers byte for byte as one that does
//! not exist. A refusal holds nothing of the input but where in it something is wrong.

use crate::call::access::{self, Caller, Resource};
use crate::call::error::CallCode;
use crate::json::{Limits, read, resolve_pointer};
use crate::schema::{Outcome, Verdict, Violation, judge_text};
use crate::wire::encode::quote;

use super::spec::{Check, Kind, Origin, Spec};
use super::specs::Specs;

/// How the caller wants its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Once.
    Execute,
    /// Item by item.
    Subscribe,
}

/// A call that asks to be let in.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The id as the caller wrote it.
    pub id: &'a str,
    /// How it wants its answer.
    pub style: Style,
    /// True if hidden operations are unknown to it.
    pub outside: bool,
    /// Who calls.
    pub caller: &'a Caller,
    /// True if the operation has a handler.
    pub bound: bool,
    /// JSON text of the input; none if it was `undefined`, is no JSON, or need not be read.
    pub input: Option<&'a str>,
}

/// Why a call is not let in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The code.
    pub code: CallCode,
    /// A sentence of ours.
    pub message: String,
    /// JSON text of an object.
    pub details: String,
}

impl Specs {
    /// Lets a call in, or says why not.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn admit(&self, request: &Request<'_>) -> Result<&Spec, Refusal> {
        let id = request.id;
        let spec = self.known(id, request.outside)?;
        spec.check_access(request.caller, spec.resource_of(request.input).as_ref())?;
        let mismatch = spec.mismatch(request.style);
        if mismatch.is_none() && !request.bound {
            return Err(not_found(id, format!("operation {id} has no handler")));
        }
        spec.judge_input(request.input)?;
        match mismatch {
            Some(message) => Err(refusal(CallCode::InvalidOperationType, id, message.to_owned())),
            None => Ok(spec),
        }
    }

    /// Shows an operation to a caller from outside that may call it on some input.
    ///
    /// # Errors
    /// As [`Specs::admit`] answers before it looks at handler and input.
    pub fn show(&self, id: &str, caller: &Caller) -> Result<&Spec, Refusal> {
        let spec = self.known(id, true)?;
        spec.check_access(caller, Resource::Any)?;
        Ok(spec)
    }

    fn known(&self, id: &str, outside: bool) -> Result<&Spec, Refusal> {
        self.get(id)
            .filter(|spec| !(spec.internal && outside))
            .ok_or_else(|| not_found(id, format!("operation not found: {id}")))
    }

    /// Judges the details of an error by the schema that the operation declares for its code; none
    /// if it declares none, or the details fit.
    pub fn judge_details(&self, id: &str, code: &str, details: Option<&str>) -> Option<Outcome> {
        let spec = self.get(id)?;
        let (_, check) = spec.errors.iter().find(|(declared, _)| declared == code)?;
        let Check::By(program) = check else { return None };
        let outcome = judge_text(program, details.unwrap_or("null").as_bytes());
        (outcome.verdict != Verdict::Valid).then_some(outcome)
    }
}

/// The resource that an input names.
enum Named {
    Any,
    Id(String),
    Unnamed,
}

impl Named {
    fn as_ref(&self) -> Resource<'_> {
        match self {
            Named::Any => Resource::Any,
            Named::Id(id) => Resource::Id(id),
            Named::Unnamed => Resource::Unnamed,
        }
    }
}

fn refusal(code: CallCode, id: &str, message: String) -> Refusal {
    Refusal { code, message, details: format!(r#"{{"operationId":{}}}"#, quote(id)) }
}

fn not_found(id: &str, message: String) -> Refusal {
    refusal(CallCode::OperationNotFound, id, message)
}

impl Spec {
    fn check_access(&self, caller: &Caller, resource: Resource<'_>) -> Result<(), Refusal> {
        access::check(&self.access, caller, resource).map_err(|denial| Refusal {
            code: CallCode::AccessDenied,
            message: denial.message(),
            details: denial.details(&self.id, &self.access),
        })
    }

    fn resource_of(&self, input: Option<&str>) -> Named {
        let Some(path) = &self.resource_id_path else { return Named::Any };
        let named = input.and_then(|text| {
            let tape = read(text.as_bytes(), Limits::depth(u32::MAX)).ok()?;
            let value = resolve_pointer(tape.root(text.as_bytes()), path)?;
            value.as_str().map(|id| id.into_owned())
        });
        named.map_or(Named::Unnamed, Named::Id)
    }

    /// What to say when the operation is not called as its type is.
    fn mismatch(&self, style: Style) -> Option<&'static str> {
        match (self.kind, style) {
            (Kind::Query | Kind::Mutation, Style::Execute)
            | (Kind::Subscription, Style::Subscribe) => None,
            (Kind::Subscription, Style::Execute) => {
                Some("the operation is a subscription: subscribe to it")
            }
            (Kind::Query | Kind::Mutation, Style::Subscribe) => {
                Some("the operation is not a subscription: execute it")
            }
            (Kind::Publish, _) => Some("the operation takes published input: nothing here runs it"),
        }
    }

    fn judge_input(&self, input: Option<&str>) -> Result<(), Refusal> {
        let Check::By(program) = &self.input else { return Ok(()) };
        let outcome = match input {
            Some(text) => judge_text(program, text.as_bytes()),
            // `undefined`, and what no JSON text can say.
            None => judge_text(program, b""),
        };
        let message = match outcome.verdict {
            Verdict::Valid => return Ok(()),
            Verdict::Unknown if self.origin == Origin::Imported => return Ok(()),
            Verdict::Unknown => "the input cannot be judged by the operation's schema",
            Verdict::Invalid => "the input does not satisfy the operation's schema",
        };
        let mut details = format!(
            r#"{{"operationId":{},"errors":[{}]"#,
            quote(&self.id),
            outcome.violations.iter().map(violation).collect::<Vec<_>>().join(",")
        );
        if outcome.truncated {
            details.push_str(r#","truncated":true"#);
        }
        if let Some(reason) = outcome.reason {
            details += &format!(r#","reason":{}"#, quote(reason));
        }
        details.push('}');
        Err(Refusal { code: CallCode::ValidationError, message: message.to_owned(), details })
    }
}

/// JSON text of a violation.
fn violation(violation: &Violation) -> String {
    format!(
        r#"{{"instancePath":{},"schemaPath":{},"keyword":{},"message":{},"params":{}}}"#,
        quote(&violation.instance_path),
        quote(&violation.schema_path),
        quote(violation.keyword),
        quote(&violation.message()),
        violation.params
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Origin;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn specs(extra: &str) -> Specs {
        let text = format!(
            r#"[{{"namespace":"ns","name":"op","version":"1.0.0","description":"","type":"query",
                "inputSchema":{{"type":"object","properties":{{"a":{{"type":"integer"}}}},"required":["a"]}},
                "accessControl":{{"requiredScopes":["s"]}}{extra}}}]"#
        );
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        let mut specs = Specs::default();
        specs.register(tape.root(text.as_bytes()), Origin::Local, false).unwrap();
        specs
    }

    fn ask<'a>(caller: &'a Caller, input: Option<&'a str>) -> Request<'a> {
        let style = Style::Execute;
        Request { id: "ns.op", style, outside: true, caller, bound: true, input }
    }

    fn code(specs: &Specs, request: Request<'_>) -> &'static str {
        specs.admit(&request).map_or_else(|refusal| refusal.code.as_str(), |_| "in")
    }

    fn known() -> Caller {
        Caller::read(Some(r#"{"id":"u","scopes":["s"]}"#))
    }

    /// AT-040, AT-041, AT-095 to AT-097.
    #[test]
    fn checks_come_in_order() {
        let good = Some(r#"{"a":1}"#);
        let hidden = specs(r#","visibility":"internal""#);
        assert_eq!(code(&hidden, ask(&known(), good)), "OPERATION_NOT_FOUND");
        assert_eq!(code(&hidden, Request { outside: false, ..ask(&known(), good) }), "in");
        let open = specs("");
        assert_eq!(code(&open, ask(&Caller::Nobody, Some("{}"))), "ACCESS_DENIED");
        assert_eq!(
            code(&open, Request { bound: false, ..ask(&Caller::Nobody, good) }),
            "ACCESS_DENIED"
        );
        assert_eq!(
            code(&open, Request { bound: false, ..ask(&known(), None) }),
            "OPERATION_NOT_FOUND"
        );
        let subscribe = |input| Request { style: Style::Subscribe, ..ask(&Caller::Nobody, input) };
        let caller = known();
        let called = |input| Request { caller: &caller, ..subscribe(input) };
        assert_eq!(code(&open, called(Some("{}"))), "VALIDATION_ERROR");
        assert_eq!(code(&open, called(good)), "INVALID_OPERATION_TYPE");
        assert_eq!(code(&open, ask(&caller, None)), "VALIDATION_ERROR");
        assert_eq!(code(&open, ask(&caller, good)), "in");
    }

    /// Hidden is unknown, to the byte.
    #[test]
    fn hidden_reads_as_unknown() {
        let caller = known();
        let hidden = specs(r#","visibility":"internal""#).admit(&ask(&caller, None)).err();
        let unknown = Specs::default().admit(&ask(&caller, None)).err();
        assert_eq!(hidden, unknown);
        let refusal = unknown.unwrap();
        assert_eq!(refusal.message, "operation not found: ns.op");
        assert_eq!(refusal.details, r#"{"operationId":"ns.op"}"#);
    }

    /// AT-099.
    #[test]
    fn a_refused_input_is_located_and_not_told() {
        let caller = known();
        let specs = specs("");
        let refusal = specs.admit(&ask(&caller, Some(r#"{"a":"SECRET","b":1}"#))).err().unwrap();
        assert_eq!(refusal.code, CallCode::ValidationError);
        assert!(refusal.details.contains(r#""instancePath":"/a""#), "{}", refusal.details);
        assert!(refusal.details.contains(r#""keyword":"type""#));
        assert!(!refusal.details.contains("SECRET"));
        let none = specs.admit(&ask(&caller, None)).err().unwrap();
        assert!(none.details.contains(r#""keyword":"json""#), "{}", none.details);
    }

    /// AT-074 and AT-076.
    #[test]
    fn a_resource_is_named_by_the_input() {
        let text = r#"[{"namespace":"ns","name":"op","version":"1","description":"","type":"query",
            "inputSchema":true,"resourceIdPath":"/a/b",
            "accessControl":{"requiredScopes":[],"resourceType":"p","resourceAction":"r"}}]"#;
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        let mut specs = Specs::default();
        specs.register(tape.root(text.as_bytes()), Origin::Local, false).unwrap();
        let caller = Caller::read(Some(r#"{"id":"u","scopes":[],"resources":{"p:x":["r"]}}"#));
        for (input, expected) in [
            (Some(r#"{"a":{"b":"x"}}"#), "in"),
            (Some(r#"{"a":{"b":"y"}}"#), "ACCESS_DENIED"),
            (Some(r#"{"a":{"b":7}}"#), "ACCESS_DENIED"),
            (Some(r#"{"a":{}}"#), "ACCESS_DENIED"),
            (None, "ACCESS_DENIED"),
        ] {
            assert_eq!(code(&specs, ask(&caller, input)), expected, "{input:?}");
        }
        // What is listed may be called with some input.
        assert_eq!(specs.visible(&caller).count(), 1);
        assert_eq!(specs.visible(&Caller::Nobody).count(), 0);
    }
}
