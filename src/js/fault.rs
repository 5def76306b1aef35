//! Errors as JavaScript sees them: a plain object of facts that the facade makes an error of.

use wasm_bindgen::JsValue;

use crate::error::{Code, Error, Facts};

use super::plain::{Members, Plain, Wrong, list};

/// The largest whole number below which doubles leave none out.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// The object for an error.
pub(super) fn fault(error: &Error) -> JsValue {
    let facts = error.get_facts();
    Plain::new()
        .text("code", error.code().as_str())
        .text("reason", error.reason())
        .text("message", &error.message())
        .flag("retryable", error.is_retryable())
        .maybe_text("server", error.server())
        // Apart from the facts: it may be no safe integer.
        .maybe_number("rpcCode", facts.rpc_code.map(|code| code as f64))
        .value("facts", &facts_out(facts))
        // JSON text: the facade parses it when the host asks.
        .maybe_text("private", error.private_json())
        .done()
}

/// An option that cannot be read.
pub(super) fn option_invalid(code: Code, option: &'static str) -> Error {
    Error::new(code, "option_invalid")
        .facts(Facts { option: Some(option.into()), ..Facts::default() })
}

/// The object for an argument that cannot be read.
#[cold]
pub(super) fn refused(option: &'static str) -> JsValue {
    fault(&option_invalid(Code::InvalidArguments, option))
}

/// The facts that are there.
fn facts_out(facts: &Facts) -> JsValue {
    let number = |number: Option<f64>| number.map(JsValue::from_f64);
    let text = |text: Option<&str>| text.map(JsValue::from_str);
    let names = |names: &Vec<String>| list(&mut names.iter().map(|name| JsValue::from_str(name)));
    let members = [
        ("exitCode", number(facts.exit_code.map(f64::from))),
        ("option", text(facts.option.as_deref())),
        ("method", text(facts.method.as_deref())),
        ("ms", number(facts.ms)),
        ("limit", number(facts.limit.map(|limit| limit as f64))),
        ("index", number(facts.index.map(f64::from))),
        ("at", text(facts.at.as_deref())),
        ("supported", facts.supported.as_ref().map(names)),
        ("status", number(facts.status.map(f64::from))),
        ("target", text(facts.target.as_deref())),
        ("variable", text(facts.variable.as_deref())),
        ("operation", text(facts.operation.as_deref())),
    ];
    let mut out = Plain::new();
    for (name, member) in members {
        if let Some(member) = member {
            out = out.value(name, &member);
        }
    }
    out.done()
}

/// Reads facts that the facade gives.
pub(super) fn facts_in(facts: &JsValue) -> Result<Facts, Wrong> {
    let members = Members(facts);
    let text = |name| members.text(name);
    let integer = |name, least, most| members.integer(name, least, most);
    Ok(Facts {
        rpc_code: integer("rpcCode", -SAFE, SAFE)?.map(|code| code as i64),
        exit_code: integer("exitCode", f64::from(i32::MIN), f64::from(i32::MAX))?
            .map(|code| code as i32),
        option: text("option")?.map(Into::into),
        method: text("method")?,
        ms: members.number("ms")?,
        limit: integer("limit", 0.0, SAFE)?.map(|limit| limit as u64),
        index: integer("index", 0.0, f64::from(u32::MAX))?.map(|index| index as u32),
        at: text("at")?,
        supported: members.texts("supported")?,
        status: integer("status", 0.0, f64::from(u16::MAX))?.map(|status| status as u16),
        target: text("target")?,
        variable: text("variable")?,
        operation: text("operation")?,
    })
}

#[cfg(test)]
mod tests {
    use js_sys::JSON;
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    fn text(value: &JsValue) -> String {
        JSON::stringify(value).map(String::from).unwrap_or_default()
    }

    #[test]
    fn an_error_is_an_object_of_its_facts() {
        let facts =
            Facts { rpc_code: Some(i64::MIN), option: Some("maxTools".into()), ..Facts::default() };
        let error = Error::new(Code::ProtocolError, "option_invalid")
            .facts(facts)
            .private(r#"{"path":"/a"}"#.to_owned());
        assert_eq!(
            text(&fault(&error)),
            r#"{"code":"protocol_error","reason":"option_invalid","message":"Option maxTools has a value that is not allowed","retryable":false,"rpcCode":-9223372036854776000,"facts":{"option":"maxTools"},"private":"{\"path\":\"/a\"}"}"#
        );
    }

    #[test]
    fn facts_come_back_as_they_went() {
        let facts = Facts {
            exit_code: Some(-1),
            method: Some("tools/call".to_owned()),
            ms: Some(0.5),
            limit: Some(1 << 40),
            index: Some(7),
            supported: Some(vec!["2025-06-18".to_owned()]),
            status: Some(404),
            ..Facts::default()
        };
        assert_eq!(facts_in(&facts_out(&facts)), Ok(facts));
        let wrong = JSON::parse(r#"{"status":70000}"#).unwrap();
        assert_eq!(facts_in(&wrong), Err("status"));
    }
}
