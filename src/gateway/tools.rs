//! The four tools as a server lists them.
//!
//! Invariant: each description states exactly what the tool takes and answers; a model has nothing
//! else to go by.

use super::arguments::Limits;

/// What a server tells a client about the four tools, unless the host has words of its own.
pub const INSTRUCTIONS: &str = "This server offers many operations through four tools. \
Use `search` to find operations, `schema` to read what one takes and returns, `call` to run one, \
and `batch` to run several at once.";

/// A failed call, as every tool answers it.
const CALL_ERROR: &str = r#"{"type":"object","description":"why it failed","properties":{"code":{"type":"string"},"message":{"type":"string"},"retryable":{"type":"boolean"},"details":{}},"required":["code","message","retryable"]}"#;

const SEARCH_INPUT: &str = r#"{"type":"object","properties":{"query":{"type":"string","description":"words that must all occur in an operation's name, title, description or tags; case does not matter; all operations if absent"},"namespace":{"type":"string","description":"only operations of this namespace: what stands before the first dot of their names"},"type":{"type":"string","enum":["query","mutation"],"description":"query only reads, mutation may change something"},"cursor":{"type":"string","description":"nextCursor of the page before"}},"additionalProperties":false}"#;

const SEARCH_OUTPUT: &str = r#"{"type":"object","properties":{"operations":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"type":{"type":"string","enum":["query","mutation"]}},"required":["name","description","type"]}},"nextCursor":{"type":"string"}},"required":["operations"]}"#;

const SCHEMA_INPUT: &str = r#"{"type":"object","properties":{"name":{"type":"string","description":"the operation's name, as search gives it"},"operation":{"type":"string","description":"the same under another name"}},"anyOf":[{"required":["name"]},{"required":["operation"]}],"additionalProperties":false}"#;

const SCHEMA_OUTPUT: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"namespace":{"type":"string"},"version":{"type":"string"},"description":{"type":"string"},"type":{"type":"string"},"inputSchema":{"type":["object","boolean"]},"outputSchema":{"type":["object","boolean"]}},"required":["name","namespace","type","inputSchema"]}"#;

const ENTRY: &str = r#"{"type":"object","properties":{"operation":{"type":"string","description":"the operation's name, as search gives it"},"input":{"type":"object","description":"what the operation's inputSchema asks for; {} if absent"}},"required":["operation"],"additionalProperties":false}"#;

const BATCH_OUTPUT: &str = r#"{"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{"isError":{"type":"boolean"},"output":{"type":"object"},"error":ERROR},"required":["isError"]}}},"required":["results"]}"#;

/// The JSON text of the array of the four tools.
pub fn descriptions(limits: Limits) -> String {
    let Limits { max_batch, page_size } = limits;
    let batch_input = format!(
        r#"{{"type":"object","properties":{{"calls":{{"type":"array","maxItems":{max_batch},"items":{ENTRY}}}}},"required":["calls"],"additionalProperties":false}}"#
    );
    let batch_output = BATCH_OUTPUT.replace("ERROR", CALL_ERROR);
    let tools = [
        tool(
            "search",
            "Search operations",
            &format!(
                "Finds the operations you may call. Answers {{operations: [{{name, description, \
                 type}}], nextCursor?}}, best match first, at most {page_size} a page."
            ),
            SEARCH_INPUT,
            Some(SEARCH_OUTPUT),
            true,
        ),
        tool(
            "schema",
            "Show an operation",
            "Shows one operation's specification: what it does, its inputSchema, its outputSchema \
             and the errors it may give.",
            SCHEMA_INPUT,
            Some(SCHEMA_OUTPUT),
            true,
        ),
        tool(
            "call",
            "Call an operation",
            "Runs one operation. Answers its output if that is an object, else {result: output}. \
             A failure is marked as an error and reads {code, message, retryable, details?}.",
            ENTRY,
            None,
            false,
        ),
        tool(
            "batch",
            "Call several operations",
            &format!(
                "Runs up to {max_batch} operations, several at a time; none waits for another's \
                 result. Answers {{results: [{{isError: false, output}} or {{isError: true, error: \
                 {{code, message, retryable, details?}}}}]}}, one for each call, in the order of \
                 the calls; one that fails does not stop the others. An output that is no object \
                 reads {{result: output}}."
            ),
            &batch_input,
            Some(&batch_output),
            false,
        ),
    ];
    format!("[{}]", tools.join(","))
}

fn tool(
    name: &str,
    title: &str,
    description: &str,
    input: &str,
    output: Option<&str>,
    reads_only: bool,
) -> String {
    // Official clients judge the structured content of failed calls too.
    let output = output.map_or_else(String::new, |output| {
        format!(r#","outputSchema":{{"type":"object","anyOf":[{output},{CALL_ERROR}]}}"#)
    });
    // What an operation does to the world is not known here, so nothing is promised.
    let annotations = if reads_only {
        r#"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#
    } else {
        r#"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}"#
    };
    format!(
        r#"{{"name":"{name}","title":"{title}","description":"{description}","inputSchema":{input}{output},"annotations":{annotations}}}"#
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_str, json};

    use super::*;
    use crate::gateway::{Tool, read_arguments};
    use crate::schema::{CompileOptions, Verdict, compile, judge_text};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    const LIMITS: Limits = Limits { max_batch: 3, page_size: 20 };

    fn tools() -> Vec<Value> {
        from_str(&descriptions(LIMITS)).unwrap()
    }

    #[test]
    fn four_tools_in_order_with_true_bounds() {
        let tools = tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, Tool::ALL.map(Tool::name));
        let has_output: Vec<bool> =
            tools.iter().map(|tool| tool.get("outputSchema").is_some()).collect();
        assert_eq!(has_output, [true, true, false, true]);
        assert_eq!(tools[3]["inputSchema"]["properties"]["calls"]["maxItems"], json!(3));
        assert!(tools[3]["description"].as_str().unwrap().contains("up to 3 operations"));
        assert!(tools[0]["description"].as_str().unwrap().contains("at most 20 a page"));
    }

    /// What a schema says of arguments and what is done with them agree.
    #[test]
    fn input_schemas_accept_what_is_accepted() {
        let tools = tools();
        let texts = [
            "{}",
            r#"{"query":"x"}"#,
            r#"{"query":1}"#,
            r#"{"type":"query","namespace":"a"}"#,
            r#"{"type":"job"}"#,
            r#"{"name":"a.b"}"#,
            r#"{"name":1}"#,
            r#"{"operation":"a.b"}"#,
            r#"{"operation":"a.b","input":{}}"#,
            r#"{"operation":"a.b","input":[]}"#,
            r#"{"operation":null}"#,
            r#"{"operation":"a.b","x":1}"#,
            r#"{"calls":[]}"#,
            r#"{"calls":{}}"#,
            r#"{"calls":[{"operation":"a.b"},{"operation":"a.b","input":{}}]}"#,
            r#"{"calls":[{"operation":"a"},{"operation":"a"},{"operation":"a"},{"operation":"a"}]}"#,
            "[]",
            "1",
        ];
        for (tool, listed) in Tool::ALL.into_iter().zip(&tools) {
            let schema = listed["inputSchema"].to_string();
            let program = compile(schema.as_bytes(), &CompileOptions::default()).unwrap();
            for text in texts {
                let verdict = judge_text(&program, text.as_bytes()).verdict;
                let accepted = read_arguments(tool, Some(text), LIMITS).is_ok();
                assert_eq!(verdict == Verdict::Valid, accepted, "{tool:?} {text}");
            }
        }
    }
}
