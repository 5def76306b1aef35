use super::super::lines::MAX_LINE;
use super::*;
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn tail(chunks: &[&str], max_bytes: usize) -> String {
    let mut tail = StderrTail::new(max_bytes);
    for chunk in chunks {
        tail.push(chunk.as_bytes());
    }
    tail.end();
    tail.text()
}

/// C-458.
#[test]
fn white_space_collapses() {
    assert_eq!(tail(&["a\n\n b\t c \n"], 100), "a b c");
    assert_eq!(tail(&["\n \n"], 100), "");
    assert_eq!(tail(&["a\u{a0}\u{0}\u{7}b"], 100), "a b");
}

/// C-459.
#[test]
fn a_credential_split_over_chunks_is_masked_before_the_cut() {
    assert_eq!(tail(&["API_TO", "KEN=secr", "et-value\n"], 64), "API_TOKEN=[REDACTED]");
}

#[test]
fn the_cut_is_on_a_character_boundary() {
    assert_eq!(tail(&["ééé"], 5), "éé");
    assert_eq!(tail(&["a b c"], 2), "c");
    assert_eq!(tail(&["abc"], 0), "");
}

#[test]
fn a_cut_does_not_uncover_what_stood_behind_a_name() {
    for max_bytes in 0..60 {
        for text in [
            "x API_TOKEN=hunter2hunter2\n",
            "https://user:hunter2hunter2@host\n",
            "password: 'hunter2 hunter2\nhunter2'\n",
        ] {
            let tail = tail(&[text], max_bytes);
            assert!(!tail.contains("hunter") && !tail.contains("er2"), "{max_bytes}: {tail}");
            assert!(tail.len() <= max_bytes);
        }
    }
}

/// The split of the chunks changes nothing.
#[test]
fn every_split_gives_the_same_tail() {
    let text = "start é\nkey: \"one\ntwo\" ghp_0123456789abcdefghij\n\
                -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nlast \u{1b}[32mAPI_KEY\u{1b}[0m=abc";
    let whole = tail(&[text], 4_096);
    assert_eq!(whole, "start é key: \"[REDACTED]\" [REDACTED] [REDACTED] last API_KEY=[REDACTED]");
    let bytes = text.as_bytes();
    for first in 0..bytes.len() {
        let mut split = StderrTail::new(4_096);
        split.push(&bytes[..first]);
        // What can be seen on the way never shows a secret.
        let seen = split.text();
        for secret in ["one", "two", "ghp_0", "MIIE", "=abc"] {
            assert!(!seen.contains(secret), "{first}: {seen}");
        }
        split.push(&bytes[first..]);
        split.end();
        assert_eq!(split.text(), whole, "{first}");
    }
    let mut single = StderrTail::new(4_096);
    bytes.iter().for_each(|&byte| single.push(&[byte]));
    single.end();
    assert_eq!(single.text(), whole);
}

#[test]
fn invalid_utf8_is_replaced() {
    let mut tail = StderrTail::new(100);
    tail.push(b"a\xFFb \xE2\x82");
    tail.push(b"\xAC c\n");
    assert_eq!(tail.text(), "a\u{FFFD}b € c");
}

#[test]
fn long_lines_leave_a_marker() {
    let long = "x".repeat(MAX_LINE + 1);
    assert_eq!(tail(&["a\n", &long, "\nb\n"], 100), "a [LINE OMITTED] b");
    assert_eq!(tail(&["a\n", &long, "x"], 100), "a [LINE OMITTED]");
    let exact = "x".repeat(MAX_LINE);
    assert_eq!(tail(&[&exact, "\n"], MAX_LINE), exact);
}

/// A secret that a long line opens, wherever in the line, stays hidden in the next.
#[test]
fn a_long_line_may_open_a_secret() {
    for (opener, closer) in [
        ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"),
        ("token: \"abc", "abc\""),
        ("\"credentials\": {\"a\":", "\"}\"}"),
    ] {
        for before in [0, 100, MAX_LINE - 30, MAX_LINE - 10, MAX_LINE - 3, MAX_LINE, 2 * MAX_LINE] {
            let text = format!(
                "{}\n{} {opener}{}\nsecret\n",
                "first",
                "x".repeat(before),
                "y".repeat(MAX_LINE + 1 - before.min(MAX_LINE)),
            );
            let mut tail = StderrTail::new(200);
            text.as_bytes().chunks(1_000).for_each(|chunk| tail.push(chunk));
            assert_eq!(tail.text(), "first [LINE OMITTED]", "{opener} after {before}");
            // What closes it is seen again.
            tail.push(closer.as_bytes());
            tail.push(b" shown\n");
            assert!(tail.text().ends_with(" shown"), "{opener} after {before}: {}", tail.text());
        }
    }
}

#[test]
fn memory_is_bounded() {
    let mut tail = StderrTail::new(1_000);
    for _ in 0..2_000 {
        tail.push("some words of a log line that goes on and on\n".as_bytes());
        tail.push(&[b'x'; 5_000]);
    }
    assert!(tail.kept.capacity() < 80_000 && tail.lines.line.capacity() < 2 * MAX_LINE + 10_000);
    assert!(tail.text().len() <= 1_000);
}
