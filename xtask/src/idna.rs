//! `cargo xtask unicode`, second half: what judging internationalised host names needs beside the
//! properties of patterns.
//!
//! The file `src/schema/format/idna.bin` holds numbers and parts as `unicode.bin` does. Its parts:
//!
//! 1. directions as runs from U+0000 on: a byte (0 left to right, 1 right to left, 2 Arabic letter,
//!    3 Arabic number, 4 European number, 5 any other, 6 a mark that is left to right) and the
//!    run's length. All other marks (categories Mn and Me), and what no label holds, extend their
//!    neighbour's run;
//! 2. and 3. what joins the letter after it, and the letter before it: ranges as the distance from
//!    the end of the one before, and the length;
//! 4. canonical combining classes as runs: a byte and the length;
//! 5. pairs that normalisation form C composes: for each second code point its distance from the
//!    one before, the count of first ones, and their distances.

use std::collections::BTreeMap;

use icu_normalizer::properties::{
    CanonicalCombiningClassMapBorrowed, CanonicalCompositionBorrowed,
    CanonicalDecompositionBorrowed, Decomposed,
};
use icu_properties::CodePointMapData;
use icu_properties::props::{BidiClass, GeneralCategory, JoiningType};

use crate::process::{Failure, Outcome};
use crate::unicode::{LAST, number, part, runs};

/// Stands for a direction that does not matter.
const ANY: u8 = u8::MAX;

/// A mark that has a direction after all: left to right.
const LEFT_MARK: u8 = 6;

/// The bytes of the tables.
pub(crate) fn tables() -> Outcome<Vec<u8>> {
    let mut out = Vec::new();
    part(&mut out, &directions()?);
    let joins = |wanted: [JoiningType; 2]| {
        let map = CodePointMapData::<JoiningType>::new();
        ranges(&|point| wanted.contains(&map.get32(point)))
    };
    part(&mut out, &joins([JoiningType::LeftJoining, JoiningType::DualJoining]));
    part(&mut out, &joins([JoiningType::RightJoining, JoiningType::DualJoining]));
    let classes = CanonicalCombiningClassMapBorrowed::new();
    let classes: Vec<u8> = (0..=LAST).map(|point| classes.get32_u8(point)).collect();
    part(&mut out, &written(&runs(&classes)));
    part(&mut out, &compositions());
    Ok(out)
}

fn written(runs: &[(u8, u32)]) -> Vec<u8> {
    let mut out = Vec::new();
    // What follows the last run that says something is like its first value, 0.
    let end = runs.iter().rposition(|run| run.0 != 0).map_or(0, |last| last + 1);
    for &(value, length) in runs.iter().take(end) {
        out.push(value);
        number(&mut out, length);
    }
    out
}

fn directions() -> Outcome<Vec<u8>> {
    use GeneralCategory as Category;
    let classes = CodePointMapData::<BidiClass>::new();
    let categories = CodePointMapData::<GeneralCategory>::new();
    let joining = CodePointMapData::<JoiningType>::new();
    let mut values = Vec::new();
    for point in 0..=LAST {
        let category = categories.get32(point);
        let class = classes.get32(point);
        let is_mark = matches!(category, Category::NonspacingMark | Category::EnclosingMark);
        let is_known = matches!(class, BidiClass::NonspacingMark | BidiClass::LeftToRight);
        if is_mark && !(is_known && joining.get32(point) == JoiningType::Transparent) {
            return Err(Failure::new(format!("the mark U+{point:04X} is not like others")));
        }
        let stands = matches!(point, 0x200C | 0x200D)
            || matches!(
                category,
                Category::LowercaseLetter
                    | Category::UppercaseLetter
                    | Category::OtherLetter
                    | Category::DecimalNumber
                    | Category::ModifierLetter
                    | Category::SpacingMark
                    | Category::LetterNumber
                    | Category::OtherPunctuation
                    | Category::DashPunctuation
            );
        values.push(match class {
            BidiClass::LeftToRight if is_mark => LEFT_MARK,
            _ if is_mark || !stands => ANY,
            BidiClass::LeftToRight => 0,
            BidiClass::RightToLeft => 1,
            BidiClass::ArabicLetter => 2,
            BidiClass::ArabicNumber => 3,
            BidiClass::EuropeanNumber => 4,
            _ => 5,
        });
    }
    let mut last = 0;
    for value in &mut values {
        if *value == ANY {
            *value = last;
        } else if *value != LEFT_MARK {
            last = *value;
        }
    }
    Ok(written(&runs(&values)))
}

fn ranges(holds: &dyn Fn(u32) -> bool) -> Vec<u8> {
    let flags: Vec<bool> = (0..=LAST).map(holds).collect();
    let mut out = Vec::new();
    let mut gap = 0;
    for (flag, length) in runs(&flags) {
        if flag {
            number(&mut out, gap);
            number(&mut out, length);
        }
        gap = length;
    }
    out
}

fn compositions() -> Vec<u8> {
    let (take_apart, compose) =
        (CanonicalDecompositionBorrowed::new(), CanonicalCompositionBorrowed::new());
    // Syllables of Hangul are composed by rule, from letters that no label holds.
    let hangul = '\u{AC00}'..='\u{D7A3}';
    let mut pairs: BTreeMap<char, Vec<char>> = BTreeMap::new();
    for whole in ('\0'..=char::MAX).filter(|whole| !hangul.contains(whole)) {
        if let Decomposed::Expansion(first, second) = take_apart.decompose(whole)
            && compose.compose(first, second) == Some(whole)
        {
            pairs.entry(second).or_default().push(first);
        }
    }
    let mut out = Vec::new();
    let mut before = 0;
    for (second, mut firsts) in pairs {
        number(&mut out, second as u32 - before);
        before = second as u32;
        firsts.sort_unstable();
        number(&mut out, firsts.len() as u32);
        let mut before = 0;
        for first in firsts {
            number(&mut out, first as u32 - before);
            before = first as u32;
        }
    }
    out
}
