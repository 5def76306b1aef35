//! `cargo xtask unicode`: the tables of Unicode properties that patterns are judged by; `idna` makes
//! those that host names need beside them.
//!
//! The file `src/schema/pattern/unicode.bin` is made from the data of the crate `icu_properties`.
//! All numbers are seven bits a byte, the low ones first, the high bit on all but the last byte. A
//! *part* is its length in bytes, then its bytes. The file is seven parts:
//!
//! 1. the Unicode version as text;
//! 2. general categories as runs from U+0000 on: a byte of the category (low five bits, numbered as
//!    `CATEGORY_ORDER`) and the run's length less one (high three bits); 7 there means that a number
//!    follows, the length less eight. Categories 30 and 31 are runs of Lu and Ll by turns, beginning
//!    with Lu and Ll;
//! 3. names of scripts as text: `;` between scripts, a space between names of one;
//! 4. scripts as runs: a byte, and the length as a number;
//! 5. script extensions: the count of lists, each list as a part of script bytes; then for each
//!    range the distance from the end of the one before, its length, its script, its list;
//! 6. binary properties, each a part: its names as a part of text; one more than the index of the
//!    property that it is based on, or 0; categories as bits; then ranges as distances and lengths.
//!    A code point has the property if an odd number of base, categories and ranges have it;
//! 7. simple case foldings as rows: the distance from the end of the row before, the count of code
//!    points, how far apart they are (1 or 2), and twice the distance to what the first folds to,
//!    one more if that is lower.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use icu_casemap::CaseMapperBorrowed;
use icu_properties::props::{GeneralCategory, Script};
use icu_properties::script::ScriptWithExtensions;
use icu_properties::{CodePointMapData, CodePointSetData, PropertyNamesLong, PropertyNamesShort};

use crate::process::{Failure, Outcome};
use crate::tree;

pub(crate) const LAST: u32 = 0x10_FFFF;

/// The categories in the order of their numbers; `src/schema/pattern/unicode.rs` has the same.
const CATEGORY_ORDER: &str = "Cn Lu Ll Lt Lm Lo Mn Me Mc Nd Nl No Zs Zl Zp Cc Cf Co Cs Pd Ps Pe \
                              Pc Po Sm Sc Sk So Pi Pf";

/// Aliases of scripts that the crate's names lack.
const SCRIPT_ALIASES: &[(&str, &str)] = &[("Copt", "Qaac"), ("Zinh", "Qaai")];

/// The binary properties of ECMA-262 and their aliases, those first that others are close to.
const BINARIES: &[&str] = &[
    "Lowercase Lower",
    "Uppercase Upper",
    "Alphabetic Alpha",
    "ASCII_Hex_Digit AHex",
    "Bidi_Control Bidi_C",
    "Bidi_Mirrored Bidi_M",
    "Grapheme_Extend Gr_Ext",
    "Case_Ignorable CI",
    "Cased",
    "Changes_When_Lowercased CWL",
    "Changes_When_Uppercased CWU",
    "Changes_When_Titlecased CWT",
    "Changes_When_Casemapped CWCM",
    "Changes_When_Casefolded CWCF",
    "Default_Ignorable_Code_Point DI",
    "Changes_When_NFKC_Casefolded CWKCF",
    "Dash",
    "Deprecated Dep",
    "Diacritic Dia",
    "Emoji_Presentation EPres",
    "Emoji",
    "Emoji_Component EComp",
    "Emoji_Modifier EMod",
    "Emoji_Modifier_Base EBase",
    "Extended_Pictographic ExtPict",
    "Extender Ext",
    "Grapheme_Base Gr_Base",
    "Hex_Digit Hex",
    "IDS_Binary_Operator IDSB",
    "IDS_Trinary_Operator IDST",
    "ID_Start IDS",
    "ID_Continue IDC",
    "XID_Start XIDS",
    "XID_Continue XIDC",
    "Unified_Ideograph UIdeo",
    "Ideographic Ideo",
    "Join_Control Join_C",
    "Logical_Order_Exception LOE",
    "Math",
    "Noncharacter_Code_Point NChar",
    "Pattern_Syntax Pat_Syn",
    "Pattern_White_Space Pat_WS",
    "Quotation_Mark QMark",
    "Radical",
    "Regional_Indicator RI",
    "Sentence_Terminal STerm",
    "Soft_Dotted SD",
    "Terminal_Punctuation Term",
    "Variation_Selector VS",
    "White_Space space",
];

