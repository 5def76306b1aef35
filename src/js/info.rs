//! What the core says of itself, and its tables: limits and sentences.

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error;
use crate::schema::{self, CompileOptions, Dialect};
use crate::session::options::{Limits, Profile};
use crate::session::revision;

use super::fault::facts_in;
use super::plain::Plain;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    version: &'static str,
    git_revision: &'static str,
    revisions: Vec<&'static str>,
    dialects: &'static [&'static str],
    unicode: &'static str,
}

/// Version and commit, protocol revisions, schema dialects, the Unicode version of its tables.
#[wasm_bindgen(js_name = coreInfo)]
pub fn core_info() -> JsValue {
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        git_revision: option_env!("TOOLWIRE_GIT_REVISION").unwrap_or(""),
        revisions: revision::REVISIONS.iter().map(|revision| revision.name).collect(),
        dialects: Dialect::SUPPORTED,
        unicode: schema::unicode_version(),
    };
    // Texts and lists of them have no failure.
    serde_wasm_bindgen::to_value(&info).unwrap_or(JsValue::UNDEFINED)
}

/// The default limits: of sessions by profile, and of schemas, which have no profile.
#[wasm_bindgen]
pub fn limits() -> JsValue {
    let session = Plain::new()
        .value("contain", &numbers(&Limits::of(Profile::Contain).list()))
        .value("strict", &numbers(&Limits::of(Profile::Strict).list()));
    let schema = CompileOptions::default();
    let schema = Plain::new()
        .number("maxDepth", f64::from(schema.max_depth))
        .number("maxErrors", schema.max_errors as f64)
        .number("maxSteps", schema::MAX_STEPS as f64)
        .number("maxSubschemas", schema.max_subschemas as f64)
        .number("maxSchemaBytes", schema.max_schema_bytes as f64);
    Plain::new().value("session", &session.done()).value("schema", &schema.done()).done()
}

/// An object of limits.
pub(super) fn numbers(limits: &[(&'static str, f64, bool)]) -> JsValue {
    let put =
        |object: Plain, &(name, limit, _): &(&'static str, f64, bool)| object.number(name, limit);
    limits.iter().fold(Plain::new(), put).done()
}

/// The sentence for a reason that arises in the host. `facts` is a plain object of error facts.
#[wasm_bindgen]
pub fn sentence(reason: &str, server: Option<String>, facts: JsValue) -> String {
    let facts = facts_in(&facts).unwrap_or_default();
    error::sentence(reason, server.as_deref(), &facts)
}
