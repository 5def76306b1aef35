//! The five events of the call protocol: their names, their shapes, and what makes one malformed.
//!
//! Invariant: an event is judged by its head alone, the event without `input`, `details` and the
//! data of an envelope. Those are the operation's own, may be of any size, and are never read here.

use std::borrow::Cow;

use crate::envelope::source_of_meta;
use crate::json::{Kind, Value};

/// Longest request or operation id, in bytes of UTF-8. Ids are kept while a request is open, and
/// the other side chooses them.
pub const MAX_ID_BYTES: usize = 1_024;

/// What an event says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// An operation is to be called.
    Requested,
    /// An envelope came of it; a subscription has many of these.
    Responded,
    /// A subscription has ended.
    Completed,
    /// Either side gave the request up.
    Aborted,
    /// The request failed.
    Error,
}

impl EventKind {
    /// Every kind, in the order they are documented.
    pub const ALL: [EventKind; 5] = [
        EventKind::Requested,
        EventKind::Responded,
        EventKind::Completed,
        EventKind::Aborted,
        EventKind::Error,
    ];

    /// The event's name: its topic, which is not part of the event.
    pub const fn as_str(self) -> &'static str {
        match self {
            EventKind::Requested => "call.requested",
            EventKind::Responded => "call.responded",
            EventKind::Completed => "call.completed",
            EventKind::Aborted => "call.aborted",
            EventKind::Error => "call.error",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What the head of a `call.requested` says of the request, not of the operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Requested<'a> {
    /// The id that every event of this request carries.
    pub request_id: Cow<'a, str>,
    /// The request it is made for.
    pub parent: Option<Cow<'a, str>>,
    /// Epoch milliseconds when it has taken too long.
    pub deadline: Option<f64>,
    /// Milliseconds of silence after which a subscription has.
    pub idle_timeout: Option<f64>,
}

/// The id of an event, however malformed the rest is.
pub fn request_id(head: Value<'_>) -> Option<Cow<'_, str>> {
    id(head.get("requestId")?)
}

/// Where an event's head is not what its kind demands: a JSON Pointer, `""` for all of it. Optional
/// members that are `null` count as absent.
pub fn fault_of(kind: EventKind, head: Value<'_>) -> Option<&'static str> {
    if !head.is_object() {
        return Some("");
    }
    if request_id(head).is_none() {
        return Some("/requestId");
    }
    let text = |name| head.get(name).is_some_and(Value::is_string);
    match kind {
        EventKind::Requested => fault_of_request(head),
        EventKind::Responded => {
            let meta = head.get("output").filter(|output| output.get("data").is_some());
            let meta = meta.and_then(|output| output.get("meta"));
            meta.and_then(source_of_meta).is_none().then_some("/output")
        }
        EventKind::Error => {
            let retryable = present(head, "retryable");
            if !text("code") {
                Some("/code")
            } else if !text("message") {
                Some("/message")
            } else {
                retryable.is_some_and(|value| value.as_bool().is_none()).then_some("/retryable")
            }
        }
        EventKind::Completed | EventKind::Aborted => None,
    }
}

/// Reads the head of a `call.requested`, or says where it is malformed.
pub fn read_requested(head: Value<'_>) -> Result<Requested<'_>, &'static str> {
    if let Some(at) = fault_of(EventKind::Requested, head) {
        return Err(at);
    }
    Ok(Requested {
        request_id: request_id(head).ok_or("/requestId")?,
        parent: present(head, "parentRequestId").and_then(id),
        deadline: present(head, "deadline").and_then(number),
        idle_timeout: present(head, "idleTimeout").and_then(number),
    })
}

fn fault_of_request<'a>(head: Value<'a>) -> Option<&'static str> {
    let bad = |name, is: fn(Value<'a>) -> bool| present(head, name).is_some_and(|value| !is(value));
    if head.get("operationId").and_then(id).is_none() {
        Some("/operationId")
    } else if bad("parentRequestId", |value| id(value).is_some()) {
        Some("/parentRequestId")
    } else if bad("deadline", |value| number(value).is_some()) {
        Some("/deadline")
    } else if bad("idleTimeout", |value| number(value).is_some_and(|ms| ms > 0.0)) {
        Some("/idleTimeout")
    } else if bad("identity", is_identity) {
        Some("/identity")
    } else {
        bad("metadata", Value::is_object).then_some("/metadata")
    }
}

/// `{id, scopes, resources?}`: a string, strings, and lists of actions by resource.
fn is_identity(value: Value<'_>) -> bool {
    value.get("id").is_some_and(Value::is_string)
        && value.get("scopes").is_some_and(are_strings)
        && present(value, "resources").is_none_or(|resources| {
            resources.is_object() && resources.members().all(|(_, actions)| are_strings(actions))
        })
}

fn are_strings(value: Value<'_>) -> bool {
    value.is_array() && value.elements().all(Value::is_string)
}

/// An optional member; `null` is none.
fn present<'a>(object: Value<'a>, name: &str) -> Option<Value<'a>> {
    object.get(name).filter(|value| !value.is_null())
}

