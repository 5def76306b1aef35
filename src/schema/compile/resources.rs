//! Schema resources: identifiers, anchors, and what references lead to.
//!
//! Each compilation has its own registry: an `$id` names something within one schema and the
//! documents given with it, never beyond. Nothing is fetched. References are resolved once all
//! schemas known so far are compiled, because an identifier may stand anywhere; what they find in
//! places that no keyword made a schema becomes one.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::json::{self, Limits, Value, pointer, read};
use crate::schema::error::SchemaError;
use crate::schema::options::{CompileOptions, Dialect};
use crate::schema::program::{Document, DynamicOp, NO_NODE, NodeId, Op, Place, blank};

use super::build::Build;
use super::dialects::{Dialects, MetaSchema};
use super::meta;
use super::shape::{Keyword, Reading};
use super::subject::Subject;
use super::uri;

/// Objects with more members are indexed when a pointer passes through them.
const INDEX_ABOVE: u32 = 32;

/// Times that references are asked for again because more schemas were found meanwhile.
const MAX_ROUNDS: u32 = 64;

/// A schema with a URI of its own, or the root of a document.
struct Resource {
    uri: String,
    reading: Reading,
    document: u32,
    root: u32,
    anchors: HashMap<String, NodeId>,
    /// By name; [`RECURSIVE`] for the root's `$recursiveAnchor`.
    dynamic_anchors: HashMap<String, NodeId>,
}

