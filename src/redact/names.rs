//! The tables: which names hold secrets, which prefixes vendors give their tokens, which commands
//! take a password by a short flag.
//!
//! Invariant: names are compared without regard to case, prefixes with it; nothing here allocates.

/// Endings of names whose values are secret, in capitals.
const SECRET_ENDINGS: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "PASSWD"];

/// Endings that count only as a word of their own: `DB_PASS`, not `bypass`.
const SECRET_WORDS: [&str; 3] = ["PASS", "PWD", "AUTH"];

/// Headers whose whole line is secret, in capitals.
const SECRET_HEADERS: [&str; 4] = ["AUTHORIZATION", "PROXY-AUTHORIZATION", "COOKIE", "SET-COOKIE"];

/// What a name says about the value that follows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    /// The value is secret.
    Secret,
    /// The value is secret and goes to the end of the line: `Authorization`, `Cookie`.
    Header,
}

/// What a name says, if it says anything. `query`: the name stands in a query string.
pub(super) fn classify(name: &[u8], query: bool) -> Option<Name> {
    // `API_KEY_2` and `token.` are names that end in the word all the same.
    let mut stem = name;
    while let Some((b'0'..=b'9' | b'_' | b'-' | b'.', rest)) = stem.split_last() {
        stem = rest;
    }
    let ends = |ending: &&str| ends_with(stem, ending);
    let bare = stem.iter().position(|&byte| byte != b'-').map_or(stem, |at| tail(stem, at));
    if SECRET_HEADERS.iter().any(|header| bare.eq_ignore_ascii_case(header.as_bytes())) {
        return Some(Name::Header);
    }
    // Alone they are other things: a directory, a test's outcome.
    let is_word = |word: &&str| {
        let before = stem.len().checked_sub(word.len() + 1).and_then(|at| stem.get(at));
        ends_with(stem, word) && matches!(before, Some(b'_' | b'-' | b'.'))
    };
    let is = |name: &str| stem.eq_ignore_ascii_case(name.as_bytes());
    let in_query = query && (ends(&"SIGNATURE") || is("sig") || is("pass") || is("pwd"));
    let secret = SECRET_ENDINGS.iter().any(ends) || SECRET_WORDS.iter().any(is_word) || in_query;
    secret.then_some(Name::Secret)
}

/// True if a list of header names and values would hold a secret after this name.
pub(super) fn is_header(name: &[u8]) -> bool {
    classify(name, false) == Some(Name::Header)
        || name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(b"x-"))
}

/// True for a word that stands before a secret: the name of a scheme, a flag.
pub(super) fn introduces(word: &[u8]) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme.as_bytes()))
        || (word.starts_with(b"-") && classify(word, false).is_some())
}

fn ends_with(name: &[u8], ending: &str) -> bool {
    let start = name.len().checked_sub(ending.len()).and_then(|at| name.get(at..));
    start.is_some_and(|end| end.eq_ignore_ascii_case(ending.as_bytes()))
}

fn tail(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or(&[])
}

/// A prefix that vendors give their tokens.
struct Prefix {
    text: &'static str,
    /// Bytes that must follow for it to be a token and not a word.
    least: usize,
    /// Bytes besides letters and digits that the rest may hold.
    also: &'static [u8],
}

const fn prefix(text: &'static str, least: usize, also: &'static [u8]) -> Prefix {
    Prefix { text, least, also }
}

/// Sorted by vendor. The least lengths are well below the real ones, and above those of the words
/// and variable names that begin alike (`npm_config_…`, `hf_hub_…`, `sk-circle`).
const PREFIXES: [Prefix; 47] = [
    prefix("A3T", 17, b""),
    prefix("ABIA", 16, b""),
    prefix("AGE-SECRET-KEY-", 8, b""),
    prefix("AIza", 20, b"_-"),
    prefix("AKIA", 12, b""),
    prefix("ASIA", 12, b""),
    prefix("EAACEdEose0cBA", 4, b""),
    prefix("SG.", 16, b"_-."),
    prefix("atlasv1.", 16, b"_-"),
    prefix("dop_v1_", 16, b""),
    prefix("doo_v1_", 16, b""),
    prefix("dp.pt.", 16, b""),
    prefix("eyJ", 16, b"_-.+/="),
    prefix("figd_", 16, b"_-"),
    prefix("gho_", 8, b""),
    prefix("ghp_", 8, b""),
    prefix("ghr_", 8, b""),
    prefix("ghs_", 8, b""),
    prefix("ghu_", 8, b""),
    prefix("github_pat_", 8, b"_"),
    prefix("glpat-", 8, b"_-."),
    prefix("glsa_", 16, b"_"),
    prefix("gsk_", 20, b""),
    prefix("hf_", 20, b""),
    prefix("hvs.", 16, b"_-"),
    prefix("lin_api_", 16, b""),
    prefix("npm_", 20, b""),
    prefix("ntn_", 20, b""),
    prefix("nvapi-", 16, b"_-"),
    prefix("pk_live_", 8, b""),
    prefix("pplx-", 16, b""),
    prefix("pypi-", 20, b"_-"),
    prefix("r8_", 20, b""),
    prefix("rk_live_", 8, b""),
    prefix("rk_test_", 8, b""),
    prefix("sbp_", 20, b""),
    prefix("shpat_", 8, b""),
    prefix("shpca_", 8, b""),
    prefix("shppa_", 8, b""),
    prefix("shpss_", 8, b""),
    prefix("sk-", 16, b"_-"),
    prefix("sk_live_", 8, b""),
    prefix("sk_test_", 8, b""),
    prefix("whsec_", 16, b"+/="),
    prefix("xai-", 20, b"_-"),
    prefix("xapp-", 8, b"-"),
    prefix("ya29.", 16, b"_-"),
];

