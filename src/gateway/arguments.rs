//! What the four tools are given: read, checked, and refused in words a model can act on.
//!
//! Invariants: a refusal quotes nothing of what was given; an argument that the tool does not know
//! is refused rather than passed over, so that a misspelt one is noticed. `null` counts as absent
//! for arguments that may be absent.

use crate::json::{self, Kind, Value};

use super::search::Query;

/// How deep arguments may nest: as deep as a frame.
const MAX_DEPTH: u32 = 128;

/// One of the four tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// Finds operations.
    Search,
    /// Shows one operation's specification.
    Schema,
    /// Runs one operation.
    Call,
    /// Runs several.
    Batch,
}

impl Tool {
    /// The tools in the order in which they are listed.
    pub const ALL: [Tool; 4] = [Tool::Search, Tool::Schema, Tool::Call, Tool::Batch];

    /// The tool's name.
    pub const fn name(self) -> &'static str {
        match self {
            Tool::Search => "search",
            Tool::Schema => "schema",
            Tool::Call => "call",
            Tool::Batch => "batch",
        }
    }

    /// The tool of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The arguments it takes.
    const fn arguments(self) -> &'static [&'static str] {
        match self {
            Tool::Search => &["query", "namespace", "type", "cursor"],
            Tool::Schema => &["name", "operation"],
            Tool::Call => ENTRY,
            Tool::Batch => &["calls"],
        }
    }

    /// The argument it cannot do without, and that argument's type.
    const fn required(self) -> Option<(&'static str, Kind)> {
        match self {
            Tool::Search => None,
            Tool::Schema => Some(("name", Kind::String)),
            Tool::Call => Some(("operation", Kind::String)),
            Tool::Batch => Some(("calls", Kind::Array)),
        }
    }
}

/// What one call, alone or in a batch, is made of.
const ENTRY: &[&str] = &["operation", "input"];

/// What the host bounds.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls in one batch.
    pub max_batch: usize,
    /// Operations on one page of a search.
    pub page_size: usize,
}

/// Arguments that stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// What to look for.
    Search(Query),
    /// The id of the operation to show.
    Schema(String),
    /// The operation to run.
    Call(Entry),
    /// The operations to run, in order; an entry that is refused fails alone.
    Batch(Vec<Result<Entry, Refusal>>),
}

/// One call: the operation's id. Its input, when given, is the member `input` beside it: an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The operation's id.
    pub operation: String,
}

/// Why arguments are refused: the sentence for the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal(pub String);

impl Refusal {
    fn new(why: &str) -> Self {
        Refusal(format!("invalid arguments: {why}"))
    }

    fn wrong_type(argument: &str, expected: Kind, got: Kind) -> Self {
        Self::new(&format!(
            "{argument} must be {}, got {}",
            with_article(expected),
            with_article(got)
        ))
    }
}

/// Reads the JSON text of a tool's arguments; none at all is not the same as none of them.
///
/// # Errors
/// Why they are refused.
pub fn read_arguments(
    tool: Tool,
    arguments: Option<&str>,
    limits: Limits,
) -> Result<Request, Refusal> {
    let Some(text) = arguments.filter(|text| *text != "null") else {
        return match tool.required() {
            None => Ok(Request::Search(Query::default())),
            Some((name, kind)) => Err(absent(name, kind)),
        };
    };
    let tape = json::read(text.as_bytes(), json::Limits::depth(MAX_DEPTH))
        .map_err(|_| Refusal::new("they must be a JSON object"))?;
    if tape.is_too_deep() {
        return Err(Refusal::new("they are nested too deep"));
    }
    let given = tape.root(text.as_bytes());
    if !given.is_object() {
        return Err(Refusal::wrong_type("arguments", Kind::Object, given.kind()));
    }
    only(given, tool.name(), tool.arguments())?;
    match tool {
        Tool::Search => query(given).map(Request::Search),
        Tool::Schema => name(given).map(Request::Schema),
        Tool::Call => entry(given).map(Request::Call),
        Tool::Batch => calls(given, limits).map(Request::Batch),
    }
}

/// The sentence for a tool that was called without any arguments, or without one of any type.
fn absent(name: &str, kind: Kind) -> Refusal {
    Refusal::new(&format!("{name} is required and must be {}", with_article(kind)))
}

