//! Reads one schema after the other: which type it is, and that type as a schema.
//!
//! Invariant: a type refers to others by index only, and a place is read once.

use crate::json::{Kind as JsonKind, Value, number};
use crate::table::Table;

use super::super::names::NameTable;
use super::super::program::{NodeId, Place, Program};
use super::types::{
    Array, Kind, Member, REQUIRED, Reading, Rest, Type, TypeId, at, is_lone_reference,
    nodes_by_place, reference,
};
use super::write::quoted;

pub(super) struct TypeReader<'a> {
    pub(super) source: &'a Program,
    pub(super) reading: Reading,
    pub(super) nodes: Table<(u32, u32), NodeId>,
    pub(super) by_place: Table<(u32, u32), TypeId>,
    /// Where the types stand; those that are read already come first.
    pub(super) places: Vec<Place>,
    pub(super) types: Vec<Type>,
    /// Each type as a schema.
    pub(super) texts: Vec<String>,
}

impl<'a> TypeReader<'a> {
    pub(super) fn new(source: &'a Program, reading: Reading) -> Self {
        TypeReader {
            source,
            reading,
            nodes: nodes_by_place(source),
            by_place: Table::new(),
            places: Vec::new(),
            types: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// The index of the type of a schema, which is read later.
    pub(super) fn ask(&mut self, place: Place) -> TypeId {
        let next = self.places.len();
        let key = (place.document, place.position);
        if let Some(&id) = self.by_place.get(&key) {
            return id;
        }
        self.by_place.insert(key, next);
        self.places.push(place);
        next
    }

    fn ask_all(&mut self, place: Place, values: Value<'a>) -> Vec<TypeId> {
        values.elements().map(|value| self.ask(at(place, value))).collect()
    }

    pub(super) fn kind(&mut self, place: Place, schema: Value<'a>) -> (Kind, String) {
        if schema.as_bool() == Some(false) {
            return never();
        }
        let is = |name: &str, kind: JsonKind| schema.get(name).filter(|value| value.kind() == kind);
        if !self.reading.exact
            && is("$ref", JsonKind::String).is_some()
            && is_lone_reference(self.source.dialect)
        {
            return self.reference(place, schema);
        }
        if let Some(parts) = is("allOf", JsonKind::Array) {
            let parts = self.ask_all(place, parts);
            let text = composed("allOf", &parts);
            return match parts.as_slice() {
                [] => unknown(),
                &[one] => (Kind::Reference(one), referring(one)),
                _ => (Kind::Intersect(parts), text),
            };
        }
        for name in ["anyOf", "oneOf"] {
            if let Some(variants) = is(name, JsonKind::Array) {
                return self.union(place, variants);
            }
        }
        if let Some(values) = is("enum", JsonKind::Array).filter(|&values| is_literals(values)) {
            return self.literals(place, values);
        }
        let named = schema.get("type").and_then(|name| name.as_str()).unwrap_or_default();
        match &*named {
            "object" if is("properties", JsonKind::Object).is_some() => {
                return self.object(place, schema);
            }
            "object" => {
                if let Some(found) = self.record(place, schema) {
                    return found;
                }
            }
            "array" => {
                if let Some(found) = self.array(place, schema) {
                    return found;
                }
            }
            _ => {}
        }
        if let Some(constant) = schema.get("const")
            && (self.reading.native || constant.is_object())
        {
            let text = format!(r#"{{"const":{}}}"#, constant.raw());
            return (Kind::Literal { first: at(place, constant), only: true }, text);
        }
        if is("$ref", JsonKind::String).or(is("$dynamicRef", JsonKind::String)).is_some() {
            return self.reference(place, schema);
        }
        self.scalar(place, schema, &named)
    }

    fn reference(&mut self, place: Place, schema: Value<'a>) -> (Kind, String) {
        let written = schema.get("$ref").and_then(|target| target.as_str());
        // The conversion takes a reference for the name of a type: a path names none.
        let is_path = written.is_some_and(|target| target.contains('/'));
        match reference(self.source, &self.nodes, place) {
            _ if is_path && self.reading.exact && !self.reading.native => {
                (Kind::Unresolved, "false".to_owned())
            }
            Some(target) => {
                let target = self.ask(target);
                (Kind::Reference(target), referring(target))
            }
            // The engine does not read it as a reference either.
            None => unknown(),
        }
    }

    fn union(&mut self, place: Place, variants: Value<'a>) -> (Kind, String) {
        // Variants that are constants and nothing else are an enumeration.
        let constant = |variant: Value<'a>| variant.get("const").filter(|_| variant.len() == 1);
        if !variants.is_empty()
            && variants.elements().all(|variant| constant(variant).is_some_and(is_literal))
        {
            let constants = variants.elements().filter_map(constant).map(Value::raw);
            let text = format!(r#"{{"enum":[{}]}}"#, constants.collect::<Vec<_>>().join(","));
            let first = variants.elements().find_map(constant).unwrap_or(variants);
            let only = variants.len() == 1;
            return (Kind::Literal { first: at(place, first), only }, text);
        }
        let variants = self.ask_all(place, variants);
        let text = composed("anyOf", &variants);
        match variants.as_slice() {
            [] => never(),
            &[one] => (Kind::Reference(one), referring(one)),
            _ => (Kind::Union(variants), text),
        }
    }

    /// An enumeration: of one that does not match the first is made.
    fn literals(&mut self, place: Place, values: Value<'a>) -> (Kind, String) {
        let first = values.at(0).map_or(place, |value| at(place, value));
        let text = format!(r#"{{"enum":{}}}"#, values.raw());
        (Kind::Literal { first, only: values.len() == 1 }, text)
    }

    fn object(&mut self, place: Place, schema: Value<'a>) -> (Kind, String) {
        let required = schema.get("required").into_iter().flat_map(Value::elements);
        let required = NameTable::new(required.filter_map(|name| Some(name.text()?.to_wtf8())));
        let mut members: Vec<Member> = Vec::new();
        let mut known = Table::new();
        for (name, value) in schema.get("properties").into_iter().flat_map(Value::members) {
            let key = name.to_wtf8().into_owned();
            let node = self.ask(at(place, value));
            // Of a repeated name the last counts.
            if let Some(member) = known.get(&key).and_then(|&index: &usize| members.get_mut(index))
            {
                member.node = node;
                continue;
            }
            known.insert(key.clone(), members.len());
            let required = required.find(name, 0).is_some();
            members.push(Member { required, name: quoted(name), key, node });
        }
        let mut text = String::from(r#"{"type":"object","properties":{"#);
        text += &list(
            members.iter().map(|member| format!("{}:{}", member.name, referring(member.node))),
        );
        text.push('}');
        text += REQUIRED;
        let rest = self.rest(place, schema, &mut text);
        copy_counts(schema, &["minProperties", "maxProperties"], &mut text);
        text += "}";
        (Kind::Object { members, rest }, text)
    }

    fn rest(&mut self, place: Place, schema: Value<'a>, text: &mut String) -> Rest {
        let Some(rest) = schema.get("additionalProperties") else { return Rest::Open };
        if rest.as_bool() == Some(false) {
            *text += r#","additionalProperties":false"#;
            if !self.reading.exact
                && let Some(patterns) = schema.get("patternProperties")
            {
                // Names that a pattern allows are not refused.
                let patterns = patterns.members().map(|(name, _)| format!("{}:true", quoted(name)));
                *text += &format!(r#","patternProperties":{{{}}}"#, list(patterns));
            }
            return Rest::Open;
        }
        if !rest.is_object() {
            return Rest::Open;
        }
        if self.reading.exact && !self.reading.native && !rest.is_empty() {
            *text += r#","additionalProperties":false"#;
            return Rest::Opaque;
        }
        let node = self.ask(at(place, rest));
        if self.reading.exact || schema.get("patternProperties").is_none() {
            *text += &format!(r#","additionalProperties":{}"#, referring(node));
            return Rest::Typed(node);
        }
        Rest::Open
    }

    /// An object without declared members whose members have one type.
    fn record(&mut self, place: Place, schema: Value<'a>) -> Option<(Kind, String)> {
        let patterns = schema.get("patternProperties").filter(|patterns| patterns.len() == 1);
        if let Some((pattern, value)) = patterns.and_then(|patterns| patterns.members().next()) {
            let node = self.ask(at(place, value));
            let (pattern, to) = (quoted(pattern), referring(node));
            let mut text = format!(r#"{{"type":"object","patternProperties":{{{pattern}:{to}}}"#);
            if schema.get("additionalProperties").and_then(Value::as_bool) == Some(false) {
                text += r#","additionalProperties":false"#;
            }
            text.push('}');
            return Some((Kind::Record(node), text));
        }
        let rest = schema.get("additionalProperties").filter(|rest| rest.is_object())?;
        if rest.is_empty() {
            return None;
        }
        let node = self.ask(at(place, rest));
        let to = referring(node);
        Some((Kind::Record(node), format!(r#"{{"type":"object","additionalProperties":{to}}}"#)))
    }

    fn array(&mut self, place: Place, schema: Value<'a>) -> Option<(Kind, String)> {
        let items = schema.get("items")?;
        if items.is_array() {
            let parts = self.ask_all(place, items);
            let count = parts.len();
            let listed = list(parts.iter().map(|&part| referring(part)));
            let text = match count {
                0 => r#"{"type":"array","maxItems":0}"#.to_owned(),
                _ => format!(
                    r#"{{"type":"array","prefixItems":[{listed}],"minItems":{count},"maxItems":{count}}}"#
                ),
            };
            return Some((Kind::Tuple(parts), text));
        }
        if !items.is_object() {
            return None;
        }
        let node = self.ask(at(place, items));
        let mut text = format!(r#"{{"type":"array","items":{}"#, referring(node));
        let unique = schema.get("uniqueItems").and_then(Value::as_bool) == Some(true);
        if unique {
            text += r#","uniqueItems":true"#;
        }
        let contains = schema.get("contains");
        let opaque = contains.is_some() && self.reading.exact && !self.reading.native;
        if let Some(contains) = contains {
            let node = self.ask(at(place, contains));
            let to = if opaque { "false".to_owned() } else { referring(node) };
            text += &format!(r#","contains":{to}"#);
            if !opaque {
                copy_counts(schema, &["minContains", "maxContains"], &mut text);
            }
        }
        copy_counts(schema, &["minItems", "maxItems"], &mut text);
        text.push('}');
        let array = Array {
            items: node,
            min: count(schema, "minItems").unwrap_or(0),
            max: count(schema, "maxItems").unwrap_or(usize::MAX),
            unique,
            contains: contains.is_some(),
            opaque,
        };
        Some((Kind::Array(array), text))
    }

    fn scalar(&mut self, place: Place, schema: Value<'a>, named: &str) -> (Kind, String) {
        match named {
            "string" => {
                let has = |name: &str| schema.get(name).is_some_and(Value::is_string);
                let mut text = String::from(r#"{"type":"string""#);
                if self.reading.exact && has("format") {
                    // No format is registered there: no string has one.
                    text += r#","not":true"#;
                }
                if let Some(pattern) = schema.get("pattern").filter(|pattern| pattern.is_string()) {
                    text += &format!(r#","pattern":{}"#, pattern.raw());
                }
                copy_counts(schema, &["minLength", "maxLength"], &mut text);
                text.push('}');
                let min_length = count(schema, "minLength").unwrap_or(0);
                let min_length = u32::try_from(min_length).unwrap_or(u32::MAX);
                let create = !has("pattern") && !has("format");
                (Kind::String { create, min_length }, text)
            }
            "number" | "integer" => {
                let mut text = format!(r#"{{"type":"{named}""#);
                let limits =
                    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
                for name in limits {
                    if let Some(limit) = schema.get(name).and_then(Value::number) {
                        text += &format!(r#","{name}":{limit}"#);
                    }
                }
                text.push('}');
                let minimum = schema.get("minimum").filter(|value| value.number().is_some());
                (Kind::Number(minimum.map(|value| at(place, value))), text)
            }
            "boolean" => (Kind::Boolean, r#"{"type":"boolean"}"#.to_owned()),
            "null" => (Kind::Null, r#"{"type":"null"}"#.to_owned()),
            _ => match schema.get("not").filter(|_| schema.get("type").is_none()) {
                Some(not) if not.as_bool() == Some(true) => never(),
                Some(not) if not.is_object() && not.is_empty() => never(),
                Some(not) => {
                    let node = self.ask(at(place, not));
                    (Kind::Not, format!(r#"{{"not":{}}}"#, referring(node)))
                }
                None => unknown(),
            },
        }
    }
}

fn unknown() -> (Kind, String) {
    (Kind::Unknown, "true".to_owned())
}

fn never() -> (Kind, String) {
    (Kind::Never, "false".to_owned())
}

fn referring(node: TypeId) -> String {
    format!(r##"{{"$ref":"#/$defs/{node}"}}"##)
}

fn composed(keyword: &str, parts: &[TypeId]) -> String {
    format!(r#"{{"{keyword}":[{}]}}"#, list(parts.iter().map(|&part| referring(part))))
}

pub(super) fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(",")
}

/// True for values that an enumeration may have.
fn is_literals(values: Value<'_>) -> bool {
    !values.is_empty() && values.elements().all(is_literal)
}

fn is_literal(value: Value<'_>) -> bool {
    matches!(value.kind(), JsonKind::String | JsonKind::Number | JsonKind::Boolean)
}

/// A keyword's count, if it is one.
fn count(schema: Value<'_>, name: &str) -> Option<usize> {
    let text = schema.get(name)?.number()?;
    let small = number::small(text.as_bytes()).or_else(|| {
        // Beyond what a container can hold, however written.
        number::is_integer(text.as_bytes()).then(|| number::double(text) as i64)
    })?;
    usize::try_from(small).ok()
}

fn copy_counts(schema: Value<'_>, names: &[&str], text: &mut String) {
    for name in names {
        if let Some(count) = count(schema, name) {
            *text += &format!(r#","{name}":{count}"#);
        }
    }
}
