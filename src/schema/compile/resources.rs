//! Schema resources: identifiers, anchors, and what references lead to.
//!
//! Each compilation has its own registry: an `$id` names something within one schema and the
//! documents given with it, never beyond. Nothing is fetched. References are resolved once all
//! schemas known so far are compiled, because an identifier may stand anywhere; what they find in
//! places that no keyword made a schema becomes one.

use crate::json::{self, Limits, Value, pointer, read};
use crate::schema::error::SchemaError;
use crate::schema::options::{CompileOptions, Dialect};
use crate::schema::program::{Document, DynamicOp, NO_NODE, NodeId, Op, Place, blank};
use crate::table::Table;
use std::borrow::Cow;
use std::collections::VecDeque;

use super::build::Build;
use super::dialects::{Dialects, MetaSchema};
use super::meta;
use super::shape::{Keyword, KeywordSet, Reading};
use super::subject::Subject;
use super::uri;

const REFERENCES: KeywordSet =
    KeywordSet::of(&[Keyword::Ref, Keyword::DynamicRef, Keyword::RecursiveRef]);

/// Objects with more members are indexed when a pointer passes through them.
const INDEX_ABOVE: u32 = 32;

/// References resolved in one step of compiling.
const RESOLVED_AT_ONCE: usize = 32;

/// Times that references are asked for again because more schemas were found meanwhile.
const MAX_ROUNDS: u32 = 64;

/// A schema with a URI of its own, or the root of a document.
pub(super) struct Resource {
    pub(super) uri: String,
    pub(super) reading: Reading,
    pub(super) document: u32,
    pub(super) root: u32,
    pub(super) anchors: Table<String, NodeId>,
    /// By name; [`RECURSIVE`] for the root's `$recursiveAnchor`.
    pub(super) dynamic_anchors: Table<String, NodeId>,
}

/// How `$recursiveAnchor` is kept among dynamic anchors; no name that a reference can give.
pub(super) const RECURSIVE: &str = "#";

/// What kind of reference a keyword makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Static,
    /// `$dynamicRef`
    Dynamic,
    /// `$recursiveRef`
    Recursive,
}

/// A reference whose target is still to be found.
struct Pending {
    node: NodeId,
    document: u32,
    /// Where the keyword's value stands.
    position: u32,
    resource: u32,
    reference: String,
    /// The instruction to complete.
    op: usize,
    kind: Kind,
}

/// A reference that leads nowhere.
pub(super) struct Unresolved {
    pub(super) node: NodeId,
    /// Where the keyword's value stands.
    pub(super) place: Place,
    pub(super) target: String,
}

enum Target {
    Found(NodeId),
    /// A document was loaded or schemas were found: ask again when they are compiled.
    Later,
    Missing,
}

pub(super) struct Registry {
    pub(super) resources: Vec<Resource>,
    pub(super) by_uri: Table<String, u32>,
    /// Documents given with the schema, by URI; taken when they are loaded.
    offered: Vec<(String, Option<Vec<u8>>)>,
    pending: VecDeque<Pending>,
    /// References whose targets may yet be found, asked for again when nothing else is left.
    waiting: Vec<Pending>,
    rounds: u32,
    /// References that lead nowhere, with the schema they stand in.
    pub(super) unresolved: Vec<Unresolved>,
    /// Names of dynamic references, by index of their instruction's entry.
    dynamic_names: Vec<(usize, String)>,
    /// Members of large objects by name.
    indexed: Table<(u32, u32), Table<String, u32>>,
    dialect: Dialect,
    dialects: Dialects,
    max_depth: u32,
    max_bytes: usize,
}

impl Registry {
    pub(super) fn new(options: &mut CompileOptions) -> Self {
        let offered = std::mem::take(&mut options.resources);
        Registry {
            resources: Vec::new(),
            by_uri: Table::new(),
            offered: offered.into_iter().map(|(uri, text)| (strip(&uri), Some(text))).collect(),
            pending: VecDeque::new(),
            waiting: Vec::new(),
            rounds: 0,
            unresolved: Vec::new(),
            dynamic_names: Vec::new(),
            indexed: Table::new(),
            dialect: options.dialect,
            dialects: Dialects::new(options.dialect),
            max_depth: options.max_depth,
            max_bytes: options.max_schema_bytes,
        }
    }

