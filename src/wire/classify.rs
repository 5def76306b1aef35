//! What a line is: rows R43 to R51, in both profiles, read off the tape.
//!
//! Invariant: in `strict` the first rule broken, in the order of the rows, is the one reported. In
//! `contain` a member that is read here counts only if it is not repeated.

use crate::json::{Text, Value};

use super::Profile;

/// Containers of one frame, the envelope included.
pub(crate) const MAX_DEPTH: u32 = 128;

/// The id of a request or reply.
#[derive(Clone, Copy, Debug)]
pub enum Id<'a> {
    /// A safe integer.
    Number(i64),
    /// A string.
    Text(Text<'a>),
}

impl Id<'_> {
    /// Its JSON text, as it must be echoed.
    pub fn to_json(self) -> String {
        match self {
            Id::Number(number) => number.to_string(),
            Id::Text(text) => format!("\"{}\"", text.raw()),
        }
    }
}

/// A JSON-RPC error that the peer sent.
#[derive(Clone, Copy)]
pub struct Remote<'a> {
    /// Its number, saturated.
    pub code: i64,
    /// Its words.
    pub message: Text<'a>,
    /// The whole error object.
    pub object: Value<'a>,
}

/// Why a tagged line is no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// One of `depth`, `number_range`, `duplicate_member`, `version`, `method_type`,
    /// `method_with_outcome`, `params_type`, `request_id`, `reply_no_id`, `reply_id`,
    /// `reply_neither`, `reply_both`, `reply_error_object`.
    pub reason: &'static str,
    /// The ids it names, if it can be a reply.
    pub ids: [Option<i64>; 2],
}

/// A line, classified.
#[derive(Clone, Copy)]
pub enum Message<'a> {
    /// Not for us: a scalar, or an object without `jsonrpc`; in `strict` an array too.
    Noise,
    /// A request of the peer's.
    Request {
        /// Its id.
        id: Id<'a>,
        /// Its method.
        method: Text<'a>,
        /// Its params: in `strict` an object, in `contain` anything but null.
        params: Option<Value<'a>>,
    },
    /// A notification.
    Notification {
        /// Its method.
        method: Text<'a>,
        /// Its params: in `strict` an object, in `contain` anything but null.
        params: Option<Value<'a>>,
    },
    /// A good reply.
    Result {
        /// The id; in `strict`, or with `lenient_ids`, always a number.
        id: Id<'a>,
        /// The result.
        result: Value<'a>,
    },
    /// An error reply.
    Error {
        /// As with [`Message::Result`].
        id: Id<'a>,
        /// The error.
        error: Remote<'a>,
    },
    /// An error that answers no request in particular.
    Uncorrelated(Remote<'a>),
    /// An array of messages.
    Batch(Value<'a>),
    /// Tagged, and no message.
    Malformed(Malformed),
}

/// A message and how many null members were read as absent.
#[derive(Clone, Copy)]
pub struct Classified<'a> {
    /// The message.
    pub message: Message<'a>,
    /// Members that were null.
    pub nulls: u32,
}

/// What holds for the whole line.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How faults are met.
    pub profile: Profile,
    /// Canonical decimal strings are read as reply ids. Always so in `strict`.
    pub lenient_ids: bool,
}

/// The members of the envelope; the last one counts if one is repeated.
#[derive(Clone, Copy, Default)]
struct Envelope<'a> {
    version: Option<Value<'a>>,
    id: Option<Value<'a>>,
    first_id: Option<Value<'a>>,
    method: Option<Value<'a>>,
    params: Option<Value<'a>>,
    result: Option<Value<'a>>,
    error: Option<Value<'a>>,
    repeated: bool,
}

impl<'a> Envelope<'a> {
    fn read(root: Value<'a>) -> Self {
        let mut envelope = Envelope::default();
        for (name, value) in root.members() {
            let slot = match name.to_wtf8().as_ref() {
                b"jsonrpc" => &mut envelope.version,
                b"id" => &mut envelope.id,
                b"method" => &mut envelope.method,
                b"params" => &mut envelope.params,
                b"result" => &mut envelope.result,
                b"error" => &mut envelope.error,
                _ => continue,
            };
            envelope.repeated |= slot.replace(value).is_some();
            if envelope.first_id.is_none() {
                envelope.first_id = envelope.id;
            }
        }
        envelope
    }

