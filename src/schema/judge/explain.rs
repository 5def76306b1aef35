//! Violations: where, which keyword, and what was wanted.

use crate::json::{Value, pointer};
use crate::schema::outcome::Violation;
use crate::schema::program::{EnumSet, Node, Op};

use super::frame::{Answer, Frame, Via};
use super::{Context, Entry, Judge};

/// A schema value longer than this is left out of params.
const MAX_RAW: usize = 4096;

/// Steps for writing a violation, but for its paths.
const A_VIOLATION: u64 = 40;

/// The members of a violation's params, as JSON text.
#[derive(Default)]
pub(super) struct Params {
    text: String,
}

impl Params {
    fn key(&mut self, key: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.push('"');
        self.text.push_str(key);
        self.text.push_str("\":");
    }

    /// A count.
    pub(super) fn count(&mut self, key: &str, count: u64) {
        self.key(key);
        self.text.push_str(&count.to_string());
    }

    /// A string of ours or a name of the schema, as generalised UTF-8.
    pub(super) fn text(&mut self, key: &str, text: impl AsRef<[u8]>) {
        self.key(key);
        push_string(&mut self.text, &String::from_utf8_lossy(text.as_ref()));
    }

    /// The name of a member, as the peer wrote it.
    pub(super) fn name(&mut self, key: &str, name: Value<'_>) {
        self.text(key, name.text().map(|name| name.to_str()).unwrap_or_default().as_bytes());
    }

    /// A value of the schema as it stands, unless it is long.
    pub(super) fn raw(&mut self, key: &str, value: Option<Value<'_>>) {
        if let Some(raw) = value.map(|value| value.raw()).filter(|raw| raw.len() <= MAX_RAW) {
            self.key(key);
            self.text.push_str(raw);
        }
    }

