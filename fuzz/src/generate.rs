//! Schemas of each dialect, and values that they tell apart.
//!
//! Names, strings and numbers are few, so that what a schema says of them and what a value holds
//! meet often. Every schema is a text: what is judged is what is written.

use std::collections::BTreeSet;

use toolwire::schema::Dialect;

use crate::random::Random;

const NAMES: &[&str] = &["a", "b", "c", "ab", "foo", "", "é", "__proto__"];

const TYPES: &[&str] = &["null", "boolean", "integer", "number", "string", "array", "object"];

const SCALARS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "10",
    "1.0",
    "0.5",
    "1.5",
    "2e0",
    "1e1",
    "-0",
    "0.0",
    "12345678901234567890",
    "9007199254740993",
    "9007199254740992.0",
    "1e-3",
    "0.1",
    "\"\"",
    "\"a\"",
    "\"b\"",
    "\"ab\"",
    "\"abc\"",
    "\"foo\"",
    "\"\\u0061\"",
    "\"é\"",
    "\"😀\"",
    "\"\\ud83d\\ude00\"",
    "\"a1\"",
    "\"1\"",
];

const LIMITS: &[&str] =
    &["0", "1", "2", "-1", "0.5", "1.0", "10", "1e1", "9007199254740992", "12345678901234567890"];

const DIVISORS: &[&str] = &["1", "2", "0.5", "0.1", "0.01", "3", "1e-2", "10", "1.5"];

const PATTERNS: &[&str] = &[
    "^a",
    "b$",
    "^[a-c]+$",
    "^.$",
    "a|b",
    "^\\\\d",
    "o{2}",
    "^(foo|a.*)$",
    "^\\\\w+$",
    "^$",
    "\\\\p{L}",
    "^[^a]",
];

/// What a schema under construction is applied to. References to the same value are chosen so that
/// they rarely lead in a circle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The value of the root.
    Root,
    /// The value of a definition.
    Definition,
    /// Something within.
    Within,
}

