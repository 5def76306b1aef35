//! Calls: the tables of call errors.

use wasm_bindgen::prelude::*;

use crate::call::error::{self, CallCode};

use super::plain::{Plain, list};

/// The codes that any call may end with.
#[wasm_bindgen(js_name = callCodes)]
pub fn call_codes() -> JsValue {
    list(&mut CallCode::INFRASTRUCTURE.iter().map(|code| JsValue::from_str(code.as_str())))
}

/// True if trying again may help when this is all that is known.
#[wasm_bindgen(js_name = isRetryableCode)]
pub fn is_retryable_code(code: &str) -> bool {
    error::is_retryable(code)
}

/// The code as callers of the gateway see it.
#[wasm_bindgen(js_name = gatewayCode)]
pub fn gateway_code(code: &str) -> String {
    error::gateway_code(code).to_owned()
}

/// The index of the declared code that an exception's message names.
#[wasm_bindgen(js_name = declaredCode)]
pub fn declared_code(message: &str, declared: Vec<String>) -> Option<u32> {
    let index = error::declared_code(message, declared.iter().map(String::as_str))?;
    u32::try_from(index).ok()
}

/// What a session's failure is to the caller of an imported operation: `{code, retryable}`.
#[wasm_bindgen(js_name = codeOfSessionError)]
pub fn code_of_session_error(code: &str, reason: &str, unsent: bool) -> JsValue {
    let (code, retryable) = error::code_of_session_error(code, reason, unsent);
    Plain::new().text("code", code.as_str()).flag("retryable", retryable).done()
}