    fn malformed(&self, reason: &'static str) -> Message<'a> {
        // A request must not settle a request of ours that has the same id.
        let can_reply = self.method.is_none() || self.result.is_some() || self.error.is_some();
        let id = |value: Option<Value<'a>>| value.and_then(safe_integer).filter(|_| can_reply);
        Message::Malformed(Malformed { reason, ids: [id(self.id), id(self.first_id)] })
    }
}

/// Classifies the value `root`; `too_deep` and `overflow` are the tape's findings.
pub fn classify<'a>(
    root: Value<'a>,
    rules: Rules,
    too_deep: bool,
    overflow: bool,
) -> Classified<'a> {
    let contain = rules.profile == Profile::Contain;
    let only = |message| Classified { message, nulls: 0 };
    if contain && root.is_array() {
        return only(Message::Batch(root));
    }
    let mut envelope = Envelope::read(root);
    let Some(version) = envelope.version else { return only(Message::Noise) };
    let fault = if too_deep {
        Some("depth")
    } else if overflow {
        Some("number_range")
    } else if contain && envelope.repeated {
        Some("duplicate_member")
    } else if !version.text().is_some_and(|text| text.eq_str("2.0")) {
        Some("version")
    } else {
        None
    };
    if let Some(reason) = fault {
        return only(envelope.malformed(reason));
    }
    let nulls = if contain { absent_nulls(&mut envelope) } else { 0 };
    let message = match envelope.method {
        Some(method) => with_method(&envelope, method, contain),
        None => reply(&envelope, rules),
    };
    Classified { message, nulls }
}

/// `contain`: a null member that is optional counts as absent.
fn absent_nulls(envelope: &mut Envelope<'_>) -> u32 {
    let null = |member: Option<Value<'_>>| member.is_some_and(Value::is_null);
    let mut nulls = 0;
    if null(envelope.error) {
        envelope.error = None;
        nulls += 1;
    }
    if null(envelope.result) && (envelope.error.is_some() || envelope.method.is_some()) {
        envelope.result = None;
        nulls += 1;
    }
    if null(envelope.params) {
        envelope.params = None;
        nulls += 1;
    }
    nulls
}

fn with_method<'a>(envelope: &Envelope<'a>, method: Value<'a>, contain: bool) -> Message<'a> {
    let Some(method) = method.text() else { return envelope.malformed("method_type") };
    if envelope.result.is_some() || envelope.error.is_some() {
        return envelope.malformed("method_with_outcome");
    }
    let params = envelope.params;
    if !contain && params.is_some_and(|params| !params.is_object()) {
        return envelope.malformed("params_type");
    }
    let Some(id) = envelope.id else { return Message::Notification { method, params } };
    match (id.text(), safe_integer(id)) {
        (Some(text), _) => Message::Request { id: Id::Text(text), method, params },
        (_, Some(number)) => Message::Request { id: Id::Number(number), method, params },
        _ => envelope.malformed("request_id"),
    }
}

fn reply<'a>(envelope: &Envelope<'a>, rules: Rules) -> Message<'a> {
    let strict = rules.profile == Profile::Strict;
    let body = match (envelope.result, envelope.error) {
        (Some(_), Some(_)) => Err("reply_both"),
        (None, None) => Err("reply_neither"),
        (Some(result), None) => Ok(Ok(result)),
        (None, Some(error)) => remote(error, strict).map(Err),
    };
    let Some(id) = envelope.id else {
        return match body {
            // Since 2025-11-25 an error may leave the id out.
            Ok(Err(error)) if !strict => Message::Uncorrelated(error),
            _ => envelope.malformed("reply_no_id"),
        };
    };
    if id.is_null() {
        return match body {
            Ok(Err(error)) => Message::Uncorrelated(error),
            Ok(Ok(_)) => envelope.malformed("reply_id"),
            Err(reason) => envelope.malformed(reason),
        };
    }
    let number = safe_integer(id).or_else(|| {
        let text = id.text().filter(|_| strict || rules.lenient_ids)?;
        canonical(text)
    });
    let id = match (number, id.text()) {
        (Some(number), _) => Id::Number(number),
        (None, Some(text)) if !strict => Id::Text(text),
        _ => return envelope.malformed("reply_id"),
    };
    match body {
        Ok(Ok(result)) => Message::Result { id, result },
        Ok(Err(error)) => Message::Error { id, error },
        Err(reason) => {
            let ids = [number, None];
            Message::Malformed(Malformed { reason, ids })
        }
    }
}

