//! The registry: specifications in, refusals out. Handlers stay with the facade.

use wasm_bindgen::prelude::*;

use crate::call::access::{AccessControl, Caller, Resource, check};
use crate::error::{Code, Error};
use crate::json::{Limits, read};
use crate::registry::admit::{Refusal, Request, Style};
use crate::registry::{Origin, Spec, Specs, canonical};
use crate::schema::Verdict;

use super::fault::{fault, refused};
use super::gateway::searched;
use super::plain::{self, Members, Plain, Wrong};
use super::schema::violations_out;

/// Depth of a specification: its schemas, and where they stand in it.
const SPEC_DEPTH: u32 = 576;

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
        let mut specs = ids.iter().filter_map(|id| self.specs.get(id)).map(|spec| {
            Plain::new()
                .text("id", spec.id())
                .text("kind", spec.kind().as_str())
                .flag("readsInput", spec.reads_input())
                .done()
        });
        Ok(plain::list(&mut specs))
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
        let request = Members(&request);
        // The facade always says all three.
        let flag = |name: &'static str| request.flag(name)?.ok_or(name);
        let style = |subscribe| if subscribe { Style::Subscribe } else { Style::Execute };
        let read = || Ok::<_, Wrong>((style(flag("subscribe")?), flag("outside")?, flag("bound")?));
        let (style, outside, bound) = read().map_err(|_| refused("request"))?;
        let caller = Caller::read(identity.as_deref());
        let input = input.as_deref();
        let request = Request { id, style, outside, caller: &caller, bound, input };
        let admitted = self.specs.admit(&request);
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
            Some(outcome) => {
                let is_invalid = outcome.verdict == Verdict::Invalid;
                Plain::new()
                    .text("verdict", if is_invalid { "invalid" } else { "unknown" })
                    .value("errors", &violations_out(&outcome.violations))
                    .flag("truncated", outcome.truncated)
                    .done()
            }
        }
    }
}

fn refusal_out(outcome: Result<&Spec, Refusal>) -> JsValue {
    match outcome {
        Ok(_) => JsValue::UNDEFINED,
        Err(refusal) => Plain::new()
            .text("code", refusal.code.as_str())
            .text("message", &refusal.message)
            // JSON text.
            .text("details", &refusal.details)
            .done(),
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
