//! Call errors: the codes of the call protocol, which of them a retry can help, what exceptions and
//! session failures read as, and what the gateway calls them.
//!
//! Invariant: one table for all paths. Codes outside it are an operation's own (domain codes) and
//! pass everywhere as they are.

use crate::error::Code;

/// A code of the call protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallCode {
    /// There is no such operation, or none for this caller.
    OperationNotFound,
    /// The caller may not use the operation.
    AccessDenied,
    /// The input does not satisfy the operation's schema.
    ValidationError,
    /// A deadline passed.
    Timeout,
    /// The call was given up.
    Aborted,
    /// The handler failed.
    ExecutionError,
    /// Something that is no error was thrown.
    UnknownError,
    /// The operation is of another type than this way of calling is for.
    InvalidOperationType,
    /// A bound was met.
    Limit,
}

/// What the gateway's callers know a code as, where that is another word.
const AT_GATEWAY: &[(CallCode, &str)] = &[
    (CallCode::OperationNotFound, "NOT_FOUND"),
    (CallCode::AccessDenied, "FORBIDDEN"),
    (CallCode::ValidationError, "INVALID_INPUT"),
    (CallCode::Aborted, "INTERNAL"),
    (CallCode::UnknownError, "INTERNAL"),
];

impl CallCode {
    /// The codes that any call may end with, in the order they are documented.
    pub const INFRASTRUCTURE: [CallCode; 7] = [
        CallCode::OperationNotFound,
        CallCode::AccessDenied,
        CallCode::ValidationError,
        CallCode::Timeout,
        CallCode::Aborted,
        CallCode::ExecutionError,
        CallCode::UnknownError,
    ];

    /// The code as JavaScript and the wire see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            CallCode::OperationNotFound => "OPERATION_NOT_FOUND",
            CallCode::AccessDenied => "ACCESS_DENIED",
            CallCode::ValidationError => "VALIDATION_ERROR",
            CallCode::Timeout => "TIMEOUT",
            CallCode::Aborted => "ABORTED",
            CallCode::ExecutionError => "EXECUTION_ERROR",
            CallCode::UnknownError => "UNKNOWN_ERROR",
            CallCode::InvalidOperationType => "INVALID_OPERATION_TYPE",
            CallCode::Limit => "LIMIT",
        }
    }
}

/// True if a call that failed with this code may do better when tried again and nothing more is
/// known: the operation said nothing for too long.
pub fn is_retryable(code: &str) -> bool {
    code == CallCode::Timeout.as_str()
}

/// The code as callers of the gateway see it.
pub fn gateway_code(code: &str) -> &str {
    AT_GATEWAY.iter().find(|(ours, _)| ours.as_str() == code).map_or(code, |&(_, theirs)| theirs)
}

/// Which of the declared codes an exception's message names: the first that it equals or begins
/// with, before a colon.
pub fn declared_code<'a>(
    message: &str,
    declared: impl IntoIterator<Item = &'a str>,
) -> Option<usize> {
    declared.into_iter().position(|code| {
        message.strip_prefix(code).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    })
}

