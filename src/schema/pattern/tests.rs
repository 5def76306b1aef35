use std::task::Poll;

#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::json::{Meter, Text};

use super::*;

fn compile(pattern: &str) -> Result<Pattern, PatternFault> {
    Pattern::new(&points_of(pattern.as_bytes()), &mut Spent::default())
}

/// What a match came to and the steps it took, in slices of so many steps.
fn run(pattern: &Pattern, text: Text<'_>, slice: u64) -> (Found, u64) {
    let mut matcher = Matcher::default();
    let mut meter = Meter { used: 0, stop: 0 };
    loop {
        meter.stop = meter.used.saturating_add(slice);
        if let Poll::Ready(found) = matcher.step(pattern, text, &mut meter) {
            return (found, meter.used);
        }
    }
}

/// The outcome on a text, which is the same in any slices.
fn found_in(pattern: &str, text: Text<'_>) -> Found {
    let compiled = compile(pattern).unwrap_or_else(|fault| panic!("{pattern}: {fault:?}"));
    let whole = run(&compiled, text, u64::MAX);
    for slice in [1, 3] {
        assert_eq!(run(&compiled, text, slice), whole, "{pattern} in slices of {slice}");
    }
    whole.0
}

fn is_match(pattern: &str, text: &str) -> bool {
    match found_in(pattern, Text::plain(text)) {
        Found::Yes => true,
        Found::No => false,
        Found::Undecided(reason) => panic!("{pattern}: {reason}"),
    }
}

fn check(pattern: &str, matching: &[&str], others: &[&str]) {
    for text in matching {
        assert!(is_match(pattern, text), "{pattern} matches {text:?}");
    }
    for text in others {
        assert!(!is_match(pattern, text), "{pattern} does not match {text:?}");
    }
}

#[test]
fn literals_and_anchors() {
    check("", &["", "x"], &[]);
    check("b", &["abc", "b"], &["", "ac"]);
    check("^b", &["bc"], &["abc"]);
    check("^x-", &["x-y"], &["X-y", "ax-"]);
    check("c$", &["abc"], &["abc\n", "cb"]);
    check("^abc$", &["abc"], &["abcd", "xabc"]);
    check("^$", &[""], &["\n", "a"]);
    check("a^", &[], &["a", "a\na"]);
    check("$a", &[], &["a", "\na"]);
    check("^(?:b|ab|b)$", &["b", "ab"], &["", "abb"]);
    check("^(b|ab|)$", &["b", "ab", ""], &["abb"]);
    check("^a|b$", &["ax", "xb"], &["xax", "bx"]);
}

#[test]
fn sets_and_their_escapes() {
    check(".", &["a", "😀", "\u{85}"], &["", "\n", "\r", "\u{2028}", "\u{2029}"]);
    check("^[a-c]$", &["a", "b", "c"], &["d", "A", ""]);
    check("^[^a-c]$", &["d", "\n", "é"], &["a"]);
    check("^[]-]$", &[], &["]-", "-"]);
    check("^[^]$", &["a", "\n"], &["", "ab"]);
    check(r"^\d$", &["5"], &["٣", "a"]);
    check(r"^\D$", &["٣", "a"], &["5"]);
    check(r"^\w$", &["a", "_", "9"], &["é", "-"]);
    check(r"^\W$", &["é", "-"], &["a"]);
    check(
        r"^\s$",
        &[" ", "\t", "\u{b}", "\u{a0}", "\u{feff}", "\u{2029}", "\u{3000}"],
        &["x", "\u{85}", "\u{180e}", "\u{200b}"],
    );
    check(r"^[\s\d-]+$", &["1 -"], &["a"]);
    check(r"^[\b]$", &["\u{8}"], &["b"]);
    check(r"^[+--]$", &["+", ",", "-"], &["."]);
}

