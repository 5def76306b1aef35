//! Reading a catalog: pages and entries (rows R11 to R18 and the table of DESIGN.md 6.2).
//!
//! Owns what is checked and in which order. Knows nothing of requests or time: it is given one page
//! after another and says what to ask for next.
//!
//! Invariant: the entries of a walk have distinct, usable names. In `strict` the first fault ends
//! the walk; in `contain` no entry's fault touches another entry.

use crate::error::{Code, Error, Facts};
use crate::json::{Kind, Text, Value};
use crate::table::{Set, Table};
use crate::wire::Profile;
use crate::wire::encode::quote;

use super::document::{repeats, stringified_len, utf8_len};
use super::event::CacheHint;
use super::headers::header_params;
use super::names;
use super::options::{Limits, SessionOptions};
use super::tool::{Entry, Problem};

/// The longest that a catalog is said to be good for: a day.
const LONGEST_TTL_MS: f64 = 86_400_000.0;

/// What to do after a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Ask for the page at this cursor, a JSON text.
    Page(String),
    /// The walk is over.
    End,
}

/// A remark on the catalog as a whole: a diagnostic's code and detail.
pub(super) type Remark = (&'static str, String);

/// What a walk is held to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    profile: Profile,
    limits: Limits,
    /// True if input schemas are compiled: always in `contain`.
    compile_inputs: bool,
    /// True if input schemas may ask for headers.
    headers: bool,
}

impl Rules {
    /// `headers`: calls are sent with HTTP headers, and input schemas may ask for some.
    pub(super) fn new(options: &SessionOptions, headers: bool) -> Self {
        Rules {
            headers,
            profile: options.profile,
            limits: options.limits,
            compile_inputs: options.profile == Profile::Contain || options.check_arguments,
        }
    }

    fn strict(&self) -> bool {
        self.profile == Profile::Strict
    }
}

/// The catalog read so far.
pub(super) struct Walk {
    rules: Rules,
    /// The entries, in the server's order.
    pub(super) entries: Vec<Entry>,
    /// Entries that are not listed.
    pub(super) skipped: Vec<Problem>,
    /// Remarks not yet reported.
    pub(super) remarks: Vec<Remark>,
    names: Set<String>,
    /// Where the entries stand that a resumed walk brought along.
    earlier: Table<String, usize>,
    cursors: Set<Vec<u8>>,
    pages: u64,
    bytes: f64,
    seen: u32,
    before_page: usize,
    full: bool,
    cache: Option<CacheHint>,
}

/// The members of an entry that are read in `contain`.
const READ: [&str; 8] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "icons",
    "_meta",
];

fn invalid(reason: &'static str) -> Error {
    Error::new(Code::InvalidResponse, reason)
}

fn invalid_at(reason: &'static str, index: u32) -> Error {
    invalid(reason).facts(Facts { index: Some(index), ..Facts::default() })
}

fn over(reason: &'static str, limit: f64) -> Error {
    invalid(reason).facts(Facts { limit: Some(limit as u64), ..Facts::default() })
}

impl Walk {
    /// A walk that has read nothing.
    pub(super) fn new(rules: Rules) -> Self {
        Walk {
            rules,
            entries: Vec::new(),
            skipped: Vec::new(),
            remarks: Vec::new(),
            names: Set::new(),
            earlier: Table::new(),
            cursors: Set::new(),
            pages: 0,
            bytes: 0.0,
            seen: 0,
            before_page: 0,
            full: false,
            cache: None,
        }
    }

    /// A walk that goes on from a catalog. Pages add to it or replace entries of the same name.
    pub(super) fn resume(rules: Rules, entries: Vec<Entry>) -> Self {
        let seen = entries.iter().map(|entry| entry.index + 1).max().unwrap_or(0);
        let earlier =
            entries.iter().enumerate().map(|(at, entry)| (entry.name.clone(), at)).collect();
        Walk { entries, seen, earlier, ..Walk::new(rules) }
    }

