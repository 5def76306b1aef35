//! The tools that are served: their entries in both forms, and the pages of `tools/list`.
//!
//! Invariant: pages and cursors depend on the entries and the limits alone, so that a cursor holds
//! in every session that serves the same tools, and in none that serves others.

use std::rc::Rc;

use crate::error::{Code, Error, Facts};
use crate::json::{self, Value};
use crate::table::Table;

use super::options::ServerLimits;
use super::param_headers::{Declared, declared};
use super::wrap::{needs_wrapping, wrap_schema};

/// Containers of one entry.
const MAX_DEPTH: u32 = 120;

/// A tool that is served.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    /// Arguments that HTTP requests repeat in headers.
    pub(super) headers: Vec<Declared>,
    /// The entry for peers to which structured content may be any value.
    natural: String,
    /// The entry for the others, where it differs: the output schema is wrapped.
    wrapped: Option<String>,
}

impl Tool {
    /// True if the output schema is wrapped for peers that want objects.
    pub(super) fn is_wrapped(&self) -> bool {
        self.wrapped.is_some()
    }

    fn entry(&self, any_structured: bool) -> &str {
        self.wrapped.as_deref().filter(|_| !any_structured).unwrap_or(&self.natural)
    }
}

/// The tools.
#[derive(Debug)]
pub(super) struct Catalog {
    tools: Vec<Rc<Tool>>,
    by_name: Table<String, Rc<Tool>>,
    /// Where pages begin.
    starts: Vec<usize>,
    hash: u64,
}

impl Catalog {
    /// Reads the JSON text of an array of tools.
    ///
    /// # Errors
    /// `protocol_error`, reason `option_invalid`, option `tools`, with the entry's `index`.
    pub(super) fn read(text: &str, limits: &ServerLimits) -> Result<Self, Error> {
        let tape = json::read(text.as_bytes(), json::Limits::depth(MAX_DEPTH))
            .ok()
            .filter(|tape| !tape.is_too_deep())
            .ok_or_else(|| refused(None))?;
        let root = tape.root(text.as_bytes());
        if !root.is_array() {
            return Err(refused(None));
        }
        let mut catalog = Catalog {
            tools: Vec::new(),
            by_name: Table::new(),
            starts: Vec::new(),
            hash: 0xcbf2_9ce4_8422_2325,
        };
        for (index, entry) in (0..).zip(root.elements()) {
            let tool = read_tool(entry).ok_or_else(|| refused(Some(index)))?;
            let tool = Rc::new(tool);
            catalog.mix(&tool.natural);
            catalog.tools.push(Rc::clone(&tool));
            if catalog.by_name.insert(tool.name.clone(), tool).is_some() {
                return Err(refused(Some(index)));
            }
        }
        catalog.paginate(limits);
        Ok(catalog)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Rc<Tool>> {
        self.by_name.get(name)
    }

    /// FNV-1a over the entries.
    fn mix(&mut self, entry: &str) {
        for byte in entry.bytes().chain([0]) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn paginate(&mut self, limits: &ServerLimits) {
        // Half for the entries leaves room for everything around them.
        let most_bytes = limits.max_outbound_frame_bytes / 2.0;
        let (mut count, mut bytes) = (0.0, 0.0);
        for (index, tool) in self.tools.iter().enumerate() {
            let size = tool.natural.len().max(tool.wrapped.as_ref().map_or(0, String::len)) as f64;
            if index == 0 || count >= limits.page_size || bytes + size > most_bytes {
                self.starts.push(index);
                (count, bytes) = (0.0, 0.0);
            }
            count += 1.0;
            bytes += size;
        }
    }

    fn cursor(&self, start: usize) -> String {
        format!("{:016x}-{start}", self.hash)
    }

    /// The page at a cursor, or the first: the members `tools` and, if there are more, `nextCursor`.
    /// None for a cursor of nobody's.
    pub(super) fn page(&self, cursor: Option<&str>, any_structured: bool) -> Option<String> {
        let page = match cursor {
            None => 0,
            Some(cursor) => {
                let start: usize = cursor.rsplit('-').next()?.parse().ok()?;
                let page = self.starts.binary_search(&start).ok().filter(|&page| page > 0)?;
                (self.cursor(start) == cursor).then_some(page)?
            }
        };
        let start = self.starts.get(page).copied().unwrap_or(0);
        let end = self.starts.get(page + 1).copied();
        let mut out = "\"tools\":[".to_owned();
        let count = end.unwrap_or(self.tools.len()) - start;
        for (index, tool) in self.tools.iter().skip(start).take(count).enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(tool.entry(any_structured));
        }
        out.push(']');
        if let Some(next) = end {
            out.push_str(&format!(",\"nextCursor\":\"{}\"", self.cursor(next)));
        }
        Some(out)
    }
}

fn refused(index: Option<u32>) -> Error {
    let facts = Facts { option: Some("tools".into()), index, ..Facts::default() };
    Error::new(Code::ProtocolError, "option_invalid").facts(facts)
}

/// What peers are told of a tool; none if it has no usable name or its schemas are none.
fn read_tool(entry: Value<'_>) -> Option<Tool> {
    let name = entry.get("name")?.as_str().filter(|name| !name.is_empty())?.into_owned();
    let output = entry.get("outputSchema").filter(|schema| !schema.is_null());
    if output.is_some_and(|schema| !schema.is_object() && schema.as_bool().is_none()) {
        return None;
    }
    let natural = write_entry(entry, output.map(|schema| schema.raw().to_owned()))?;
    let wrapped = match output.filter(|schema| needs_wrapping(*schema)) {
        Some(schema) => Some(write_entry(entry, Some(wrap_schema(schema)))?),
        None => None,
    };
    let headers = entry.get("inputSchema").map(declared).unwrap_or_default();
    Some(Tool { name, headers, natural, wrapped })
}

fn write_entry(entry: Value<'_>, output: Option<String>) -> Option<String> {
    let mut out = "{".to_owned();
    let mut has_input = false;
    for (name, value) in entry.members() {
        let text = match name.to_str().as_ref() {
            // What this crate found about an entry of another server's.
            "problems" => continue,
            "inputSchema" if !value.is_null() => {
                has_input = true;
                input_schema(value)?
            }
            "outputSchema" => match &output {
                Some(text) => text.clone(),
                None => continue,
            },
            _ if value.is_null() => continue,
            _ => value.raw().to_owned(),
        };
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&format!("\"{}\":{text}", name.raw()));
    }
    if !has_input {
        out.push_str(",\"inputSchema\":{\"type\":\"object\"}");
    }
    out.push('}');
    Some(out)
}

