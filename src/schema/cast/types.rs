//! Reads a schema as the types that casting knows, and writes those types as a schema of their own.
//!
//! The types are those of TypeBox 0.34, as its users' conversion from JSON Schema gives them: the
//! first keyword that is understood decides, its siblings are dropped, and what is not understood
//! accepts everything. Invariant: every type stands in `$defs` of the written schema under its
//! index, and the engine judges by it, so whether a value has a type is decided by the one engine.
//! Nothing recurses: types refer to each other by index.

use crate::error::{Code, Error, Facts};
use crate::json::{Value, pointer};
use crate::table::{Set, Table};

use super::super::options::{CompileOptions, Dialect};
use super::super::program::{NO_NODE, NodeId, Op, Place, Program};
use super::reader::{TypeReader, list};

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
        let mut reader = TypeReader::new(source, reading);
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

    /// The names that some branch of an intersection or union declares.
    pub(super) fn declared(&self, id: TypeId) -> Set<&[u8]> {
        let mut open = vec![id];
        let mut seen = Set::new();
        let mut names = Set::new();
        while let Some(id) = open.pop() {
            let id = self.resolved(id);
            if !seen.insert(id) {
                continue;
            }
            match self.get(id).map(|found| &found.kind) {
                Some(Kind::Object { members, .. }) => {
                    for member in members {
                        names.insert(member.key.as_slice());
                    }
                }
                Some(Kind::Intersect(parts) | Kind::Union(parts)) => open.extend(parts),
                _ => {}
            }
        }
        names
    }
}

/// The nodes of a program by the schema they were compiled from.
pub(super) fn nodes_by_place(program: &Program) -> Table<(u32, u32), NodeId> {
    let nodes = program.nodes.iter().enumerate();
    nodes.map(|(id, node)| ((node.document, node.position), id as NodeId)).collect()
}

/// The place that a schema's reference leads to.
pub(super) fn reference(
    program: &Program,
    nodes: &Table<(u32, u32), NodeId>,
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

/// Where the names of required members go once all types are read. No name has such quotes.
pub(super) const REQUIRED: &str = r#","required":[]"#;

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
