//! One tool of a catalog: what its entry holds, what was found about it, and its compiled schemas.

use std::rc::Rc;

use crate::schema::{Program, SchemaError};
use crate::wire::encode::quote;

use super::headers::HeaderParam;

/// A finding about a tool or an entry of the catalog that is none.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Problem {
    /// The entry's place in the server's list, over all pages.
    pub(super) index: u32,
    /// The tool's name, if it has a usable one.
    pub(super) name: Option<String>,
    /// `entry`, `inputSchema` or `outputSchema`.
    pub(super) part: &'static str,
    /// What was found.
    pub(super) code: &'static str,
    /// JSON Pointer into the part.
    pub(super) at: Option<String>,
    /// True if the entry is not listed.
    pub(super) skipped: bool,
}

impl Problem {
    /// Its JSON text.
    pub(super) fn to_json(&self) -> String {
        let mut text = format!("{{\"index\":{}", self.index);
        if let Some(name) = &self.name {
            text += &format!(",\"name\":{}", quote(name));
        }
        text += &format!(",\"part\":\"{}\",\"code\":\"{}\"", self.part, self.code);
        if let Some(at) = &self.at {
            text += &format!(",\"at\":{}", quote(at));
        }
        text += &format!(",\"skipped\":{}}}", self.skipped);
        text
    }
}

/// JSON text of an array of problems.
pub(super) fn problems_json<'a>(problems: impl Iterator<Item = &'a Problem>) -> String {
    let texts: Vec<String> = problems.map(Problem::to_json).collect();
    format!("[{}]", texts.join(","))
}

/// A schema and what compiling it came to.
#[derive(Debug)]
pub(super) struct Compiled {
    /// The program, or why there is none.
    pub(super) program: Result<Program, SchemaError>,
}

/// An entry of the catalog that passed the checks of its shape.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its place in the server's list.
    pub(super) index: u32,
    /// Its name, unique in the catalog.
    pub(super) name: String,
    /// JSON text of its members as handed out, without braces and problems.
    pub(super) members: String,
    /// JSON text of its input schema, if it is to be compiled.
    pub(super) input: Option<Rc<str>>,
    /// JSON text of its output schema.
    pub(super) output: Option<Rc<str>>,
    /// What was found about it.
    pub(super) problems: Vec<Problem>,
    /// Arguments that go into HTTP headers too.
    pub(super) headers: Rc<[HeaderParam]>,
}

/// A tool of a catalog that stands.
#[derive(Debug)]
pub(super) struct Tool {
    /// Its entry.
    pub(super) entry: Entry,
    /// Its input schema, if it was compiled.
    pub(super) input: Option<Rc<Compiled>>,
    /// Its output schema.
    pub(super) output: Option<Rc<Compiled>>,
}

impl Tool {
    /// JSON text of its `ToolDescription`.
    pub(super) fn to_json(&self) -> String {
        let members = &self.entry.members;
        if self.entry.problems.is_empty() {
            return format!("{{{members}}}");
        }
        format!("{{{members},\"problems\":{}}}", problems_json(self.entry.problems.iter()))
    }
}