    fn finish(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}

fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => {
                out.push_str(&format!("\\u{:04x}", control as u32));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

impl Judge {
    /// Notes a violation of the top frame's schema, unless there are enough.
    pub(super) fn violate(
        &mut self,
        cx: Context<'_>,
        at: u32,
        keyword: &'static str,
        params: impl FnOnce(&mut Params),
    ) {
        if self.count_violation(keyword, false) {
            return;
        }
        if self.violations.len() >= cx.program.max_errors {
            self.truncated = true;
            return;
        }
        self.meter.count(A_VIOLATION);
        let mut made = Params::default();
        params(&mut made);
        let mut schema_path = self.schema_path(cx);
        if !matches!(keyword, "false schema" | "duplicateKeys") {
            pointer::push(&mut schema_path, keyword);
        }
        let instance_path = self.instance_path(cx, at);
        self.violations.push(Violation {
            instance_path,
            schema_path,
            keyword,
            params: made.finish(),
        });
    }

    /// The way through the schema to the top frame's subschema.
    fn schema_path(&mut self, cx: Context<'_>) -> String {
        let mut path = String::new();
        let mut parent = None;
        for index in 0..self.frames.len() {
            let Some(&frame) = self.frames.get(index) else { break };
            match (frame.via, parent) {
                (Via::Inside, Some(parent)) => {
                    path.push_str(self.within_schema(cx, parent, frame.node));
                }
                (Via::Reference, _) => path.push_str("/$ref"),
                (Via::DynamicReference, _) => path.push_str("/$dynamicRef"),
                (Via::RecursiveReference, _) => path.push_str("/$recursiveRef"),
                (Via::Inside, None) => {}
            }
            parent = Some(frame.node);
        }
        self.meter.count_bytes(path.len());
        path
    }

    /// The schema `false`.
    pub(super) fn explain_never(&mut self, cx: Context<'_>, entry: Entry, node: &Node) -> Answer {
        let mut frame = Frame::new(entry.id, node.full, node.tracks, entry.at, true);
        frame.via = entry.via;
        frame.in_place = entry.in_place;
        self.frames.push(frame);
        self.violate(cx, entry.at, "false schema", |_| {});
        self.frames.pop();
        Answer::Invalid
    }

    /// An explanation that took too long ends here; it holds at least one violation.
    pub(super) fn cut(&mut self, cx: Context<'_>) {
        self.truncated = true;
        self.forget_score();
        // Only frames that fail are explained, so the topmost of them fails for sure.
        let explained = self.frames.iter().take_while(|frame| !frame.quiet).count();
        self.frames.truncate(explained);
        if let (true, Some(frame)) = (self.violations.is_empty(), self.frames.last()) {
            let keyword = match cx.program.ops.get(frame.pc as usize) {
                Some(Op::AnyOf(_)) => "anyOf",
                Some(Op::OneOf(_)) => "oneOf",
                Some(Op::AllOf(_)) => "allOf",
                Some(Op::Items(_)) => "items",
                Some(Op::Object(_)) => "properties",
                Some(Op::Unique) => "uniqueItems",
                Some(Op::Contains(_)) => "contains",
                Some(Op::Pattern(_)) => "pattern",
                Some(Op::PropertyNames(_)) => "propertyNames",
                Some(Op::Not(_)) => "not",
                _ => "$ref",
            };
            self.violate(cx, frame.at, keyword, |_| {});
        }
    }

    fn explain_limit(&mut self, cx: Context<'_>, at: u32, keyword: &'static str, limit: u32) {
        self.violate(cx, at, keyword, |params| params.count("limit", limit as u64));
    }

    pub(super) fn explain_enumeration(&mut self, cx: Context<'_>, set: &EnumSet, at: u32) {
        if self.count_violation(set.keyword, set.is_constant()) {
            return;
        }
        let value = cx.program.value(set.place);
        let key = if set.keyword == "enum" { "allowedValues" } else { "allowedValue" };
        self.violate(cx, at, set.keyword, |params| params.raw(key, value));
    }

    pub(super) fn explain_scalar(&mut self, cx: Context<'_>, op: Op, at: u32) {
        let program = cx.program;
        let bound = |index: u32| {
            let bound = program.bounds.get(index as usize);
            bound.and_then(|bound: &crate::schema::program::Bound| program.value(bound.place))
        };
        let comparison = |params: &mut Params, sign: &str, index: u32| {
            params.text("comparison", sign);
            params.raw("limit", bound(index));
        };
        match op {
            Op::Type(index) => {
                let types = program.types.get(index as usize).map_or(&[][..], |types| &types.names);
                self.violate(cx, at, "type", |params| match types {
                    [one] => params.text("type", one),
                    many => params.list("type", many),
                });
            }
            Op::Minimum(index) => self.violate(cx, at, "minimum", |p| comparison(p, ">=", index)),
            Op::Maximum(index) => self.violate(cx, at, "maximum", |p| comparison(p, "<=", index)),
            Op::ExclusiveMinimum(index) => {
                self.violate(cx, at, "exclusiveMinimum", |p| comparison(p, ">", index));
            }
            Op::ExclusiveMaximum(index) => {
                self.violate(cx, at, "exclusiveMaximum", |p| comparison(p, "<", index));
            }
            Op::MultipleOf(index) => {
                let divisor = program.divisors.get(index as usize);
                let value = divisor.and_then(|divisor| program.value(divisor.place));
                self.violate(cx, at, "multipleOf", |params| params.raw("multipleOf", value));
            }
            Op::Pattern(index) => {
                let pattern = program.patterns.get(index as usize);
                let value = pattern.and_then(|pattern| program.value(pattern.place));
                self.violate(cx, at, "pattern", |params| params.raw("pattern", value));
            }
            Op::Format(format) => {
                self.violate(cx, at, "format", |params| params.text("format", format.name()));
            }
            Op::MinLength(limit) => self.explain_limit(cx, at, "minLength", limit),
            Op::MaxLength(limit) => self.explain_limit(cx, at, "maxLength", limit),
            Op::MinItems(limit) => self.explain_limit(cx, at, "minItems", limit),
            Op::MaxItems(limit) => self.explain_limit(cx, at, "maxItems", limit),
            Op::MinProperties(limit) => self.explain_limit(cx, at, "minProperties", limit),
            Op::MaxProperties(limit) => self.explain_limit(cx, at, "maxProperties", limit),
            _ => {}
        }
    }
}

impl Params {
    /// Ordinals.
    pub(super) fn counts(&mut self, key: &str, counts: &[u32]) {
        self.key(key);
        let texts: Vec<String> = counts.iter().map(u32::to_string).collect();
        self.text.push_str(&format!("[{}]", texts.join(",")));
    }

    pub(super) fn null(&mut self, key: &str) {
        self.key(key);
        self.text.push_str("null");
    }

    /// A list of names of ours.
    pub(super) fn list(&mut self, key: &str, names: &[&str]) {
        self.key(key);
        self.text.push('[');
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            push_string(&mut self.text, name);
        }
        self.text.push(']');
    }
}