/// What a session's failure is to the caller of an imported operation, and whether trying again can
/// help. `unsent` says that the request provably never left.
pub fn code_of_session_error(code: &str, reason: &str, unsent: bool) -> (CallCode, bool) {
    let is = |known: Code| code == known.as_str();
    if is(Code::Timeout) {
        return (CallCode::Timeout, true);
    }
    if is(Code::Aborted) {
        return (CallCode::Aborted, false);
    }
    // The arguments never left: they are no JSON, or the tool's own input schema rejects them.
    if matches!(reason, "arguments_rejected" | "args_not_json" | "args_root_not_object") {
        return (CallCode::ValidationError, false);
    }
    let never_left = is(Code::ConnectionClosed) || is(Code::SpawnFailed) || is(Code::Limit);
    (CallCode::ExecutionError, never_left && unsent)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    /// AT-365, and AT-112 for the codes that exist.
    #[test]
    fn codes_and_which_of_them_a_retry_can_help() {
        let codes = CallCode::INFRASTRUCTURE.map(CallCode::as_str);
        assert_eq!(
            codes,
            [
                "OPERATION_NOT_FOUND",
                "ACCESS_DENIED",
                "VALIDATION_ERROR",
                "TIMEOUT",
                "ABORTED",
                "EXECUTION_ERROR",
                "UNKNOWN_ERROR"
            ]
        );
        let retryable: Vec<&str> = codes.into_iter().filter(|code| is_retryable(code)).collect();
        assert_eq!(retryable, ["TIMEOUT"]);
        for code in ["NOT_FOUND", "FORBIDDEN", "INVALID_OPERATION_TYPE", "LIMIT", "timeout", ""] {
            assert!(!is_retryable(code), "{code}");
        }
    }

    #[test]
    fn what_the_gateway_calls_them() {
        for (ours, theirs) in [
            ("OPERATION_NOT_FOUND", "NOT_FOUND"),
            ("ACCESS_DENIED", "FORBIDDEN"),
            ("VALIDATION_ERROR", "INVALID_INPUT"),
            ("ABORTED", "INTERNAL"),
            ("UNKNOWN_ERROR", "INTERNAL"),
            ("TIMEOUT", "TIMEOUT"),
            ("EXECUTION_ERROR", "EXECUTION_ERROR"),
            ("INVALID_OPERATION_TYPE", "INVALID_OPERATION_TYPE"),
            ("LIMIT", "LIMIT"),
            ("RATE_LIMITED", "RATE_LIMITED"),
            ("", ""),
        ] {
            assert_eq!(gateway_code(ours), theirs);
        }
    }

    /// AT-105 to AT-107.
    #[test]
    fn declared_codes_match_whole_or_before_a_colon_in_order() {
        let declared = ["NOT_FOUND", "NOT", "NOT_FOUND: x", "É"];
        for (message, expected) in [
            ("NOT_FOUND", Some(0)),
            ("NOT_FOUND: x", Some(0)),
            ("NOT_FOUND:x", Some(0)),
            ("NOT:", Some(1)),
            ("É: y", Some(3)),
            ("ITEM_NOT_FOUND: x", None),
            ("NOT_FOUND gone", None),
            ("not_found", None),
            ("", None),
        ] {
            assert_eq!(declared_code(message, declared), expected, "{message}");
        }
    }

    /// AT-289 and AT-290 among them.
    #[test]
    fn session_failures_as_calls_fail() {
        for (code, reason, unsent, expected) in [
            ("timeout", "deadline", false, ("TIMEOUT", true)),
            ("aborted", "aborted", false, ("ABORTED", false)),
            ("connection_closed", "exited", false, ("EXECUTION_ERROR", false)),
            ("connection_closed", "exited", true, ("EXECUTION_ERROR", true)),
            ("spawn_failed", "spawn", false, ("EXECUTION_ERROR", false)),
            ("spawn_failed", "spawn", true, ("EXECUTION_ERROR", true)),
            ("limit", "queue_full", true, ("EXECUTION_ERROR", true)),
            ("tool_failed", "remote", true, ("EXECUTION_ERROR", false)),
            ("tool_not_found", "unknown_tool", false, ("EXECUTION_ERROR", false)),
            ("invalid_response", "output_schema_violation", true, ("EXECUTION_ERROR", false)),
            ("invalid_arguments", "arguments_rejected", false, ("VALIDATION_ERROR", false)),
            ("protocol_error", "args_not_json", false, ("VALIDATION_ERROR", false)),
            ("core_trapped", "core_trapped", true, ("EXECUTION_ERROR", false)),
        ] {
            let (got, retryable) = code_of_session_error(code, reason, unsent);
            assert_eq!((got.as_str(), retryable), expected, "{code} {reason} {unsent}");
        }
    }
}
