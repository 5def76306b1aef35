#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use super::*;

/// Judges texts that are of a format and texts that are not.
fn check(format: Format, good: &[&str], bad: &[&str]) {
    let idna = IdnaCell::new();
    for text in good {
        assert_eq!(format.judge(text.as_bytes(), &idna), Judged::Valid, "{format:?} {text:?}");
    }
    for text in bad {
        assert_eq!(format.judge(text.as_bytes(), &idna), Judged::Invalid, "{format:?} {text:?}");
    }
}

#[test]
fn a_dialect_has_the_formats_it_defines() {
    for (name, old, new) in [
        ("date-time", true, true),
        ("duration", false, true),
        ("uuid", false, true),
        ("color", false, false),
        ("host-name", false, false),
        ("int32", false, false),
        ("Date", false, false),
    ] {
        assert_eq!(Format::of(name, Dialect::Draft7).is_some(), old, "{name}");
        assert_eq!(Format::of(name, Dialect::Draft2020).is_some(), new, "{name}");
    }
    for (name, format, _) in FORMATS {
        assert_eq!(format.name(), *name);
    }
}

#[test]
fn dates_are_those_of_the_calendar() {
    check(
        Format::Date,
        &["2000-02-29", "0000-01-01", "9999-12-31"],
        &["1900-02-29", "2001-04-31", "2001-00-01", "2001-01-00", "2001-1-01", "20010-01-01"],
    );
    check(
        Format::DateTime,
        &["2016-12-31T23:59:60Z", "2016-12-31t23:59:59.5z", "2017-01-01T08:59:60+09:00"],
        &["2016-12-31 23:59:59Z", "2016-12-31T23:58:60Z", "2016-12-31T23:59:59.Z", "2016-12-31T"],
    );
}

#[test]
fn a_leap_second_is_the_last_of_a_day_in_utc() {
    check(
        Format::Time,
        &["23:59:60Z", "00:59:60+01:00", "22:59:60-01:00", "12:00:00.000000000000000001-23:59"],
        &["23:59:60+01:00", "12:00:60Z", "24:00:00Z", "23:60:00Z", "12:00:00", "12:00:00+1:00"],
    );
}

#[test]
fn durations_leave_no_unit_out() {
    check(
        Format::Duration,
        &["P1Y", "P1M1D", "P2W", "PT1H1M1S", "P1DT1S", "P01D"],
        &["P", "PT", "P1DT", "P1Y1D", "PT1H1S", "P1W1D", "P1", "1D", "P1D1Y", "PD", "P1Y2Y"],
    );
}

#[test]
fn addresses() {
    check(
        Format::Ipv4,
        &["0.0.0.0", "255.249.99.1"],
        &["1.2.3", "1.2.3.4.5", "256.1.1.1", "01.1.1.1"],
    );
    check(
        Format::Ipv6,
        &["::", "1::", "::1", "1:2:3:4:5:6:7:8", "1::7:8", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4"],
        &["", ":", ":::", "1:2:3:4:5:6:7", "1::2::3", "1:2:3:4:5:6:7::8", "12345::", "1.2.3.4::"],
    );
    check(
        Format::Email,
        &["a@b", "\"a b\\\"\"@b.c", "a.b+c@[1.2.3.4]", "a@[IPv6:::1]", "a@[tag:x]"],
        &["a", "@b", "a@", "a..b@c", "\"a\\\"@b", "a@-b", "a@[IPv6:1]", "a@b@c", "é@b", "a@[]"],
    );
}

#[test]
fn host_names() {
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    check(
        Format::Hostname,
        &["a", "a-b.c1", "a--b", "xn--nxasmq6b", &longest],
        &["", "a.", ".a", "a_b", "-a", "a-", "é", "xn--", "xn--a", "a。b", &format!("{longest}a")],
    );
    check(
        Format::IdnHostname,
        &["例え。テスト", "faß.de", "xn--fa-hia.de", "க்கா", "ที่", "نامه\u{200c}ای"],
        &[
            // Two signs for one letter, and signs in another order than normalised text has them.
            "e\u{301}",
            "a\u{323}\u{307}\u{323}",
            "a\u{307}\u{323}",
            "Ä",
            "ab--cd",
            "a\u{200c}b",
            "xn--fa-hia-.de",
            "א1a",
            "1א",
            "א٠0",
        ],
    );
    check(
        Format::IdnEmail,
        &["δοκιμή@παράδειγμα.δοκιμή", "a@e\u{301}.com", "a@[1.2.3.4]"],
        &["a@\u{301}", "a＠b", "é", "a@Ä"],
    );
}

#[test]
fn encodings_of_labels_are_read_and_written() {
    let cases =
        [("bücher", "bcher-kva"), ("ü", "tda"), ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye")];
    for (label, encoding) in cases {
        let points: Vec<u32> = label.chars().map(u32::from).collect();
        let mut written = Vec::new();
        punycode::encode(&points, |byte| written.push(byte)).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), encoding);
        assert_eq!(punycode::decode(encoding.as_bytes()).unwrap().points(), points);
    }
    for bad in ["99999999", "a-\u{7f}", &"9".repeat(60), "b\u{fc}cher"] {
        assert!(punycode::decode(bad.as_bytes()).is_none(), "{bad}");
    }
}

