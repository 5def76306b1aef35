//! Findings about a schema that are no errors: what its author probably did not mean.
//!
//! Codes are stable: `keyword_typo`, `keyword_ignored`, `openapi_nullable`,
//! `pattern_not_unicode_safe`, `ref_siblings_ignored`, `required_excluded`, `root_type_missing`, `root_not_object`,
//! `unreachable_branch`, `unresolved_ref`. Sentences are fixed; what they are about is in `at`.

use crate::json::{Text, Value};
use crate::schema::names::NameTable;
use crate::schema::program::{NO_NODE, NodeId, Op, Place, SchemaProblem, kinds};

use super::build::Build;
use super::edges::ops;
use super::shape::{Keyword, KeywordSet};
use super::subject::Subject;

/// Problems told at most.
const MAX_PROBLEMS: usize = 100;

/// Different unknown keywords compared with known ones at most.
const MAX_UNKNOWN: usize = 1_000;

/// Keywords that constrain nothing and identify nothing, so that it does no harm if a dialect does
/// not know them; and words that are in use outside the dialects that define them.
const HARMLESS: KeywordSet = KeywordSet::of(&[
    Keyword::Title,
    Keyword::Description,
    Keyword::Comment,
    Keyword::Default,
    Keyword::Examples,
    Keyword::ReadOnly,
    Keyword::WriteOnly,
    Keyword::Deprecated,
    Keyword::Definitions,
    Keyword::Defs,
    Keyword::Schema,
    Keyword::Vocabulary,
    Keyword::ElderId,
    Keyword::Format,
    Keyword::ContentEncoding,
    Keyword::ContentMediaType,
    Keyword::ContentSchema,
]);

/// Keywords without effect unless another one stands beside them.
const COMPANIONS: &[(Keyword, Keyword)] = &[
    (Keyword::Then, Keyword::If),
    (Keyword::Else, Keyword::If),
    (Keyword::MinContains, Keyword::Contains),
    (Keyword::MaxContains, Keyword::Contains),
];

/// Keywords that stand beside `$ref` without meaning to constrain anything, where it isolates.
const HARMLESS_SIBLINGS: KeywordSet = KeywordSet::of(&[
    Keyword::Ref,
    Keyword::Title,
    Keyword::Description,
    Keyword::Comment,
    Keyword::Default,
    Keyword::Examples,
    Keyword::Definitions,
    Keyword::Defs,
    Keyword::Schema,
    Keyword::Id,
    Keyword::ElderId,
    Keyword::ReadOnly,
    Keyword::WriteOnly,
]);

/// Keywords whose near misses do no harm, and are often words of other specifications.
const ANNOTATIONS: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "readOnly",
    "writeOnly",
    "deprecated",
    "$comment",
];

/// Lint of one compilation.
#[derive(Default)]
pub(super) struct Lint {
    /// Unknown keywords met so far, and whether they resemble known ones.
    unknown: NameTable,
    resembling: Vec<bool>,
}

impl Lint {
    /// Looks at one subschema.
    pub(super) fn schema(&mut self, build: &mut Build, subject: &Subject, schema: Value<'_>) {
        if build.program.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let document = subject.document_index;
        let excluded = excluded(build, subject);
        let mut tell = |code, message, value: Value<'_>| {
            problem(build, code, message, Place { document, position: value.position() });
        };
        if subject.is_mere_reference() {
            for (name, value) in schema.members() {
                let keyword = Keyword::of_name(&name.to_wtf8());
                if keyword.is_some_and(|keyword| !HARMLESS_SIBLINGS.has(keyword)) {
                    let message = "this dialect ignores what stands beside $ref";
                    tell("ref_siblings_ignored", message, value);
                }
            }
            return;
        }
        let ignored = subject.all_written().without(subject.reading.keywords).without(HARMLESS);
        for keyword in Keyword::ALL.into_iter().filter(|_| !ignored.is_empty()) {
            if let Some(value) = subject.written(keyword).filter(|_| ignored.has(keyword)) {
                tell("keyword_ignored", "this dialect does not know the keyword", value);
            }
        }
        for &(keyword, companion) in COMPANIONS {
            if let Some(value) = subject.get(keyword).filter(|_| !subject.has(companion)) {
                tell("keyword_ignored", "the keyword this one depends on is absent", value);
            }
        }
        if let Some(value) = excluded {
            let message = "a required property is one that additionalProperties excludes";
            tell("required_excluded", message, value);
        }
        if !subject.has_unknown() {
            return;
        }
        for (name, value) in schema.members() {
            let name = name.to_str();
            if Keyword::of_name(name.as_bytes()).is_some() {
                continue;
            }
            if name == "nullable" {
                let message = "nullable is OpenAPI's: add null to type";
                tell("openapi_nullable", message, value);
            } else if self.resembles(&name) {
                tell("keyword_typo", "an unknown keyword that resembles a known one", value);
            }
        }
    }

    fn resembles(&mut self, name: &str) -> bool {
        if self.unknown.len() >= MAX_UNKNOWN {
            let known = self.unknown.find(Text::plain(name), 0);
            return known.and_then(|slot| self.resembling.get(slot as usize)) == Some(&true);
        }
        let slot = self.unknown.insert(name.as_bytes()) as usize;
        if slot == self.resembling.len() {
            self.resembling.push(resembles_keyword(name));
        }
        self.resembling.get(slot) == Some(&true)
    }

    /// Looks at the whole, once it is linked.
    pub(super) fn program(&self, build: &mut Build) {
        let root = build.node(build.program.root);
        let Some(document) = build.document(root.document) else { return };
        let schema = document.value(root.position);
        let place = Place { document: root.document, position: root.position };
        if schema.is_object() {
            match schema.get("type") {
                Some(value) if value.as_str().as_deref() == Some("object") => {}
                Some(value) => {
                    let place = Place { position: value.position(), ..place };
                    let message = "MCP wants the type object at the root";
                    problem(build, "root_not_object", message, place);
                }
                None => {
                    let message = "MCP wants the type object at the root";
                    problem(build, "root_type_missing", message, place);
                }
            }
        }
        for id in 0..build.program.nodes.len() as NodeId {
            if build.program.problems.len() >= MAX_PROBLEMS {
                return;
            }
            self.branches(build, id);
        }
    }

    /// Branches that no value can reach, judging by types.
    fn branches(&self, build: &mut Build, id: NodeId) {
        let node = build.node(id);
        let mut declared = kinds::ALL;
        let mut dead = Vec::new();
        for &op in ops(&build.program, node.full) {
            match op {
                Op::Type(index) => {
                    let types = build.program.types.get(index as usize);
                    declared = types.map_or(kinds::ALL, |types| types.kinds);
                }
                Op::AnyOf(span) | Op::OneOf(span) => {
                    let branches = build.program.list(span).iter();
                    dead.extend(branches.filter(|&&id| build.node(id).kinds & declared == 0));
                }
                Op::If(index) => {
                    if let Some(op) = build.program.ifs.get(index as usize)
                        && build.node(op.condition).kinds & declared == 0
                    {
                        dead.push(op.then);
                    }
                }
                _ => {}
            }
        }
        for id in dead {
            let branch = build.node(id);
            // `false` is meant.
            if !branch.never && (id as usize) < build.program.nodes.len() {
                let place = Place { document: branch.document, position: branch.position };
                let message = "no value of the declared type can satisfy this branch";
                problem(build, "unreachable_branch", message, place);
            }
        }
    }
}