/// A set as one flag a stretch.
type Flags = Vec<bool>;

/// Writes the tables.
pub(crate) fn write() -> Outcome<()> {
    let files = files()?;
    let bytes: usize = files.iter().map(|file| file.1.len()).sum();
    println!("{bytes} bytes, Unicode {}", version()?);
    files.iter().try_for_each(|(path, bytes)| tree::write(path, bytes))
}

/// Each file and what it is to hold.
fn files() -> Outcome<[(PathBuf, Vec<u8>); 2]> {
    let schema = tree::root().join("src/schema");
    Ok([
        (schema.join("pattern/unicode.bin"), tables()?),
        (schema.join("format/idna.bin"), crate::idna::tables()?),
    ])
}

/// The Unicode version of the crate's data. The crate does not tell; but if it agrees with the
/// standard library's tables, it is of the same version.
fn version() -> Outcome<String> {
    let categories = CodePointMapData::<GeneralCategory>::new();
    let set = |name: &str| CodePointSetData::new_for_ecma262(name.as_bytes());
    let lookup = (set("Alphabetic"), set("Lowercase"), set("Uppercase"), set("White_Space"));
    let (Some(alphabetic), Some(lower), Some(upper), Some(space)) = lookup else {
        return Err(Failure::new("icu_properties lacks a basic property"));
    };
    for character in '\0'..=char::MAX {
        use GeneralCategory::{DecimalNumber, LetterNumber, OtherNumber};
        let category = categories.get(character);
        let is_numeric = matches!(category, DecimalNumber | LetterNumber | OtherNumber);
        if character.is_alphabetic() != alphabetic.contains(character)
            || character.is_lowercase() != lower.contains(character)
            || character.is_uppercase() != upper.contains(character)
            || character.is_whitespace() != space.contains(character)
            || character.is_numeric() != is_numeric
        {
            return Err(Failure::new(
                "icu_properties and the Rust toolchain have different versions of Unicode: \
                 raise both, then write the tables again",
            ));
        }
    }
    let (major, minor, update) = char::UNICODE_VERSION;
    Ok(format!("{major}.{minor}.{update}"))
}

fn tables() -> Outcome<Vec<u8>> {
    let mut out = Vec::new();
    part(&mut out, version()?.as_bytes());
    let categories = categories()?;
    part(&mut out, &category_runs(&categories));
    let scripts = Scripts::new();
    part(&mut out, scripts.names.join(";").as_bytes());
    part(&mut out, &scripts.runs());
    part(&mut out, &scripts.extensions());
    part(&mut out, &binaries(&categories)?);
    part(&mut out, &foldings());
    Ok(out)
}

pub(crate) fn number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn part(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
}

/// Runs of equal values: value and length.
pub(crate) fn runs<T: PartialEq + Copy>(values: &[T]) -> Vec<(T, u32)> {
    let mut runs: Vec<(T, u32)> = Vec::new();
    for &value in values {
        match runs.last_mut() {
            Some(last) if last.0 == value => last.1 += 1,
            _ => runs.push((value, 1)),
        }
    }
    runs
}

/// The category of each code point, by number.
fn categories() -> Outcome<Vec<u8>> {
    let map = CodePointMapData::<GeneralCategory>::new();
    let names = PropertyNamesShort::<GeneralCategory>::new();
    let order: Vec<&str> = CATEGORY_ORDER.split(' ').collect();
    (0..=LAST)
        .map(|point| {
            let name = names.get(map.get32(point));
            let number = order.iter().position(|&known| Some(known) == name);
            number.map(|number| number as u8).ok_or_else(|| Failure::new("unknown category"))
        })
        .collect()
}