#[test]
fn character_escapes() {
    check(r"^\t\n\v\f\r$", &["\t\n\u{b}\u{c}\r"], &[]);
    check(r"^\cA\cz$", &["\u{1}\u{1a}"], &[]);
    check(r"^\x41\u0042\u{43}\u{1F600}$", &["ABC😀"], &[]);
    check(r"^\ud83d\ude00$", &["😀"], &["x"]);
    check(r"^[\ud83d\ude00-\ud83d\ude02]$", &["😀", "😁", "😂"], &["😃"]);
    check(r"^\0$", &["\0"], &["0"]);
    check(r"^\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/$", &["^$\\.*+?()[]{}|/"], &[]);
    check("^😀$", &["😀"], &["x"]);
    check("^🐲*$", &["", "🐲🐲"], &["🐉", "🐲x"]);
}

#[test]
fn repeats() {
    check("^a*$", &["", "aaa"], &["b"]);
    check("^a+b?$", &["a", "aab"], &["", "b", "abb"]);
    check("^a{2}$", &["aa"], &["a", "aaa"]);
    check("^(?:ab){2,}$", &["abab", "ababab"], &["ab", "aba"]);
    check("^(?:ab){1,2}$", &["ab", "abab"], &["", "ababab"]);
    check("^(?:a|bc){0}$", &[""], &["a"]);
    check("^(a*)*$", &["", "aaa"], &["ab"]);
    check("^(?:a*?b+?)??c$", &["c", "aabbc"], &["a"]);
    check("^[a-z]{2,3}[0-9]{0,2}x?$", &["ab", "abc12x", "abx"], &["a", "abcd", "ab123"]);
    check("^[a-z]*[a-c]$", &["c", "zzc"], &["zzz"]);
    check("x*", &["", "y"], &[]);
    check("a.*c.*", &["xabc", "ac"], &["a\nc", "ca"]);
    check("^(?:){1000000000}$", &[""], &["a"]);
}

#[test]
fn word_boundaries() {
    check(r"\bfoo\b", &["foo", "a foo.", "-foo"], &["food", "afoo", "foo_"]);
    check(r"\Boo\B", &["foods"], &["oo", "foo"]);
    check(r"^\b", &["a"], &["", "-a"]);
    check(r"\bé", &["aé"], &["é", " é"]);
}

#[test]
fn lookarounds() {
    check("^(?=.*[a-z])(?=.*[0-9]).{4,}$", &["ab12", "1234a"], &["abcd", "1234", "a1"]);
    check("^(?!foo)", &["bar", ""], &["foo", "food"]);
    check("^(?!.*--)[a-z-]+$", &["a-b", "a"], &["a--b"]);
    check("(?<=a)b", &["ab"], &["b", "cb"]);
    check("(?<!a)b", &["b", "cb"], &["ab"]);
    check("(?<=^|,)x(?=,|$)", &["x", "a,x", "x,b"], &["ax", "xb"]);
    check("(?<=(?<!x)ab)c", &["abc", "yabc"], &["xabc", "bc"]);
    check("a(?!b(?=c))", &["abd", "a", "ac"], &["abc"]);
    check("(?=ab)a(?=b(?=c))b", &["abc"], &["abd"]);
    check("^(?=(a+)+$)", &["aaa"], &["aab"]);
    check("$(?<=..)", &["ab", "abc", "abcd"], &["a"]);
    check("^(?!..)", &["", "a"], &["ab", "abc"]);
    check("(?<=é+)z", &["éééz"], &["ez"]);
    check("^(?:(?=[a-c])[b-d]|x){2}$", &["bc", "bx"], &["bd", "ax"]);
    check(r"(?<=\d{3})(?!\d)\.", &["123."], &["12.", "123"]);
}