fn problem(build: &mut Build, code: &'static str, message: &'static str, place: Place) {
    if build.program.problems.len() < MAX_PROBLEMS {
        let at = build.pointer(place.document, place.position);
        build.program.problems.push(SchemaProblem { code, at, message });
    }
}

/// A pattern that only Annex B of ECMA-262 reads.
pub(super) fn legacy_pattern(build: &mut Build, place: Place) {
    let message = "the flag u refuses this pattern; other validators may refuse the schema";
    problem(build, "pattern_not_unicode_safe", message, place);
}

/// A reference that leads nowhere, in a schema that no judgement can meet.
pub(super) fn unused_reference(build: &mut Build, place: Place) {
    let message = "this reference leads nowhere; nothing that is used depends on it";
    problem(build, "unresolved_ref", message, place);
}

/// The first required name that a closed object does not declare.
fn excluded<'a>(build: &Build, subject: &'a Subject) -> Option<Value<'a>> {
    let object = subject.ops.iter().find_map(|&op| match op {
        Op::Object(index) => build.program.objects.get(index as usize),
        _ => None,
    })?;
    if !object.closed || subject.has(Keyword::PatternProperties) {
        return None;
    }
    let mut required = object.required.iter();
    let index = required.position(|&slot| object.nodes.get(slot as usize) == Some(&NO_NODE))?;
    subject.get(Keyword::Required)?.elements().nth(index)
}

/// A word of another dialect is no slip.
fn resembles_keyword(name: &str) -> bool {
    if Keyword::NAMES.contains(&name) {
        return false;
    }
    let judged = Keyword::NAMES.iter().filter(|keyword| !ANNOTATIONS.contains(keyword));
    judged.into_iter().any(|keyword| is_typo(name, keyword))
}

/// True if a name is a known keyword but for its case or one slip, two in a long one.
fn is_typo(name: &str, keyword: &str) -> bool {
    if name.eq_ignore_ascii_case(keyword) {
        return true;
    }
    let slips = match keyword.len() {
        0..5 => return false,
        5..9 => 1,
        _ => 2,
    };
    // A slip adds a letter, takes one, or both.
    let letters = (letters(name) ^ letters(keyword)).count_ones();
    name.len().abs_diff(keyword.len()) <= slips
        && letters as usize <= 2 * slips
        && distance(name, keyword) <= slips
}

/// The letters of a text as a set.
fn letters(text: &str) -> u32 {
    text.bytes().fold(0, |set, byte| set | 1 << (byte & 31))
}

/// Insertions, deletions, replacements and swaps of neighbours between two short texts.
fn distance(left: &str, right: &str) -> usize {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, &a) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, &b) in right.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let mut best = (at(&above, column) + (a != b) as usize)
                .min(at(&above, column + 1) + 1)
                .min(at(&line, column) + 1);
            let swapped = row > 0
                && column > 0
                && left.get(row - 1) == Some(&b)
                && right.get(column - 1) == Some(&a);
            if swapped {
                best = best.min(at(&before, column - 1).saturating_add(1));
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn slips_are_typos_and_words_are_not() {
        for (name, keyword) in [
            ("requried", "required"),
            ("propertes", "properties"),
            ("addtionalProperties", "additionalProperties"),
            ("Type", "type"),
            ("minLenght", "minLength"),
            ("one0f", "oneOf"),
        ] {
            assert!(is_typo(name, keyword), "{name}");
        }
        for name in ["name", "x-order", "example", "nullable", "id", "values", "note", "tags"] {
            assert!(!resembles_keyword(name), "{name}");
        }
    }
}
