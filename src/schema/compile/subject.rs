//! The subschema being compiled: what the keyword files read from and write to.

use std::borrow::Cow;
use std::rc::Rc;

use crate::json::{Kind, Value};
use crate::schema::error::SchemaError;
use crate::schema::names::{NameTable, index_among};
use crate::schema::options::Dialect;
use crate::schema::program::{Document, NodeId, Op, blank, kinds};

use super::build::Build;
use super::shape::{Keyword, KeywordSet, Reading, Shape};

/// A member's name as generalised UTF-8, and its value.
pub(super) type Member<'a> = (Cow<'a, [u8]>, Value<'a>);

/// A subschema being compiled.
pub(super) struct Subject {
    pub(super) document: Rc<Document>,
    pub(super) document_index: u32,
    pub(super) resource: u32,
    pub(super) reading: Reading,
    shape: Shape,
    /// Types that can satisfy it.
    pub(super) kinds: u8,
    /// Its instructions, one for each keyword, in the order of reports.
    pub(super) ops: Vec<Op>,
}

impl Subject {
    pub(super) fn new(document: Rc<Document>, document_index: u32, schema: u32) -> Self {
        let shape = Shape::of(document.value(schema));
        Subject {
            document,
            document_index,
            resource: 0,
            reading: Reading::of(Dialect::Draft2020),
            shape,
            kinds: kinds::ALL,
            ops: Vec::new(),
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.reading.dialect
    }

    /// The value of a keyword, if it is there and the schema is read by it.
    #[inline]
    pub(super) fn get(&self, keyword: Keyword) -> Option<Value<'_>> {
        if self.has(keyword) { self.written(keyword) } else { None }
    }

    /// The value of a keyword, whether the schema is read by it or not.
    pub(super) fn written(&self, keyword: Keyword) -> Option<Value<'_>> {
        Some(self.document.value(self.shape.get(keyword)?))
    }

    /// All keywords that are there.
    pub(super) fn all_written(&self) -> KeywordSet {
        self.shape.written
    }

    /// True if there are names that are no keyword of any dialect.
    pub(super) fn has_unknown(&self) -> bool {
        self.shape.has_others
    }

    /// True if a keyword is there and the schema is read by it.
    #[inline]
    pub(super) fn has(&self, keyword: Keyword) -> bool {
        self.shape.written.has(keyword) && self.reading.keywords.has(keyword)
    }

    /// True if some of these keywords are there.
    pub(super) fn has_any(&self, keywords: KeywordSet) -> bool {
        self.shape.written.meets(keywords)
    }

    /// True if it is a reference beside which nothing counts.
    pub(super) fn is_mere_reference(&self) -> bool {
        self.dialect().isolates_ref() && self.has(Keyword::Ref)
    }

    /// The value of a keyword, which must be of one kind if it is there.
    pub(super) fn get_kind(
        &self,
        build: &Build,
        keyword: Keyword,
        kind: Kind,
    ) -> Result<Option<Value<'_>>, SchemaError> {
        match self.get(keyword) {
            Some(value) if value.kind() != kind => Err(self.invalid(build, value)),
            value => Ok(value),
        }
    }

    /// A string of the schema. A lone surrogate is no text.
    pub(super) fn string<'a>(
        &self,
        build: &Build,
        value: Value<'a>,
    ) -> Result<Cow<'a, str>, SchemaError> {
        value.as_str().ok_or_else(|| self.invalid(build, value))
    }

    /// `invalid_keyword` at a value of the schema.
    pub(super) fn invalid(&self, build: &Build, value: Value<'_>) -> SchemaError {
        let at = build.pointer(self.document_index, value.position());
        SchemaError::new("invalid_keyword", at)
    }

    /// The node of a subschema that a keyword of this one applies.
    pub(super) fn node(&self, build: &mut Build, schema: Value<'_>) -> Result<NodeId, SchemaError> {
        let id = self.held(build, schema)?;
        build.note_applied(id);
        Ok(id)
    }

    /// The node of a subschema that stands in this one, applied by nothing here.
    pub(super) fn held(&self, build: &mut Build, schema: Value<'_>) -> Result<NodeId, SchemaError> {
        if !self.reading.accepts(schema) {
            return Err(self.invalid(build, schema));
        }
        build.add_node(blank(self.document_index, schema.position(), self.resource))
    }

    /// The node of a keyword whose value is a schema.
    pub(super) fn keyword_node(
        &self,
        build: &mut Build,
        keyword: Keyword,
    ) -> Result<Option<NodeId>, SchemaError> {
        self.get(keyword).map(|schema| self.node(build, schema)).transpose()
    }

    /// The node of a keyword that every dialect lets be a boolean.
    pub(super) fn additional_node(
        &self,
        build: &mut Build,
        keyword: Keyword,
    ) -> Result<Option<NodeId>, SchemaError> {
        match self.get(keyword) {
            Some(value) if value.as_bool().is_some() => build
                .add_node(blank(self.document_index, value.position(), self.resource))
                .map(Some),
            _ => self.keyword_node(build, keyword),
        }
    }

    /// The nodes of a list of schemas, which must not be empty.
    pub(super) fn list(
        &self,
        build: &mut Build,
        value: Value<'_>,
    ) -> Result<Vec<NodeId>, SchemaError> {
        if !value.is_array() || value.is_empty() {
            return Err(self.invalid(build, value));
        }
        value.elements().map(|schema| self.node(build, schema)).collect()
    }

    /// The members of an object of schemas, by name; the last of repeated names.
    pub(super) fn members<'a>(
        &self,
        build: &Build,
        value: Value<'a>,
    ) -> Result<Vec<Member<'a>>, SchemaError> {
        if !value.is_object() {
            return Err(self.invalid(build, value));
        }
        Ok(distinct(value))
    }
}

/// Members by first appearance of their names, each with its last value.
pub(super) fn distinct(object: Value<'_>) -> Vec<Member<'_>> {
    let mut table = NameTable::default();
    let mut members: Vec<Member<'_>> = Vec::new();
    for (name, value) in object.members() {
        let name = name.to_wtf8();
        let index = index_among(&mut table, &members, |member| &member.0, &name);
        match members.get_mut(index) {
            Some(member) => member.1 = value,
            None => members.push((name, value)),
        }
    }
    members
}