#[test]
fn properties() {
    check(r"^\p{L}+$", &["aÄжλ漢"], &["1", "a1"]);
    check(r"^\p{Letter}\p{Lu}\p{gc=Ll}\p{General_Category=Nd}$", &["xÄä٣"], &["xää٣"]);
    check(r"^\P{L}$", &["1"], &["a"]);
    check(r"^[^\P{L}]$", &["a"], &["1"]);
    check(r"^\p{Script=Cyrillic}\p{sc=Grek}\p{scx=Deva}$", &["жλ\u{964}"], &["λж\u{964}"]);
    check(r"^\p{sc=Deva}$", &["\u{905}"], &["\u{964}"]);
    check(r"^\p{Script_Extensions=Hira}$", &["あ", "ー"], &["ア"]);
    check(r"^\p{scx=Zyyy}$", &["1"], &["ー", "a"]);
    check(r"^\p{Alphabetic}\p{ASCII}\p{Any}\p{Assigned}$", &["λa\u{378}a"], &["λλaa", "1aaa"]);
    check(r"^\p{Emoji}\p{White_Space}\p{Uppercase}\p{Lower}$", &["😀 Ⅷª"], &["😀 aa"]);
    check(r"^\p{ID_Start}\p{ID_Continue}*$", &["λ1"], &["1λ"]);
    check(r"^\p{Cn}$", &["\u{378}", "\u{10ffff}"], &["a"]);
    check(r"^\p{LC}\p{punct}\p{Combining_Mark}\p{cntrl}\p{digit}$", &["a!\u{300}\u{7f}7"], &["1"]);
    for name in ["Foo", "letter", "L ", "InGreek", "Script", "sc=Foo", "gc=Greek", "IsL", ""] {
        assert_eq!(unicode::property(name), None, "{name}");
    }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn property_tables_agree_with_the_standard_library() {
    type Check = fn(char) -> bool;
    let checks: [(&str, Check); 6] = [
        ("Alphabetic", char::is_alphabetic),
        ("Lowercase", char::is_lowercase),
        ("Uppercase", char::is_uppercase),
        ("White_Space", char::is_whitespace),
        ("N", char::is_numeric),
        ("Cc", char::is_control),
    ];
    for (name, check) in checks {
        let set = unicode::property(name).unwrap();
        for character in '\0'..=char::MAX {
            assert_eq!(set.contains(character as u32), check(character), "{name} {character:?}");
        }
    }
}

#[test]
fn annex_b_takes_what_the_u_flag_refuses() {
    check(r"^https\:\/\/", &["https://x"], &["https:\\/"]);
    check(r"^\d{4}\-\d{2}$", &["2024-01"], &["2024_01"]);
    check(r"^[\w-.]+$", &["a-b.c"], &["a b"]);
    check(r"^a{,2}$", &["a{,2}"], &["a", "aa"]);
    check(r"^{a}]$", &["{a}]"], &["a"]);
    check(r"^\101\8\x4\u00g\c$", &["A8x4u00g\\c"], &[]);
    check(r"^[\c1\101]$", &["\u{11}", "A"], &["c"]);
    check(r"^\k$", &["k"], &[]);
    check(r"^(?=a)*b$", &["b"], &["ab"]);
    check(r"^\p{L}\-$", &["p{L}-"], &["a-"]);
    check(r"^\1\-$", &["\u{1}-"], &[]);
}

#[test]
fn what_neither_grammar_takes_is_refused() {
    for pattern in [
        "(",
        ")",
        "a)",
        "(?",
        "(?x)",
        "(?i)a",
        "[a",
        "[b-a]",
        "*",
        "+a",
        "a**",
        "a{2,1}",
        "{1}",
        "\\",
        "(?<a",
        "(?<1>x)",
        "(?<a>x)(?<a>y)",
        r"(?<a>x)\k<b>",
        r"(?<a>x)\k",
        "(?<=a)*",
        "^*",
        "(?P<a>x)",
        "(?>a)",
        "a++",
        r"\u{110000}(?<n>)\k",
    ] {
        assert_eq!(compile(pattern).err(), Some(PatternFault::Syntax), "{pattern}");
    }
}

#[test]
fn modifiers_hold_in_their_group() {
    check("^a(?i:b)c$", &["abc", "aBc"], &["ABc", "abC"]);
    check("^(?i:a(?-i:b)c)d$", &["abcd", "AbCd"], &["aBcd", "abcD"]);
    check("^(?i:[a-cß]k)$", &["Ak", "bK", "c\u{212A}", "ẞk"], &["dk", "ssk"]);
    check("^(?i:[^a]\\W)$", &["b ", "B-"], &["a ", "A ", "b\u{17F}", "bs"]);
    check("^(?i:\\w\\w)$", &["\u{17F}\u{212A}"], &["éé"]);
    check("^\\w$", &[], &["\u{17F}", "\u{212A}"]);
    check("^(?i:\\P{Lu}σ)$", &["aς", "AΣ", "1σ"], &["1s"]);
    check("(?i:[^\\P{Lu}])", &[], &["a", "A"]);
    check("(?i:\\b\u{17F}\\b)", &["s", "-S-", "\u{17F}"], &["as", "s\u{17F}"]);
    check("(?i:a\\B)", &["A\u{212A}"], &["A "]);
    check("^(?s:.)$", &["\n", "a"], &["aa"]);
    check("^.(?s:(?-s:.).)$", &["ab\n"], &["a\n\n"]);
    check("(?m:^a$)", &["b\na\u{2028}c", "a"], &["ba", "b\nac"]);
    check("(?m:^)a|b(?ms:$.)", &["\ra", "b\n"], &["ca", "bc"]);
    check("(?i-:a)|(?-i:B)", &["A", "B"], &["b"]);
    check("(?i:𐐀)", &["𐐨", "𐐀"], &["a"]);
    for refused in ["(?ii:a)", "(?i-i:a)", "(?-:a)", "(?i-m-s:a)", "(?i", "(?x:a)", "(?i)"] {
        assert_eq!(compile(refused).err(), Some(PatternFault::Syntax), "{refused}");
    }
    // References are not compared without case, nor are letters under Annex B.
    for pattern in [r"(?i:(a)\1)", r"(?<n>a)(?i:\k<n>)", r"(?i:é\-)"] {
        let found = found_in(pattern, Text::plain("A"));
        assert_eq!(found, Found::Undecided("unsupported_pattern"), "{pattern}");
    }
    check(r"^(?s:.\-)$", &["\n-"], &[]);
}

#[test]
fn what_is_too_large_is_refused() {
    for pattern in [
        "((a{1,100}){1,100}){1,100}".to_owned(),
        "(?:ab){20000}".to_owned(),
        "(".repeat(200) + &")".repeat(200),
        "a|".repeat(40_000),
        "[\\p{L}\\p{M}]".repeat(500),
        "(?=a)".repeat(100) + "b",
        "^(?:".to_owned() + &"(?:)".repeat(5_000) + "){0,9999}b$",
        "(?:".to_owned() + &"(?:)".repeat(5_000) + "){0,3000}(a)\\1",
        "(a)".repeat(1_001),
    ] {
        assert_eq!(compile(&pattern).err(), Some(PatternFault::TooLarge));
    }
    let mut spent = Spent::default();
    let pattern = points_of(b"(?:[a-y]z){1,1000}x");
    let compiled = (0..1_000).take_while(|_| Pattern::new(&pattern, &mut spent).is_ok()).count();
    assert!((10..1_000).contains(&compiled), "{compiled}");
}

#[test]
fn backreferences() {
    check(r"^(a+)b\1$", &["aabaa", "aba"], &["aaba", "abaa"]);
    check(r"^(?<q>['\x22]).*\k<q>$", &["'x'", "\"y\""], &["'x\""]);
    check(r"^\k<q>(?<q>x)$", &["x"], &["xx"]);
    check(r"^(?:(a)|b)\1$", &["aa", "b"], &["ba"]);
    check(r"^(?:(a)|b)*\1$", &["ab", "aa", "b"], &["x"]);
    check(r"^(z)((a+)?(b+)?(c))*\3$", &["zaacbbbcaca", "zaacbbbc"], &["zaacbbbcac", "zac"]);
    check(r"(?<=\1(\d))x", &["11x", "022x"], &["12x"]);
    check(r"(?<=(\d)\1)x", &["12x"], &["x"]);
    check(r"^(?=(a+))a*b\1$", &["aba", "aabaa"], &["aba a", "aab"]);
    check(r"^(?!(a)b)\1c$", &["c"], &["abc"]);
    check(r"^(?:(?<y>a)|(?<y>b))\k<y>$", &["aa", "bb"], &["ab"]);
    check(r"^(a*?)*?\1b$", &["aab", "b"], &["c"]);
    check(r"^(é)\1{2}$", &["ééé"], &["éé"]);
    let text = "a".repeat(200);
    let hard = r"^(?:(a+)+)+\1b$";
    assert_eq!(found_in(hard, Text::plain(&text)), Found::Undecided("limit"));
}

#[test]
fn escaped_texts_and_lone_surrogates() {
    let text = |raw: &'static str, lone| Text { raw: raw.as_bytes(), escaped: true, lone };
    let yes = [
        (r"^a\nb$", text(r"a\u000ab", false)),
        ("^😀$", text(r"\ud83d\uDE00", false)),
        (r"^.$", text(r"\ud83d", true)),
        (r"^\ud83d$", text(r"\ud83d", true)),
        (r"^[\ud800-\udbff]x$", text(r"\ud83dx", true)),
        (r"\p{Cs}", text(r"ab\udc00", true)),
        (r"^\\$", text(r"\\", false)),
        ("b", text(r"\ud800b", true)),
        ("(?=b$)", text(r"\ud800\u0062", true)),
        ("^$", Text { raw: b"", escaped: true, lone: false }),
    ];
    for (pattern, text) in yes {
        assert_eq!(found_in(pattern, text), Found::Yes, "{pattern}");
    }
    for (pattern, text) in [
        ("\u{fffd}", text(r"\ud800", true)),
        (r"^\ud83d", text(r"\ud83d\ude00", false)),
        ("a.b", text(r"a\u2028b", false)),
    ] {
        assert_eq!(found_in(pattern, text), Found::No, "{pattern}");
    }
}

#[test]
fn long_literals_are_found_across_windows() {
    for before in [0, 4090, 4095, 4096, 4097, 9000] {
        let text = format!("{}needle é😀 here{}", "é".repeat(before / 2), "x".repeat(5000));
        assert!(is_match("needle é😀 here", &text), "{before}");
        assert!(!is_match("needle é😀 there", &text), "{before}");
    }
}

/// Patterns that take other engines exponential time: the steps are at most so many a code point.
#[test]
fn hostile_patterns_take_linear_time() {
    let a = |count: usize| "a".repeat(count);
    for (pattern, text, bound) in [
        ("^(a+)+$", a(28) + "!", 16),
        ("^(?:.*a){12}$", a(40) + "!", 120),
        ("^(?=(a+)+$)", a(28) + "!", 16),
        ("a*a*a*b", a(100_000), 8),
        ("^a*a*a*b", a(100_000), 8),
        ("(x+x+)+y", "x".repeat(100_000), 16),
        ("(?=a*b)c", a(100_000), 16),
        ("(?<=b.*)c", a(100_000), 16),
        (r"^(\w+\s?)*$", a(50_000) + "!", 16),
    ] {
        let compiled = compile(pattern).unwrap();
        let (found, steps) = run(&compiled, Text::plain(&text), u64::MAX);
        assert_eq!(found, Found::No, "{pattern}");
        assert!(steps <= text.len() as u64 * bound, "{pattern}: {steps} steps");
    }
}
