//! Random schemas and values: the engine against a plain recursive reading of the specification,
//! and each judgement against itself in slices.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // Helpers of tests may panic too.

use std::collections::BTreeSet;
use std::task::Poll;

use toolwire::json::{Kind, Limits, Numbers, Tape, Value, equal, read, resolve_pointer};
use toolwire::schema::{CompileOptions, Judge, Outcome, Program, Verdict, compile, judge};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize) % bound
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn some(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> String) -> Vec<String> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    fn name(&mut self) -> &'static str {
        self.pick(&["a", "b", "c", "d", "e/f", "", "é"])
    }

    fn value(&mut self, depth: usize) -> String {
        match if depth == 0 { 0 } else { self.below(5) } {
            0 | 1 => self
                .pick(&[
                    "null",
                    "true",
                    "0",
                    "1",
                    "1.0",
                    "2",
                    "-1",
                    "0.5",
                    "\"\"",
                    "\"a\"",
                    "\"b\"",
                    "\"ab\"",
                    "\"\\u0061\"",
                    "1e1",
                ])
                .to_owned(),
            2 | 3 => {
                // Names may repeat.
                let members = self.some(4, |random| {
                    let (name, value) = (random.name(), random.value(depth - 1));
                    format!("{name:?}:{value}")
                });
                format!("{{{}}}", members.join(","))
            }
            _ => format!("[{}]", self.some(3, |random| random.value(depth - 1)).join(",")),
        }
    }

    fn names(&mut self) -> String {
        let names: BTreeSet<&str> = (0..self.below(3)).map(|_| self.name()).collect();
        format!("{names:?}").replace('{', "[").replace('}', "]")
    }

    fn list(&mut self, depth: usize) -> String {
        let mut schemas = self.some(4, |random| random.schema(depth));
        schemas.push(self.schema(depth));
        format!("[{}]", schemas.join(","))
    }

    /// Branches with a kind in them.
    fn kinds(&mut self) -> String {
        let branch = |random: &mut Self| {
            let (name, text) = (random.pick(&["a", "b"]), random.pick(&["a", "b", "ab"]));
            let rest = random.schema(1);
            format!(r#"{{"properties":{{"{name}":{{"const":"{text}"}},"c":{rest}}}}}"#)
        };
        let branches: Vec<String> = (0..3 + self.below(3)).map(|_| branch(self)).collect();
        format!("[{}]", branches.join(","))
    }

    fn map(&mut self, depth: usize) -> String {
        let names: BTreeSet<&str> = (0..self.below(4)).map(|_| self.name()).collect();
        let members = names.into_iter().map(|name| format!("{name:?}:{}", self.schema(depth)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }

    fn schema(&mut self, depth: usize) -> String {
        const TYPES: &[&str] =
            &["null", "boolean", "integer", "number", "string", "array", "object"];
        if depth == 0 {
            return match self.below(5) {
                0 => "true".to_owned(),
                1 => "false".to_owned(),
                _ => format!(r#"{{"type":"{}"}}"#, self.pick(TYPES)),
            };
        }
        let mut keywords: Vec<String> = Vec::new();
        for _ in 0..1 + self.below(4) {
            let inner = depth - 1;
            let (keyword, value) = match self.below(32) {
                0..3 => ("type", format!("{:?}", self.pick(TYPES))),
                3 => ("enum", format!("[{}]", self.some(8, |random| random.value(1)).join(","))),
                4 => ("const", self.value(2)),
                5 => ("minimum", self.pick(&["0", "1", "0.5"]).to_owned()),
                6 => ("exclusiveMaximum", self.pick(&["1", "2.0"]).to_owned()),
                7 => ("multipleOf", self.pick(&["0.5", "2"]).to_owned()),
                8 => ("minLength", "1".to_owned()),
                9 => ("maxLength", self.pick(&["0", "1.0"]).to_owned()),
                10 => ("minItems", "1".to_owned()),
                11 => ("uniqueItems", "true".to_owned()),
                12 => ("items", self.schema(inner)),
                13 => ("prefixItems", self.list(inner)),
                14 => ("contains", self.schema(inner)),
                15 => ("minContains", self.below(3).to_string()),
                16 => ("maxContains", self.below(3).to_string()),
                17 => ("minProperties", self.below(3).to_string()),
                18 => ("maxProperties", self.below(3).to_string()),
                19 | 20 => ("properties", self.map(inner)),
                21 => ("required", self.names()),
                22 => ("additionalProperties", self.schema(inner)),
                23 => ("propertyNames", self.schema(inner)),
                24 => ("dependentSchemas", self.map(inner)),
                25 => ("allOf", self.list(inner)),
                26 => ("anyOf", if depth > 2 { self.kinds() } else { self.list(inner) }),
                27 => ("oneOf", if depth > 2 { self.kinds() } else { self.list(inner) }),
                28 => ("not", self.schema(inner)),
                29 => ("if", self.schema(inner)),
                30 => ("else", self.schema(inner)),
                _ => ("$ref", format!("{:?}", self.pick(&["#/$defs/x", "#/$defs/y", "#"]))),
            };
            keywords.push(format!("{keyword:?}:{value}"));
        }
        if self.below(4) == 0 {
            let keyword = self.pick(&["unevaluatedProperties", "unevaluatedItems"]);
            keywords.push(format!("{keyword:?}:{}", self.schema(0)));
        }
        format!("{{{}}}", keywords.join(","))
    }
}

/// The members or elements evaluated, by name or index; nothing if the value is invalid.
type Evaluated = Option<BTreeSet<String>>;

/// Members by name, the last of repeated ones.
fn members<'a>(object: Value<'a>) -> Vec<(String, Value<'a>)> {
    let mut found: Vec<(String, Value<'a>)> = Vec::new();
    for (name, value) in object.members() {
        found.retain(|(known, _)| *known != name.to_str());
        found.push((name.to_str().into_owned(), value));
    }
    found
}

fn number(value: Value<'_>) -> Option<f64> {
    value.number().map(|text| text.parse().unwrap())
}

fn is_of_type(value: Value<'_>, name: &str) -> bool {
    match value.kind() {
        Kind::Null => name == "null",
        Kind::Boolean => name == "boolean",
        Kind::Number => {
            name == "number" || name == "integer" && number(value).unwrap().fract() == 0.0
        }
        Kind::String => name == "string",
        Kind::Array => name == "array",
        Kind::Object => name == "object",
    }
}

fn same(left: Value<'_>, right: Value<'_>) -> bool {
    equal(left, right, Numbers::Exact)
}

fn count(schema: Value<'_>, keyword: &str) -> Option<usize> {
    schema.get(keyword).and_then(number).map(|count| count as usize)
}

/// Assertions on the value alone.
fn assertions_hold(schema: Value<'_>, value: Value<'_>) -> bool {
    let holds =
        |keyword: &str, test: &dyn Fn(Value<'_>) -> bool| schema.get(keyword).is_none_or(test);
    let within = |keyword: &str, measure: Option<f64>, test: fn(f64, f64) -> bool| {
        let limit = schema.get(keyword).and_then(number);
        measure.zip(limit).is_none_or(|(measure, limit)| test(measure, limit))
    };
    let length = value.text().map(|text| text.code_points() as f64);
    let items = value.is_array().then(|| f64::from(value.len()));
    let properties = value.is_object().then(|| members(value).len() as f64);
    let elements: Vec<Value<'_>> = value.elements().collect();
    let unique = (0..elements.len())
        .all(|at| elements[..at].iter().all(|&earlier| !same(earlier, elements[at])));
    holds("type", &|wanted| is_of_type(value, &wanted.as_str().unwrap()))
        && holds("enum", &|wanted| wanted.elements().any(|wanted| same(wanted, value)))
        && holds("const", &|wanted| same(wanted, value))
        && within("minimum", number(value), |value, limit| value >= limit)
        && within("exclusiveMaximum", number(value), |value, limit| value < limit)
        && within("multipleOf", number(value), |value, limit| value % limit == 0.0)
        && within("minLength", length, |length, limit| length >= limit)
        && within("maxLength", length, |length, limit| length <= limit)
        && within("minItems", items, |items, limit| items >= limit)
        && within("minProperties", properties, |count, limit| count >= limit)
        && within("maxProperties", properties, |count, limit| count <= limit)
        && holds("uniqueItems", &|_| unique)
        && holds("required", &|names| {
            let own = members(value);
            let has = |name: Value<'_>| own.iter().any(|(own, _)| name.as_str().unwrap() == *own);
            !value.is_object() || names.elements().all(has)
        })
}

fn evaluate(root: Value<'_>, schema: Value<'_>, value: Value<'_>) -> Evaluated {
    if let Some(verdict) = schema.as_bool() {
        return verdict.then(BTreeSet::new);
    }
    if !assertions_hold(schema, value) {
        return None;
    }
    let mut seen = in_place(root, schema, value)?;
    if value.is_object() {
        objects(root, schema, value, &mut seen)?;
    }
    if value.is_array() {
        arrays(root, schema, value, &mut seen)?;
    }
    Some(seen)
}

fn in_place(root: Value<'_>, schema: Value<'_>, value: Value<'_>) -> Evaluated {
    let mut seen = BTreeSet::new();
    let branches = |keyword: &str| -> Option<Vec<Evaluated>> {
        let list = schema.get(keyword)?;
        Some(list.elements().map(|branch| evaluate(root, branch, value)).collect())
    };
    for branch in branches("allOf").into_iter().flatten() {
        seen.extend(branch?);
    }
    for (keyword, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
        if let Some(branches) = branches(keyword) {
            let valid: Vec<_> = branches.into_iter().flatten().collect();
            if valid.is_empty() || valid.len() > most {
                return None;
            }
            seen.extend(valid.into_iter().flatten());
        }
    }
    if schema.get("not").is_some_and(|not| evaluate(root, not, value).is_some()) {
        return None;
    }
    if let Some(condition) = schema.get("if") {
        match evaluate(root, condition, value) {
            Some(evaluated) => seen.extend(evaluated),
            None => {
                if let Some(otherwise) = schema.get("else") {
                    seen.extend(evaluate(root, otherwise, value)?);
                }
            }
        }
    }
    if let Some(reference) = schema.get("$ref") {
        let pointer = reference.as_str().unwrap();
        let target = resolve_pointer(root, pointer.strip_prefix('#').unwrap()).unwrap();
        seen.extend(evaluate(root, target, value)?);
    }
    if value.is_object() {
        for (name, dependent) in schema.get("dependentSchemas").map(members).into_iter().flatten() {
            if value.get(&name).is_some() {
                seen.extend(evaluate(root, dependent, value)?);
            }
        }
    }
    Some(seen)
}

fn objects(
    root: Value<'_>,
    schema: Value<'_>,
    value: Value<'_>,
    seen: &mut BTreeSet<String>,
) -> Option<()> {
    for (name, member) in members(value) {
        let declared = schema.get("properties").and_then(|properties| properties.get(&name));
        if let Some(applied) = declared.or(schema.get("additionalProperties")) {
            evaluate(root, applied, member)?;
            seen.insert(name.clone());
        }
        if let Some(names) = schema.get("propertyNames") {
            let text = format!("{name:?}");
            let tape = read(text.as_bytes(), Limits::depth(0)).unwrap();
            evaluate(root, names, tape.root(text.as_bytes()))?;
        }
    }
    if let Some(rest) = schema.get("unevaluatedProperties") {
        for (name, member) in members(value) {
            if seen.insert(name) {
                evaluate(root, rest, member)?;
            }
        }
    }
    Some(())
}

fn arrays(
    root: Value<'_>,
    schema: Value<'_>,
    value: Value<'_>,
    seen: &mut BTreeSet<String>,
) -> Option<()> {
    let prefix: Vec<Value<'_>> =
        schema.get("prefixItems").into_iter().flat_map(Value::elements).collect();
    for (index, element) in value.elements().enumerate() {
        if let Some(applied) = prefix.get(index).copied().or(schema.get("items")) {
            evaluate(root, applied, element)?;
            seen.insert(index.to_string());
        }
    }
    if let Some(contains) = schema.get("contains") {
        let elements = value.elements().enumerate();
        let matching: Vec<usize> = elements
            .filter(|(_, element)| evaluate(root, contains, *element).is_some())
            .map(|(index, _)| index)
            .collect();
        let least = count(schema, "minContains").unwrap_or(1);
        let most = count(schema, "maxContains").unwrap_or(usize::MAX);
        if matching.len() < least || matching.len() > most {
            return None;
        }
        seen.extend(matching.iter().map(usize::to_string));
    }
    if let Some(rest) = schema.get("unevaluatedItems") {
        for (index, element) in value.elements().enumerate() {
            if seen.insert(index.to_string()) {
                evaluate(root, rest, element)?;
            }
        }
    }
    Some(())
}

fn judge_in_slices(program: &Program, bytes: &[u8], tape: &Tape, slice: u64) -> Outcome {
    let mut judge = Judge::new(program, 0);
    loop {
        if let Poll::Ready(outcome) = judge.step(program, bytes, tape, &mut { slice }) {
            return outcome;
        }
    }
}

#[test]
fn the_engine_agrees_with_a_plain_reading() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut verdicts = [0; 2];
    for _ in 0..1_500 {
        let (x, y) = (random.schema(2), random.schema(2));
        let main = random.schema(4);
        let schema = format!(r#"{{"$defs":{{"x":{x},"y":{y}}},{}"#, &main[1..]);
        let program = match compile(schema.as_bytes(), &CompileOptions::default()) {
            Ok(program) => program,
            Err(error) => {
                assert_eq!(error.reason, "reference_cycle", "{schema}");
                continue;
            }
        };
        let schema_tape = read(schema.as_bytes(), Limits::depth(99)).unwrap();
        let root = schema_tape.root(schema.as_bytes());
        for _ in 0..8 {
            let text = random.value(3);
            let bytes = text.as_bytes();
            let tape = read(bytes, Limits::depth(9)).unwrap();
            let outcome = judge(&program, bytes, &tape, 0);
            let valid = evaluate(root, root, tape.root(bytes)).is_some();
            let expected = if valid { Verdict::Valid } else { Verdict::Invalid };
            assert_eq!(outcome.verdict, expected, "{schema} {text}");
            assert_eq!(outcome.violations.is_empty(), valid, "{schema} {text}");
            let slice = 1 + random.below(9) as u64;
            assert_eq!(judge_in_slices(&program, bytes, &tape, slice), outcome, "{schema} {text}");
            verdicts[usize::from(valid)] += 1;
        }
    }
    // Both verdicts were really put to the test.
    assert!(verdicts.iter().all(|&count| count > 1_000), "{verdicts:?}");
}