/// Makes one schema, then values for it.
pub(crate) struct Generator<'a> {
    random: &'a mut Random,
    dialect: Dialect,
    /// That of the resource `r`, mostly the same.
    other: Dialect,
    place: Place,
    /// Values that the schema holds in `enum` and `const`.
    constants: Vec<String>,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(random: &'a mut Random, dialect: Dialect) -> Self {
        let other = if random.once_in(4) { random.pick(Dialect::ALL) } else { dialect };
        Generator { random, dialect, other, place: Place::Root, constants: Vec::new() }
    }

    /// A whole schema with definitions, anchors and resources for its references.
    pub(crate) fn root(&mut self) -> String {
        let depth = 2 + self.random.below(3);
        let mut members = self.keywords(depth);
        if self.random.once_in(3) {
            members.push(format!("\"$schema\":\"{}\"", self.schema_uri()));
        }
        if self.random.once_in(3) {
            let id = self.id_keyword();
            members.push(format!("\"{id}\":\"http://example.com/root.json\""));
        }
        if self.random.once_in(3) {
            members.extend(self.own_anchor());
        }
        self.place = Place::Definition;
        let definitions = self.definitions();
        members.push(format!("\"{}\":{definitions}", self.definitions_keyword()));
        format!("{{{}}}", members.join(","))
    }

    fn schema_uri(&self) -> &'static str {
        schema_uri(self.dialect)
    }

    fn id_keyword(&self) -> &'static str {
        if self.dialect == Dialect::Draft4 { "id" } else { "$id" }
    }

    fn definitions_keyword(&self) -> &'static str {
        definitions_keyword(self.dialect)
    }

    /// An anchor of the schema it stands in, by which dynamic references find it.
    fn own_anchor(&mut self) -> Option<String> {
        match self.dialect {
            Dialect::Draft2020 => Some("\"$dynamicAnchor\":\"d\"".to_owned()),
            Dialect::Draft2019 => Some(format!(
                "\"$recursiveAnchor\":{}",
                self.random.pick(&["true", "true", "false"])
            )),
            _ => None,
        }
    }

    /// `x` and `y` are plain, `n` has a name, `r` is a resource, `s` another with its own `x`.
    fn definitions(&mut self) -> String {
        let mut members = Vec::new();
        for name in ["x", "y"] {
            members.push(format!("\"{name}\":{}", self.schema(2)));
        }
        let mut named = self.keywords(2);
        named.push(match self.dialect {
            Dialect::Draft2019 | Dialect::Draft2020 => "\"$anchor\":\"n\"".to_owned(),
            _ => format!("\"{}\":\"#n\"", self.id_keyword()),
        });
        members.push(format!("\"n\":{{{}}}", named.join(",")));
        for name in ["r", "s"] {
            let resource = self.resource(name);
            members.push(format!("\"{name}\":{resource}"));
        }
        format!("{{{}}}", members.join(","))
    }

    /// A schema with an identifier, `r` perhaps of another dialect.
    fn resource(&mut self, name: &str) -> String {
        let own = self.dialect;
        if name == "r" {
            self.dialect = self.other;
        }
        let mut members = self.keywords(2);
        if self.dialect != own {
            // Beside a reference the dialect would be ignored, and keywords be those of another.
            members.retain(|member| !member.starts_with("\"$ref\""));
        }
        members.push(format!("\"{}\":\"http://example.com/{name}.json\"", self.id_keyword()));
        if self.dialect != own || self.random.once_in(4) {
            members.push(format!("\"$schema\":\"{}\"", self.schema_uri()));
        }
        if self.random.once_in(2) {
            members.extend(self.own_anchor());
        }
        let inner = self.schema(1);
        members.push(format!("\"{}\":{{\"x\":{inner}}}", self.definitions_keyword()));
        self.dialect = own;
        format!("{{{}}}", members.join(","))
    }

    fn reference(&mut self) -> String {
        let own = self.definitions_keyword();
        let in_r = definitions_keyword(self.other);
        let everywhere = self.place == Place::Within;
        match self.random.below(if everywhere { 10 } else { 9 }) {
            0..3 => format!("#/{own}/x"),
            3 => format!("http://example.com/r.json#/{in_r}/x"),
            4 | 5 => "http://example.com/r.json".to_owned(),
            6 => "http://example.com/s.json".to_owned(),
            7 => "http://example.com/s.json#".to_owned(),
            8 => format!("http://example.com/s.json#/{own}/x"),
            _ => "#".to_owned(),
        }
    }

    /// A schema for what is within the value.
    fn child(&mut self, depth: usize) -> String {
        self.within(|this| this.schema(depth))
    }

    fn within<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let place = std::mem::replace(&mut self.place, Place::Within);
        let made = make(self);
        self.place = place;
        made
    }

    pub(crate) fn schema(&mut self, depth: usize) -> String {
        let booleans = self.dialect > Dialect::Draft4;
        if depth == 0 || self.random.once_in(8) {
            return match self.random.below(6) {
                0 if booleans => "true".to_owned(),
                1 if booleans => "false".to_owned(),
                0 => "{}".to_owned(),
                1 => "{\"not\":{}}".to_owned(),
                2 => format!("{{\"enum\":[{}]}}", self.constant(0)),
                _ => format!("{{\"type\":\"{}\"}}", self.random.pick(TYPES)),
            };
        }
        format!("{{{}}}", self.keywords(depth).join(","))
    }

    /// Members of a schema, no keyword twice.
    fn keywords(&mut self, depth: usize) -> Vec<String> {
        let mut members: Vec<(&'static str, String)> = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            for (keyword, value) in self.keyword(depth.saturating_sub(1)) {
                if members.iter().all(|(known, _)| *known != keyword) {
                    members.push((keyword, value));
                }
            }
        }
        let modern = self.dialect >= Dialect::Draft2019;
        if modern && self.random.once_in(4) {
            let keyword = self.random.pick(&["unevaluatedProperties", "unevaluatedItems"]);
            let value = self.schema(0);
            if members.iter().all(|(known, _)| *known != keyword) {
                members.push((keyword, value));
            }
        }
        if self.dialect == Dialect::Draft4 {
            // The meta-schema demands the limit beside its flag.
            for (flag, limit) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")]
            {
                let has = |name: &str| members.iter().any(|(keyword, _)| *keyword == name);
                if has(flag) && !has(limit) {
                    members.push((limit, self.random.pick(LIMITS).to_owned()));
                }
            }
        }
        members.iter().map(|(keyword, value)| format!("\"{keyword}\":{value}")).collect()
    }

    /// One keyword, or two that belong together. Some are of other dialects, to be ignored.
    fn keyword(&mut self, inner: usize) -> Vec<(&'static str, String)> {
        let modern = self.dialect >= Dialect::Draft2019;
        let one = |keyword, value| vec![(keyword, value)];
        match self.random.below(46) {
            0..4 => one("type", self.types()),
            4 => one("enum", self.constants()),
            5 => {
                let value = self.constant(2);
                one("const", value)
            }
            6 => one("minimum", self.random.pick(LIMITS).to_owned()),
            7 => one("maximum", self.random.pick(LIMITS).to_owned()),
            8 | 9 if self.dialect == Dialect::Draft4 => {
                let keyword = self.random.pick(&["exclusiveMinimum", "exclusiveMaximum"]);
                one(keyword, self.random.pick(&["true", "false"]).to_owned())
            }
            8 => one("exclusiveMinimum", self.random.pick(LIMITS).to_owned()),
            9 => one("exclusiveMaximum", self.random.pick(LIMITS).to_owned()),
            10 => one("multipleOf", self.random.pick(DIVISORS).to_owned()),
            11 => one("minLength", self.count()),
            12 => one("maxLength", self.count()),
            13 => one("pattern", format!("\"{}\"", self.random.pick(PATTERNS))),
            14 => one("minItems", self.count()),
            15 => one("maxItems", self.count()),
            16 => one("uniqueItems", self.random.pick(&["true", "true", "false"]).to_owned()),
            17 | 18 if self.dialect < Dialect::Draft2020 && self.random.once_in(2) => {
                let mut members = vec![("items", self.within(|this| this.list(inner)))];
                if self.random.once_in(2) {
                    members.push(("additionalItems", self.child(inner)));
                }
                members
            }
            17 | 18 => one("items", self.child(inner)),
            19 => one("prefixItems", self.within(|this| this.list(inner))),
            20 => one("additionalItems", self.child(inner)),
            21 => {
                let mut members = vec![("contains", self.child(inner))];
                for keyword in ["minContains", "maxContains"] {
                    if self.random.once_in(2) {
                        members.push((keyword, self.count()));
                    }
                }
                members
            }
            22 => one("minProperties", self.count()),
            23 => one("maxProperties", self.count()),
            24..27 => one("properties", self.within(|this| this.map(inner))),
            27 | 28 => one("required", self.names()),
            29 => {
                let mut members = BTreeSet::new();
                for _ in 0..1 + self.random.below(2) {
                    members.insert(self.random.pick(PATTERNS));
                }
                let members: Vec<String> = members
                    .into_iter()
                    .map(|pattern| format!("\"{pattern}\":{}", self.child(inner)))
                    .collect();
                one("patternProperties", format!("{{{}}}", members.join(",")))
            }
            30 | 31 => one("additionalProperties", self.child(inner)),
            32 => one("propertyNames", self.child(inner)),
            33 if modern => one("dependentSchemas", self.map(inner)),
            34 if modern => one("dependentRequired", self.dependencies(0, true)),
            33 | 34 => one("dependencies", self.dependencies(inner, false)),
            35 => one("allOf", self.list(inner)),
            36 | 37 => one("anyOf", self.list(inner)),
            38 => one("oneOf", self.list(inner)),
            39 => one("not", self.schema(inner)),
            40 => {
                let mut members = vec![("if", self.schema(inner))];
                for keyword in ["then", "else"] {
                    if !self.random.once_in(3) {
                        members.push((keyword, self.schema(inner)));
                    }
                }
                members
            }
            41 if modern => {
                let keyword = self.random.pick(&["unevaluatedProperties", "unevaluatedItems"]);
                one(keyword, self.child(inner))
            }
            42.. if self.place == Place::Definition && !self.random.once_in(4) => {
                one("type", self.types())
            }
            42 if self.dialect == Dialect::Draft2020 => {
                let target = self.random.pick(&["#d", "http://example.com/r.json#d", "#n"]);
                one("$dynamicRef", format!("\"{target}\""))
            }
            42 if self.dialect == Dialect::Draft2019 => one("$recursiveRef", "\"#\"".to_owned()),
            _ => {
                let reference = self.reference();
                one("$ref", format!("\"{reference}\""))
            }
        }
    }

    fn types(&mut self) -> String {
        if !self.random.once_in(3) {
            return format!("\"{}\"", self.random.pick(TYPES));
        }
        let names: BTreeSet<&str> =
            (0..1 + self.random.below(3)).map(|_| self.random.pick(TYPES)).collect();
        format!("{names:?}").replace('{', "[").replace('}', "]")
    }

    fn count(&mut self) -> String {
        self.random.below(4).to_string()
    }

    fn list(&mut self, depth: usize) -> String {
        let schemas: Vec<String> =
            (0..1 + self.random.below(4)).map(|_| self.schema(depth)).collect();
        format!("[{}]", schemas.join(","))
    }

    fn some_names(&mut self, most: usize) -> BTreeSet<&'static str> {
        (0..1 + self.random.below(most)).map(|_| self.random.pick(NAMES)).collect()
    }

    fn names(&mut self) -> String {
        let names: Vec<String> =
            self.some_names(2).into_iter().map(|name| format!("\"{name}\"")).collect();
        format!("[{}]", names.join(","))
    }

    fn map(&mut self, depth: usize) -> String {
        let names = self.some_names(4);
        let members: Vec<String> =
            names.into_iter().map(|name| format!("\"{name}\":{}", self.schema(depth))).collect();
        format!("{{{}}}", members.join(","))
    }

    fn dependencies(&mut self, depth: usize, lists: bool) -> String {
        let names = self.some_names(2);
        let mut members = Vec::new();
        for name in names {
            let demand =
                if lists || self.random.once_in(2) { self.names() } else { self.schema(depth) };
            members.push(format!("\"{name}\":{demand}"));
        }
        format!("{{{}}}", members.join(","))
    }

    fn constant(&mut self, depth: usize) -> String {
        let value = self.any(depth);
        self.constants.push(value.clone());
        value
    }

    fn constants(&mut self) -> String {
        let values: Vec<String> = (0..1 + self.random.below(8)).map(|_| self.constant(1)).collect();
        format!("[{}]", values.join(","))
    }

    /// A value to judge.
    pub(crate) fn value(&mut self) -> String {
        let depth = self.random.below(4);
        self.any(depth)
    }

    fn any(&mut self, depth: usize) -> String {
        if !self.constants.is_empty() && self.random.once_in(8) {
            let index = self.random.below(self.constants.len());
            return self.constants[index].clone();
        }
        if depth == 0 || self.random.once_in(4) {
            return self.random.pick(SCALARS).to_owned();
        }
        if self.random.once_in(2) {
            // Names may repeat: the last one counts.
            let members: Vec<String> = (0..self.random.below(5))
                .map(|_| format!("\"{}\":{}", self.random.pick(NAMES), self.any(depth - 1)))
                .collect();
            return format!("{{{}}}", members.join(","));
        }
        let items: Vec<String> = (0..self.random.below(5)).map(|_| self.any(depth - 1)).collect();
        format!("[{}]", items.join(","))
    }
}

fn schema_uri(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Draft4 => "http://json-schema.org/draft-04/schema#",
        Dialect::Draft6 => "http://json-schema.org/draft-06/schema#",
        Dialect::Draft7 => "http://json-schema.org/draft-07/schema#",
        Dialect::Draft2019 => "https://json-schema.org/draft/2019-09/schema",
        Dialect::Draft2020 => "https://json-schema.org/draft/2020-12/schema",
    }
}

fn definitions_keyword(dialect: Dialect) -> &'static str {
    if dialect >= Dialect::Draft2019 { "$defs" } else { "definitions" }
}
