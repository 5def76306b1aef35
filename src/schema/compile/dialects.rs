//! Which dialect a `$schema` means: one of those known here, or that of a meta-schema given with
//! the schema, which may choose among its vocabularies.
//!
//! A meta-schema decides by its `$vocabulary`; without one it is read as its own `$schema` says,
//! and so are the schemas that name it. Each is looked at once.

use crate::json::{Limits, Value, read};
use crate::schema::options::Dialect;
use crate::table::Table;

use super::shape::Reading;

/// Meta-schemas in a row that leave the decision to their own.
const MAX_CHAIN: usize = 8;

/// Vocabularies of a dialect: this, the dialect's name, and [`VOCABULARY`].
const DRAFTS: &str = "https://json-schema.org/draft/";
const VOCABULARY: &str = "/vocab/";

/// What a meta-schema says of the schemas that name it.
#[derive(Clone)]
pub(super) struct MetaSchema {
    /// Its own `$schema`.
    schema: Option<String>,
    /// Vocabularies and whether they are required; `None` if it has no `$vocabulary`.
    vocabularies: Option<Vec<(String, bool)>>,
}

impl MetaSchema {
    /// What the root of a document says.
    pub(super) fn of(root: Value<'_>) -> Option<Self> {
        if !root.is_object() {
            return None;
        }
        let schema = root.get("$schema").and_then(|schema| Some(schema.as_str()?.into_owned()));
        let vocabulary = root.get("$vocabulary").filter(|value| value.is_object());
        let vocabularies = vocabulary.map(|object| {
            let members = object.members();
            members.map(|(name, value)| (name.to_str().into_owned(), value.as_bool() == Some(true)))
        });
        Some(MetaSchema { schema, vocabularies: vocabularies.map(Iterator::collect) })
    }

    /// What a text says that is no document yet.
    pub(super) fn of_text(text: &[u8], max_depth: u32) -> Option<Self> {
        let tape = read(text, Limits::depth(max_depth)).ok()?;
        MetaSchema::of(tape.root(text))
    }
}

/// The dialects named so far.
pub(super) struct Dialects {
    /// That of a meta-schema that names none.
    default: Dialect,
    /// By URI; `None` for one that is not known.
    known: Table<String, Option<Reading>>,
}

impl Dialects {
    pub(super) fn new(default: Dialect) -> Self {
        Dialects { default, known: Table::new() }
    }

    /// How a schema is read whose `$schema` is a URI; `None` for an unknown one. `find` gives the
    /// meta-schema of a URI without fragment.
    pub(super) fn reading(
        &mut self,
        uri: &str,
        find: impl Fn(&str) -> Option<MetaSchema>,
    ) -> Option<Reading> {
        if let Some(dialect) = Dialect::from_schema_uri(uri) {
            return Some(Reading::of(dialect));
        }
        if let Some(&known) = self.known.get(uri) {
            return known;
        }
        let reading = self.work_out(uri, find);
        self.known.insert(uri.to_owned(), reading);
        reading
    }

    fn work_out(&self, uri: &str, find: impl Fn(&str) -> Option<MetaSchema>) -> Option<Reading> {
        let mut uri = uri.to_owned();
        let mut vocabularies = None;
        for _ in 0..MAX_CHAIN {
            let meta = find(uri.strip_suffix('#').unwrap_or(&uri))?;
            let chosen = vocabularies.get_or_insert(meta.vocabularies);
            // Vocabularies belong to a dialect, whatever describes the meta-schema itself.
            let own = chosen.iter().flatten().find_map(|(uri, _)| dialect_of_vocabulary(uri));
            let dialect = own.or_else(|| match &meta.schema {
                Some(uri) => Dialect::from_schema_uri(uri),
                None => Some(self.default),
            });
            if let Some(dialect) = dialect {
                return choose(dialect, chosen.as_deref());
            }
            if chosen.is_none() {
                vocabularies = None;
            }
            uri = meta.schema?;
        }
        None
    }
}

/// The keywords of a dialect that vocabularies leave; `None` if a required one is not known.
fn choose(dialect: Dialect, vocabularies: Option<&[(String, bool)]>) -> Option<Reading> {
    let Some(vocabularies) = vocabularies.filter(|_| dialect >= Dialect::Draft2019) else {
        return Some(Reading::of(dialect));
    };
    let mut reading = Reading::core(dialect);
    for (uri, required) in vocabularies {
        let known = match dialect_of_vocabulary(uri) == Some(dialect) {
            true => reading.add(uri.rsplit('/').next().unwrap_or(""), *required),
            false => false,
        };
        if *required && !known {
            return None;
        }
    }
    Some(reading)
}

/// The dialect whose vocabulary a URI names.
fn dialect_of_vocabulary(uri: &str) -> Option<Dialect> {
    let (name, vocabulary) = uri.strip_prefix(DRAFTS)?.split_once(VOCABULARY)?;
    let dialect = Dialect::from_name(name)?;
    Reading::core(dialect).add(vocabulary, false).then_some(dialect)
}
