//! Compiling: a schema's text becomes a program.
//!
//! Stages: read the text, compile one subschema after the other from a list of work, link. The
//! first two stop when their steps are spent and go on where they stopped; nothing recurses.

mod applicators;
mod arrays;
mod assertions;
mod build;
mod dialects;
mod edges;
mod full;
mod identity;
mod link;
mod lint;
mod meta;
mod objects;
mod resources;
mod shape;
mod structural;
mod subject;
mod switch;
mod uri;

use std::task::Poll;

use crate::json::{Fault, Limits, Progress, Reader, pointer};
use crate::table::Set;

use super::error::SchemaError;
use super::options::{CompileOptions, DuplicateKeys, Keywords};
use super::program::{Document, Program, blank};
use build::Build;
use lint::Lint;
use resources::Registry;

/// Bytes read in one step.
const BYTES_A_STEP: u64 = 16;

/// Steps for one subschema, some members of an `enum`, or some references.
const A_STAGE: u64 = 256;

/// A compilation under way.
pub struct Compiler {
    options: CompileOptions,
    stage: Stage,
}

enum Stage {
    Reading(Vec<u8>, Reader),
    Nodes(Box<Work>),
    Done,
}

/// What compiling subschemas works on.
struct Work {
    build: Build,
    registry: Registry,
    lint: Lint,
}

impl Compiler {
    /// Starts compiling a schema's JSON text.
    pub fn new(text: Vec<u8>, options: CompileOptions) -> Self {
        let depth = match options.keywords {
            Keywords::Full => options.max_depth,
            // Compiling never fails on an object, however deep.
            Keywords::Structural => u32::MAX,
        };
        Compiler { options, stage: Stage::Reading(text, Reader::new(Limits::depth(depth))) }
    }

    /// Goes on until done or until `steps` are spent, counting them down.
    pub fn step(&mut self, steps: &mut u64) -> Poll<Result<Program, SchemaError>> {
        match self.run(steps) {
            Ok(Some(program)) => Poll::Ready(Ok(program)),
            Ok(None) => Poll::Pending,
            Err(error) => {
                self.stage = Stage::Done;
                Poll::Ready(Err(error))
            }
        }
    }

    fn run(&mut self, steps: &mut u64) -> Result<Option<Program>, SchemaError> {
        while *steps > 0 {
            match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Reading(text, reader) => self.read(text, reader, steps)?,
                Stage::Nodes(mut work) => {
                    *steps = steps.saturating_sub(A_STAGE);
                    if self.compile_next(&mut work)? {
                        self.stage = Stage::Nodes(work);
                    } else {
                        let Work { mut build, mut registry, lint } = *work;
                        registry.finish(&mut build);
                        edges::check_references(&mut build, registry.unresolved)?;
                        link::link(&mut build)?;
                        if self.options.keywords == Keywords::Full {
                            lint.program(&mut build);
                        }
                        return Ok(Some(build.program));
                    }
                }
                Stage::Done => return Err(root_error("not_a_schema")),
            }
        }
        Ok(None)
    }

    /// Compiles the next subschema; false if there is none left.
    fn compile_next(&self, work: &mut Work) -> Result<bool, SchemaError> {
        let Work { build, registry, lint } = work;
        match (build.next_node(), self.options.keywords) {
            (Some(id), Keywords::Full) => full::compile_node(build, registry, lint, id)?,
            (Some(id), Keywords::Structural) => structural::compile_node(build, id)?,
            (None, _) if build.fill_next() => {}
            (None, _) if registry.is_settled() => return Ok(false),
            (None, _) => registry.resolve(build)?,
        }
        Ok(true)
    }

    fn read(
        &mut self,
        text: Vec<u8>,
        mut reader: Reader,
        steps: &mut u64,
    ) -> Result<(), SchemaError> {
        let full = self.options.keywords == Keywords::Full;
        if full && text.len() > self.options.max_schema_bytes {
            return Err(root_error("limit"));
        }
        let budget = steps.saturating_mul(BYTES_A_STEP).min(usize::MAX as u64) as usize;
        let before = reader.position();
        let progress = reader.run(&text, budget).map_err(|fault| match fault {
            Fault::Syntax(_) | Fault::Utf8(_) => root_error("not_a_schema"),
            Fault::Tokens | Fault::Size => root_error("limit"),
        })?;
        let read = (reader.position() - before) as u64;
        *steps = steps.saturating_sub(read / BYTES_A_STEP + 1);
        if progress == Progress::Pending {
            self.stage = Stage::Reading(text, reader);
            return Ok(());
        }
        let tape = reader.finish();
        if tape.is_too_deep() {
            return Err(root_error("limit"));
        }
        let document = Document { bytes: text, tape };
        let root = document.value(0);
        if !root.is_object() && (!full || root.as_bool().is_none()) {
            return Err(root_error("not_a_schema"));
        }
        let mut build = Build::new(&self.options);
        let mut registry = Registry::new(&mut self.options);
        if full {
            if build.program.duplicate_keys == DuplicateKeys::Reject {
                reject_repeats(&document)?;
            }
            build.program.root = registry.open(&mut build, document, "")?;
            build.program.dialect = registry.reading(0).dialect;
        } else {
            build.add_document(document);
            build.program.root = build.add_node(blank(0, 0, 0))?;
        }
        self.stage = Stage::Nodes(Box::new(Work { build, registry, lint: Lint::default() }));
        Ok(())
    }
}

fn root_error(reason: &'static str) -> SchemaError {
    SchemaError::new(reason, String::new())
}

/// Refuses a schema text in which some object repeats a name.
fn reject_repeats(document: &Document) -> Result<(), SchemaError> {
    for position in 0..document.tape.len() as u32 {
        let value = document.value(position);
        // A closing word reads as an object too, but has no members.
        let mut names = Set::new();
        for (name, member) in value.members() {
            if !names.insert(name.to_wtf8()) {
                let at = pointer::locate(document.value(0), member.position());
                return Err(SchemaError::new("invalid_keyword", at));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;
    use crate::schema::{Verdict, judge_text};

    #[test]
    fn many_members_and_references_take_many_steps() {
        let count = 2_000;
        let list =
            |one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<Vec<_>>().join(",");
        for (schema, value) in [
            (format!(r#"{{"enum":[{}]}}"#, list(&|n| format!("\"m{n}\""))), r#""m1999""#),
            (format!(r#"{{"enum":[{}]}}"#, list(&|n| format!("[{n}]"))), "[1999]"),
            (format!(r#"{{"enum":[{}]}}"#, list(&|n| format!("{n}"))), "1999"),
            (
                format!(
                    r##"{{"$defs":{{"a":{{"type":"null"}}}},"allOf":[{}]}}"##,
                    list(&|_| r##"{"$ref":"#/$defs/a"}"##.to_owned())
                ),
                "null",
            ),
        ] {
            let mut compiler = Compiler::new(schema.into_bytes(), CompileOptions::default());
            let mut stages = 0;
            let program = loop {
                let mut steps = u64::from(u32::MAX);
                if let Stage::Nodes(_) = &compiler.stage {
                    (stages, steps) = (stages + 1, 1);
                }
                if let Stage::Reading(..) = &compiler.stage {
                    steps = 1_000;
                }
                if let Poll::Ready(outcome) = compiler.step(&mut steps) {
                    break outcome.unwrap();
                }
            };
            assert!(stages > count / 100, "{stages}");
            assert_eq!(judge_text(&program, value.as_bytes()).verdict, Verdict::Valid);
            assert_eq!(judge_text(&program, b"\"x\"").verdict, Verdict::Invalid);
        }
    }
}
