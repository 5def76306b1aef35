//! Options of a session: one record, the defaults of both profiles, and the check of row R02.
//!
//! Invariant: a [`SessionOptions`] that passed [`SessionOptions::check`] holds only limits that are
//! positive safe integers, or infinity where a limit may be none.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Facts};
use crate::json;
use crate::schema::{Formats, Keywords};

pub use crate::wire::Profile;

use super::revision::{self, Family, Revision};
use super::walk;

/// What a violation of a tool's own output schema leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Validation {
    /// The call fails with `invalid_response`.
    Enforce,
    /// The call succeeds and reports the violations.
    Report,
    /// Nothing is judged.
    Off,
}

/// Which protocol era the session speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// Found out by asking. In `strict` the same as legacy.
    Auto,
    /// `initialize` first.
    Legacy,
    /// No handshake. Refused in `strict`, with reason `era_unsupported`.
    Modern,
}

/// What an earlier session's `ready` said of the server.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prior {
    /// Its era: `Auto` says nothing.
    pub era: Era,
    /// Its revision.
    #[serde(default)]
    pub protocol_version: String,
}

/// What an output that cannot be judged leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnUnknown {
    /// The call succeeds, with a diagnostic.
    Accept,
    /// The call fails with `invalid_response`.
    Reject,
}

/// How the host reads integers beyond 2^53. Here it only decides whether `unsafe_integer` is
/// reported: the other two readings lose nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Numbers {
    /// As doubles.
    Number,
    /// As `BigInt`.
    Bigint,
    /// As strings.
    String,
}

/// Who the client says it is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ClientInfo {
    /// The program's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl Default for ClientInfo {
    fn default() -> Self {
        ClientInfo {
            name: "toolwire".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: None,
        }
    }
}