    /// How the subschemas of a resource are read.
    pub(super) fn reading(&self, resource: u32) -> Reading {
        let resource = self.resources.get(resource as usize);
        resource.map_or(Reading::of(self.dialect), |resource| resource.reading)
    }

    /// How a schema with this `$schema` is read.
    pub(super) fn reading_of(&mut self, build: &Build, uri: &str) -> Option<Reading> {
        let Registry { dialects, offered, by_uri, resources, .. } = self;
        dialects.reading(uri, |uri| {
            let offered = offered.iter().find(|(offered, _)| offered == uri);
            if let Some(text) = offered.and_then(|(_, text)| text.as_ref()) {
                let fits = text.len() <= self.max_bytes;
                return fits.then(|| MetaSchema::of_text(text, self.max_depth)).flatten();
            }
            if let Some(text) = meta::document(uri) {
                return MetaSchema::of_text(text.as_bytes(), self.max_depth);
            }
            let resource = resources.get(*by_uri.get(uri)? as usize)?;
            let document = build.document(resource.document)?;
            MetaSchema::of(document.value(resource.root))
        })
    }

    /// Adds a document and queues its root.
    pub(super) fn open(
        &mut self,
        build: &mut Build,
        document: Document,
        uri: &str,
    ) -> Result<NodeId, SchemaError> {
        let root = document.value(0);
        let schema = if root.is_object() { root.get("$schema") } else { None };
        let named = schema.map(|schema| (schema.position(), schema.as_str().map(Cow::into_owned)));
        let is_boolean = !root.is_object();
        let index = build.add_document(document);
        let reading = match named {
            None => Reading::of(self.dialect),
            Some((place, Some(uri))) => match self.reading_of(build, &uri) {
                Some(reading) => reading,
                None => return Err(self.unsupported(build, index, place)),
            },
            // A `$schema` that is no string is malformed, not unknown.
            Some((place, None)) => {
                return Err(SchemaError::new("invalid_keyword", build.pointer(index, place)));
            }
        };
        if is_boolean && reading.dialect == Dialect::Draft4 {
            return Err(SchemaError::new("not_a_schema", String::new()));
        }
        let resource = self.add(uri.to_owned(), reading, index, 0);
        build.add_node(blank(index, 0, resource))
    }

    pub(super) fn unsupported(&self, build: &Build, document: u32, position: u32) -> SchemaError {
        SchemaError::new("unsupported_dialect", build.pointer(document, position))
    }

    pub(super) fn add(&mut self, uri: String, reading: Reading, document: u32, root: u32) -> u32 {
        let index = self.resources.len() as u32;
        self.by_uri.insert_new(uri.clone(), index);
        self.resources.push(Resource {
            uri,
            reading,
            document,
            root,
            anchors: Table::new(),
            dynamic_anchors: Table::new(),
        });
        index
    }

    /// References of a subschema: instructions whose targets are found later.
    pub(super) fn references(
        &mut self,
        build: &mut Build,
        subject: &mut Subject,
        id: NodeId,
    ) -> Result<(), SchemaError> {
        if !subject.has_any(REFERENCES) {
            return Ok(());
        }
        for (keyword, kind) in [
            (Keyword::Ref, Kind::Static),
            (Keyword::DynamicRef, Kind::Dynamic),
            (Keyword::RecursiveRef, Kind::Recursive),
        ] {
            let value = subject.get_kind(build, keyword, json::Kind::String)?;
            let Some(value) = value else { continue };
            let reference = subject.string(build, value)?.into_owned();
            self.pending.push_back(Pending {
                node: id,
                document: subject.document_index,
                position: value.position(),
                resource: subject.resource,
                reference,
                op: build.program.ops.len() + subject.ops.len(),
                kind,
            });
            let op = match kind {
                Kind::Static => Op::Reference(NO_NODE),
                _ => build.dynamic_reference(DynamicOp {
                    name: None,
                    otherwise: NO_NODE,
                    recursive: kind == Kind::Recursive,
                }),
            };
            subject.ops.push(op);
        }
        Ok(())
    }

