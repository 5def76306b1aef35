//! `flowsOf`: the names and descriptors of flows; the facade attaches the calls.

use wasm_bindgen::prelude::*;

use crate::error::{Code, Error};
use crate::registry::flows::{FlowOptions, project};
use crate::wire::encode::quote;

use super::fault::fault;

/// Projects tools, the JSON text of an array, as flows: JSON text of `{name, flows}`.
#[wasm_bindgen(js_name = projectFlows)]
pub fn project_flows(server: &str, tools: &str, options: JsValue) -> Result<String, JsValue> {
    let options: FlowOptions = serde_wasm_bindgen::from_value(options)
        .map_err(|_| fault(&Error::new(Code::InvalidArguments, "option_invalid")))?;
    let source = project(server, tools, &options).map_err(|error| fault(&error))?;
    let flows: Vec<String> = source
        .flows
        .iter()
        .map(|flow| format!(r#"{{"tool":{},"descriptor":{}}}"#, quote(&flow.tool), flow.descriptor))
        .collect();
    Ok(format!(r#"{{"name":{},"flows":[{}]}}"#, quote(&source.name), flows.join(",")))
}