// One line a limit: a limit that were missing from the defaults, the input or the check would be a
// silent hole.
macro_rules! limits {
    ($($(#[$doc:meta])* $field:ident $name:literal $none:literal, $contain:expr, $strict:expr;)*) => {
        /// The numbers that bound a session: milliseconds, bytes or counts. Infinity is none.
        #[derive(Clone, Copy, PartialEq, Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct Limits {
            $($(#[$doc])* pub $field: f64,)*
        }

        /// The limits a caller gives; what is absent keeps the profile's default.
        #[derive(Clone, Copy, Default, Debug, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct LimitsInput {
            $($(#[$doc])* pub $field: Option<f64>,)*
        }

        impl Limits {
            /// The defaults of a profile.
            pub const fn of(profile: Profile) -> Self {
                match profile {
                    Profile::Contain => Limits { $($field: $contain as f64,)* },
                    Profile::Strict => Limits { $($field: $strict as f64,)* },
                }
            }

            /// Takes over what the caller gives.
            pub fn apply(&mut self, input: &LimitsInput) {
                $(if let Some(value) = input.$field {
                    self.$field = value;
                })*
            }

            /// Name, value and "may be none" of each, in the order of row R02.
            pub(crate) fn list(&self) -> [(&'static str, f64, bool); LIMITS] {
                [$(($name, self.$field, $none),)*]
            }
        }

        impl LimitsInput {
            /// Reads each by its name.
            ///
            /// # Errors
            /// The first that `of` gives.
            pub fn read<E>(
                of: impl Fn(&'static str) -> Result<Option<f64>, E>,
            ) -> Result<Self, E> {
                let mut input = LimitsInput::default();
                for (name, value) in [$(($name, &mut input.$field),)*] {
                    *value = of(name)?;
                }
                Ok(input)
            }
        }

        const LIMITS: usize = [$($name,)*].len();
    };
}

const NONE: f64 = f64::INFINITY;

// The order is that of the check: row R02 first, then what system C does not have.
limits! {
    /// Milliseconds for each step of the handshake; in `contain` the first counts from the
    /// server's first bytes.
    handshake_timeout_ms "handshakeTimeoutMs" false, 10_000, 10_000;
    /// Tools of one catalog.
    max_tools "maxTools" false, 4_096, 256;
    /// UTF-8 bytes of a tool's name.
    max_tool_name_bytes "maxToolNameBytes" false, 128, 128;
    /// UTF-8 bytes of description and input schema; in `contain` of the output schema too.
    max_tool_document_bytes "maxToolDocumentBytes" false, 1_048_576, 65_536;
    /// Pages of one catalog.
    max_catalog_pages "maxCatalogPages" false, 256, 32;
    /// Milliseconds of a request from its making to its answer.
    request_timeout_ms "requestTimeoutMs" false, 120_000, 120_000;
    /// Outbound frames not yet taken.
    queue_capacity "queueCapacity" false, 64, 64;
    /// Bytes of one inbound line without its terminator.
    max_frame_bytes "maxFrameBytes" false, 16_777_216, 1_048_576;
    /// Bytes of one outbound line with its terminator.
    max_outbound_frame_bytes "maxOutboundFrameBytes" false, 1_048_576, 1_048_576;
    /// Bytes kept of the server's stderr.
    max_stderr_bytes "maxStderrBytes" false, 8_192, 2_048;
    /// Milliseconds from `connect` to `ready`.
    connect_timeout_ms "connectTimeoutMs" true, 60_000, NONE;
    /// Milliseconds of a request however much progress is reported.
    max_total_timeout_ms "maxTotalTimeoutMs" true, 600_000, NONE;
    /// Milliseconds for the answer to the era probe.
    probe_timeout_ms "probeTimeoutMs" false, 10_000, 10_000;
    /// Milliseconds of silence after which the legacy handshake is tried beside the probe.
    probe_hedge_ms "probeHedgeMs" false, 500, 500;
    /// Bytes of all pages of one catalog.
    max_catalog_bytes "maxCatalogBytes" true, 67_108_864, NONE;
    /// Values and names in one frame.
    max_tokens "maxTokens" true, 4_194_304, NONE;
    /// Bytes of one diagnostic's detail.
    max_diagnostic_bytes "maxDiagnosticBytes" false, 16_384, 16_384;
    /// Requests of the server that wait for the host's `respond`.
    max_peer_requests "maxPeerRequests" false, 256, 256;
    /// Questions that one request may be answered with, one after another.
    max_input_rounds "maxInputRounds" false, 10, 10;
}

/// What a host gives beside [`LimitsInput`], as it crosses from JavaScript: every member but
/// `server` may be absent, unknown members are ignored. Read both from the same object.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionsInput {
    /// The name used in messages and flow names.
    pub server: String,
    /// Who the client says it is.
    #[serde(default)]
    pub client_info: Option<ClientInfo>,
    /// JSON text of the client's capabilities, an object.
    #[serde(default)]
    pub capabilities: Option<String>,
    /// How faults are met.
    #[serde(default)]
    pub profile: Option<Profile>,
    /// The protocol era.
    #[serde(default)]
    pub era: Option<Era>,
    /// Revisions offered and accepted, newest first.
    #[serde(default)]
    pub revisions: Option<Vec<String>>,
    /// What an earlier session found out about the server.
    #[serde(default)]
    pub prior: Option<Prior>,
    /// True if the host can start the server again.
    #[serde(default)]
    pub respawn: Option<bool>,
    /// JSON text of an array of `ToolDescription`: a catalog the host already has.
    #[serde(default)]
    pub tools: Option<String>,
    /// What an output violation leads to.
    #[serde(default)]
    pub validation: Option<Validation>,
    /// What an output that cannot be judged leads to.
    #[serde(default)]
    pub on_unknown: Option<OnUnknown>,
    /// `full` or `structural`.
    #[serde(default)]
    pub keywords: Option<KeywordsInput>,
    /// `annotate` or `assert`.
    #[serde(default)]
    pub formats: Option<FormatsInput>,
    /// Refuse a server without the tools capability.
    #[serde(default)]
    pub require_tools: Option<bool>,
    /// Structured content must be there when an output schema is declared.
    #[serde(default)]
    pub require_structured: Option<bool>,
    /// Judge arguments before sending.
    #[serde(default)]
    pub check_arguments: Option<bool>,
    /// Accept canonical decimal strings as reply ids.
    #[serde(default)]
    pub lenient_ids: Option<bool>,
    /// How integers beyond 2^53 are read.
    #[serde(default)]
    pub numbers: Option<Numbers>,
}

/// [`Keywords`] as it crosses from JavaScript.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeywordsInput {
    /// All of the dialect.
    Full,
    /// The five keywords of system C.
    Structural,
}

/// [`Formats`] as it crosses from JavaScript.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FormatsInput {
    /// `format` is not judged.
    Annotate,
    /// A string must be of its format.
    Assert,
}

/// All options of a session, resolved.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The name used in messages.
    pub server: Rc<str>,
    /// Who the client says it is.
    pub client_info: ClientInfo,
    /// JSON text of the client's capabilities, an object.
    pub capabilities: String,
    /// How faults are met.
    pub profile: Profile,
    /// The protocol era.
    pub era: Era,
    /// Names of the revisions offered and accepted, newest first. Empty: all the profile knows.
    pub revisions: Vec<String>,
    /// What an earlier session found out about the server; read under [`Era::Auto`] alone.
    pub prior: Option<Prior>,
    /// True if the host can start the server again, as [`super::event::Event::Respawn`] asks.
    pub respawn: bool,
    /// JSON text of an array of `ToolDescription`: no walk at connect.
    pub tools: Option<String>,
    /// What an output violation leads to.
    pub validation: Validation,
    /// What an output that cannot be judged leads to.
    pub on_unknown: OnUnknown,
    /// Which keywords of schemas count.
    pub keywords: Keywords,
    /// Whether `format` in schemas is judged.
    pub formats: Formats,
    /// Refuse a server without the tools capability.
    pub require_tools: bool,
    /// Structured content must be there when an output schema is declared.
    pub require_structured: bool,
    /// Judge arguments by the input schema before sending.
    pub check_arguments: bool,
    /// Accept canonical decimal strings as reply ids.
    pub lenient_ids: bool,
    /// How integers beyond 2^53 are read.
    pub numbers: Numbers,
    /// The limits.
    pub limits: Limits,
}

impl SessionOptions {
    /// The defaults of a profile for a server of that name.
    pub fn new(server: &str, profile: Profile) -> Self {
        let strict = profile == Profile::Strict;
        SessionOptions {
            server: Rc::from(server),
            client_info: ClientInfo::default(),
            capabilities: "{}".to_owned(),
            profile,
            era: if strict { Era::Legacy } else { Era::Auto },
            revisions: Vec::new(),
            prior: None,
            respawn: true,
            tools: None,
            validation: Validation::Enforce,
            on_unknown: OnUnknown::Accept,
            keywords: if strict { Keywords::Structural } else { Keywords::Full },
            formats: Formats::Annotate,
            require_tools: strict,
            require_structured: false,
            check_arguments: false,
            lenient_ids: strict,
            numbers: Numbers::Number,
            limits: Limits::of(profile),
        }
    }

    /// The profile's defaults with what the caller gives in their place.
    pub fn from_input(input: OptionsInput, limits: &LimitsInput) -> Self {
        let mut options = Self::new(&input.server, input.profile.unwrap_or_default());
        fn set<T>(target: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *target = value;
            }
        }
        set(&mut options.client_info, input.client_info);
        set(&mut options.capabilities, input.capabilities);
        set(&mut options.era, input.era);
        set(&mut options.revisions, input.revisions);
        options.prior = input.prior;
        set(&mut options.respawn, input.respawn);
        options.tools = input.tools;
        set(&mut options.validation, input.validation);
        set(&mut options.on_unknown, input.on_unknown);
        if let Some(keywords) = input.keywords {
            options.keywords = match keywords {
                KeywordsInput::Full => Keywords::Full,
                KeywordsInput::Structural => Keywords::Structural,
            };
        }
        if let Some(formats) = input.formats {
            options.formats = match formats {
                FormatsInput::Annotate => Formats::Annotate,
                FormatsInput::Assert => Formats::Assert,
            };
        }
        set(&mut options.require_tools, input.require_tools);
        set(&mut options.require_structured, input.require_structured);
        set(&mut options.check_arguments, input.check_arguments);
        set(&mut options.lenient_ids, input.lenient_ids);
        set(&mut options.numbers, input.numbers);
        options.limits.apply(limits);
        options
    }

    /// Row R02: the first bad number is named; then what this crate adds.
    ///
    /// # Errors
    /// `protocol_error` with reason `option_not_positive_integer`, `option_invalid` or
    /// `era_unsupported`, and `option`.
    pub fn check(&self) -> Result<(), Error> {
        for (name, value, may_be_none) in self.limits.list() {
            if !(is_positive_safe_integer(value) || may_be_none && value == f64::INFINITY) {
                return Err(bad_option("option_not_positive_integer", name));
            }
        }
        if self.era == Era::Modern && self.profile == Profile::Strict {
            return Err(bad_option("era_unsupported", "era"));
        }
        if self.plan().is_none() {
            return Err(bad_option("option_invalid", "revisions"));
        }
        if self.tools.as_deref().is_some_and(|tools| !walk::is_catalog(tools)) {
            return Err(bad_option("option_invalid", "tools"));
        }
        if !is_object(&self.capabilities) {
            return Err(bad_option("option_invalid", "capabilities"));
        }
        Ok(())
    }

    /// The revisions of an era that this session offers and accepts, newest first.
    pub fn revisions_of(&self, family: Family) -> Vec<&'static Revision> {
        let strict = self.profile == Profile::Strict;
        let wanted = |revision: &&Revision| {
            revision.family == family
                && if self.revisions.is_empty() {
                    revision.strict || !strict
                } else {
                    self.revisions.iter().any(|name| name == revision.name)
                }
        };
        revision::REVISIONS.iter().filter(wanted).collect()
    }

    /// How the session opens; none if no revision is left for the era that was chosen.
    pub fn plan(&self) -> Option<Plan> {
        let has = |family| !self.revisions_of(family).is_empty();
        let (legacy, modern) = (has(Family::Legacy), has(Family::Modern));
        let strict = self.profile == Profile::Strict;
        let known = self.prior.as_ref().map_or(Era::Auto, |prior| prior.era);
        match self.era {
            Era::Legacy => legacy.then_some(Plan::Legacy),
            Era::Auto if strict => legacy.then_some(Plan::Legacy),
            Era::Modern => modern.then_some(Plan::Modern),
            Era::Auto if !modern => legacy.then_some(Plan::Legacy),
            Era::Auto if !legacy => Some(Plan::Modern),
            Era::Auto => Some(match known {
                Era::Legacy => Plan::Known,
                Era::Modern => Plan::Probe,
                Era::Auto => Plan::Hedge,
            }),
        }
    }
}