/// An id: text that is not empty, not too long, and the same in every encoding.
fn id(value: Value<'_>) -> Option<Cow<'_, str>> {
    let text = value.text()?;
    let id = text.to_str();
    let fits = !id.is_empty() && id.len() <= MAX_ID_BYTES && !text.has_lone_surrogate();
    fits.then_some(id)
}

fn number(value: Value<'_>) -> Option<f64> {
    if value.kind() != Kind::Number {
        return None;
    }
    value.number()?.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn fault(kind: EventKind, text: &str) -> Option<&'static str> {
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        fault_of(kind, tape.root(text.as_bytes()))
    }

    #[test]
    fn kinds_have_names() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_name(kind.as_str()), Some(kind));
        }
        assert_eq!(EventKind::from_name("call.published"), None);
        assert_eq!(EventKind::from_name("call"), None);
    }

    /// AT-132 first.
    #[test]
    fn requests_that_are_and_are_not_malformed() {
        for (text, expected) in [
            (
                r#"{"requestId":"r","operationId":"x","input":1,"parentRequestId":"p","deadline":5,"idleTimeout":9,"identity":{"id":"u","scopes":[]},"metadata":{"k":1}}"#,
                None,
            ),
            (r#"{"requestId":"r","operationId":"x"}"#, None),
            (
                r#"{"requestId":"r","operationId":"x","parentRequestId":null,"deadline":null,"idleTimeout":null,"identity":null,"metadata":null}"#,
                None,
            ),
            (
                r#"{"requestId":"r","operationId":"x","deadline":-1,"identity":{"id":"","scopes":["a"],"resources":{"t:1":["read"]}},"more":1}"#,
                None,
            ),
            ("[]", Some("")),
            ("null", Some("")),
            (r#""r""#, Some("")),
            (r#"{"operationId":"x"}"#, Some("/requestId")),
            (r#"{"requestId":1,"operationId":"x"}"#, Some("/requestId")),
            (r#"{"requestId":"","operationId":"x"}"#, Some("/requestId")),
            (r#"{"requestId":"\ud800","operationId":"x"}"#, Some("/requestId")),
            (r#"{"requestId":"r"}"#, Some("/operationId")),
            (r#"{"requestId":"r","operationId":["x"]}"#, Some("/operationId")),
            (
                r#"{"requestId":"r","operationId":"x","parentRequestId":3}"#,
                Some("/parentRequestId"),
            ),
            (r#"{"requestId":"r","operationId":"x","deadline":"5"}"#, Some("/deadline")),
            (r#"{"requestId":"r","operationId":"x","deadline":1e999}"#, Some("/deadline")),
            (r#"{"requestId":"r","operationId":"x","idleTimeout":0}"#, Some("/idleTimeout")),
            (r#"{"requestId":"r","operationId":"x","idleTimeout":true}"#, Some("/idleTimeout")),
            (r#"{"requestId":"r","operationId":"x","identity":"u"}"#, Some("/identity")),
            (r#"{"requestId":"r","operationId":"x","identity":{"id":"u"}}"#, Some("/identity")),
            (
                r#"{"requestId":"r","operationId":"x","identity":{"id":"u","scopes":[1]}}"#,
                Some("/identity"),
            ),
            (
                r#"{"requestId":"r","operationId":"x","identity":{"id":"u","scopes":[],"resources":{"a":"b"}}}"#,
                Some("/identity"),
            ),
            (r#"{"requestId":"r","operationId":"x","metadata":[]}"#, Some("/metadata")),
        ] {
            assert_eq!(fault(EventKind::Requested, text), expected, "{text}");
        }
        let long = format!(r#"{{"requestId":"{}","operationId":"x"}}"#, "r".repeat(MAX_ID_BYTES));
        assert_eq!(fault(EventKind::Requested, &long), None);
        let longer = long.replace(r#"":"r"#, r#"":"rr"#);
        assert_eq!(fault(EventKind::Requested, &longer), Some("/requestId"));
    }

    /// AT-133 among them.
    #[test]
    fn answers_that_are_and_are_not_malformed() {
        let local = r#"{"source":"local","operationId":"a.b","timestamp":1}"#;
        let responded = |output: &str| {
            let text = format!(r#"{{"requestId":"r","output":{output}}}"#);
            fault(EventKind::Responded, &text)
        };
        assert_eq!(responded(&format!(r#"{{"data":null,"meta":{local}}}"#)), None);
        assert_eq!(responded(&format!(r#"{{"meta":{local}}}"#)), Some("/output"));
        assert_eq!(responded(r#"{"raw":1}"#), Some("/output"));
        assert_eq!(responded("1"), Some("/output"));
        assert_eq!(fault(EventKind::Responded, r#"{"requestId":"r"}"#), Some("/output"));
        for (text, expected) in [
            (r#"{"requestId":"r","code":"X","message":""}"#, None),
            (r#"{"requestId":"r","code":"X","message":"m","retryable":true}"#, None),
            (r#"{"requestId":"r","code":"X","message":"m","retryable":1}"#, Some("/retryable")),
            (r#"{"requestId":"r","code":1,"message":"m"}"#, Some("/code")),
            (r#"{"requestId":"r","code":"X"}"#, Some("/message")),
            (r#"{"code":"X","message":"m"}"#, Some("/requestId")),
        ] {
            assert_eq!(fault(EventKind::Error, text), expected, "{text}");
        }
        for kind in [EventKind::Completed, EventKind::Aborted] {
            assert_eq!(fault(kind, r#"{"requestId":"r","x":[]}"#), None);
            assert_eq!(fault(kind, "{}"), Some("/requestId"));
        }
    }

    #[test]
    fn a_request_is_read() {
        let text = r#"{"requestId":"\u0072","operationId":"x","parentRequestId":"p","deadline":5,"idleTimeout":9.5}"#;
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        let requested = read_requested(tape.root(text.as_bytes())).unwrap();
        assert_eq!(requested.request_id, "r");
        assert_eq!(requested.parent.as_deref(), Some("p"));
        assert_eq!((requested.deadline, requested.idle_timeout), (Some(5.0), Some(9.5)));
    }
}
