//! Which tool names are usable (row R16).
//!
//! The categories Cc and Cf are a table of ranges of Unicode 16.0; `Cs` is a lone surrogate.

use crate::json::Text;

/// Code points of category Cf, and of Cc beyond ASCII, in order; the last two are U+2028 and
/// U+2029 among their neighbours.
const UNPRINTABLE: &[(u32, u32)] = &[
    (0x00, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x600, 0x605),
    (0x61C, 0x61C),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x2064),
    (0x2066, 0x206F),
    (0xD800, 0xDFFF),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0001, 0xE0001),
    (0xE0020, 0xE007F),
];

/// True for `.`, `..`, and names with a slash, a control or format character, a line or paragraph
/// separator or half of a surrogate pair.
pub(super) fn is_forbidden(name: Text<'_>) -> bool {
    name.eq_str(".")
        || name.eq_str("..")
        || name.points().any(|point| point == '/' as u32 || is_unprintable(point))
}

fn is_unprintable(point: u32) -> bool {
    let index = UNPRINTABLE.partition_point(|&(_, last)| last < point);
    UNPRINTABLE.get(index).is_some_and(|&(first, _)| first <= point)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn names_that_could_pass_for_others_are_forbidden() {
        for name in [
            ".",
            "..",
            "a/b",
            "a\nb",
            "a\u{7f}b",
            "a\u{85}b",
            "a\u{200b}b",
            "a\u{2068}b",
            "a\u{2060}b",
            "\u{feff}a",
            "a\u{2028}b",
            "a\u{2029}b",
            "a\u{e0041}b",
            "a\u{61c}b",
            "a\u{ad}b",
        ] {
            assert!(is_forbidden(Text::plain(name)), "{name:?}");
        }
        for name in [
            "...",
            "a b",
            " ",
            "outil_été",
            "😀",
            "a\u{a0}b",
            "a\\\\b",
            "a:b",
            "a\u{fe0f}",
            "\u{3164}",
        ] {
            assert!(!is_forbidden(Text::plain(name)), "{name:?}");
        }
    }

    #[test]
    fn the_table_is_in_order() {
        for pair in UNPRINTABLE.windows(2) {
            assert!(pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0);
        }
    }
}