/// How a session opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// `initialize`, whatever it is answered with.
    Legacy,
    /// `initialize`; a server that has become modern since is asked what it speaks.
    Known,
    /// The probe; `initialize` if the answer is not modern.
    Probe,
    /// The probe; after a while of silence `initialize` beside it.
    Hedge,
    /// The probe, whatever it is answered with.
    Modern,
}

impl Plan {
    /// True if both eras can come of it.
    pub fn is_open(self) -> bool {
        matches!(self, Plan::Known | Plan::Probe | Plan::Hedge)
    }
}

/// An error about an option.
pub(super) fn bad_option(reason: &'static str, option: &'static str) -> Error {
    Error::new(Code::ProtocolError, reason)
        .facts(Facts { option: Some(option.into()), ..Facts::default() })
}

fn is_object(text: &str) -> bool {
    let tape = json::read(text.as_bytes(), json::Limits::depth(128));
    tape.is_ok_and(|tape| tape.root(text.as_bytes()).is_object())
}

/// True for 1, 2, … 2^53 - 1.
pub fn is_positive_safe_integer(value: f64) -> bool {
    value.fract() == 0.0 && (1.0..=9_007_199_254_740_991.0).contains(&value)
}

/// Options of one tool call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallOptions {
    /// Milliseconds until the call fails without a sign of life; infinity is none.
    pub timeout_ms: Option<f64>,
    /// Milliseconds until the call fails whatever happens; infinity is none.
    pub max_total_timeout_ms: Option<f64>,
    /// Whether progress restarts `timeout_ms`. Default true; never in `strict`.
    pub reset_timeout_on_progress: Option<bool>,
    /// What an output violation leads to.
    pub validation: Option<Validation>,
    /// How integers beyond 2^53 are read.
    pub numbers: Option<Numbers>,
    /// JSON text of an object that joins `_meta`. Ignored in `strict`.
    pub meta: Option<String>,
}