/// Refuses members of other names.
fn only(given: Value<'_>, subject: &str, names: &[&str]) -> Result<(), Refusal> {
    if given.members().all(|(key, _)| names.iter().any(|name| key.eq_str(name))) {
        return Ok(());
    }
    Err(Refusal::new(&format!("{subject} takes no argument but {}", names.join(", "))))
}

/// An argument that may be absent.
fn optional(given: Value<'_>, name: &str) -> Result<Option<String>, Refusal> {
    let Some(value) = given.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
    string(name, value).map(Some)
}

fn string(name: &str, value: Value<'_>) -> Result<String, Refusal> {
    match value.text() {
        Some(text) => Ok(text.to_str().into_owned()),
        None => Err(Refusal::wrong_type(name, Kind::String, value.kind())),
    }
}

fn query(given: Value<'_>) -> Result<Query, Refusal> {
    let kind = optional(given, "type")?;
    let known = ["query", "mutation", "subscription", "publish"];
    if kind.as_deref().is_some_and(|kind| !known.contains(&kind)) {
        return Err(Refusal::new("type must be query or mutation"));
    }
    Ok(Query {
        text: optional(given, "query")?.unwrap_or_default(),
        namespace: optional(given, "namespace")?,
        kind,
        cursor: optional(given, "cursor")?,
    })
}

/// The operation to show, under either name of the argument.
fn name(given: Value<'_>) -> Result<String, Refusal> {
    let named = ["name", "operation"].map(|argument| given.get(argument));
    match named {
        [Some(value), None] | [None, Some(value)] if value.is_string() => string("name", value),
        [None, Some(value)] => Err(Refusal::wrong_type("operation", Kind::String, value.kind())),
        [Some(first), Some(second)] if first.is_string() && first.as_str() == second.as_str() => {
            string("name", first)
        }
        [Some(_), Some(_)] => Err(Refusal::new("give name or operation, not both")),
        _ => Err(absent("name", Kind::String)),
    }
}

fn entry(given: Value<'_>) -> Result<Entry, Refusal> {
    let operation =
        given.get("operation").ok_or_else(|| Refusal::new("missing required field operation"))?;
    let operation = string("operation", operation)?;
    match given.get("input").map(Value::kind) {
        None | Some(Kind::Null | Kind::Object) => Ok(Entry { operation }),
        Some(kind) => Err(Refusal::wrong_type("input", Kind::Object, kind)),
    }
}

fn calls(given: Value<'_>, limits: Limits) -> Result<Vec<Result<Entry, Refusal>>, Refusal> {
    let calls = given
        .get("calls")
        .filter(|calls| calls.is_array())
        .ok_or_else(|| absent("calls", Kind::Array))?;
    if calls.len() as usize > limits.max_batch {
        let max = limits.max_batch;
        return Err(Refusal(format!("batch exceeds the maximum of {max} operations")));
    }
    Ok(calls
        .elements()
        .map(|call| {
            if !call.is_object() {
                return Err(Refusal::wrong_type("a call", Kind::Object, call.kind()));
            }
            only(call, "a call", ENTRY)?;
            entry(call)
        })
        .collect())
}

