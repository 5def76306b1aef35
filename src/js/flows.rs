//! `flowsOf`: the names and descriptors of flows; the facade attaches the calls.

use wasm_bindgen::prelude::*;

use crate::error::{Code, Error};
use crate::registry::flows::{FlowOptions, project};
use crate::wire::encode::quote;

use super::fault::fault;
use super::plain::{Members, Wrong};

/// Projects tools, the JSON text of an array, as flows: JSON text of `{name, flows}`.
#[wasm_bindgen(js_name = projectFlows)]
pub fn project_flows(server: &str, tools: &str, options: JsValue) -> Result<String, JsValue> {
    let options = options_of(&Members(&options))
        .map_err(|_| fault(&Error::new(Code::InvalidArguments, "option_invalid")))?;
    let source = project(server, tools, &options).map_err(|error| fault(&error))?;
    let flows: Vec<String> = source
        .flows
        .iter()
        .map(|flow| format!(r#"{{"tool":{},"descriptor":{}}}"#, quote(&flow.tool), flow.descriptor))
        .collect();
    Ok(format!(r#"{{"name":{},"flows":[{}]}}"#, quote(&source.name), flows.join(",")))
}

fn options_of(options: &Members<'_>) -> Result<FlowOptions, Wrong> {
    Ok(FlowOptions {
        name_prefix: options.text("namePrefix")?,
        include: options.texts("include")?.unwrap_or_default(),
        exclude: options.texts("exclude")?.unwrap_or_default(),
        capabilities: options.texts("capabilities")?.unwrap_or_default(),
        checked: options.is_set("checked")?,
    })
}