/// Options of one request: the time members of [`CallOptions`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestOptions {
    /// Milliseconds until the request fails without a sign of life; infinity is none.
    pub timeout_ms: Option<f64>,
    /// Milliseconds until the request fails whatever happens; infinity is none.
    pub max_total_timeout_ms: Option<f64>,
    /// Whether progress restarts `timeout_ms`. Default true; never in `strict`.
    pub reset_timeout_on_progress: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn refused(change: impl FnOnce(&mut Limits)) -> Option<std::borrow::Cow<'static, str>> {
        let mut options = SessionOptions::new("s", Profile::Strict);
        change(&mut options.limits);
        options.check().err().and_then(|error| error.get_facts().option.clone())
    }

    #[test]
    fn the_first_bad_number_is_named() {
        assert_eq!(refused(|_| {}), None);
        assert_eq!(refused(|limits| limits.max_tools = 0.5), Some("maxTools".into()));
        assert_eq!(refused(|limits| limits.max_tokens = f64::NAN), Some("maxTokens".into()));
        assert_eq!(
            refused(|limits| limits.request_timeout_ms = NONE),
            Some("requestTimeoutMs".into())
        );
        assert_eq!(refused(|limits| limits.max_catalog_bytes = NONE), None);
        assert_eq!(
            refused(|limits| {
                limits.max_frame_bytes = 0.0;
                limits.max_tools = 9_007_199_254_740_992.0;
            }),
            Some("maxTools".into())
        );
    }

    #[test]
    fn what_the_caller_leaves_out_keeps_its_default() {
        let text =
            r#"{"server":"s","profile":"strict","maxTools":7,"unknown":1,"keywords":"full"}"#;
        let input: OptionsInput = serde_json::from_str(text).unwrap();
        let limits: LimitsInput = serde_json::from_str(text).unwrap();
        let options = SessionOptions::from_input(input, &limits);
        assert_eq!(options.limits.max_tools, 7.0);
        assert_eq!(options.limits.max_catalog_pages, 32.0);
        assert_eq!(options.keywords, Keywords::Full);
        assert!(options.lenient_ids);
    }
}