/// The name of a JSON type in a sentence.
const fn with_article(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Boolean => "a boolean",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    const LIMITS: Limits = Limits { max_batch: 3, page_size: 10 };

    fn read(tool: Tool, text: &str) -> Result<Request, String> {
        read_arguments(tool, Some(text), LIMITS).map_err(|Refusal(why)| why)
    }

    #[test]
    fn tools_have_their_names_in_order() {
        assert_eq!(Tool::ALL.map(Tool::name), ["search", "schema", "call", "batch"]);
        for tool in Tool::ALL {
            assert_eq!(Tool::from_name(tool.name()), Some(tool));
        }
        for name in ["", "Search", "search ", "bogus"] {
            assert_eq!(Tool::from_name(name), None);
        }
    }

    #[test]
    fn each_refusal_in_its_words() {
        use Tool::{Batch, Call, Schema, Search};
        for (tool, text, why) in [
            (Call, "null", "operation is required and must be a string"),
            (Call, "[]", "arguments must be an object, got an array"),
            (Call, "{}", "missing required field operation"),
            (Call, r#"{"operation":7}"#, "operation must be a string, got a number"),
            (Call, r#"{"operation":null}"#, "operation must be a string, got null"),
            (Call, r#"{"operation":true}"#, "operation must be a string, got a boolean"),
            (Call, r#"{"operation":[]}"#, "operation must be a string, got an array"),
            (Call, r#"{"operation":{}}"#, "operation must be a string, got an object"),
            (Call, r#"{"operation":"a.b","input":"x"}"#, "input must be an object, got a string"),
            (
                Call,
                r#"{"operation":"a.b","secret":1}"#,
                "call takes no argument but operation, input",
            ),
            (Schema, "null", "name is required and must be a string"),
            (Schema, "{}", "name is required and must be a string"),
            (Schema, r#"{"name":1}"#, "name is required and must be a string"),
            (Schema, r#"{"operation":1}"#, "operation must be a string, got a number"),
            (Schema, r#"{"name":"a.b","operation":"a.c"}"#, "give name or operation, not both"),
            (Batch, "null", "calls is required and must be an array"),
            (Batch, "{}", "calls is required and must be an array"),
            (Batch, r#"{"calls":"nope"}"#, "calls is required and must be an array"),
            (Search, r#"{"query":1}"#, "query must be a string, got a number"),
            (Search, r#"{"type":"job"}"#, "type must be query or mutation"),
            (Search, "3", "arguments must be an object, got a number"),
            (Search, "{", "they must be a JSON object"),
        ] {
            let expected = format!("invalid arguments: {why}");
            assert_eq!(read(tool, text), Err(expected), "{tool:?} {text}");
        }
        let deep = format!(r#"{{"operation":"a.b","input":{{"a":{}}}}}"#, "[".repeat(200));
        assert!(read(Call, &(deep + &"]".repeat(200))).is_err());
        assert_eq!(
            read(Batch, r#"{"calls":[1,2,3,4]}"#),
            Err("batch exceeds the maximum of 3 operations".to_owned())
        );
        assert_eq!(
            read_arguments(Call, None, LIMITS),
            Err(Refusal(
                "invalid arguments: operation is required and must be a string".to_owned()
            ))
        );
    }

    #[test]
    fn what_stands_is_read() {
        let entry = |id: &str| Entry { operation: id.to_owned() };
        assert_eq!(read(Tool::Call, r#"{"operation":"a.b"}"#), Ok(Request::Call(entry("a.b"))));
        assert_eq!(
            read(Tool::Call, r#"{"input":null,"operation":"\u0061.b"}"#),
            Ok(Request::Call(entry("a.b")))
        );
        for text in
            [r#"{"name":"a.b"}"#, r#"{"operation":"a.b"}"#, r#"{"name":"a.b","operation":"a.b"}"#]
        {
            assert_eq!(read(Tool::Schema, text), Ok(Request::Schema("a.b".to_owned())));
        }
        assert_eq!(
            read_arguments(Tool::Search, None, LIMITS),
            Ok(Request::Search(Query::default()))
        );
        assert_eq!(
            read(Tool::Search, r#"{"query":"x","namespace":"fs","type":"query","cursor":null}"#),
            Ok(Request::Search(Query {
                text: "x".to_owned(),
                namespace: Some("fs".to_owned()),
                kind: Some("query".to_owned()),
                cursor: None,
            }))
        );
    }

    #[test]
    fn a_refused_entry_of_a_batch_fails_alone() {
        let text = r#"{"calls":["x",{"operation":"a.b"},{"operation":"a.b","extra":1}]}"#;
        let Ok(Request::Batch(calls)) = read(Tool::Batch, text) else { panic!("refused") };
        let calls: Vec<Result<&str, &str>> = calls
            .iter()
            .map(|call| match call {
                Ok(entry) => Ok(entry.operation.as_str()),
                Err(Refusal(why)) => Err(why.as_str()),
            })
            .collect();
        assert_eq!(
            calls,
            [
                Err("invalid arguments: a call must be an object, got a string"),
                Ok("a.b"),
                Err("invalid arguments: a call takes no argument but operation, input"),
            ]
        );
    }
}