    /// Finds the targets of some references, which may queue more schemas.
    pub(super) fn resolve(&mut self, build: &mut Build) -> Result<(), SchemaError> {
        if self.pending.is_empty() {
            self.rounds += 1;
            self.pending = std::mem::take(&mut self.waiting).into();
        }
        for _ in 0..RESOLVED_AT_ONCE {
            let Some(pending) = self.pending.pop_front() else { break };
            match self.target(build, &pending)? {
                Target::Found(target) => self.complete(build, &pending, target),
                Target::Later if self.rounds < MAX_ROUNDS => self.waiting.push(pending),
                Target::Later | Target::Missing => {
                    self.unresolved.push(Unresolved {
                        node: pending.node,
                        place: Place { document: pending.document, position: pending.position },
                        target: pending.reference,
                    });
                }
            }
        }
        Ok(())
    }

    /// True if all references were asked for and answered.
    pub(super) fn is_settled(&self) -> bool {
        self.pending.is_empty() && self.waiting.is_empty()
    }

    fn complete(&mut self, build: &mut Build, pending: &Pending, target: NodeId) {
        match build.program.ops.get_mut(pending.op) {
            Some(Op::Reference(node)) => *node = target,
            Some(Op::DynamicReference(index)) => {
                let index = *index as usize;
                if let Some(op) = build.program.dynamics.get_mut(index) {
                    op.otherwise = target;
                }
                let name = match pending.kind {
                    Kind::Recursive => RECURSIVE,
                    _ => uri::split_fragment(&pending.reference).1.unwrap_or(""),
                };
                let resource = build.node(target).resource;
                let dynamic = self
                    .resources
                    .get(resource as usize)
                    .is_some_and(|resource| resource.dynamic_anchors.get(name) == Some(&target));
                if dynamic {
                    self.dynamic_names.push((index, name.to_owned()));
                }
            }
            _ => {}
        }
    }

    /// Once everything is compiled: what each dynamic reference may lead to.
    pub(super) fn finish(&mut self, build: &mut Build) {
        let mut known: Table<String, Option<u32>> = Table::new();
        let outermost = build.node(build.program.root).resource;
        for (index, name) in std::mem::take(&mut self.dynamic_names) {
            // Every judgement begins in the root's resource.
            let root = self.resources.get(outermost as usize);
            if let Some(&node) = root.and_then(|root| root.dynamic_anchors.get(&name)) {
                if let Some(op) = build.program.dynamics.get_mut(index) {
                    op.otherwise = node;
                }
                continue;
            }
            let listed = match known.get(&name) {
                Some(&listed) => listed,
                None => {
                    let listed = self.list_candidates(build, &name);
                    known.insert(name, listed);
                    listed
                }
            };
            if let Some(op) = build.program.dynamics.get_mut(index) {
                op.name = listed;
            }
        }
    }

    /// Notes the schemas of a dynamic anchor's name, if there are several.
    fn list_candidates(&self, build: &mut Build, name: &str) -> Option<u32> {
        let resources = self.resources.iter().enumerate();
        let candidates: Vec<_> = resources
            .filter_map(|(index, entry)| Some((index as u32, *entry.dynamic_anchors.get(name)?)))
            .collect();
        // One candidate is what the reference leads to anyway.
        (candidates.len() > 1).then(|| {
            build.program.dynamic_names.push(candidates);
            build.program.dynamic_names.len() as u32 - 1
        })
    }

