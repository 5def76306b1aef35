//! Options of a serving session and their check.
//!
//! Invariant: limits that passed [`ServerOptions::check`] are positive safe integers, or infinity
//! where a limit may be none.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::json;
use crate::session::options::{bad_option, is_positive_safe_integer};
use crate::session::revision::{self, Family, Revision};

const NONE: f64 = f64::INFINITY;

// One line a limit, as with the client's.
macro_rules! limits {
    ($($(#[$doc:meta])* $field:ident $name:literal $none:literal, $default:expr;)*) => {
        /// The numbers that bound a serving session: milliseconds, bytes or counts.
        #[derive(Clone, Copy, PartialEq, Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct ServerLimits {
            $($(#[$doc])* pub $field: f64,)*
        }

        impl Default for ServerLimits {
            fn default() -> Self {
                ServerLimits { $($field: $default as f64,)* }
            }
        }

        /// The limits a caller gives; what is absent keeps its default.
        #[derive(Clone, Copy, Default, Debug, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct ServerLimitsInput {
            $($(#[$doc])* pub $field: Option<f64>,)*
        }

        impl ServerLimits {
            /// Takes over what the caller gives.
            pub fn apply(&mut self, input: &ServerLimitsInput) {
                $(if let Some(value) = input.$field {
                    self.$field = value;
                })*
            }

            /// Name, value and "may be none" of each.
            pub(crate) fn list(&self) -> [(&'static str, f64, bool); LIMITS] {
                [$(($name, self.$field, $none),)*]
            }
        }

        impl ServerLimitsInput {
            /// Reads each by its name.
            ///
            /// # Errors
            /// The first that `of` gives.
            pub fn read<E>(
                of: impl Fn(&'static str) -> Result<Option<f64>, E>,
            ) -> Result<Self, E> {
                let mut input = ServerLimitsInput::default();
                for (name, value) in [$(($name, &mut input.$field),)*] {
                    *value = of(name)?;
                }
                Ok(input)
            }
        }

        const LIMITS: usize = [$($name,)*].len();
    };
}

limits! {
    /// Bytes of one inbound line without its terminator.
    max_frame_bytes "maxFrameBytes" false, 16_777_216;
    /// Bytes of one outbound line with its terminator.
    max_outbound_frame_bytes "maxOutboundFrameBytes" false, 16_777_216;
    /// Outbound frames not yet taken; beyond it nothing more is read.
    queue_capacity "queueCapacity" false, 64;
    /// Values and names in one frame.
    max_tokens "maxTokens" true, 4_194_304;
    /// Calls that are not answered yet or whose answer was not taken; the next one is refused.
    max_open_calls "maxOpenCalls" false, 1_024;
    /// Open `subscriptions/listen` requests; the next one is refused.
    max_subscriptions "maxSubscriptions" false, 64;
    /// Messages in one array, where a revision has them.
    max_batch "maxBatch" false, 64;
    /// Tools on one page of `tools/list`.
    page_size "pageSize" false, 500;
    /// Milliseconds until a call that the host does not answer fails.
    call_timeout_ms "callTimeoutMs" true, NONE;
    /// Bytes of one diagnostic's detail.
    max_diagnostic_bytes "maxDiagnosticBytes" false, 16_384;
}

/// Who may keep a list that a server of the modern era sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Anyone.
    Public,
    /// The client that asked.
    #[default]
    Private,
}

impl CacheScope {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            CacheScope::Public => "public",
            CacheScope::Private => "private",
        }
    }
}

/// What a host gives beside [`ServerLimitsInput`]. Documents are JSON texts.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerOptionsInput {
    /// JSON text of the server's name, version and more, an object.
    #[serde(default)]
    pub server_info: String,
    /// JSON text of an array of tools.
    #[serde(default)]
    pub tools: String,
    /// What a model should know about the server.
    #[serde(default)]
    pub instructions: Option<String>,
    /// Revisions served; default all known.
    #[serde(default)]
    pub revisions: Option<Vec<String>>,
    /// Whether log messages are offered.
    #[serde(default)]
    pub logging: Option<bool>,
    /// Milliseconds for which a list may be kept; default 0.
    #[serde(default)]
    pub cache_ttl_ms: Option<f64>,
    /// Who may keep a list.
    #[serde(default)]
    pub cache_scope: Option<CacheScope>,
}

/// All options of a serving session, resolved.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// JSON text of an object with the strings `name` and `version`.
    pub server_info: String,
    /// JSON text of an array of tools.
    pub tools: String,
    /// What a model should know about the server.
    pub instructions: Option<String>,
    /// Names of the revisions served. Empty: all known.
    pub revisions: Vec<String>,
    /// True if log messages are offered.
    pub logging: bool,
    /// Milliseconds for which a list may be kept.
    pub cache_ttl_ms: f64,
    /// Who may keep a list.
    pub cache_scope: CacheScope,
    /// The limits.
    pub limits: ServerLimits,
}

impl ServerOptions {
    /// The defaults with what the caller gives in their place.
    pub fn from_input(input: ServerOptionsInput, limits: &ServerLimitsInput) -> Self {
        let mut options = ServerOptions {
            server_info: input.server_info,
            tools: input.tools,
            instructions: input.instructions,
            revisions: input.revisions.unwrap_or_default(),
            logging: input.logging.unwrap_or(false),
            cache_ttl_ms: input.cache_ttl_ms.unwrap_or(0.0),
            cache_scope: input.cache_scope.unwrap_or_default(),
            limits: ServerLimits::default(),
        };
        options.limits.apply(limits);
        options
    }

    /// Options of a server of that name with these tools, a JSON text.
    pub fn new(name: &str, version: &str, tools: &str) -> Self {
        let quote = crate::wire::encode::quote;
        let server_info = format!("{{\"name\":{},\"version\":{}}}", quote(name), quote(version));
        let input = ServerOptionsInput {
            server_info,
            tools: tools.to_owned(),
            instructions: None,
            revisions: None,
            logging: None,
            cache_ttl_ms: None,
            cache_scope: None,
        };
        Self::from_input(input, &ServerLimitsInput::default())
    }

    /// The first bad option is named. Tools are checked where they are read.
    ///
    /// # Errors
    /// `protocol_error` with reason `option_not_positive_integer` or `option_invalid`, and `option`.
    pub(super) fn check(&self) -> Result<(), Error> {
        for (name, value, may_be_none) in self.limits.list() {
            if !(is_positive_safe_integer(value) || may_be_none && value == NONE) {
                return Err(bad_option("option_not_positive_integer", name));
            }
        }
        if !is_identity(&self.server_info) {
            return Err(bad_option("option_invalid", "serverInfo"));
        }
        if !(self.cache_ttl_ms == 0.0 || is_positive_safe_integer(self.cache_ttl_ms)) {
            return Err(bad_option("option_invalid", "cacheTtlMs"));
        }
        let known = |name: &String| revision::named(name).is_some();
        if !self.revisions.iter().all(known) {
            return Err(bad_option("option_invalid", "revisions"));
        }
        Ok(())
    }

    /// The revisions served, newest first.
    pub(super) fn served(&self) -> impl Iterator<Item = &'static Revision> + '_ {
        revision::REVISIONS.iter().filter(|revision| {
            self.revisions.is_empty() || self.revisions.iter().any(|name| name == revision.name)
        })
    }

    /// Those of one era, newest first.
    pub(super) fn served_by(&self, family: Family) -> impl Iterator<Item = &'static Revision> + '_ {
        self.served().filter(move |revision| revision.family == family)
    }
}

fn is_identity(text: &str) -> bool {
    let tape = json::read(text.as_bytes(), json::Limits::depth(64));
    tape.is_ok_and(|tape| {
        let root = tape.root(text.as_bytes());
        let is_text = |name| root.get(name).is_some_and(json::Value::is_string);
        is_text("name") && is_text("version")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn refused(change: impl FnOnce(&mut ServerOptions)) -> Option<String> {
        let mut options = ServerOptions::new("s", "1", "[]");
        change(&mut options);
        let error = options.check().err()?;
        error.get_facts().option.as_ref().map(|option| option.to_string())
    }

    #[test]
    fn the_first_bad_option_is_named() {
        assert_eq!(refused(|_| {}), None);
        assert_eq!(refused(|options| options.limits.call_timeout_ms = 5.0), None);
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(refused(|options| options.limits.page_size = 0.0), named("pageSize"));
        assert_eq!(refused(|options| options.limits.max_open_calls = NONE), named("maxOpenCalls"));
        assert_eq!(refused(|options| options.cache_ttl_ms = -1.0), named("cacheTtlMs"));
        assert_eq!(refused(|options| options.revisions.push("x".into())), named("revisions"));
        for info in ["7", "{}", r#"{"name":"a"}"#, r#"{"name":"a","version":1}"#, "{"] {
            assert_eq!(refused(|options| options.server_info = info.into()), named("serverInfo"));
        }
    }

    #[test]
    fn revisions_are_served_newest_first() {
        let mut options = ServerOptions::new("s", "1", "[]");
        options.revisions = vec!["2024-11-05".into(), "2026-07-28".into(), "2025-06-18".into()];
        let names = |options: &ServerOptions| -> Vec<&str> {
            options.served().map(|revision| revision.name).collect()
        };
        assert_eq!(names(&options), ["2026-07-28", "2025-06-18", "2024-11-05"]);
        let legacy: Vec<_> = options.served_by(Family::Legacy).map(|known| known.name).collect();
        assert_eq!(legacy, ["2025-06-18", "2024-11-05"]);
        options.revisions.clear();
        assert_eq!(names(&options).len(), 5);
    }
}
