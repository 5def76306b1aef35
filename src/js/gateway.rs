//! The tool gateway: arguments in, refusals and search results out.

use wasm_bindgen::prelude::*;

use crate::call::access::Caller;
use crate::gateway::{
    Entry, INSTRUCTIONS, Limits, Operation, Refusal, Request, Tool, descriptions, object_text,
    read_arguments, search,
};
use crate::registry::Specs;
use crate::wire::encode::quote;

use super::fault;
use super::plain::{Members, Plain};

/// The JSON text of the array of the four tools.
#[wasm_bindgen(js_name = gatewayTools)]
pub fn gateway_tools(limits: JsValue) -> Result<String, JsValue> {
    Ok(descriptions(limits_of(limits)?))
}

/// What a server says of the four tools unless the host has words of its own.
#[wasm_bindgen(js_name = gatewayInstructions)]
pub fn gateway_instructions() -> String {
    INSTRUCTIONS.to_owned()
}

/// Reads the arguments of a tool, a JSON text; undefined for a tool that is none of the four. What
/// a search looks for is read again when it runs.
#[wasm_bindgen(js_name = gatewayArguments)]
pub fn gateway_arguments(
    tool: &str,
    arguments: Option<String>,
    limits: JsValue,
) -> Result<JsValue, JsValue> {
    let Some(tool) = Tool::from_name(tool) else { return Ok(JsValue::UNDEFINED) };
    Ok(match read_arguments(tool, arguments.as_deref(), limits_of(limits)?) {
        Err(refusal) => refused(&refusal),
        Ok(Request::Search(_)) => Plain::new().done(),
        Ok(Request::Schema(operation) | Request::Call(Entry { operation })) => called(&operation),
        Ok(Request::Batch(calls)) => {
            let mut calls = calls.iter().map(|call| match call {
                Ok(Entry { operation }) => called(operation),
                Err(refusal) => refused(refusal),
            });
            Plain::new().list("calls", &mut calls).done()
        }
    })
}

/// Searches what a caller may call by the arguments of `search`; `but` are ids to leave out. Gives
/// the JSON text of the result, none for an unknown cursor.
pub(super) fn searched(
    specs: &Specs,
    caller: &Caller,
    but: &[String],
    arguments: Option<&str>,
    limits: JsValue,
) -> Result<Option<String>, JsValue> {
    let limits = limits_of(limits)?;
    let Ok(Request::Search(query)) = read_arguments(Tool::Search, arguments, limits) else {
        return Ok(None);
    };
    let operations: Vec<Operation<'_>> = specs
        .visible(caller)
        .filter_map(Operation::of)
        .filter(|operation| !but.iter().any(|id| id == operation.id))
        .collect();
    let Some(found) = search(&operations, &query, limits.page_size) else { return Ok(None) };
    let entries: Vec<String> = found
        .operations
        .iter()
        .filter_map(|(index, description)| {
            let operation = operations.get(*index)?;
            Some(format!(
                r#"{{"name":{},"description":{},"type":{}}}"#,
                quote(operation.id),
                quote(description),
                quote(operation.kind)
            ))
        })
        .collect();
    let next = found
        .next_cursor
        .map_or_else(String::new, |cursor| format!(r#","nextCursor":{}"#, quote(&cursor)));
    Ok(Some(format!(r#"{{"operations":[{}]{next}}}"#, entries.join(","))))
}

/// The JSON text of an output as an object.
#[wasm_bindgen(js_name = gatewayObject)]
pub fn gateway_object(output: Option<String>) -> String {
    object_text(output.as_deref())
}

/// Arguments that stand: the operation they name.
fn called(operation: &str) -> JsValue {
    Plain::new().text("operation", operation).done()
}

fn refused(Refusal(why): &Refusal) -> JsValue {
    Plain::new().text("refusal", why).done()
}

fn limits_of(limits: JsValue) -> Result<Limits, JsValue> {
    let number = |name| Members(&limits).number(name).ok().flatten();
    // The facade has checked that they are whole and positive; the largest stand for "any".
    match (number("maxBatch"), number("pageSize")) {
        (Some(max_batch), Some(page_size)) => {
            Ok(Limits { max_batch: max_batch as usize, page_size: page_size as usize })
        }
        _ => Err(fault::refused("limits")),
    }
}
