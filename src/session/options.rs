//! Options of a session, their defaults in both profiles, and the check of R02.

/// How faults of the peer are met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// Faults are contained to the smallest thing they concern.
    Contain,
    /// System C's contract, row by row.
    Strict,
}

/// What a violation of a tool's own output schema leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Validation {
    /// The call fails with `invalid_response`.
    Enforce,
    /// The call succeeds and reports the violations.
    Report,
    /// Nothing is judged.
    Off,
}
