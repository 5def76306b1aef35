//! Differences that are no faults, each by a rule that says what the specification says.

use toolwire::schema::Dialect;

/// What was judged.
pub(crate) struct Case<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) schema: &'a str,
    /// `None` if the schemas did not even compile alike.
    pub(crate) value: Option<&'a str>,
}

/// What the two came to: a verdict, `compiles`, or why a schema does not.
pub(crate) struct Found {
    pub(crate) ours: &'static str,
    pub(crate) theirs: String,
}

/// A rule by which the two may differ.
struct Rule {
    name: &'static str,
    covers: fn(&Case<'_>, &Found) -> bool,
}

const RULES: &[Rule] = &[
    // 2020-12 core, 9.4.1 (and alike before): "A schema MUST NOT be run into an infinite loop
    // against an instance. ... the use of such schemas SHOULD be considered an error."
    Rule {
        name: "a schema that applies itself to the same value is an error",
        covers: |_, found| found.ours == "reference_cycle" && found.theirs == "compiles",
    },
];

/// The name of the rule that explains a difference.
pub(crate) fn rule(case: &Case<'_>, found: &Found) -> Option<&'static str> {
    RULES.iter().find(|rule| (rule.covers)(case, found)).map(|rule| rule.name)
}
