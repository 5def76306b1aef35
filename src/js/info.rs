//! What the core says of itself, and its tables: limits and sentences.

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::{self, Facts};
use crate::schema::{self, CompileOptions, Dialect};
use crate::session::options::{Limits, Profile};
use crate::session::revision;

use super::fault::value;

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
    value(&Info {
        version: env!("CARGO_PKG_VERSION"),
        git_revision: option_env!("TOOLWIRE_GIT_REVISION").unwrap_or(""),
        revisions: revision::REVISIONS.iter().map(|revision| revision.name).collect(),
        dialects: Dialect::SUPPORTED,
        unicode: schema::unicode_version(),
    })
}

/// What bounds schemas; the same in both profiles.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SchemaLimits {
    max_depth: f64,
    max_errors: f64,
    max_steps: f64,
    max_subschemas: f64,
    max_schema_bytes: f64,
}

#[derive(Serialize)]
struct Both {
    session: Profiles,
    schema: SchemaLimits,
}

#[derive(Serialize)]
struct Profiles {
    contain: Limits,
    strict: Limits,
}

/// The default limits: of sessions by profile, and of schemas.
#[wasm_bindgen]
pub fn limits() -> JsValue {
    let schema = CompileOptions::default();
    value(&Both {
        session: Profiles {
            contain: Limits::of(Profile::Contain),
            strict: Limits::of(Profile::Strict),
        },
        schema: SchemaLimits {
            max_depth: f64::from(schema.max_depth),
            max_errors: schema.max_errors as f64,
            max_steps: schema.max_steps as f64,
            max_subschemas: schema.max_subschemas as f64,
            max_schema_bytes: schema.max_schema_bytes as f64,
        },
    })
}

/// The sentence for a reason that arises in the host. `facts` is a plain object of error facts.
#[wasm_bindgen]
pub fn sentence(reason: &str, server: Option<String>, facts: JsValue) -> String {
    let facts = serde_wasm_bindgen::from_value::<Facts>(facts).unwrap_or_default();
    error::sentence(reason, server.as_deref(), &facts)
}
