//! Compiling one subschema under `keywords: "full"`.

use crate::schema::error::SchemaError;
use crate::schema::program::{NodeId, kinds};

use super::build::Build;
use super::lint::Lint;
use super::resources::Registry;
use super::subject::Subject;
use super::{applicators, arrays, assertions, objects};

/// Compiles the subschema of a node.
///
/// # Errors
/// The first malformed keyword, in the order in which they are compiled.
pub(super) fn compile_node(
    build: &mut Build,
    registry: &mut Registry,
    lint: &mut Lint,
    id: NodeId,
) -> Result<(), SchemaError> {
    let node = build.node(id);
    let Some(document) = build.document(node.document) else { return Ok(()) };
    let schema = document.value(node.position);
    if let Some(verdict) = schema.as_bool() {
        build.finish_node(id, if verdict { kinds::ALL } else { 0 }, &[]);
        if let Some(node) = build.node_mut(id) {
            node.never = !verdict;
        }
        return Ok(());
    }
    let mut subject = Subject::new(document.clone(), node.document, node.position);
    subject.ops = std::mem::take(&mut build.spare);
    registry.identify(build, &mut subject, id)?;
    let alone = subject.is_mere_reference();
    if !alone {
        assertions::scalars(build, &mut subject)?;
        arrays::arrays(build, &mut subject)?;
        objects::objects(build, &mut subject)?;
        applicators::applicators(build, &mut subject)?;
    }
    registry.references(build, &mut subject, id)?;
    if !alone {
        applicators::unevaluated(build, &mut subject)?;
        applicators::definitions(build, &subject)?;
    }
    if node.document == 0 {
        lint.schema(build, &subject, schema);
    }
    build.finish_node(id, subject.kinds, &subject.ops);
    subject.ops.clear();
    build.spare = subject.ops;
    Ok(())
}
