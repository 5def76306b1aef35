//! Why a schema does not compile.

/// Why a schema does not compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaError {
    /// One of `unresolved_ref`, `unsupported_dialect`, `invalid_keyword`, `limit`,
    /// `not_a_schema`, `reference_cycle`, `bad_pattern`.
    pub reason: &'static str,
    /// A JSON Pointer into the schema.
    pub at: String,
    /// The reference that leads nowhere, as written.
    pub target: Option<String>,
    /// What the author may do about it.
    pub hint: Option<&'static str>,
}

impl SchemaError {
    pub(crate) fn new(reason: &'static str, at: String) -> Self {
        SchemaError { reason, at, target: None, hint: None }
    }
}
