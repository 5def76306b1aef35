//! Entries to tools: compiles their schemas in slices, each text once.
//!
//! Invariant: the cache holds exactly the schemas of the catalog that was finished last, so a
//! refresh compiles only what changed and nothing that went away is kept.

use std::rc::Rc;
use std::task::Poll;

use crate::schema::{CompileOptions, Compiler, Keywords};
use crate::table::Table;

use super::options::SessionOptions;
use super::tool::{Compiled, Entry, Problem, Tool};

/// Compiled schemas by their text.
pub(super) type Cache = Table<Rc<str>, Rc<Compiled>>;

/// The compile options of a session.
pub(super) fn options(session: &SessionOptions) -> CompileOptions {
    let limit = session.limits.max_tool_document_bytes;
    // In `strict` the size of an output schema is bounded by its frame alone.
    let limit = if session.keywords == Keywords::Structural {
        session.limits.max_frame_bytes
    } else {
        limit
    };
    CompileOptions {
        keywords: session.keywords,
        formats: session.formats,
        max_schema_bytes: limit as usize,
        ..CompileOptions::default()
    }
}

/// A catalog whose schemas are being compiled.
pub(super) struct Compilation {
    entries: std::vec::IntoIter<Entry>,
    current: Option<Current>,
    tools: Vec<Rc<Tool>>,
    used: Cache,
    options: CompileOptions,
}

/// One entry under way.
struct Current {
    entry: Entry,
    input: Option<Rc<Compiled>>,
    output: Option<Rc<Compiled>>,
    /// The schema being compiled, and whether it is the output schema.
    compiler: Option<(Compiler, Rc<str>, bool)>,
    part: Part,
}

#[derive(Clone, Copy)]
enum Part {
    Input,
    Output,
    Done,
}

impl Compilation {
    pub(super) fn new(entries: Vec<Entry>, options: CompileOptions) -> Self {
        Compilation {
            tools: Vec::with_capacity(entries.len()),
            entries: entries.into_iter(),
            current: None,
            used: Cache::new(),
            options,
        }
    }

    /// Goes on until done or until `steps` are spent, counting them down. `cache` is that of the
    /// session; it is replaced at the end.
    pub(super) fn run(&mut self, cache: &mut Cache, steps: &mut u64) -> Poll<Vec<Rc<Tool>>> {
        loop {
            if *steps == 0 {
                return Poll::Pending;
            }
            let Some(mut current) = self.current.take() else {
                *steps -= 1;
                let Some(entry) = self.entries.next() else {
                    std::mem::swap(cache, &mut self.used);
                    return Poll::Ready(std::mem::take(&mut self.tools));
                };
                self.current = Some(Current {
                    entry,
                    input: None,
                    output: None,
                    compiler: None,
                    part: Part::Input,
                });
                continue;
            };
            if let Some((mut compiler, text, is_output)) = current.compiler.take() {
                match compiler.step(steps) {
                    Poll::Pending => current.compiler = Some((compiler, text, is_output)),
                    Poll::Ready(program) => {
                        let compiled = Rc::new(Compiled { program });
                        self.used.insert(text, Rc::clone(&compiled));
                        current.stands(compiled, is_output);
                    }
                }
                self.current = Some(current);
                continue;
            }
            let (text, is_output) = match current.part {
                Part::Input => (current.entry.input.clone(), false),
                Part::Output => (current.entry.output.clone(), true),
                Part::Done => {
                    let Current { entry, input, output, .. } = current;
                    self.tools.push(Rc::new(Tool { entry, input, output }));
                    continue;
                }
            };
            current.part = if is_output { Part::Done } else { Part::Output };
            if let Some(text) = text {
                match self.used.get(&text).or_else(|| cache.get(&text)).cloned() {
                    Some(compiled) => {
                        self.used.insert(text, Rc::clone(&compiled));
                        current.stands(compiled, is_output);
                    }
                    None => {
                        let compiler =
                            Compiler::new(text.as_bytes().to_vec(), self.options.clone());
                        current.compiler = Some((compiler, text, is_output));
                    }
                }
            }
            self.current = Some(current);
        }
    }
}

impl Current {
    fn stands(&mut self, compiled: Rc<Compiled>, is_output: bool) {
        let part = if is_output { "outputSchema" } else { "inputSchema" };
        let Entry { problems, name, index, .. } = &mut self.entry;
        // Replayed when the entry of an earlier catalog is taken over.
        problems.retain(|problem| problem.part != part || problem.at.is_none());
        if let Err(error) = &compiled.program {
            problems.push(Problem {
                index: *index,
                name: Some(name.clone()),
                part,
                code: "uncompilable",
                at: Some(error.at.clone()),
                skipped: false,
            });
        }
        if is_output {
            self.output = Some(compiled);
        } else {
            self.input = Some(compiled);
        }
    }
}
