//! The one table reason → sentence (rows R67 and R68).
//!
//! Placeholders: `{server}` is `MCP server "name"` (or `the MCP server`), `{method}` a method of
//! ours in quotes, and `{option}`, `{ms}`, `{limit}`, `{index}`, `{rpc}`, `{exit}`, `{status}`,
//! `{variable}`, `{why}` are the facts of those names. Facts that are missing read
//! as `?`.

use super::Facts;

/// What follows a sentence when the server wrote to its stderr.
pub(super) const STDERR_WITHHELD: &str = "; what it wrote to stderr is withheld";

/// Sorted by reason.
static SENTENCES: &[(&str, &str)] = &[
    ("aborted", "The request to {server} was given up"),
    ("already_started", "The transport of {server} was started before"),
    ("args_not_json", "The arguments for {server} are not plain JSON data"),
    ("args_root_not_object", "The arguments for {server} must be an object"),
    (
        "arguments_rejected",
        "The arguments do not satisfy the input schema that {server} declares for this tool",
    ),
    (
        "bad_endpoint_url",
        "The endpoint of {server} must be an absolute http or https URL without user or password",
    ),
    ("bad_pattern", "A pattern in the schema is no regular expression"),
    ("cast_limit", "Making the value fit takes more than the limit of {limit}"),
    ("client_gone", "The client closed the connection"),
    ("config_not_entries", "The configuration is not a list of server entries"),
    ("config_token_unset", "{server}: the environment variable {variable} is not set or empty"),
    ("config_unreadable", "The configuration file cannot be read"),
    ("connect_timeout", "{server} was not ready within {ms} ms"),
    ("content_block_not_object", "{server} returned content block {index} that is not an object"),
    ("core_trapped", "The WebAssembly instance serving {server} failed and was retired"),
    ("cursor_repeated", "{server} repeated a catalog cursor"),
    ("cursor_type", "{server} returned a catalog cursor that is not a non-empty string"),
    ("deadline", "No answer to {method} within {ms} ms"),
    ("depth", "{server} sent JSON nested deeper than {limit} containers"),
    ("duplicate_member", "{server} sent a message that repeats a member"),
    ("egress_denied", "The network policy of this host does not let it reach {server}"),
    ("empty_name_prefix", "The name prefix for the flows of {server} is empty"),
    ("era_unsupported", "Option {option}: this protocol era is not available"),
    ("exited", "The process of {server} exited with code {exit}"),
    ("frame_too_long", "An inbound line is longer than {limit} bytes"),
    ("freed", "This object was freed"),
    (
        "http_content_type",
        "{server} answered {method} with a media type that is neither JSON nor an event stream",
    ),
    ("http_status", "{server} answered {method} with HTTP status {status}"),
    ("id_type", "{server} sent a reply whose id has another type than the request's"),
    ("include_missing", "{server} does not offer a tool that is to be included"),
    ("init_capabilities_type", "{server} answered the handshake without a capabilities object"),
    ("init_no_tools", "{server} does not declare the tools capability"),
    ("init_not_object", "{server} answered the handshake with something that is not an object"),
    ("init_version_type", "{server} answered the handshake without a protocol version"),
    (
        "init_version_unsupported",
        "{server} speaks none of the protocol versions of this client ({why})",
    ),
    ("input_malformed", "{server} answered {method} with a question that cannot be read"),
    ("input_refused", "A question of {server} during {method} could not be answered by this host"),
    ("input_requests", "{server} asked more than {limit} questions at once during {method}"),
    ("input_rounds", "{server} answered {method} with a question more than {limit} times"),
    ("input_schema", "{server} lists tool {index} without an input schema of type object"),
    (
        "input_undeclared",
        "{server} asked during {method} for something that this client does not offer",
    ),
    ("invalid_keyword", "A keyword in the schema has a value it cannot have"),
    ("invalid_time", "Option {option} must be a positive number of milliseconds or Infinity"),
    ("invalid_utf8", "{server} sent a reply that is not UTF-8"),
    ("is_error_type", "{server} returned isError that is not a boolean"),
    ("limit", "The schema exceeds a limit"),
    (
        "lsp_framing",
        "{server} frames messages with Content-Length headers; MCP over stdio wants one message a line",
    ),
    ("max_total", "{method} was not done within {ms} ms in all"),
    ("method_type", "{server} sent a message whose method is not a string"),
    ("method_with_outcome", "{server} sent a message with a method and an outcome"),
    ("no_content_array", "{server} returned a tool result without a content array"),
    ("no_processes", "This host starts no processes, so it cannot start {server}"),
    ("no_tools_array", "{server} returned a catalog page without a tools array"),
    ("not_a_schema", "A schema must be an object or a boolean"),
    ("not_an_envelope", "The value is not a response envelope"),
    (
        "not_castable",
        "The schema says nothing of what to put in the place of a value that does not fit",
    ),
    ("not_connected", "{server} is not connected yet"),
    ("not_initialised", "There is no WebAssembly yet: call init(urlOrBytesOrModule) first"),
    ("not_json", "The value is not JSON data"),
    ("not_jsonrpc", "{server} answered {method} with something that is no JSON-RPC message"),
    (
        "notification_not_allowed",
        "The revision spoken with {server} does not let a client send {method}",
    ),
    ("number_range", "{server} sent a number beyond the range of a double"),
    ("operation_bound", "The operation has a handler already"),
    ("operation_exists", "An operation of this id is registered already"),
    ("operation_handler", "The handler is not one for this type of operation"),
    ("operation_unknown", "There is no operation of this id"),
    ("option_invalid", "Option {option} has a value that is not allowed"),
    ("option_not_positive_integer", "Option {option} must be a positive safe integer"),
    ("outbound_frame_too_long", "The message {method} is longer than {limit} bytes"),
    ("output_schema", "{server} lists tool {index} with an output schema that is not an object"),
    (
        "output_schema_violation",
        "{server} returned structuredContent that its own outputSchema rejects: {why}; property path withheld",
    ),
    (
        "output_unknown",
        "{server} returned structuredContent that cannot be judged by its outputSchema",
    ),
    ("params_type", "{server} sent a message whose params are not an object"),
    ("process_exited", "The process of {server} exited"),
    ("queue_full", "The outbound queue for {server} is full with {limit} messages"),
    ("recording_invalid", "Line {index} of the recording is not what a recording has there"),
    ("recording_unwritable", "The file of option {option} cannot be written"),
    ("reference_cycle", "References in the schema form a cycle"),
    ("remote", "{server} answered {method} with JSON-RPC error {rpc}; its text is withheld"),
    ("replay_budget", "The recording needs more than {limit} steps"),
    ("reply_both", "{server} sent a reply with a result and an error"),
    ("reply_error_object", "{server} sent an error reply without integer code and string message"),
    ("reply_id", "{server} sent a reply whose id is neither an integer nor a decimal string"),
    ("reply_neither", "{server} sent a reply with neither result nor error"),
    ("reply_no_id", "{server} sent a reply without id"),
    ("request_id", "{server} sent a request whose id is neither a string nor an integer"),
    ("response_admission", "An answer to {server} could not be queued within {ms} ms"),
    ("result_not_object", "{server} answered {method} with a result that is not an object"),
    ("result_type", "{server} returned a result of an unknown type"),
    ("scope_closed", "The connection to {server} was closed by this host"),
    ("session_ended", "{server} ended the HTTP session"),
    ("session_id", "{server} sent a session id that is not visible ASCII"),
    ("spawn", "The process of {server} could not be started"),
    ("spec_member", "{option} is missing or not what a specification has there"),
    ("spec_unknown", "The specification has a member that none has"),
    ("stdin_closed", "{server} closed its input"),
    ("stdout_closed", "{server} closed its output"),
    ("stdout_failed", "Reading from {server} failed"),
    (
        "structured_content_missing",
        "{server} returned no structuredContent although the tool declares an outputSchema",
    ),
    ("structured_content_type", "{server} returned structuredContent that is not an object"),
    ("tokens", "{server} sent a message with more than {limit} values"),
    ("too_many_pages", "{server} has more than {limit} catalog pages"),
    ("too_many_tools", "{server} lists more than {limit} tools"),
    (
        "tool_document_too_long",
        "{server} lists a tool whose description and input schema take more than {limit} bytes",
    ),
    ("tool_name_duplicate", "{server} lists tool {index} under a name it used before"),
    ("tool_name_forbidden", "{server} lists a tool whose name has characters that are not allowed"),
    ("tool_name_too_long", "{server} lists a tool whose name takes more than {limit} bytes"),
    ("tool_no_name", "{server} lists tool {index} without a name"),
    ("tool_not_object", "{server} lists entry {index} that is not an object"),
    ("unanswered", "{server} ended its response to {method} without answering"),
    ("unknown_tool", "{server} offers no tool of that name"),
    ("unreachable", "{server} could not be reached"),
    ("unresolved_ref", "A reference in the schema leads nowhere"),
    ("unsupported_dialect", "The schema declares a dialect that is not supported"),
    ("version", "{server} sent a message that is not JSON-RPC 2.0"),
    ("wrong_reply_id", "{server} answered {method} with a reply to another request"),
];