fn category_runs(categories: &[u8]) -> Vec<u8> {
    let mut joined: Vec<(u8, u32)> = Vec::new();
    let mut turns = false;
    for (value, length) in runs(categories) {
        let letter = length == 1 && (value == 1 || value == 2);
        match joined.last_mut() {
            // Runs of one letter in a row differ, so they alternate.
            Some(last) if letter && turns => {
                last.0 = if last.1 == 1 { last.0 + 29 } else { last.0 };
                last.1 += 1;
            }
            _ => joined.push((value, length)),
        }
        turns = letter;
    }
    let mut out = Vec::new();
    for (value, length) in joined {
        let short = (length - 1).min(7) as u8;
        out.push(value | short << 5);
        if short == 7 {
            number(&mut out, length - 8);
        }
    }
    out
}

/// Scripts as numbers.
struct Scripts {
    names: Vec<String>,
    /// The script of each code point.
    values: Vec<u8>,
    /// For each code point that has one, its list of scripts.
    lists: BTreeMap<u32, Vec<u8>>,
}

impl Scripts {
    fn new() -> Self {
        let map = CodePointMapData::<Script>::new();
        let extensions = ScriptWithExtensions::new();
        let long = PropertyNamesLong::<Script>::new();
        let short = PropertyNamesShort::<Script>::new();
        let mut known: BTreeMap<Script, u8> = BTreeMap::new();
        let mut names = Vec::new();
        let mut number_of = |script: Script| {
            *known.entry(script).or_insert_with(|| {
                let short = short.get(script).unwrap_or("Zzzz");
                let mut all = vec![short];
                all.extend(long.get(script).filter(|&long| long != short));
                let aliases = SCRIPT_ALIASES.iter().filter(|alias| alias.0 == short);
                all.extend(aliases.map(|alias| alias.1));
                names.push(all.join(" "));
                names.len() as u8 - 1
            })
        };
        let mut values = Vec::new();
        let mut lists = BTreeMap::new();
        for point in 0..=LAST {
            let own = map.get32(point);
            values.push(number_of(own));
            if own == Script::Unknown {
                // Most code points: only those of some script are also used with others.
                continue;
            }
            let list = extensions.get_script_extensions_val32(point);
            let mut list: Vec<u8> = list.iter().map(&mut number_of).collect();
            list.sort_unstable();
            if list != [number_of(own)] {
                lists.insert(point, list);
            }
        }
        Scripts { names, values, lists }
    }

    fn runs(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (value, length) in runs(&self.values) {
            out.push(value);
            number(&mut out, length);
        }
        out
    }

    fn extensions(&self) -> Vec<u8> {
        let mut lists: Vec<&Vec<u8>> = self.lists.values().collect();
        lists.sort();
        lists.dedup();
        let mut out = Vec::new();
        number(&mut out, lists.len() as u32);
        for list in &lists {
            part(&mut out, list);
        }
        let at: Vec<Option<(u8, u8)>> = (0..=LAST)
            .map(|point| {
                let list = self.lists.get(&point)?;
                let index = lists.binary_search(&list).ok()?;
                Some((*self.values.get(point as usize)?, index as u8))
            })
            .collect();
        let mut gap = 0;
        for (value, length) in runs(&at) {
            match value {
                None => gap = length,
                Some((script, list)) => {
                    number(&mut out, gap);
                    number(&mut out, length);
                    out.extend([script, list]);
                    gap = 0;
                }
            }
        }
        out
    }
}

/// One row of foldings.
struct Row {
    first: u32,
    last: u32,
    step: u32,
    distance: i64,
}

fn foldings() -> Vec<u8> {
    let mapper = CaseMapperBorrowed::new();
    let mut rows: Vec<Row> = Vec::new();
    for point in '\0'..=char::MAX {
        let folded = mapper.simple_fold(point);
        if folded == point {
            continue;
        }
        let (point, distance) = (point as u32, folded as i64 - point as i64);
        match rows.last_mut() {
            Some(row)
                if row.distance == distance && row.first == row.last && point - row.last <= 2 =>
            {
                row.step = point - row.last;
                row.last = point;
            }
            Some(row) if row.distance == distance && point - row.last == row.step => {
                row.last = point
            }
            _ => rows.push(Row { first: point, last: point, step: 1, distance }),
        }
    }
    let mut out = Vec::new();
    let mut end = 0;
    for row in rows {
        number(&mut out, row.first - end);
        number(&mut out, (row.last - row.first) / row.step + 1);
        number(&mut out, row.step);
        number(&mut out, (row.distance.unsigned_abs() as u32) << 1 | (row.distance < 0) as u32);
        end = row.last;
    }
    out
}

