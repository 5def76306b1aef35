//! Keywords over the elements of an array.

use crate::json::Kind;
use crate::schema::error::SchemaError;
use crate::schema::options::Dialect;
use crate::schema::program::{ContainsOp, ItemsOp, NO_NODE, NodeId, Op, Span};

use super::assertions::count;
use super::build::Build;
use super::shape::{Keyword, KeywordSet};
use super::subject::Subject;

/// What to do about a list of schemas where the dialect wants one.
const TUPLE_HINT: &str =
    "a list of schemas in items is of elder dialects: declare $schema, or use prefixItems";

/// What this file compiles.
const ARRAYS: KeywordSet = KeywordSet::of(&[
    Keyword::MinItems,
    Keyword::MaxItems,
    Keyword::UniqueItems,
    Keyword::PrefixItems,
    Keyword::Items,
    Keyword::AdditionalItems,
    Keyword::Contains,
    Keyword::MinContains,
    Keyword::MaxContains,
]);

/// Counts, `uniqueItems`, `items` in all its forms, `contains`.
pub(super) fn arrays(build: &mut Build, subject: &mut Subject) -> Result<(), SchemaError> {
    if !subject.has_any(ARRAYS) {
        return Ok(());
    }
    let mut ops = std::mem::take(&mut subject.ops);
    if let Some(least) = count(build, subject, Keyword::MinItems)? {
        ops.push(Op::MinItems(least));
    }
    if let Some(most) = count(build, subject, Keyword::MaxItems)? {
        ops.push(Op::MaxItems(most));
    }
    if let Some(value) = subject.get_kind(build, Keyword::UniqueItems, Kind::Boolean)?
        && value.as_bool() == Some(true)
    {
        ops.push(Op::Unique);
    }
    let items = match subject.dialect() {
        Dialect::Draft2020 => prefix_items(build, subject)?,
        _ => tuple_items(build, subject)?,
    };
    if items.prefix != Span::default() || items.rest != NO_NODE {
        ops.push(build.items(items));
    }
    if let Some(op) = contains(build, subject)? {
        ops.push(op);
    }
    subject.ops = ops;
    Ok(())
}

/// `prefixItems` and `items`.
fn prefix_items(build: &mut Build, subject: &Subject) -> Result<ItemsOp, SchemaError> {
    let prefix = match subject.get(Keyword::PrefixItems) {
        Some(value) => subject.list(build, value)?,
        None => Vec::new(),
    };
    if let Some(value) = subject.get(Keyword::Items).filter(|value| value.is_array()) {
        let error = subject.invalid(build, value);
        return Err(SchemaError { hint: Some(TUPLE_HINT), ..error });
    }
    let rest = subject.keyword_node(build, Keyword::Items)?;
    Ok(items_op(build, &prefix, rest, "items"))
}

/// `items`, one schema or a list, and `additionalItems` beside a list.
fn tuple_items(build: &mut Build, subject: &Subject) -> Result<ItemsOp, SchemaError> {
    let rest = subject.additional_node(build, Keyword::AdditionalItems)?;
    match subject.get(Keyword::Items) {
        Some(value) if value.is_array() => {
            let schemas = value.elements().map(|schema| subject.node(build, schema));
            let prefix = schemas.collect::<Result<Vec<_>, _>>()?;
            Ok(items_op(build, &prefix, rest, "additionalItems"))
        }
        _ => {
            // Without a list, additionalItems says nothing.
            let rest = subject.keyword_node(build, Keyword::Items)?;
            Ok(items_op(build, &[], rest, "items"))
        }
    }
}

fn items_op(
    build: &mut Build,
    prefix: &[NodeId],
    rest: Option<NodeId>,
    rest_keyword: &'static str,
) -> ItemsOp {
    let prefix = if prefix.is_empty() { Span::default() } else { build.list(prefix) };
    ItemsOp { prefix, rest: rest.unwrap_or(NO_NODE), rest_keyword }
}

fn contains(build: &mut Build, subject: &Subject) -> Result<Option<Op>, SchemaError> {
    // Checked even where there is nothing to count.
    let min = count(build, subject, Keyword::MinContains)?.unwrap_or(1);
    let max = count(build, subject, Keyword::MaxContains)?;
    let evaluates = subject.dialect() >= Dialect::Draft2020;
    let Some(node) = subject.keyword_node(build, Keyword::Contains)? else { return Ok(None) };
    Ok(Some(build.contains(ContainsOp { node, min, max, evaluates })))
}
