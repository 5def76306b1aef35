//! Formats: whether a string is what `format` names, where formats are asserted.
//!
//! One pass over the bytes of the string for each, no allocation, no table of its own but that of
//! internationalised names, which is decoded when the first such name is met. Invariant: a name
//! that the dialect does not define is no [`Format`], so it never fails.
//!
//! | file | owns |
//! |---|---|
//! | `time` | dates, times, durations (RFC 3339) |
//! | `address` | IP addresses, host names, e-mail addresses |
//! | `idna`, `punycode` | internationalised host names (RFC 5890 to 5893, RFC 3492) |
//! | `uri` | URIs and IRIs (RFC 3986, RFC 3987), templates (RFC 6570) |
//! | `pointer` | JSON Pointers (RFC 6901), relative ones, UUIDs (RFC 4122) |

mod address;
mod idna;
mod pointer;
mod punycode;
#[cfg(test)]
mod tests;
mod time;
mod uri;

use std::cell::OnceCell;

use super::options::Dialect;
use super::pattern;

pub(crate) use idna::Idna;

/// The tables of internationalised names of one program, once they were needed.
pub(crate) type IdnaCell = OnceCell<Box<Idna>>;

/// A format that some dialect defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Date,
    Time,
    DateTime,
    Duration,
    Email,
    IdnEmail,
    Hostname,
    IdnHostname,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    Iri,
    IriReference,
    UriTemplate,
    Uuid,
    JsonPointer,
    RelativeJsonPointer,
    /// The same with `+1` and `-1` behind the number.
    RelativeJsonPointerWithShift,
    Regex,
}

/// Name, format, and the first dialect that defines it.
const FORMATS: &[(&str, Format, Age)] = &[
    ("date-time", Format::DateTime, Age::Draft4),
    ("email", Format::Email, Age::Draft4),
    ("hostname", Format::Hostname, Age::Draft4),
    ("ipv4", Format::Ipv4, Age::Draft4),
    ("ipv6", Format::Ipv6, Age::Draft4),
    ("uri", Format::Uri, Age::Draft4),
    ("uri-reference", Format::UriReference, Age::Draft6),
    ("uri-template", Format::UriTemplate, Age::Draft6),
    ("json-pointer", Format::JsonPointer, Age::Draft6),
    ("date", Format::Date, Age::Draft7),
    ("time", Format::Time, Age::Draft7),
    ("idn-email", Format::IdnEmail, Age::Draft7),
    ("idn-hostname", Format::IdnHostname, Age::Draft7),
    ("iri", Format::Iri, Age::Draft7),
    ("iri-reference", Format::IriReference, Age::Draft7),
    ("regex", Format::Regex, Age::Draft7),
    ("duration", Format::Duration, Age::Draft2019),
    ("uuid", Format::Uuid, Age::Draft2019),
    ("relative-json-pointer", Format::RelativeJsonPointerWithShift, Age::Draft2020),
    ("relative-json-pointer", Format::RelativeJsonPointer, Age::Draft7),
];

/// Dialects in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Age {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}

impl Age {
    fn of(dialect: Dialect) -> Age {
        match dialect.name() {
            "draft-04" => Age::Draft4,
            "draft-06" => Age::Draft6,
            "draft-07" => Age::Draft7,
            "2019-09" => Age::Draft2019,
            _ => Age::Draft2020,
        }
    }
}

/// What judging a string by a format came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Judged {
    Valid,
    Invalid,
    /// It cannot be said, and why.
    Unknown(&'static str),
}

impl From<bool> for Judged {
    fn from(holds: bool) -> Self {
        if holds { Judged::Valid } else { Judged::Invalid }
    }
}

impl Format {
    /// The format that a dialect defines under a name.
    pub(crate) fn of(name: &str, dialect: Dialect) -> Option<Format> {
        let age = Age::of(dialect);
        let found = FORMATS.iter().find(|entry| entry.0 == name && entry.2 <= age);
        found.map(|entry| entry.1)
    }

    /// The name that schemas use.
    pub(crate) fn name(self) -> &'static str {
        FORMATS.iter().find(|entry| entry.1 == self).map_or("", |entry| entry.0)
    }

    /// Judges a string, given as generalised UTF-8 without escapes.
    pub(crate) fn judge(self, text: &[u8], idna: &IdnaCell) -> Judged {
        match self {
            Format::Date => time::is_date(text).into(),
            Format::Time => time::is_time(text).into(),
            Format::DateTime => time::is_date_time(text).into(),
            Format::Duration => time::is_duration(text).into(),
            Format::Email => address::is_email(text).into(),
            Format::IdnEmail => idna::is_email(text, idna).into(),
            Format::Hostname => idna::is_host(text, idna, false).into(),
            Format::IdnHostname => idna::is_host(text, idna, true).into(),
            Format::Ipv4 => address::is_ipv4(text).into(),
            Format::Ipv6 => address::is_ipv6(text).into(),
            Format::Uri => uri::is_uri(text, uri::Kind::URI).into(),
            Format::UriReference => uri::is_uri(text, uri::Kind::URI_REFERENCE).into(),
            Format::Iri => uri::is_uri(text, uri::Kind::IRI).into(),
            Format::IriReference => uri::is_uri(text, uri::Kind::IRI_REFERENCE).into(),
            Format::UriTemplate => uri::is_template(text).into(),
            Format::Uuid => pointer::is_uuid(text).into(),
            Format::JsonPointer => pointer::is_pointer(text).into(),
            Format::RelativeJsonPointer => pointer::is_relative(text, false).into(),
            Format::RelativeJsonPointerWithShift => pointer::is_relative(text, true).into(),
            Format::Regex => match pattern::is_unicode_pattern(text) {
                Some(is) => is.into(),
                None => Judged::Unknown("limit"),
            },
        }
    }

    /// How many times the bytes of a string judging looks at them, for the count of steps.
    pub(crate) fn weight(self) -> usize {
        match self {
            // Reading a pattern makes a tree of it.
            Format::Regex => 512,
            Format::Hostname | Format::IdnHostname | Format::IdnEmail => 32,
            _ => 16,
        }
    }
}

/// The digit that a byte stands for.
fn digit(byte: Option<&u8>) -> Option<u32> {
    byte.filter(|byte| byte.is_ascii_digit()).map(|byte| (byte - b'0') as u32)
}
