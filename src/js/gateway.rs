//! The tool gateway: arguments in, refusals and search results out.

use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error, Facts};
use crate::gateway::{
    Entry, INSTRUCTIONS, Limits, Operation, Refusal, Request, Tool, descriptions, object_text,
    read_arguments, search,
};
use crate::json::{self, Tape, Value};
use crate::wire::encode::quote;

use super::fault::{fault, value};

/// Depth of what the facade lists for a search: a list of flat objects with tags.
const LIST_DEPTH: u32 = 8;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LimitsIn {
    max_batch: f64,
    page_size: f64,
}

/// Arguments that stand, or why they do not.
#[derive(Default, Serialize)]
struct RequestOut {
    refusal: Option<String>,
    operation: Option<String>,
    calls: Option<Vec<RequestOut>>,
}

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
    let out = match read_arguments(tool, arguments.as_deref(), limits_of(limits)?) {
        Err(refusal) => refused(refusal),
        Ok(Request::Search(_)) => RequestOut::default(),
        Ok(Request::Schema(operation) | Request::Call(Entry { operation })) => called(operation),
        Ok(Request::Batch(calls)) => {
            let calls = calls.into_iter().map(|call| match call {
                Ok(Entry { operation }) => called(operation),
                Err(refusal) => refused(refusal),
            });
            RequestOut { calls: Some(calls.collect()), ..RequestOut::default() }
        }
    };
    Ok(value(&out))
}

/// Searches operations, the JSON text of an array of `{id, type, title?, description, tags?}`, by
/// the arguments of `search`. Gives the JSON text of the result; undefined for an unknown cursor.
#[wasm_bindgen(js_name = gatewaySearch)]
pub fn gateway_search(
    operations: &str,
    arguments: Option<String>,
    limits: JsValue,
) -> Result<Option<String>, JsValue> {
    let limits = limits_of(limits)?;
    let Ok(Request::Search(query)) = read_arguments(Tool::Search, arguments.as_deref(), limits)
    else {
        return Ok(None);
    };
    let tape: Tape = json::read(operations.as_bytes(), json::Limits::depth(LIST_DEPTH))
        .map_err(|_| fault(&Error::new(Code::InvalidArguments, "not_json")))?;
    // Texts of JavaScript strings: they may hold lone surrogates, and are shown all the same.
    let texts: Vec<OperationText> =
        tape.root(operations.as_bytes()).elements().map(OperationText::of).collect();
    let listed: Vec<Operation<'_>> = texts.iter().map(OperationText::view).collect();
    let Some(found) = search(&listed, &query, limits.page_size) else { return Ok(None) };
    let entries: Vec<String> = found
        .operations
        .iter()
        .filter_map(|(index, description)| {
            let operation = listed.get(*index)?;
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

/// An operation's texts, escapes resolved.
struct OperationText {
    id: String,
    kind: String,
    title: Option<String>,
    description: String,
    tags: Vec<String>,
}

impl OperationText {
    fn of(entry: Value<'_>) -> Self {
        let text = |value: Value<'_>| value.text().map(|text| text.to_str().into_owned());
        let member = |name: &str| entry.get(name).and_then(text);
        OperationText {
            id: member("id").unwrap_or_default(),
            kind: member("type").unwrap_or_default(),
            title: member("title"),
            description: member("description").unwrap_or_default(),
            tags: entry
                .get("tags")
                .map(|tags| tags.elements().filter_map(text).collect())
                .unwrap_or_default(),
        }
    }

    fn view(&self) -> Operation<'_> {
        Operation {
            id: &self.id,
            kind: &self.kind,
            title: self.title.as_deref(),
            description: &self.description,
            tags: self.tags.iter().map(String::as_str).collect(),
        }
    }
}

fn called(operation: String) -> RequestOut {
    RequestOut { operation: Some(operation), ..RequestOut::default() }
}

fn refused(Refusal(why): Refusal) -> RequestOut {
    RequestOut { refusal: Some(why), ..RequestOut::default() }
}

fn limits_of(limits: JsValue) -> Result<Limits, JsValue> {
    let LimitsIn { max_batch, page_size } =
        serde_wasm_bindgen::from_value(limits).map_err(|_| {
            let facts = Facts { option: Some("limits".into()), ..Facts::default() };
            fault(&Error::new(Code::InvalidArguments, "option_invalid").facts(facts))
        })?;
    // The facade has checked that they are whole and positive; the largest stand for "any".
    Ok(Limits { max_batch: max_batch as usize, page_size: page_size as usize })
}
