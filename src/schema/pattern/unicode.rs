//! Properties of code points for `\p{…}`, of one Unicode version, so that every host gives the
//! same verdict.
//!
//! Owns the reading of `unicode.bin`, which `cargo xtask unicode` writes and whose layout
//! `xtask/src/unicode.rs` describes. Nothing is decoded before a pattern asks for it. Property
//! names are those of ECMA-262 (tables Binary Unicode property aliases, General_Category and
//! Script values); they match exactly, without loose matching.

use super::set::{LAST, Set};

const TABLES: &[u8] = include_bytes!("unicode.bin");

/// General categories by the number the tables give them: short and long names.
const CATEGORIES: [(&str, &str); 30] = [
    ("Cn", "Unassigned"),
    ("Lu", "Uppercase_Letter"),
    ("Ll", "Lowercase_Letter"),
    ("Lt", "Titlecase_Letter"),
    ("Lm", "Modifier_Letter"),
    ("Lo", "Other_Letter"),
    ("Mn", "Nonspacing_Mark"),
    ("Me", "Enclosing_Mark"),
    ("Mc", "Spacing_Mark"),
    ("Nd", "Decimal_Number digit"),
    ("Nl", "Letter_Number"),
    ("No", "Other_Number"),
    ("Zs", "Space_Separator"),
    ("Zl", "Line_Separator"),
    ("Zp", "Paragraph_Separator"),
    ("Cc", "Control cntrl"),
    ("Cf", "Format"),
    ("Co", "Private_Use"),
    ("Cs", "Surrogate"),
    ("Pd", "Dash_Punctuation"),
    ("Ps", "Open_Punctuation"),
    ("Pe", "Close_Punctuation"),
    ("Pc", "Connector_Punctuation"),
    ("Po", "Other_Punctuation"),
    ("Sm", "Math_Symbol"),
    ("Sc", "Currency_Symbol"),
    ("Sk", "Modifier_Symbol"),
    ("So", "Other_Symbol"),
    ("Pi", "Initial_Punctuation"),
    ("Pf", "Final_Punctuation"),
];

/// Names of several categories, and those as bits.
const GROUPS: &[(&str, &str, u32)] = &[
    ("C", "Other", 1 | 0b1111 << 15),
    ("L", "Letter", 0b11111 << 1),
    ("LC", "Cased_Letter", 0b111 << 1),
    ("M", "Mark Combining_Mark", 0b111 << 6),
    ("N", "Number", 0b111 << 9),
    ("P", "Punctuation punct", 0b11111 << 19 | 0b11 << 28),
    ("S", "Symbol", 0b1111 << 24),
    ("Z", "Separator", 0b111 << 12),
];

/// Reads the tables' numbers, each seven bits a byte and the low ones first.
pub(crate) struct Reader {
    rest: &'static [u8],
}

impl Reader {
    pub(crate) fn new(bytes: &'static [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub(crate) fn byte(&mut self) -> u32 {
        let Some((&first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        first as u32
    }

    pub(crate) fn number(&mut self) -> u32 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= (byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 || shift > 28 {
                return number;
            }
        }
    }

    /// A part that is preceded by its length in bytes.
    pub(crate) fn part(&mut self) -> Reader {
        let length = self.number() as usize;
        let (part, rest) = self.rest.split_at_checked(length).unwrap_or((&[], &[]));
        self.rest = rest;
        Reader { rest: part }
    }

    fn text(&mut self) -> &'static str {
        std::str::from_utf8(self.part().rest).unwrap_or("")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// The parts of the tables.
struct Tables {
    version: &'static str,
    categories: Reader,
    script_names: &'static str,
    scripts: Reader,
    extensions: Reader,
    binaries: Reader,
    foldings: Reader,
}

fn tables() -> Tables {
    let mut reader = Reader::new(TABLES);
    Tables {
        version: reader.text(),
        categories: reader.part(),
        script_names: reader.text(),
        scripts: reader.part(),
        extensions: reader.part(),
        binaries: reader.part(),
        foldings: reader.part(),
    }
}

/// The Unicode version of the tables, such as `17.0.0`.
pub(crate) fn version() -> &'static str {
    tables().version
}

/// Where a set begins and ends, in any order; a place noted twice is none, so lists can be joined
/// to give what is in one of two sets but not in both.
#[derive(Default)]
struct Edges(Vec<u32>);

impl Edges {
    fn toggle(&mut self, start: u32, end: u32) {
        self.0.extend([start, end]);
    }