/// Reads an error object: integer code, string message.
fn remote(error: Value<'_>, strict: bool) -> Result<Remote<'_>, &'static str> {
    let (mut code, mut message) = (None, None);
    let mut repeated = false;
    for (name, value) in error.members() {
        match name.to_wtf8().as_ref() {
            b"code" => repeated |= code.replace(value).is_some(),
            b"message" => repeated |= message.replace(value).is_some(),
            _ => {}
        }
    }
    if repeated && !strict {
        return Err("duplicate_member");
    }
    let code = code.and_then(integer);
    let message = message.and_then(Value::text);
    match (code, message) {
        (Some(code), Some(message)) => Ok(Remote { code, message, object: error }),
        _ => Err("reply_error_object"),
    }
}

/// An integer of any magnitude, however written; saturated.
fn integer(value: Value<'_>) -> Option<i64> {
    let text = value.number()?;
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        (number.fract() == 0.0).then_some(number as i64)
    })
}

/// An integer that a double holds exactly, however written.
pub(crate) fn safe_integer(value: Value<'_>) -> Option<i64> {
    integer(value).filter(|number| number.unsigned_abs() < 1 << 53)
}

/// The number that a decimal string without leading zero stands for.
fn canonical(text: Text<'_>) -> Option<i64> {
    let text = text.to_str();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    text.parse().ok().filter(|&number: &i64| number < 1 << 53)
}

#[cfg(test)]
mod tests {
    use super::super::reading::classify_line;
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    /// A classification as text: kind, then what identifies it.
    fn kind(profile: Profile, line: &str) -> String {
        let rules = Rules { profile, lenient_ids: profile == Profile::Strict };
        classify_line(line.as_bytes(), rules, u32::MAX, |classified| {
            let classified = classified.unwrap();
            let shown = match classified.message {
                Message::Noise => "noise".to_owned(),
                Message::Request { id, method, .. } => {
                    format!("request {} {}", id.to_json(), method.to_str())
                }
                Message::Notification { method, .. } => format!("notification {}", method.to_str()),
                Message::Result { id, .. } => format!("result {}", id.to_json()),
                Message::Error { id, error } => format!("error {} {}", id.to_json(), error.code),
                Message::Uncorrelated(error) => format!("uncorrelated {}", error.code),
                Message::Batch(items) => format!("batch {}", items.len()),
                Message::Malformed(malformed) => match malformed.ids {
                    [None, None] => malformed.reason.to_owned(),
                    [id, other] if id == other || other.is_none() => {
                        format!("{} {}", malformed.reason, id.unwrap())
                    }
                    ids => format!("{} {ids:?}", malformed.reason),
                },
            };
            match classified.nulls {
                0 => shown,
                nulls => format!("{shown} nulls {nulls}"),
            }
        })
    }

