//! The crate `jsonschema` behind a face of wasm-bindgen: a schema from its text, verdicts on texts.
//!
//! A text is read by `serde_json` and judged by `is_valid`, the fastest way the crate has to a verdict
//! on bytes. Formats are annotations, as in everything else that is measured.

use jsonschema::{Draft, Registry, Validator};
use serde_json::Value;
use wasm_bindgen::prelude::*;

/// A compiled schema.
#[wasm_bindgen]
pub struct Rival {
    validator: Validator,
    read: Vec<Value>,
}

/// Error texts are for whoever runs the benchmarks.
fn said(error: impl ToString) -> JsError {
    JsError::new(&error.to_string())
}

#[wasm_bindgen]
impl Rival {
    /// Compiles the schema in a JSON text. `dialect` counts where the schema names none;
    /// `resources` is an object of further documents by their addresses.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: &str, dialect: &str, resources: &str) -> Result<Rival, JsError> {
        let schema: Value = serde_json::from_str(schema).map_err(said)?;
        let resources: serde_json::Map<String, Value> =
            serde_json::from_str(resources).map_err(said)?;
        let draft = match dialect {
            "draft-04" => Draft::Draft4,
            "draft-06" => Draft::Draft6,
            "draft-07" => Draft::Draft7,
            "2019-09" => Draft::Draft201909,
            _ => Draft::Draft202012,
        };
        let options = jsonschema::options().with_draft(draft).should_validate_formats(false);
        let validator = if resources.is_empty() {
            options.build(&schema).map_err(said)?
        } else {
            let mut registry = Registry::new();
            for (address, document) in resources {
                registry = registry.add(address, document).map_err(said)?;
            }
            let registry = registry.prepare().map_err(said)?;
            options.with_registry(&registry).build(&schema).map_err(said)?
        };
        Ok(Rival { validator, read: Vec::new() })
    }

    /// Bytes to a verdict.
    #[wasm_bindgen(js_name = isValid)]
    pub fn is_valid(&self, text: &[u8]) -> Result<bool, JsError> {
        let value: Value = serde_json::from_slice(text).map_err(said)?;
        Ok(self.validator.is_valid(&value))
    }

    /// Reads a text and keeps its value, so that judging alone can be measured. Gives its number.
    pub fn read(&mut self, text: &[u8]) -> Result<usize, JsError> {
        self.read.push(serde_json::from_slice(text).map_err(said)?);
        Ok(self.read.len() - 1)
    }

    /// The verdict on a value that was read, by its number.
    pub fn judge(&self, number: usize) -> bool {
        self.read.get(number).is_some_and(|value| self.validator.is_valid(value))
    }
}