/// What a reason outside the table reads as.
const GENERAL: &str = "{server}: the operation failed";

/// The sentence for a reason, with its placeholders filled.
pub(super) fn fill(reason: &str, server: Option<&str>, facts: &Facts, why: Option<&str>) -> String {
    let template = SENTENCES
        .binary_search_by_key(&reason, |&(reason, _)| reason)
        .ok()
        .and_then(|index| SENTENCES.get(index))
        .map_or(GENERAL, |&(_, template)| template);
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        text.push_str(before);
        match placeholder(name, server, facts, why) {
            Some(value) => text.push_str(&value),
            None => text.push('?'),
        }
        rest = after;
    }
    text.push_str(rest);
    // A sentence may begin with a placeholder.
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

fn placeholder(
    name: &str,
    server: Option<&str>,
    facts: &Facts,
    why: Option<&str>,
) -> Option<String> {
    Some(match name {
        "server" => {
            server.map_or("the MCP server".to_owned(), |name| format!("MCP server \"{name}\""))
        }
        "method" => format!("\"{}\"", facts.method.as_deref()?),
        "option" => facts.option.as_deref()?.to_owned(),
        "ms" => facts.ms?.to_string(),
        "limit" => facts.limit?.to_string(),
        "index" => facts.index?.to_string(),
        "rpc" => facts.rpc_code?.to_string(),
        "exit" => facts.exit_code?.to_string(),
        "status" => facts.status?.to_string(),
        "variable" => facts.variable.clone()?,
        "why" => why?.to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn the_table_is_sorted_and_its_placeholders_are_known() {
        for pair in SENTENCES.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} {}", pair[0].0, pair[1].0);
        }
        let facts = Facts {
            rpc_code: Some(-1),
            exit_code: Some(2),
            option: Some("maxTools".into()),
            method: Some("ping".to_owned()),
            ms: Some(10.0),
            limit: Some(3),
            index: Some(4),
            status: Some(404),
            variable: Some("TOKEN".to_owned()),
            ..Facts::default()
        };
        for (reason, _) in SENTENCES {
            let text = fill(reason, Some("s"), &facts, Some("w"));
            assert!(!text.contains(['{', '}', '?']), "{text}");
        }
    }

    #[test]
    fn sentences_quote_the_server() {
        let facts =
            Facts { rpc_code: Some(-32000), method: Some("tools/call".into()), ..Facts::default() };
        assert_eq!(
            fill("remote", Some("a"), &facts, None),
            "MCP server \"a\" answered \"tools/call\" with JSON-RPC error -32000; its text is withheld"
        );
        assert_eq!(
            fill("output_schema_violation", Some("a"), &facts, Some("expected number")),
            "MCP server \"a\" returned structuredContent that its own outputSchema rejects: expected \
             number; property path withheld"
        );
        assert_eq!(
            fill("no such reason", None, &facts, None),
            "The MCP server: the operation failed"
        );
    }
}