/// Arguments are objects, and peers want to be told.
fn input_schema(schema: Value<'_>) -> Option<String> {
    if !schema.is_object() {
        return None;
    }
    let raw = schema.raw();
    Some(match schema.get("type") {
        Some(_) => raw.to_owned(),
        None if schema.is_empty() => "{\"type\":\"object\"}".to_owned(),
        None => format!("{{\"type\":\"object\",{}", raw.get(1..)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn catalog(text: &str, page_size: f64) -> Catalog {
        let limits = ServerLimits { page_size, ..ServerLimits::default() };
        Catalog::read(text, &limits).unwrap()
    }

    const THREE: &str = r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#;

    #[test]
    fn pages_follow_each_other() {
        let three = catalog(THREE, 2.0);
        let first = three.page(None, true).unwrap();
        assert!(first.starts_with(r#""tools":[{"name":"a","inputSchema":{"type":"object"}},{"#));
        let (_, cursor) = first.split_once("nextCursor\":\"").unwrap();
        let cursor = cursor.trim_end_matches('"');
        let second = three.page(Some(cursor), true).unwrap();
        assert_eq!(second, r#""tools":[{"name":"c","inputSchema":{"type":"object"}}]"#);
        for bad in ["", "x", "0", "0-2", &cursor.replace("-2", "-1"), &format!("{cursor} ")] {
            assert_eq!(three.page(Some(bad), true), None, "{bad}");
        }
        let other = catalog(&THREE.replace('c', "d"), 2.0);
        assert_eq!(other.page(Some(cursor), true), None);
        assert_eq!(catalog("[]", 2.0).page(None, false).unwrap(), r#""tools":[]"#);
        assert!(!catalog(THREE, 3.0).page(None, false).unwrap().contains("nextCursor"));
    }

    #[test]
    fn pages_are_bounded_in_bytes() {
        let limits = ServerLimits { max_outbound_frame_bytes: 100.0, ..ServerLimits::default() };
        let three = Catalog::read(THREE, &limits).unwrap();
        assert_eq!(three.starts, [0, 1, 2]);
    }

    #[test]
    fn entries_are_told_as_they_are() {
        let text = r#"[{"name":"a","title":null,"problems":[],"n":9007199254740993,
            "inputSchema":{"required":["x"]},"outputSchema":{"type":"array"}}]"#;
        let one = catalog(text, 1.0);
        let entry = r#"{"name":"a","n":9007199254740993,"inputSchema":{"type":"object","required":["x"]},"outputSchema":"#;
        assert_eq!(
            one.page(None, true).unwrap(),
            format!(r#""tools":[{entry}{{"type":"array"}}}}]"#)
        );
        assert_eq!(
            one.page(None, false).unwrap(),
            format!(
                r#""tools":[{entry}{{"type":"object","properties":{{"result":{{"type":"array"}}}},"required":["result"]}}}}]"#
            )
        );
        assert!(one.get("a").unwrap().is_wrapped());
    }

    #[test]
    fn bad_lists_are_refused_by_index() {
        for (text, index) in [
            ("{}", None),
            ("[", None),
            ("[7]", Some(0)),
            (r#"[{"name":"a"},{"name":"a"}]"#, Some(1)),
            (r#"[{"name":""}]"#, Some(0)),
            (r#"[{"name":"\ud800"}]"#, Some(0)),
            (r#"[{"name":"a","inputSchema":true}]"#, Some(0)),
            (r#"[{"name":"a","outputSchema":"x"}]"#, Some(0)),
        ] {
            let error = Catalog::read(text, &ServerLimits::default()).unwrap_err();
            assert_eq!(error.get_facts().index, index, "{text}");
            assert_eq!(error.get_facts().option.as_deref(), Some("tools"));
        }
    }
}