    fn into_set(mut self) -> Set {
        crate::sorted::sort(&mut self.0);
        let mut kept: Vec<u32> = Vec::with_capacity(self.0.len());
        for edge in self.0 {
            if kept.last() == Some(&edge) {
                kept.pop();
            } else {
                kept.push(edge);
            }
        }
        let ranges = kept.chunks(2).map(|pair| match *pair {
            [start, end] => (start, end - 1),
            [start, ..] => (start, LAST),
            [] => (LAST, LAST),
        });
        Set::new(ranges.collect())
    }
}

/// The set of a property of `\p{…}`, written `Name` or `Name=Value`; `None` if ECMA-262 knows none
/// of that name.
pub(crate) fn property(text: &str) -> Option<Set> {
    let Some((name, value)) = text.split_once('=') else {
        return category(text).or_else(|| binary(text));
    };
    match name {
        "General_Category" | "gc" => category(value),
        "Script" | "sc" => script(value, false),
        "Script_Extensions" | "scx" => script(value, true),
        _ => None,
    }
}

/// True if one of the names, which spaces separate, is the one asked for.
fn is_named(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

fn category(name: &str) -> Option<Set> {
    let group = GROUPS.iter().find(|group| group.0 == name || is_named(group.1, name));
    let bits = match group {
        Some(group) => group.2,
        None => {
            let known = |entry: &(&str, &str)| entry.0 == name || is_named(entry.1, name);
            1 << CATEGORIES.iter().position(known)?
        }
    };
    let mut edges = Edges::default();
    categories(bits, &mut edges);
    Some(edges.into_set())
}

/// Adds the code points of some categories.
fn categories(bits: u32, edges: &mut Edges) {
    let mut runs = tables().categories;
    let mut at = 0;
    while !runs.is_empty() {
        let (value, length) = run(&mut runs);
        match value {
            // Capital and small letters by turns.
            30 | 31 => {
                for turn in 0..length {
                    let letter = if turn % 2 == value % 2 { 1 } else { 2 };
                    if bits >> letter & 1 == 1 {
                        edges.toggle(at + turn, at + turn + 1);
                    }
                }
            }
            _ if bits >> value & 1 == 1 => edges.toggle(at, at + length),
            _ => {}
        }
        at += length;
    }
}

/// A value of five bits and a length, in one byte if it is short.
fn run(reader: &mut Reader) -> (u32, u32) {
    let byte = reader.byte();
    let length = match byte >> 5 {
        7 => reader.number() + 8,
        short => short + 1,
    };
    (byte & 31, length)
}

fn script(name: &str, extended: bool) -> Option<Set> {
    let tables = tables();
    let script = tables.script_names.split(';').position(|names| is_named(names, name))? as u32;
    let mut edges = Edges::default();
    let mut runs = tables.scripts;
    let mut at = 0;
    while !runs.is_empty() {
        let value = runs.byte();
        let length = runs.number();
        if value == script {
            edges.toggle(at, at + length);
        }
        at += length;
    }
    if extended {
        let mut extensions = tables.extensions;
        let lists: Vec<Reader> = (0..extensions.number()).map(|_| extensions.part()).collect();
        let mut at = 0;
        while !extensions.is_empty() {
            at += extensions.number();
            let length = extensions.number();
            let own = extensions.byte();
            let list = lists.get(extensions.byte() as usize);
            let listed = list.is_some_and(|list| list.rest.contains(&(script as u8)));
            if listed != (own == script) {
                edges.toggle(at, at + length);
            }
            at += length;
        }
    }
    Some(edges.into_set())
}

/// A binary property: some categories, changed by another property and by ranges of its own.
fn binary(name: &str) -> Option<Set> {
    match name {
        "Any" => return Some(Set::new(vec![(0, LAST)])),
        "ASCII" => return Some(Set::new(vec![(0, 0x7F)])),
        "Assigned" => return category("Cn").map(|set| set.complement()),
        _ => {}
    }
    let mut binaries = tables().binaries;
    let mut entries: Vec<Reader> = Vec::new();
    while !binaries.is_empty() {
        let mut entry = binaries.part();
        let found = is_named(entry.text(), name);
        entries.push(entry);
        if found {
            break;
        } else if binaries.is_empty() {
            return None;
        }
    }
    let mut edges = Edges::default();
    let mut entry = entries.pop();
    while let Some(mut reader) = entry {
        let base = reader.number() as usize;
        categories(reader.number(), &mut edges);
        let mut at = 0;
        while !reader.is_empty() {
            let start = at + reader.number();
            at = start + reader.number();
            edges.toggle(start, at);
        }
        // An entry is based on an earlier one, so this ends.
        entries.truncate(base);
        entry = entries.pop();
    }
    Some(edges.into_set())
}

/// Code points and what simple case folding makes of them, where that is another; ascending.
pub(super) fn foldings() -> Vec<(u32, u32)> {
    let mut rows = tables().foldings;
    let mut foldings = Vec::new();
    let mut at = 0;
    while !rows.is_empty() {
        at += rows.number();
        let (count, step, distance) = (rows.number(), rows.number(), rows.number());
        for turn in 0..count {
            let point = at + turn * step;
            let folded = match distance & 1 {
                0 => point.saturating_add(distance >> 1),
                _ => point.saturating_sub(distance >> 1),
            };
            foldings.push((point, folded));
        }
        at += count.saturating_sub(1) * step;
    }
    foldings
}

/// The sets of which names of groups are made: of their first and of their other code points.
pub(super) fn identifiers() -> (Set, Set) {
    let set = |name, others: &[(u32, u32)]| {
        let mut ranges = others.to_vec();
        ranges.extend_from_slice(binary(name).unwrap_or_default().ranges());
        Set::new(ranges)
    };
    let first = set("ID_Start", &[(0x24, 0x24), (0x5F, 0x5F)]);
    (first, set("ID_Continue", &[(0x24, 0x24), (0x200C, 0x200D)]))
}