#[test]
fn uris() {
    check(
        Format::Uri,
        &["a:", "http://[::1]:80/?q#f", "urn:x", "http://a:@b/", "x://[v1.a:b]", "mailto:a@b"],
        &[
            "",
            "a",
            "//a",
            "1:b",
            "http://[::1",
            "http://a b",
            "http://a/%4",
            "a:[",
            "a:é",
            "a:#b#c",
        ],
    );
    check(
        Format::UriReference,
        &["", "?", "#", "//", "./a:b", "a/b:c", "../%20"],
        &["a:b:\\", ":a", "1:b", "//[", "#["],
    );
    check(
        Format::Iri,
        &["http://é/?\u{e000}", "x:\u{10000}"],
        &["é", "x:\u{e000}", "x:\u{fffe}", "x:\u{85}"],
    );
    check(Format::IriReference, &["é", ""], &["\\", "#\u{e000}"]);
}

#[test]
fn templates() {
    check(
        Format::UriTemplate,
        &["", "{a}", "{+a,b*}", "{a.b:12}", "{%41_1}", "x'é", "{|a}"],
        &[
            "{",
            "}",
            "{}",
            "{a",
            "{a,}",
            "{a:0}",
            "{a:12345}",
            "{.a.}",
            "{a b}",
            "%4",
            "\"",
            "{a*:1}",
        ],
    );
}

#[test]
fn pointers_and_uuids() {
    check(Format::JsonPointer, &["", "/", "/~0~1", "/é/-"], &["a", "/~", "/~2", "~0", "#/a"]);
    check(Format::RelativeJsonPointer, &["0", "12#", "1/a"], &["", "01", "-1", "0##", "0+1", "0a"]);
    let shifted = Format::RelativeJsonPointerWithShift;
    check(shifted, &["0+1", "1-12#", "0+1/a", "0"], &["0+0", "0+", "0+01", "+1", "0+1a"]);
    check(
        Format::Uuid,
        &["00000000-0000-0000-0000-000000000000", "FFFFFFFF-aaaa-1111-9999-ABCDEFabcdef"],
        &["", "00000000-0000-0000-0000-00000000000", "g0000000-0000-0000-0000-000000000000"],
    );
}

#[test]
fn patterns_are_those_of_the_flag_u() {
    check(
        Format::Regex,
        &["", "^a$", "\\p{L}", "(?<a>b)\\k<a>", "(?i:a)", "[^]"],
        &["(", "\\a", "a{2,1}", "\\p{X}", "]", "(?i)a", "\\k<a>", "{"],
    );
    let long = vec![b'a'; 1 << 17];
    assert_eq!(Format::Regex.judge(&long, &IdnaCell::new()), Judged::Unknown("limit"));
}

#[test]
fn lone_surrogates_are_in_no_format_but_a_pointer() {
    // U+D800 as generalised UTF-8.
    let text = b"a\xED\xA0\x80";
    for (_, format, _) in FORMATS {
        let found = format.judge(text, &IdnaCell::new());
        match format {
            Format::Regex => assert_eq!(found, Judged::Valid),
            _ => assert_eq!(found, Judged::Invalid, "{format:?}"),
        }
    }
    let idna = IdnaCell::new();
    assert_eq!(Format::JsonPointer.judge(b"/\xED\xA0\x80", &idna), Judged::Valid);
    assert_eq!(Format::IdnEmail.judge(b"\xED\xA0\x80@b", &idna), Judged::Invalid);
}
