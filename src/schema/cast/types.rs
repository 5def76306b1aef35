//! Reads a schema as the types that casting knows, and writes those types as a schema of their own.
//!
//! The types are those of TypeBox 0.34, as its users' conversion from JSON Schema gives them: the
//! first keyword that is understood decides, its siblings are dropped, and what is not understood
//! accepts everything. Invariant: every type stands in `$defs` of the written schema under its
//! index, and the engine judges by it, so whether a value has a type is decided by the one engine.
//! Nothing recurses: types refer to each other by index.

use std::collections::HashMap;

use crate::error::{Code, Error, Facts};
use crate::json::{Kind as JsonKind, Value, number, pointer};

use super::super::options::{CompileOptions, Dialect};
use super::super::program::{NO_NODE, NodeId, Op, Place, Program};
use super::write::quoted;

/// Index of a [`Type`].
pub(super) type TypeId = usize;

/// What a schema is read as.
#[derive(Debug)]
pub(super) enum Kind {
    /// Accepts everything.
    Unknown,
    /// Accepts nothing and cannot be cast.
    Never,
    /// A reference that the reading does not follow.
    Unresolved,
    /// Not one of the types that casting knows.
    Not,
    Object {
        members: Vec<Member>,
        rest: Rest,
    },
    Record(TypeId),
    Array(Array),
    Tuple(Vec<TypeId>),
    Union(Vec<TypeId>),
    Intersect(Vec<TypeId>),
    /// One of several values; where the first stands, and whether it is the only one.
    Literal {
        first: Place,
        only: bool,
    },
    /// `create` says whether a string can be made up, and how long it must be.
    String {
        create: bool,
        min_length: u32,
    },
    /// Where a minimum stands, which is the number made up.
    Number(Option<Place>),
    Boolean,
    Null,
    Reference(TypeId),
}

/// A declared member.
#[derive(Debug)]
pub(super) struct Member {
    /// The name as generalised UTF-8.
    pub(super) key: Vec<u8>,
    /// The name as it stands in the schema, quotes included.
    pub(super) name: Box<str>,
    pub(super) node: TypeId,
    pub(super) required: bool,
}

/// What undeclared members of an object are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rest {
    /// Whatever they are.
    Open,
    /// Of a type.
    Typed(TypeId),
    /// Of a schema that the exact reading does not understand.
    Opaque,
}

/// An array whose elements have one type.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) items: TypeId,
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) unique: bool,
    pub(super) contains: bool,
    /// `contains` is not understood by the exact reading.
    pub(super) opaque: bool,
}

#[derive(Debug)]
pub(super) struct Type {
    pub(super) kind: Kind,
    /// The schema it was read from.
    pub(super) place: Place,
    pub(super) default: Option<Place>,
    /// `const`, where it tells variants of a union apart or is what a value is made up as.
    pub(super) constant: Option<Place>,
    /// Whether an absent value has the type.
    pub(super) absent: bool,
    /// The node of the written schema.
    pub(super) node: NodeId,
}

/// How a schema is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reading {
    /// As the measured conversion does, with what it does not understand.
    pub(super) exact: bool,
    /// The schema was written by TypeBox, so that its keywords are that library's types.
    pub(super) native: bool,
}

/// The types of a schema, and the program that tells what has them. The first is the root's.
#[derive(Debug)]
pub(super) struct Types {
    pub(super) all: Vec<Type>,
    pub(super) program: Program,
}

impl Types {
    pub(super) fn read(source: &Program, reading: Reading) -> Result<Self, Error> {
        let mut reader = TypeReader {
            source,
            reading,
            nodes: nodes_by_place(source),
            by_place: HashMap::new(),
            places: Vec::new(),
            types: Vec::new(),
            texts: Vec::new(),
        };
        let root = source.node(source.root);
        reader.ask(Place { document: root.document, position: root.position });
        while let Some(&place) = reader.places.get(reader.types.len()) {
            let Some(schema) = source.value(place) else { break };
            let (kind, text) = reader.kind(place, schema);
            let default = schema.get("default").map(|value| at(place, value));
            let constant = schema.get("const").filter(|_| !reading.exact);
            let constant = constant.map(|value| at(place, value));
            reader.types.push(Type {
                kind,
                place,
                default,
                constant,
                absent: false,
                node: NO_NODE,
            });
            reader.texts.push(text);
        }
        let TypeReader { mut types, mut texts, .. } = reader;
        mark_absent(&mut types);
        for (found, text) in types.iter().zip(&mut texts) {
            if let Kind::Object { members, .. } = &found.kind {
                require(&types, members, reading, text);
            }
        }
        let program = compile(source, &texts)?;
        let nodes = nodes_by_place(&program);
        let root = program.value(Place { document: 0, position: 0 });
        let written = root.and_then(|root| root.get("$defs"));
        for (found, (_, value)) in
            types.iter_mut().zip(written.into_iter().flat_map(|defs| defs.members()))
        {
            let node = nodes.get(&(0, value.position()));
            found.node = node.copied().unwrap_or(NO_NODE);
        }
        Ok(Types { all: types, program })
    }

    pub(super) fn get(&self, id: TypeId) -> Option<&Type> {
        self.all.get(id)
    }

    /// The type behind references.
    pub(super) fn resolved(&self, mut id: TypeId) -> TypeId {
        for _ in 0..self.all.len() {
            match self.get(id) {
                Some(Type { kind: Kind::Reference(target), .. }) => id = *target,
                _ => break,
            }
        }
        id
    }