    #[test]
    fn strict_is_system_c() {
        let nested = |depth: usize| {
            let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
            format!(r#"{{"jsonrpc":"1.0","id":1,"result":{open}{close}}}"#)
        };
        assert_eq!(kind(Profile::Strict, &nested(128)), "version 1");
        assert_eq!(kind(Profile::Strict, &nested(129)), "depth 1");
        assert_eq!(kind(Profile::Strict, &nested(129).replace("jsonrpc", "j")), "noise");
        for (line, expected) in [
            (r#"42"#, r#"noise"#),
            (r#""jsonrpc""#, r#"noise"#),
            (r#"null"#, r#"noise"#),
            (r#"{"id":1,"result":{}}"#, r#"noise"#),
            (r#"{"level":"info","msg":"ready"}"#, r#"noise"#),
            (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, r#"noise"#),
            (r#"  {"jsonrpc":"2.0","id":1,"result":null}	"#, r#"result 1"#),
            (r#"{"jsonrpc":null}"#, r#"version"#),
            (r#"{"jsonrpc":"trace","msg":"x"}"#, r#"version"#),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
                r#"notification notifications/tools/list_changed"#,
            ),
            (r#"{"jsonrpc":"2.0","method":"x/y","params":{"a":1}}"#, r#"notification x/y"#),
            (r#"{"jsonrpc":"2.0","method":""}"#, r#"notification "#),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"notifications/progress"}"#,
                r#"request 1 notifications/progress"#,
            ),
            (r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#, r#"request 0 ping"#),
            (r#"{"jsonrpc":"2.0","id":"0","method":"ping"}"#, r#"request "0" ping"#),
            (r#"{"jsonrpc":"2.0","id":"01","method":"ping"}"#, r#"request "01" ping"#),
            (r#"{"jsonrpc":"2.0","id":"","method":"ping"}"#, r#"request "" ping"#),
            (r#"{"jsonrpc":"2.0","id":"probe/😀","method":"ping"}"#, r#"request "probe/😀" ping"#),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, r#"request_id"#),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, r#"request_id"#),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, r#"request_id"#),
            (r#"{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}"#, r#"request_id"#),
            (r#"{"jsonrpc":"2.0","method":null}"#, r#"method_type"#),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, r#"method_with_outcome 1"#),
            (
                r#"{"jsonrpc":"2.0","method":"ping","error":{"code":1,"message":"x"}}"#,
                r#"method_with_outcome"#,
            ),
            (r#"{"jsonrpc":"2.0","method":"a","params":null}"#, r#"params_type"#),
            (r#"{"jsonrpc":"2.0","result":{}}"#, r#"reply_no_id"#),
            (r#"{"jsonrpc":"2.0"}"#, r#"reply_no_id"#),
            (r#"{"jsonrpc":"2.0","id":"42","result":1}"#, r#"result 42"#),
            (r#"{"jsonrpc":"2.0","id":"0","result":1}"#, r#"result 0"#),
            (r#"{"jsonrpc":"2.0","id":"-1","result":null}"#, r#"reply_id"#),
            (r#"{"jsonrpc":"2.0","id":" 1","result":null}"#, r#"reply_id"#),
            (r#"{"jsonrpc":"2.0","id":"9007199254740992","result":null}"#, r#"reply_id"#),
            (r#"{"jsonrpc":"2.0","id":true,"result":null}"#, r#"reply_id"#),
            (r#"{"jsonrpc":"2.0","id":1.0,"result":null}"#, r#"result 1"#),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, r#"result 1"#),
            (r#"{"jsonrpc":"2.0","id":1}"#, r#"reply_neither 1"#),
            (r#"{"jsonrpc":"2.0","id":"x"}"#, r#"reply_id"#),
            (r#"{"jsonrpc":"2.0","id":1,"error":[]}"#, r#"reply_error_object 1"#),
            (r#"{"jsonrpc":"2.0","id":1,"error":"boom"}"#, r#"reply_error_object 1"#),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000.5,"message":"x"}}"#,
                r#"reply_error_object 1"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":"-32000","message":"x"}}"#,
                r#"reply_error_object 1"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":4}}"#,
                r#"reply_error_object 1"#,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}"#, r#"reply_error_object 1"#),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
                r#"uncorrelated -32700"#,
            ),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, r#"reply_id"#),
            (r#"{"jsonrpc":"2.0","id":null}"#, r#"reply_neither"#),
            (r#"{"jsonrpc":"2.0","id":1e999,"result":0}"#, r#"number_range"#),
            (r#"{"jsonrpc":"2.0","id":1,"result":1e-999}"#, r#"result 1"#),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"result":0}"#, r#"result 2"#),
        ] {
            assert_eq!(
                kind(Profile::Strict, line).split(" nulls").next().unwrap(),
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn contain_is_kinder_to_nulls_and_harder_on_repeats() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#, "result 1 nulls 1"),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-1,"message":""}}"#,
                "error 1 -1 nulls 1",
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1"),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
                "reply_both 1",
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, "reply_neither 1"),
            (r#"{"jsonrpc":"2.0","id":1,"error":"boom"}"#, "reply_error_object 1"),
            (r#"{"jsonrpc":"2.0","id":"1","result":{}}"#, "result \"1\""),
            (
                r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
                "duplicate_member [Some(2), Some(1)]",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2,"message":""}}"#,
                "duplicate_member 1",
            ),
            (r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#, "duplicate_member"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "version"),
            (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":""}}"#, "uncorrelated -32700"),
            (r#"{"jsonrpc":"2.0","method":"a","params":[1]}"#, "notification a"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null}"#, "request 1 a nulls 1"),
            (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, "batch 1"),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1e999}", "number_range 1"),
        ] {
            assert_eq!(kind(Profile::Contain, line), expected, "{line}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}";
        let read = |profile| {
            let rules = Rules { profile, lenient_ids: false };
            classify_line(line, rules, u32::MAX, |classified| match classified {
                Ok(Classified { message: Message::Result { result, .. }, .. }) => {
                    Ok(result.raw().to_owned())
                }
                Ok(_) => Err("other"),
                Err(reason) => Err(reason),
            })
        };
        assert_eq!(read(Profile::Strict).unwrap(), "\"\u{fffd}\"");
        assert_eq!(read(Profile::Contain).unwrap_err(), "invalid_utf8");
    }
}
