//! The registry: specifications in, refusals out. Handlers stay with the facade.

use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::call::access::{AccessControl, Caller, Resource, check};
use crate::error::{Code, Error, Facts};
use crate::json::{Limits, read};
use crate::registry::admit::{Refusal, Request, Style};
use crate::registry::{Origin, Spec, Specs, canonical};
use crate::schema::Verdict;

use super::fault::{fault, value};
use super::gateway::searched;
use super::schema::ViolationOut;

/// Depth of a specification: its schemas, and where they stand in it.
const SPEC_DEPTH: u32 = 576;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpecOut<'a> {
    id: &'a str,
    kind: &'static str,
    reads_input: bool,
}

/// What a call brings besides its id and its texts.
#[derive(Deserialize)]
struct RequestIn {
    subscribe: bool,
    outside: bool,
    bound: bool,
}

#[derive(Serialize)]
struct RefusalOut<'a> {
    code: &'static str,
    message: &'a str,
    /// JSON text.
    details: &'a str,
}

#[derive(Serialize)]
struct DetailsOut<'a> {
    verdict: &'static str,
    errors: Vec<ViolationOut<'a>>,
    truncated: bool,
}

/// The specifications of one registry.
#[wasm_bindgen]
#[derive(Default)]
pub struct Operations {
    specs: Specs,
}

#[wasm_bindgen]
impl Operations {
    /// No operations yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Operations {
        Operations::default()
    }

    /// Takes a list of specifications, the JSON text of an array, whole or not at all; gives what
    /// each is.
    pub fn register(
        &mut self,
        list: &str,
        imported: bool,
        replace: bool,
    ) -> Result<JsValue, JsValue> {
        let origin = if imported { Origin::Imported } else { Origin::Local };
        let not_json = || fault(&Error::new(Code::InvalidArguments, "not_json"));
        let tape = read(list.as_bytes(), Limits::depth(SPEC_DEPTH)).map_err(|_| not_json())?;
        if tape.is_too_deep() {
            return Err(not_json());
        }
        let ids = self
            .specs
            .register(tape.root(list.as_bytes()), origin, replace)
            .map_err(|error| fault(&error))?;
        let specs: Vec<SpecOut<'_>> = ids
            .iter()
            .filter_map(|id| self.specs.get(id))
            .map(|spec| SpecOut {
                id: spec.id(),
                kind: spec.kind().as_str(),
                reads_input: spec.reads_input(),
            })
            .collect();
        Ok(value(&specs))
    }

    /// Removes specifications by their ids.
    pub fn remove(&mut self, ids: Vec<String>) {
        self.specs.remove(&ids);
    }

    /// The ids of what a caller from outside may call; `identity` is a JSON text, none for nobody.
    pub fn visible(&self, identity: Option<String>) -> Vec<String> {
        let caller = Caller::read(identity.as_deref());
        self.specs.visible(&caller).map(|spec| spec.id().to_owned()).collect()
    }

    /// What `search` of a gateway finds for a caller: the JSON text of its result, undefined for an
    /// unknown cursor. `but` are ids to leave out.
    pub fn search(
        &self,
        identity: Option<String>,
        but: Vec<String>,
        arguments: Option<String>,
        limits: JsValue,
    ) -> Result<Option<String>, JsValue> {
        let caller = Caller::read(identity.as_deref());
        searched(&self.specs, &caller, &but, arguments.as_deref(), limits)
    }

    /// Lets a call in: undefined, or why not. `identity` and `input` are JSON texts.
    pub fn admit(
        &self,
        id: &str,
        request: JsValue,
        identity: Option<String>,
        input: Option<String>,
    ) -> Result<JsValue, JsValue> {
        let request: RequestIn =
            serde_wasm_bindgen::from_value(request).map_err(|_| refused("request"))?;
        let caller = Caller::read(identity.as_deref());
        let admitted = self.specs.admit(&Request {
            id,
            style: if request.subscribe { Style::Subscribe } else { Style::Execute },
            outside: request.outside,
            caller: &caller,
            bound: request.bound,
            input: input.as_deref(),
        });
        Ok(refusal_out(admitted))
    }

    /// Shows an operation to a caller from outside: undefined, or why not.
    pub fn show(&self, id: &str, identity: Option<String>) -> JsValue {
        refusal_out(self.specs.show(id, &Caller::read(identity.as_deref())))
    }

    /// What is wrong with the details of an error, a JSON text; undefined if nothing is.
    #[wasm_bindgen(js_name = judgeDetails)]
    pub fn judge_details(&self, id: &str, code: &str, details: Option<String>) -> JsValue {
        match self.specs.judge_details(id, code, details.as_deref()) {
            None => JsValue::UNDEFINED,
            Some(outcome) => value(&DetailsOut {
                verdict: if outcome.verdict == Verdict::Invalid { "invalid" } else { "unknown" },
                errors: outcome.violations.iter().map(ViolationOut::of).collect(),
                truncated: outcome.truncated,
            }),
        }
    }
}

fn refusal_out(outcome: Result<&Spec, Refusal>) -> JsValue {
    match outcome {
        Ok(_) => JsValue::UNDEFINED,
        Err(refusal) => value(&RefusalOut {
            code: refusal.code.as_str(),
            message: &refusal.message,
            details: &refusal.details,
        }),
    }
}

/// The id as the registry keeps it.
#[wasm_bindgen(js_name = canonicalId)]
pub fn canonical_id(id: &str) -> String {
    canonical(id).into_owned()
}

/// Decides whether an identity, a JSON text, none for nobody, meets an access control.
#[wasm_bindgen(js_name = checkAccess)]
pub fn check_access(
    access: &str,
    identity: Option<String>,
    resource_id: Option<String>,
) -> Result<bool, JsValue> {
    let access = read(access.as_bytes(), Limits::depth(8))
        .ok()
        .and_then(|tape| AccessControl::read(tape.root(access.as_bytes())))
        .ok_or_else(|| refused("accessControl"))?;
    let resource = resource_id.as_deref().map_or(Resource::Any, Resource::Id);
    Ok(check(&access, &Caller::read(identity.as_deref()), resource).is_ok())
}

fn refused(option: &'static str) -> JsValue {
    let facts = Facts { option: Some(option.into()), ..Facts::default() };
    fault(&Error::new(Code::InvalidArguments, "option_invalid").facts(facts))
}
