//! Keywords that apply subschemas to the value itself, and places that only hold schemas.

use crate::json::Kind;
use crate::schema::error::SchemaError;
use crate::schema::program::{IfOp, NO_NODE, Op};

use super::build::Build;
use super::shape::{Keyword, KeywordSet};
use super::subject::Subject;

/// What is applied to the value itself.
const APPLICATORS: KeywordSet = KeywordSet::of(&[
    Keyword::AllOf,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Not,
    Keyword::If,
    Keyword::Then,
    Keyword::Else,
]);

/// `allOf`, `anyOf`, `oneOf`, `not`, `if`.
pub(super) fn applicators(build: &mut Build, subject: &mut Subject) -> Result<(), SchemaError> {
    if !subject.has_any(APPLICATORS) {
        return Ok(());
    }
    let mut ops = std::mem::take(&mut subject.ops);
    for (keyword, op) in [
        (Keyword::AllOf, Op::AllOf as fn(_) -> Op),
        (Keyword::AnyOf, Op::AnyOf),
        (Keyword::OneOf, Op::OneOf),
    ] {
        if let Some(value) = subject.get(keyword) {
            let nodes = subject.list(build, value)?;
            ops.push(op(build.list(&nodes)));
        }
    }
    if let Some(node) = subject.keyword_node(build, Keyword::Not)? {
        ops.push(Op::Not(node));
    }
    let condition = subject.keyword_node(build, Keyword::If)?;
    let then = subject.keyword_node(build, Keyword::Then)?.unwrap_or(NO_NODE);
    let otherwise = subject.keyword_node(build, Keyword::Else)?.unwrap_or(NO_NODE);
    if let Some(condition) = condition {
        ops.push(build.conditional(IfOp { condition, then, otherwise }));
    }
    subject.ops = ops;
    Ok(())
}

/// `unevaluatedItems` and `unevaluatedProperties`: last, because they ask what the others did.
pub(super) fn unevaluated(build: &mut Build, subject: &mut Subject) -> Result<(), SchemaError> {
    if let Some(node) = subject.keyword_node(build, Keyword::UnevaluatedItems)? {
        subject.ops.push(Op::UnevaluatedItems(node));
    }
    if let Some(node) = subject.keyword_node(build, Keyword::UnevaluatedProperties)? {
        subject.ops.push(Op::UnevaluatedProperties(node));
    }
    Ok(())
}

/// Places that only hold schemas.
const HOLDERS: KeywordSet =
    KeywordSet::of(&[Keyword::Defs, Keyword::Definitions, Keyword::ContentSchema]);

/// `$defs`, `definitions`, `contentSchema`: schemas that are applied by nothing here.
pub(super) fn definitions(build: &mut Build, subject: &Subject) -> Result<(), SchemaError> {
    if !subject.has_any(HOLDERS) {
        return Ok(());
    }
    for keyword in [Keyword::Defs, Keyword::Definitions] {
        if let Some(value) = subject.get_kind(build, keyword, Kind::Object)? {
            for (_, schema) in subject.members(build, value)? {
                subject.held(build, schema)?;
            }
        }
    }
    if let Some(schema) = subject.get(Keyword::ContentSchema) {
        subject.held(build, schema)?;
    }
    Ok(())
}
