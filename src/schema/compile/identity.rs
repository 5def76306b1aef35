//! What a subschema says of itself: `$id` or `id`, `$schema`, and the anchors.
//!
//! Settles which resource a subschema belongs to and by which dialect it is read, before anything
//! else of it is compiled.

use std::borrow::Cow;

use crate::json::{Kind, Value};
use crate::schema::error::SchemaError;
use crate::schema::options::Dialect;
use crate::schema::program::NodeId;

use super::build::Build;
use super::resources::{RECURSIVE, Registry};
use super::shape::{Keyword, KeywordSet};
use super::subject::Subject;
use super::uri;

/// Without one of these a subschema says nothing of itself, whatever its dialect.
const IDENTITY: KeywordSet = KeywordSet::of(&[
    Keyword::Id,
    Keyword::ElderId,
    Keyword::Schema,
    Keyword::Anchor,
    Keyword::DynamicAnchor,
    Keyword::RecursiveAnchor,
]);

impl Registry {
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
        if !subject.has_any(IDENTITY) {
            return Ok(());
        }
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
            if let Some(value) = subject.get_kind(build, keyword, Kind::String)? {
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
        let recursive = subject.get_kind(build, Keyword::RecursiveAnchor, Kind::Boolean)?;
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
        let Some(value) = subject.get_kind(build, keyword, Kind::String)? else {
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
        self.by_uri.insert_new(uri.clone(), subject.resource);
        if let Some(resource) = self.resources.get_mut(subject.resource as usize) {
            resource.uri = uri;
        }
        subject.resource
    }

    fn anchor(&mut self, resource: u32, name: &str, id: NodeId) {
        if let Some(resource) = self.resources.get_mut(resource as usize) {
            resource.anchors.insert_new(name.to_owned(), id);
        }
    }

    fn dynamic_anchor(&mut self, resource: u32, name: &str, id: NodeId) {
        if let Some(resource) = self.resources.get_mut(resource as usize) {
            resource.dynamic_anchors.insert_new(name.to_owned(), id);
        }
    }
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
