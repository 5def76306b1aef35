//! Errors as JavaScript sees them: a plain object of facts that the facade makes an error of.

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsValue;

use crate::error::{Error, Facts};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fault<'a> {
    code: &'static str,
    reason: &'static str,
    message: String,
    retryable: bool,
    server: Option<&'a str>,
    /// Apart from the facts: it may lie beyond what the serializer takes for a safe integer.
    rpc_code: Option<f64>,
    facts: Facts,
    /// JSON text: the facade parses it when the host asks.
    private: Option<&'a str>,
}

/// The object for an error.
pub(super) fn fault(error: &Error) -> JsValue {
    let mut facts = error.get_facts().clone();
    let rpc_code = facts.rpc_code.take().map(|code| code as f64);
    value(&Fault {
        code: error.code().as_str(),
        reason: error.reason(),
        message: error.message(),
        retryable: error.is_retryable(),
        server: error.server(),
        rpc_code,
        facts,
        private: error.private_json(),
    })
}

/// A small typed value as plain objects, arrays and numbers; what is absent reads as undefined.
pub(super) fn value<T: Serialize + ?Sized>(small: &T) -> JsValue {
    let serializer = Serializer::new().serialize_maps_as_objects(true);
    // Types of this crate hold only what the serializer knows; it has no other failure.
    small.serialize(&serializer).unwrap_or(JsValue::UNDEFINED)
}

#[cfg(test)]
mod tests {
    use js_sys::{JSON, JsString};
    use wasm_bindgen::JsCast;
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;
    use crate::error::Code;

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
    fn what_is_absent_is_undefined() {
        let absent: Option<u32> = None;
        assert!(value(&absent).is_undefined());
        assert_eq!(text(&value(&["a"])), r#"["a"]"#);
        assert!(value("é😀").dyn_into::<JsString>().is_ok_and(|text| text == "é😀"));
    }
}