/// How `$recursiveAnchor` is kept among dynamic anchors; no name that a reference can give.
const RECURSIVE: &str = "#";

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
    resources: Vec<Resource>,
    by_uri: HashMap<String, u32>,
    /// Documents given with the schema, by URI; taken when they are loaded.
    offered: Vec<(String, Option<Vec<u8>>)>,
    pending: Vec<Pending>,
    /// References whose targets may yet be found, asked for again when nothing else is left.
    waiting: Vec<Pending>,
    rounds: u32,
    /// References that lead nowhere, with the schema they stand in.
    pub(super) unresolved: Vec<Unresolved>,
    /// Names of dynamic references, by index of their instruction's entry.
    dynamic_names: Vec<(usize, String)>,
    /// Members of large objects by name.
    indexed: HashMap<(u32, u32), HashMap<String, u32>>,
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
            by_uri: HashMap::new(),
            offered: offered.into_iter().map(|(uri, text)| (strip(&uri), Some(text))).collect(),
            pending: Vec::new(),
            waiting: Vec::new(),
            rounds: 0,
            unresolved: Vec::new(),
            dynamic_names: Vec::new(),
            indexed: HashMap::new(),
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
    fn reading_of(&mut self, build: &Build, uri: &str) -> Option<Reading> {
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

    fn unsupported(&self, build: &Build, document: u32, position: u32) -> SchemaError {
        SchemaError::new("unsupported_dialect", build.pointer(document, position))
    }

    fn add(&mut self, uri: String, reading: Reading, document: u32, root: u32) -> u32 {
        let index = self.resources.len() as u32;
        self.by_uri.entry(uri.clone()).or_insert(index);
        self.resources.push(Resource {
            uri,
            reading,
            document,
            root,
            anchors: HashMap::new(),
            dynamic_anchors: HashMap::new(),
        });
        index
    }

    /// Reads `$id`, `$schema` and the anchors of a subschema, and settles its resource.
    pub(super) fn identify(
        &mut self,
        build: &mut Build,
        subject: &mut Subject,
        id: NodeId,
    ) -> Result<(), SchemaError> {
        let node = build.node(id);
        subject.resource = node.resource;
        subject.reading = self.reading(node.resource);
        let mut is_root = self.is_root(node.resource, node.document, node.position);
        let mut identifier = None;
        if !is_root {
            // A resource within another may be of another dialect, which says how it is named.
            identifier = self.embedded(build, subject)?;
            is_root = identifier.is_some();
        }
        if subject.is_mere_reference() {
            // What stands beside the reference does not count.
            return Ok(());
        }
        if identifier.is_none() {
            identifier = self.identifier(build, subject)?;
        }
        if let Some(text) = identifier {
            let (reference, fragment) = uri::split_fragment(&text);
            if !reference.is_empty() {
                subject.resource = self.enter(subject, node.position, reference);
                is_root = true;
            }
            if let Some(name) = fragment.filter(|fragment| !fragment.is_empty()) {
                self.anchor(subject.resource, name, id);
            }
        }
        if let Some(node) = build.node_mut(id) {
            node.resource = subject.resource;
        }
        for (keyword, dynamic) in [(Keyword::Anchor, false), (Keyword::DynamicAnchor, true)] {
            if let Some(value) = subject.get_kind(build, keyword, json::Kind::String)? {
                let name = subject.string(build, value)?;
                if !is_anchor(&name, subject.dialect()) {
                    return Err(subject.invalid(build, value));
                }
                self.anchor(subject.resource, &name, id);
                if dynamic {
                    self.dynamic_anchor(subject.resource, &name, id);
                }
            }
        }
        let recursive = subject.get_kind(build, Keyword::RecursiveAnchor, json::Kind::Boolean)?;
        if is_root && recursive.and_then(Value::as_bool) == Some(true) {
            self.dynamic_anchor(subject.resource, RECURSIVE, id);
        }
        Ok(())
    }

    fn is_root(&self, resource: u32, document: u32, position: u32) -> bool {
        let resource = self.resources.get(resource as usize);
        resource.is_some_and(|entry| entry.document == document && entry.root == position)
    }

    /// The identifier of a subschema that declares a dialect and, read by it, opens a resource; the
    /// subject is read by that dialect from then on.
    fn embedded(
        &mut self,
        build: &Build,
        subject: &mut Subject,
    ) -> Result<Option<String>, SchemaError> {
        let Some(value) = subject.written(Keyword::Schema) else { return Ok(None) };
        let place = value.position();
        let Some(uri) = value.as_str().map(Cow::into_owned) else { return Ok(None) };
        let outer = subject.reading;
        let declared = self.reading_of(build, &uri);
        for reading in [declared, Some(outer)].into_iter().flatten() {
            subject.reading = reading;
            if subject.is_mere_reference() {
                continue;
            }
            let identifier = self.identifier(build, subject)?;
            let opens = |text: &String| !uri::split_fragment(text).0.is_empty();
            if let Some(identifier) = identifier.filter(opens) {
                subject.reading = declared
                    .ok_or_else(|| self.unsupported(build, subject.document_index, place))?;
                return Ok(Some(identifier));
            }
        }
        subject.reading = outer;
        Ok(None)
    }

    /// The identifier of a subschema as its dialect writes it.
    fn identifier(&self, build: &Build, subject: &Subject) -> Result<Option<String>, SchemaError> {
        let keyword = match subject.dialect() {
            Dialect::Draft4 => Keyword::ElderId,
            _ => Keyword::Id,
        };
        let Some(value) = subject.get_kind(build, keyword, json::Kind::String)? else {
            return Ok(None);
        };
        let text = subject.string(build, value)?;
        let fragment = uri::split_fragment(&text).1;
        let names = fragment.is_some_and(|fragment| !fragment.is_empty());
        // There are keywords for names since 2019-09.
        if names && subject.dialect() >= Dialect::Draft2019 {
            return Err(subject.invalid(build, value));
        }
        Ok(Some(text.into_owned()))
    }

    /// The resource that an identifier opens or, at the root of one, names.
    fn enter(&mut self, subject: &Subject, position: u32, reference: &str) -> u32 {
        let base = self.resources.get(subject.resource as usize);
        let uri = uri::resolve(base.map_or("", |base| base.uri.as_str()), reference);
        if !self.is_root(subject.resource, subject.document_index, position) {
            return self.add(uri, subject.reading, subject.document_index, position);
        }
        self.by_uri.entry(uri.clone()).or_insert(subject.resource);
        if let Some(resource) = self.resources.get_mut(subject.resource as usize) {
            resource.uri = uri;
        }
        subject.resource
    }

    fn anchor(&mut self, resource: u32, name: &str, id: NodeId) {
        if let Some(resource) = self.resources.get_mut(resource as usize) {
            resource.anchors.entry(name.to_owned()).or_insert(id);
        }
    }

    fn dynamic_anchor(&mut self, resource: u32, name: &str, id: NodeId) {
        if let Some(resource) = self.resources.get_mut(resource as usize) {
            resource.dynamic_anchors.entry(name.to_owned()).or_insert(id);
        }
    }

    /// References of a subschema: instructions whose targets are found later.
    pub(super) fn references(
        &mut self,
        build: &mut Build,
        subject: &mut Subject,
        id: NodeId,
    ) -> Result<(), SchemaError> {
        for (keyword, kind) in [
            (Keyword::Ref, Kind::Static),
            (Keyword::DynamicRef, Kind::Dynamic),
            (Keyword::RecursiveRef, Kind::Recursive),
        ] {
            let value = subject.get_kind(build, keyword, json::Kind::String)?;
            let Some(value) = value else { continue };
            let reference = subject.string(build, value)?.into_owned();
            self.pending.push(Pending {
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

    /// Finds the targets of all references so far, which may queue more schemas.
    pub(super) fn resolve(&mut self, build: &mut Build) -> Result<(), SchemaError> {
        if self.pending.is_empty() {
            self.rounds += 1;
            self.pending = std::mem::take(&mut self.waiting);
        }
        for pending in std::mem::take(&mut self.pending) {
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
        let mut known: HashMap<String, Option<u32>> = HashMap::new();
        for (index, name) in std::mem::take(&mut self.dynamic_names) {
            let name = *known.entry(name).or_insert_with_key(|name| {
                let resources = self.resources.iter().enumerate();
                let candidates: Vec<_> = resources
                    .filter_map(|(index, entry)| {
                        Some((index as u32, *entry.dynamic_anchors.get(name)?))
                    })
                    .collect();
                // One candidate is what the reference leads to anyway.
                (candidates.len() > 1).then(|| {
                    build.program.dynamic_names.push(candidates);
                    build.program.dynamic_names.len() as u32 - 1
                })
            });
            if let Some(op) = build.program.dynamics.get_mut(index) {
                op.name = name;
            }
        }
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
        let may_be_boolean = self.reading(resource).dialect > Dialect::Draft4;
        if !value.is_object() && !(may_be_boolean && value.as_bool().is_some()) {
            return Ok(None);
        }
        build.add_node(blank(index, value.position(), resource)).map(Some)
    }

    /// A member of a large object by name, through an index.
    fn member(&mut self, document: u32, object: Value<'_>, name: &str) -> Option<u32> {
        if !object.is_object() || object.len() <= INDEX_ABOVE {
            return None;
        }
        let index = self.indexed.entry((document, object.position())).or_insert_with(|| {
            let members = object.members();
            members.map(|(name, value)| (name.to_str().into_owned(), value.position())).collect()
        });
        index.get(name).copied()
    }
}

fn strip(uri: &str) -> String {
    uri.strip_suffix('#').unwrap_or(uri).to_owned()
}

/// A plain name as `$anchor` wants it.
fn is_anchor(name: &str, dialect: Dialect) -> bool {
    let (first, others): (&[u8], &[u8]) = match dialect {
        Dialect::Draft2020 => (b"_", b"-._"),
        _ => (b"", b"-.:_"),
    };
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || first.contains(&byte))
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
}