/// Slack has one letter after `xox`.
const SLACK: &[u8] = b"xox";

/// The length of the vendor's token that `bytes` begins with. With `partial`, text may be missing
/// after `bytes`, so that a token that reaches the end counts however short it is.
pub(super) fn token_length(bytes: &[u8], partial: bool) -> Option<usize> {
    if let [b'x', b'o', b'x', b'a'..=b'z', b'-', ..] = bytes {
        return measure(bytes, SLACK.len() + 2, 8, b"-", partial);
    }
    // The first byte decides nearly always, without a call.
    PREFIXES
        .iter()
        .filter(|prefix| prefix.text.as_bytes().first() == bytes.first())
        .filter(|prefix| bytes.starts_with(prefix.text.as_bytes()))
        .find_map(|prefix| measure(bytes, prefix.text.len(), prefix.least, prefix.also, partial))
}

fn measure(bytes: &[u8], start: usize, least: usize, also: &[u8], partial: bool) -> Option<usize> {
    let rest = tail(bytes, start);
    let in_token = |byte: &u8| byte.is_ascii_alphanumeric() || also.contains(byte);
    let length = rest.iter().position(|byte| !in_token(byte)).unwrap_or(rest.len());
    // A word in small letters joined by dashes is a name, not a token: `sk-learn-contrib-models`.
    let random = rest.iter().take(length).any(|byte| !byte.is_ascii_lowercase() && *byte != b'-');
    let long = length >= least && (random || length >= 2 * least);
    (long || (partial && length == rest.len())).then_some(start + length)
}

/// How a command takes a password by a flag of one letter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// In the same word: `-psecret`.
    Attached,
    /// In the same word or the next.
    Any,
    /// As `name:password`, in the same word or the next.
    Pair,
}

/// A command, one of its flags, and how the flag takes a password.
pub(super) const COMMAND_FLAGS: [(&str, &str, Takes); 14] = [
    ("curl", "-u", Takes::Pair),
    ("curl", "-U", Takes::Pair),
    ("curl", "--user", Takes::Pair),
    ("curl", "--proxy-user", Takes::Pair),
    ("mysql", "-p", Takes::Attached),
    ("mysqladmin", "-p", Takes::Attached),
    ("mysqldump", "-p", Takes::Attached),
    ("mariadb", "-p", Takes::Attached),
    ("mariadb-dump", "-p", Takes::Attached),
    ("sshpass", "-p", Takes::Any),
    ("login", "-p", Takes::Any),
    ("redis-cli", "-a", Takes::Any),
    ("unzip", "-P", Takes::Any),
    ("7z", "-p", Takes::Attached),
];

/// Names of schemes: what follows one is the secret.
const SCHEMES: [&str; 4] = ["bearer", "basic", "digest", "token"];

/// Words that follow "bearer" in prose, and the word itself.
pub(super) const BEARER_PROSE: [&str; 15] = [
    "bearer",
    "token",
    "tokens",
    "auth",
    "authentication",
    "authorization",
    "scheme",
    "header",
    "credential",
    "credentials",
    "is",
    "of",
    "not",
    "missing",
    "required",
];

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn names_by_their_ending() {
        for name in [
            "KEY",
            "api_key",
            "apiKey",
            "X-Api-Key",
            "API_KEY_2",
            "accessToken",
            "client-secret",
            "PGPASSWORD",
            "--passphrase",
            "googleCredentials",
            "AWS_CREDENTIAL",
            "DB_PASS",
            "MYSQL_PWD",
            "npm._auth",
        ] {
            assert_eq!(classify(name.as_bytes(), false), Some(Name::Secret), "{name}");
        }
        for name in
            ["", "tokens", "PASS", "PWD", "OLDPWD", "bypass", "keyboard", "author", "sig", "2"]
        {
            assert_eq!(classify(name.as_bytes(), false), None, "{name}");
        }
        assert_eq!(classify(b"sig", true), Some(Name::Secret));
        assert_eq!(classify(b"Set-Cookie", false), Some(Name::Header));
        assert_eq!(classify(b"authorization", false), Some(Name::Header));
    }

    #[test]
    fn prefixes_need_length_or_the_end_of_a_part() {
        assert_eq!(token_length(b"ghp_0123456789abcdef rest", false), Some(20));
        assert_eq!(token_length(b"xoxb-1234-5678-abcd.", false), Some(19));
        assert_eq!(token_length(b"ghp_012", false), None);
        assert_eq!(token_length(b"ghp_012", true), Some(7));
        assert_eq!(token_length(b"npm_config_registry", false), None);
        assert_eq!(token_length(b"sk-fading-circle-big", false), None);
        assert_eq!(token_length(b"sk-ant-api03-abcdefgh_ijk", false), Some(25));
    }
}