/// A stretch of code points of one category that no property divides.
struct Stretch {
    length: u32,
    category: u8,
}

/// All binary properties, each written in the shortest of the ways that are tried.
fn binaries(categories: &[u8]) -> Outcome<Vec<u8>> {
    let mut sets = Vec::new();
    for names in BINARIES {
        let name = names.split(' ').next().unwrap_or("");
        let set = CodePointSetData::new_for_ecma262(name.as_bytes())
            .ok_or_else(|| Failure::new(format!("icu_properties lacks {name}")))?;
        sets.push((*names, set));
    }
    let mut edges: BTreeSet<u32> = BTreeSet::from([LAST + 1]);
    let mut at = 0;
    for (_, length) in runs(categories) {
        edges.insert(at);
        at += length;
    }
    for (_, set) in &sets {
        edges.extend(set.iter_ranges().flat_map(|range| [*range.start(), range.end() + 1]));
    }
    let edges: Vec<u32> = edges.into_iter().collect();
    let stretches: Vec<Stretch> = edges
        .iter()
        .zip(edges.iter().skip(1))
        .map(|(&start, end)| {
            let category = categories.get(start as usize).copied().unwrap_or(0);
            Stretch { length: end - start, category }
        })
        .collect();
    let mut out = Vec::new();
    let mut known: Vec<Flags> = Vec::new();
    for (names, set) in sets {
        let starts = edges.iter().take(stretches.len());
        let flags: Flags = starts.map(|&start| set.contains32(start)).collect();
        let mut best = binary(&flags, &stretches, None);
        for (index, base) in known.iter().enumerate() {
            let other = binary(&flags, &stretches, Some((index, base)));
            if other.len() < best.len() {
                best = other;
            }
        }
        let mut entry = Vec::new();
        part(&mut entry, names.as_bytes());
        entry.extend(best);
        part(&mut out, &entry);
        known.push(flags);
    }
    Ok(out)
}

/// A property as base, categories and what is left.
fn binary(flags: &[bool], stretches: &[Stretch], base: Option<(usize, &Flags)>) -> Vec<u8> {
    let mut rest = flags.to_vec();
    if let Some((_, base)) = base {
        rest.iter_mut().zip(base).for_each(|(flag, &other)| *flag ^= other);
    }
    let mut balance: BTreeMap<u8, i64> = BTreeMap::new();
    for (&flag, stretch) in rest.iter().zip(stretches) {
        *balance.entry(stretch.category).or_default() += if flag { 1 } else { -1 };
    }
    let mostly = balance.iter().filter(|entry| *entry.1 > 0);
    let bits = mostly.fold(0, |bits, (category, _)| bits | 1 << category);
    for (flag, stretch) in rest.iter_mut().zip(stretches) {
        *flag ^= bits >> stretch.category & 1 == 1;
    }
    let mut out = Vec::new();
    number(&mut out, base.map_or(0, |(index, _)| index as u32 + 1));
    number(&mut out, bits);
    let mut at = 0;
    let mut before = (false, 0);
    for (&flag, stretch) in rest.iter().zip(stretches) {
        // Each edge is written as its distance from the one before.
        if flag != before.0 {
            number(&mut out, at - before.1);
            before = (flag, at);
        }
        at += stretch.length;
    }
    if before.0 {
        number(&mut out, at - before.1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_tables_are_those_of_the_crate() {
        for (path, bytes) in files().unwrap() {
            let committed = std::fs::read(&path).unwrap();
            assert!(committed == bytes, "run cargo xtask unicode and commit the outcome");
        }
    }
}