    fn target(&mut self, build: &mut Build, pending: &Pending) -> Result<Target, SchemaError> {
        let (reference, fragment) = uri::split_fragment(&pending.reference);
        let resource = if reference.is_empty() {
            Some(pending.resource)
        } else {
            let base = self.resources.get(pending.resource as usize);
            let absolute = uri::resolve(base.map_or("", |base| base.uri.as_str()), reference);
            match self.by_uri.get(&absolute).copied() {
                Some(resource) => Some(resource),
                None if self.load(build, &absolute)? => return Ok(Target::Later),
                None => None,
            }
        };
        let missing = if build.has_work() { Target::Later } else { Target::Missing };
        let Some(resource) = resource else { return Ok(missing) };
        let Some(fragment) = uri::decode(fragment.unwrap_or("")) else {
            return Ok(Target::Missing);
        };
        let found = match pointer::tokens(&fragment) {
            Some(tokens) => self.follow(build, resource, &tokens)?,
            None => {
                let entry = self.resources.get(resource as usize);
                entry.and_then(|entry| entry.anchors.get(&*fragment).copied())
            }
        };
        Ok(found.map_or(missing, Target::Found))
    }

    /// Loads the document of a URI, if there is one.
    fn load(&mut self, build: &mut Build, uri: &str) -> Result<bool, SchemaError> {
        let offered = self.offered.iter_mut().find(|(offered, _)| offered == uri);
        if let Some(text) = offered.and_then(|(_, text)| text.take()) {
            self.open_text(build, uri, text)?;
            return Ok(true);
        }
        if let Some(text) = meta::document(uri) {
            self.open_text(build, uri, text.as_bytes().to_vec())?;
            return Ok(true);
        }
        Ok(false)
    }

    fn open_text(
        &mut self,
        build: &mut Build,
        uri: &str,
        bytes: Vec<u8>,
    ) -> Result<(), SchemaError> {
        let failed = |reason| Err(SchemaError::new(reason, String::new()));
        if bytes.len() > self.max_bytes {
            return failed("limit");
        }
        let Ok(tape) = read(&bytes, Limits::depth(self.max_depth)) else {
            return failed("not_a_schema");
        };
        if tape.is_too_deep() {
            return failed("limit");
        }
        let document = Document { bytes, tape };
        if !document.value(0).is_object() && document.value(0).as_bool().is_none() {
            return failed("not_a_schema");
        }
        self.open(build, document, uri)?;
        Ok(())
    }

    /// Follows a pointer from a resource's root. Resources on the way change the base.
    fn follow(
        &mut self,
        build: &mut Build,
        resource: u32,
        tokens: &[Cow<'_, str>],
    ) -> Result<Option<NodeId>, SchemaError> {
        let Some(entry) = self.resources.get(resource as usize) else { return Ok(None) };
        let index = entry.document;
        let Some(document) = build.document(index) else { return Ok(None) };
        let mut value = document.value(entry.root);
        let mut resource = resource;
        for token in tokens {
            let next = match self.member(index, value, token) {
                Some(position) => Some(document.value(position)),
                None => pointer::child(value, token),
            };
            let Some(next) = next else { return Ok(None) };
            value = next;
            if let Some(node) = build.node_at(index, value.position()) {
                resource = build.node(node).resource;
            }
        }
        if let Some(node) = build.node_at(index, value.position()) {
            return Ok(Some(node));
        }
        if !self.reading(resource).accepts(value) {
            return Ok(None);
        }
        build.add_node(blank(index, value.position(), resource)).map(Some)
    }

    /// A member of a large object by name, or an element of a large array, through an index.
    fn member(&mut self, document: u32, object: Value<'_>, name: &str) -> Option<u32> {
        if object.len() <= INDEX_ABOVE {
            return None;
        }
        let key = (document, object.position());
        if !self.indexed.contains_key(&key) {
            let members = object.members();
            let places =
                members.map(|(name, value)| (name.to_str().into_owned(), value.position()));
            let elements = object.elements().enumerate();
            let elements = elements.map(|(index, value)| (index.to_string(), value.position()));
            self.indexed.insert(key, places.chain(elements).collect());
        }
        self.indexed.get(&key)?.get(name).copied()
    }
}

fn strip(uri: &str) -> String {
    uri.strip_suffix('#').unwrap_or(uri).to_owned()
}