    /// True if an object of the type declares the member: any branch of an intersection does.
    pub(super) fn declares(&self, id: TypeId, key: &[u8]) -> bool {
        let mut open = vec![id];
        let mut seen = Vec::new();
        while let Some(id) = open.pop() {
            let id = self.resolved(id);
            if seen.contains(&id) {
                continue;
            }
            seen.push(id);
            match self.get(id).map(|found| &found.kind) {
                Some(Kind::Object { members, .. }) => {
                    if members.iter().any(|member| member.key == key) {
                        return true;
                    }
                }
                Some(Kind::Intersect(parts) | Kind::Union(parts)) => open.extend(parts),
                _ => {}
            }
        }
        false
    }
}

/// The nodes of a program by the schema they were compiled from.
pub(super) fn nodes_by_place(program: &Program) -> HashMap<(u32, u32), NodeId> {
    let nodes = program.nodes.iter().enumerate();
    nodes.map(|(id, node)| ((node.document, node.position), id as NodeId)).collect()
}

/// The place that a schema's reference leads to.
pub(super) fn reference(
    program: &Program,
    nodes: &HashMap<(u32, u32), NodeId>,
    place: Place,
) -> Option<Place> {
    let node = program.node(*nodes.get(&(place.document, place.position))?);
    let ops = program.ops.get(node.full.start as usize..node.full.end as usize)?;
    let target = ops.iter().find_map(|&op| match op {
        Op::Reference(target) => Some(target),
        Op::DynamicReference(index) => Some(program.dynamics.get(index as usize)?.otherwise),
        _ => None,
    })?;
    let target = program.nodes.get(target as usize)?;
    Some(Place { document: target.document, position: target.position })
}

/// True if nothing beside a `$ref` counts in the dialect.
pub(super) fn is_lone_reference(dialect: Dialect) -> bool {
    !matches!(dialect.name(), "2020-12" | "2019-09")
}

pub(super) fn at(place: Place, value: Value<'_>) -> Place {
    Place { position: value.position(), ..place }
}

/// The failure of a schema that gives no value where one must be made up.
pub(super) fn not_castable(program: &Program, place: Place, reason: &'static str) -> Error {
    let root = program.value(Place { position: 0, ..place });
    let at = root.map(|root| pointer::locate(root, place.position));
    Error::new(Code::SchemaError, reason).facts(Facts { at, ..Facts::default() })
}

fn compile(source: &Program, texts: &[String]) -> Result<Program, Error> {
    let mut text = String::from(r##"{"$ref":"#/$defs/0","$defs":{"##);
    for (index, definition) in texts.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text += &format!("\"{index}\":{definition}");
    }
    text += "}}";
    let options = CompileOptions {
        max_subschemas: usize::MAX,
        max_schema_bytes: usize::MAX,
        max_depth: source.max_depth.saturating_add(8),
        max_steps: source.max_steps,
        ..CompileOptions::default()
    };
    super::super::compile(text.as_bytes(), &options).map_err(|error| {
        let code = if error.reason == "limit" { Code::Limit } else { Code::SchemaError };
        Error::new(code, error.reason)
    })
}

/// Settles which types an absent value has: what accepts everything, alone or in a composition.
fn mark_absent(types: &mut [Type]) {
    loop {
        let mut changed = false;
        for index in (0..types.len()).rev() {
            let is = |id: &TypeId| types.get(*id).is_some_and(|found| found.absent);
            let absent = match types.get(index).map(|found| &found.kind) {
                Some(Kind::Unknown) => true,
                Some(Kind::Union(variants)) => variants.iter().any(is),
                Some(Kind::Intersect(parts)) => parts.iter().all(is),
                Some(Kind::Reference(target)) => is(target),
                _ => false,
            };
            if let Some(found) = types.get_mut(index).filter(|found| found.absent != absent) {
                found.absent = absent;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

struct TypeReader<'a> {
    source: &'a Program,
    reading: Reading,
    nodes: HashMap<(u32, u32), NodeId>,
    by_place: HashMap<(u32, u32), TypeId>,
    /// Where the types stand; those that are read already come first.
    places: Vec<Place>,
    types: Vec<Type>,
    /// Each type as a schema.
    texts: Vec<String>,
}

impl<'a> TypeReader<'a> {
    /// The index of the type of a schema, which is read later.
    fn ask(&mut self, place: Place) -> TypeId {
        let next = self.places.len();
        let key = (place.document, place.position);
        let id = *self.by_place.entry(key).or_insert(next);
        if id == next {
            self.places.push(place);
        }
        id
    }

    fn ask_all(&mut self, place: Place, values: Value<'a>) -> Vec<TypeId> {
        values.elements().map(|value| self.ask(at(place, value))).collect()
    }

    fn kind(&mut self, place: Place, schema: Value<'a>) -> (Kind, String) {
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
        let required: Vec<_> = schema
            .get("required")
            .into_iter()
            .flat_map(Value::elements)
            .filter_map(|name| Some(name.text()?.to_wtf8()))
            .collect();
        let mut members: Vec<Member> = Vec::new();
        let mut known = HashMap::new();
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
            let required = required.iter().any(|required| **required == *key);
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

/// Where the names of required members go once all types are read. No name has such quotes.
const REQUIRED: &str = r#","required":[]"#;

/// Writes which members an object must have. The measured cast asks whether what is absent has the
/// member's type, so that a choice that accepts everything is never missing.
fn require(types: &[Type], members: &[Member], reading: Reading, text: &mut String) {
    let is_missed = |node: TypeId| {
        let found = types.get(node);
        let accepts_absent =
            found.is_some_and(|found| found.absent && !matches!(found.kind, Kind::Unknown));
        !(reading.exact && accepts_absent)
    };
    let required = members.iter().filter(|member| member.required && is_missed(member.node));
    let names = list(required.map(|member| member.name.to_string()));
    *text = text.replacen(REQUIRED, &format!(r#","required":[{names}]"#), 1);
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

fn list(parts: impl Iterator<Item = String>) -> String {
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
