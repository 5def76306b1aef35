//! The specifications of one registry.
//!
//! Invariant: ids are unique; order is that of first registration, and a replaced specification
//! keeps its place. A list is taken whole or not at all.

use crate::call::access::{self, Caller, Resource};
use crate::error::{Code, Error, Facts};
use crate::json::Value;
use crate::table::{Set, Table};

use super::id::canonical;
use super::spec::{Origin, Spec};

/// Specifications by id, in order.
#[derive(Default)]
pub struct Specs {
    entries: Vec<Spec>,
    index: Table<String, usize>,
}

impl Specs {
    /// Takes a list of specifications, whole or not at all; gives their ids. An error says which
    /// entry it concerns.
    ///
    /// # Errors
    /// As [`Spec::read`]; `invalid_arguments` with reason `operation_exists` for an id that is
    /// taken, unless it may be replaced, and for one that the list has twice.
    pub fn register(
        &mut self,
        list: Value<'_>,
        origin: Origin,
        replace: bool,
    ) -> Result<Vec<String>, Error> {
        let mut read: Vec<Spec> = Vec::new();
        let mut ids = Table::new();
        for (index, value) in list.elements().enumerate() {
            let at = |error: Error| {
                let index = u32::try_from(index).ok();
                let facts = Facts { index, ..error.get_facts().clone() };
                error.facts(facts)
            };
            let spec = Spec::read(value, origin).map_err(at)?;
            let taken = !replace && self.index.contains_key(&spec.id);
            if taken || ids.insert(spec.id.clone(), index).is_some() {
                let operation = (origin == Origin::Local).then_some(spec.id);
                let facts = Facts { operation, ..Facts::default() };
                return Err(
                    at(Error::new(Code::InvalidArguments, "operation_exists").facts(facts)),
                );
            }
            read.push(spec);
        }
        let ids = read.iter().map(|spec| spec.id.clone()).collect();
        for spec in read {
            match self.index.get(&spec.id).and_then(|&at| self.entries.get_mut(at)) {
                Some(entry) => *entry = spec,
                None => {
                    self.index.insert(spec.id.clone(), self.entries.len());
                    self.entries.push(spec);
                }
            }
        }
        Ok(ids)
    }

    /// Removes specifications by their ids.
    pub fn remove(&mut self, ids: &[String]) {
        let gone: Set<&str> = ids.iter().map(String::as_str).collect();
        self.entries.retain(|spec| !gone.contains(spec.id.as_str()));
        self.index =
            self.entries.iter().enumerate().map(|(at, spec)| (spec.id.clone(), at)).collect();
    }

    /// The specification of this id, in any of its spellings.
    pub fn get(&self, id: &str) -> Option<&Spec> {
        self.index.get(&*canonical(id)).and_then(|&at| self.entries.get(at))
    }

    /// What a caller from outside may call, on some input.
    pub fn visible(&self, caller: &Caller) -> impl Iterator<Item = &Spec> {
        self.entries.iter().filter(move |spec| {
            !spec.internal && access::check(&spec.access, caller, Resource::Any).is_ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn entry(id: &str, extra: &str) -> String {
        let (namespace, name) = id.split_once('.').unwrap();
        format!(
            r#"{{"namespace":"{namespace}","name":"{name}","version":"1","description":"","type":"query",
                "inputSchema":{{}},"accessControl":{{"requiredScopes":[]}}{extra}}}"#
        )
    }

    fn register(specs: &mut Specs, list: &[String], replace: bool) -> Result<Vec<String>, Error> {
        let text = format!("[{}]", list.join(","));
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        specs.register(tape.root(text.as_bytes()), Origin::Local, replace)
    }

    fn listed(specs: &Specs) -> Vec<&str> {
        specs.visible(&Caller::Nobody).map(Spec::id).collect()
    }

    /// AT-081, AT-086, AT-363.
    #[test]
    fn lists_are_taken_whole_and_in_order() {
        let mut specs = Specs::default();
        let three = ["b.1", "a.2", "c.3"].map(|id| entry(id, ""));
        assert_eq!(register(&mut specs, &three, false).unwrap(), ["b.1", "a.2", "c.3"]);
        let error = register(&mut specs, &[entry("d.4", ""), entry("a.2", "")], false).unwrap_err();
        assert_eq!((error.reason(), error.get_facts().index), ("operation_exists", Some(1)));
        assert_eq!(
            error.message(),
            "Operation \"a.2\": An operation of this id is registered already"
        );
        let bad = entry("e.5", r#","title":3"#);
        let error = register(&mut specs, &[entry("d.4", ""), bad], false).unwrap_err();
        assert_eq!((error.reason(), error.get_facts().index), ("spec_member", Some(1)));
        let twice = [entry("d.4", ""), entry("d.4", "")];
        assert_eq!(register(&mut specs, &twice, true).unwrap_err().reason(), "operation_exists");
        assert_eq!(listed(&specs), ["b.1", "a.2", "c.3"]);
        let hidden = entry("a.2", r#","visibility":"internal""#);
        register(&mut specs, &[entry("d.4", ""), hidden], true).unwrap();
        assert_eq!(listed(&specs), ["b.1", "c.3", "d.4"]);
        register(&mut specs, &[entry("a.2", "")], true).unwrap();
        assert_eq!(listed(&specs), ["b.1", "a.2", "c.3", "d.4"]);
        specs.remove(&["b.1".to_owned(), "x.x".to_owned()]);
        assert_eq!(listed(&specs), ["a.2", "c.3", "d.4"]);
        assert_eq!(specs.get("/c/3").map(Spec::id), Some("c.3"));
        assert!(specs.get("b.1").is_none());
    }
}