    /// Starts a page: gives its array of entries.
    pub(super) fn page<'a>(&mut self, result: Value<'a>) -> Result<Value<'a>, Error> {
        self.pages += 1;
        self.before_page = self.entries.len();
        self.bytes += result.range().len() as f64;
        self.hint(result);
        if !self.rules.strict() && self.bytes > self.rules.limits.max_catalog_bytes {
            self.truncate("maxCatalogBytes");
        }
        if !self.rules.strict() && repeats(result, &["tools", "nextCursor"]) {
            return Err(Error::new(Code::ProtocolError, "duplicate_member"));
        }
        result
            .get("tools")
            .filter(|tools| tools.is_array())
            .ok_or_else(|| invalid("no_tools_array"))
    }

    /// How long what was read may be kept: the least that its pages allow.
    pub(super) fn cache(&self) -> Option<CacheHint> {
        self.cache
    }

    fn hint(&mut self, page: Value<'_>) {
        let scope = page.get("cacheScope").and_then(Value::text);
        let ttl = page.get("ttlMs").and_then(Value::number);
        if self.rules.strict() || (scope.is_none() && ttl.is_none()) {
            return;
        }
        let ttl: f64 = ttl.and_then(|text| text.parse().ok()).unwrap_or(0.0);
        let page = CacheHint {
            ttl_ms: ttl.clamp(0.0, LONGEST_TTL_MS),
            public: scope.is_some_and(|scope| scope.eq_str("public")),
        };
        self.cache = Some(match self.cache {
            None => page,
            Some(hint) => CacheHint {
                ttl_ms: hint.ttl_ms.min(page.ttl_ms),
                public: hint.public && page.public,
            },
        });
    }

    /// True if no further entry is taken.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    fn truncate(&mut self, option: &str) {
        self.full = true;
        self.remarks.push(("catalog_truncated", option.to_owned()));
    }

    /// Takes an entry. `place` is its index in the page.
    ///
    /// # Errors
    /// In `strict`, the first fault of row R15.
    pub(super) fn entry(&mut self, entry: Value<'_>, place: u32) -> Result<(), Error> {
        if self.full {
            return Ok(());
        }
        // Entries that are skipped count too: each leaves a problem behind.
        if (self.entries.len() + self.skipped.len()) as f64 >= self.rules.limits.max_tools {
            if self.rules.strict() {
                return Err(over("too_many_tools", self.rules.limits.max_tools));
            }
            self.truncate("maxTools");
            return Ok(());
        }
        let index = self.seen;
        self.seen += 1;
        if self.rules.strict() {
            let entry = self.strict_entry(entry, place, index)?;
            self.names.insert(entry.name.clone());
            self.entries.push(entry);
            return Ok(());
        }
        match self.contained_entry(entry, index) {
            Ok(entry) => self.add(entry),
            Err(problem) => {
                let code =
                    if problem.code == "duplicate" { "duplicate_tool" } else { "tool_skipped" };
                self.remarks.push((code, problem.to_json()));
                self.skipped.push(problem);
            }
        }
        Ok(())
    }

    /// Adds an entry, in place of one that a resumed walk brought along.
    fn add(&mut self, entry: Entry) {
        self.names.insert(entry.name.clone());
        let earlier = self.earlier.get(&entry.name);
        match earlier.and_then(|&at| self.entries.get_mut(at)) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    /// Ends a page: what its cursor asks for (rows R12 and R13).
    pub(super) fn end_page(&mut self, result: Value<'_>) -> Result<Next, Error> {
        let Some(cursor) = result.get("nextCursor") else { return Ok(Next::End) };
        let text = cursor.text();
        if self.rules.strict() {
            let Some(text) = text.filter(|text| !text.eq_str("")) else {
                return Err(invalid("cursor_type"));
            };
            if !self.cursors.insert(text.to_wtf8().into_owned()) {
                return Err(invalid("cursor_repeated"));
            }
            if self.pages as f64 >= self.rules.limits.max_catalog_pages {
                return Err(over("too_many_pages", self.rules.limits.max_catalog_pages));
            }
            return Ok(Next::Page(cursor.raw().to_owned()));
        }
        if cursor.is_null() || self.full {
            return Ok(Next::End);
        }
        let Some(text) = text else {
            self.truncate("nextCursor");
            return Ok(Next::End);
        };
        let repeated = !self.cursors.insert(text.to_wtf8().into_owned());
        if repeated && self.entries.len() == self.before_page {
            self.remarks.push(("repeated_cursor", cursor.raw().to_owned()));
            return Ok(Next::End);
        }
        if self.pages as f64 >= self.rules.limits.max_catalog_pages {
            self.truncate("maxCatalogPages");
            return Ok(Next::End);
        }
        Ok(Next::Page(cursor.raw().to_owned()))
    }

    fn strict_entry(&self, entry: Value<'_>, place: u32, index: u32) -> Result<Entry, Error> {
        let limits = &self.rules.limits;
        if !entry.is_object() {
            return Err(invalid_at("tool_not_object", place));
        }
        let name = entry.get("name").and_then(Value::text).filter(|name| !name.eq_str(""));
        let Some(name) = name else { return Err(invalid_at("tool_no_name", place)) };
        if utf8_len(name) as f64 > limits.max_tool_name_bytes {
            return Err(over("tool_name_too_long", limits.max_tool_name_bytes));
        }
        if names::is_forbidden(name) {
            return Err(invalid("tool_name_forbidden"));
        }
        let name = name.to_str().into_owned();
        if self.names.contains(&name) {
            return Err(invalid_at("tool_name_duplicate", place));
        }
        let input = entry.get("inputSchema").filter(|schema| root_problem(*schema).is_none());
        let Some(input) = input else { return Err(invalid_at("input_schema", place)) };
        let description = entry.get("description").filter(|description| description.is_string());
        if self.document_bytes(description, &[input]) > limits.max_tool_document_bytes {
            return Err(over("tool_document_too_long", limits.max_tool_document_bytes));
        }
        let output = entry.get("outputSchema");
        if output.is_some_and(|schema| !schema.is_object()) {
            return Err(invalid_at("output_schema", place));
        }
        let mut members = format!("\"name\":{}", quote(&name));
        for (key, value) in
            [("description", description), ("inputSchema", Some(input)), ("outputSchema", output)]
        {
            push_member(&mut members, key, value);
        }
        Ok(Entry {
            index,
            name,
            members,
            input: Some(input.raw().into()).filter(|_| self.rules.compile_inputs),
            output: output.map(|schema| schema.raw().into()),
            problems: Vec::new(),
            headers: [].into(),
        })
    }

    fn contained_entry(&mut self, entry: Value<'_>, index: u32) -> Result<Entry, Problem> {
        let skipped = |code, name: Option<&str>| {
            let name = name.map(str::to_owned);
            Problem { index, name, part: "entry", code, at: None, skipped: true }
        };
        let limits = &self.rules.limits;
        if !entry.is_object() {
            return Err(skipped("not_an_object", None));
        }
        let name = entry.get("name").and_then(Value::text).filter(|name| !name.eq_str(""));
        let Some(name) = name else { return Err(skipped("no_name", None)) };
        if utf8_len(name) as f64 > limits.max_tool_name_bytes {
            return Err(skipped("name_too_long", None));
        }
        if names::is_forbidden(name) {
            return Err(skipped("name_forbidden", None));
        }
        let name = name.to_str().into_owned();
        if self.names.contains(&name) {
            return Err(skipped("duplicate", Some(&name)));
        }
        if repeats(entry, &READ) {
            self.remarks.push(("duplicate_member", name.clone()));
        }
        let mut nulls = Vec::new();
        let mut member = |key: &'static str, wanted: &[Kind]| {
            let value = entry.get(key)?;
            if value.is_null() {
                nulls.push(key);
            }
            Some(value).filter(|value| wanted.contains(&value.kind()))
        };
        let title = member("title", &[Kind::String]);
        let description = member("description", &[Kind::String]);
        let annotations = member("annotations", &[Kind::Object]);
        let icons = member("icons", &[Kind::Array]);
        let meta = member("_meta", &[Kind::Object]);
        let any = [Kind::Object, Kind::Boolean, Kind::Array, Kind::String, Kind::Number];
        let input = member("inputSchema", &any);
        let output = member("outputSchema", &any);
        let schemas: Vec<Value<'_>> = input.into_iter().chain(output).collect();
        if self.document_bytes(description, &schemas) > limits.max_tool_document_bytes {
            return Err(skipped("too_large", Some(&name)));
        }
        let headers = match input.filter(|_| self.rules.headers).map(header_params) {
            Some(Err(at)) => {
                let part = "inputSchema";
                return Err(Problem { part, at: Some(at), ..skipped("bad_header", Some(&name)) });
            }
            Some(Ok(headers)) => headers.into(),
            None => [].into(),
        };
        if !nulls.is_empty() {
            self.remarks.push(("null_optional", format!("{name}: {}", nulls.join(", "))));
        }
        let mut problems = Vec::new();
        let mut found = |part, code| {
            let (name, at) = (Some(name.clone()), None);
            problems.push(Problem { index, name, part, code, at, skipped: false });
        };
        match input {
            None => found("inputSchema", "missing"),
            Some(schema) => {
                if let Some(code) = root_problem(schema) {
                    found("inputSchema", code);
                }
            }
        }
        let usable = |schema: &Value<'_>| matches!(schema.kind(), Kind::Object | Kind::Boolean);
        if output.is_some_and(|schema| !usable(&schema)) {
            found("outputSchema", "uncompilable");
        }
        let (input, output) = (input.filter(usable), output.filter(usable));
        let mut members = format!("\"name\":{}", quote(&name));
        for (key, value) in [
            ("title", title),
            ("description", description),
            ("inputSchema", input),
            ("outputSchema", output),
            ("annotations", annotations),
            ("icons", icons),
            ("_meta", meta),
        ] {
            push_member(&mut members, key, value);
        }
        let text = |schema: Value<'_>| schema.raw().into();
        Ok(Entry {
            index,
            name,
            members,
            input: input.map(text),
            output: output.map(text),
            problems,
            headers,
        })
    }

    fn document_bytes(&self, description: Option<Value<'_>>, schemas: &[Value<'_>]) -> f64 {
        let description = description.and_then(Value::text).map_or(0, utf8_len);
        let schemas: usize = schemas.iter().map(|schema| stringified_len(*schema)).sum();
        (description + schemas) as f64
    }
}

/// What an input schema's root lacks: it must be an object whose `type` is `"object"`.
fn root_problem(schema: Value<'_>) -> Option<&'static str> {
    if !schema.is_object() {
        return Some("root_not_object");
    }
    match schema.get("type") {
        None => Some("root_type_missing"),
        Some(kind) if kind.text().is_some_and(|text: Text<'_>| text.eq_str("object")) => None,
        Some(_) => Some("root_not_object"),
    }
}

fn push_member(members: &mut String, key: &str, value: Option<Value<'_>>) {
    if let Some(value) = value {
        members.push_str(&format!(",\"{key}\":"));
        members.push_str(value.raw());
    }
}
