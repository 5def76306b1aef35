//! What a compilation can be told.

/// Options of one compilation. Defaults are those of the JavaScript `SchemaOptions`.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The dialect of a document without `$schema`.
    pub dialect: Dialect,
    /// Which keywords count.
    pub keywords: Keywords,
    /// Whether `format` is judged, where the dialect leaves that open.
    pub formats: Formats,
    /// Further documents: absolute URI and JSON text. Nothing is ever fetched.
    pub resources: Vec<(String, Vec<u8>)>,
    /// What repeated members mean, in schema and value.
    pub duplicate_keys: DuplicateKeys,
    /// Containers that may nest, in schema and value.
    pub max_depth: u32,
    /// Violations collected before the list is cut.
    pub max_errors: usize,
    /// Steps of one verdict; spent, the verdict is unknown. Unless told, they are in proportion to
    /// the value and at most [`super::MAX_STEPS`].
    pub max_steps: Option<u64>,
    /// Subschemas of one schema.
    pub max_subschemas: usize,
    /// Bytes of one schema's text.
    pub max_schema_bytes: usize,
}

/// Which keywords count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keywords {
    /// All of the dialect.
    Full,
    /// `type`, `required`, `properties`, `items`, `enum`; everything else is ignored, numbers of
    /// `enum` compare as doubles, and compiling never fails on an object.
    Structural,
}

/// Whether `format` is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formats {
    /// It says something about the value and is not judged.
    Annotate,
    /// A string must be of the format, if the dialect defines it.
    Assert,
}

/// What repeated members mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DuplicateKeys {
    /// The last one counts, as for `JSON.parse`.
    Last,
    /// A schema with one does not compile, a value with one is invalid.
    Reject,
}

/// A dialect of JSON Schema. Later ones compare greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Dialect {
    /// Draft-04.
    Draft4,
    /// Draft-06.
    Draft6,
    /// Draft-07.
    Draft7,
    /// Draft 2019-09.
    Draft2019,
    /// Draft 2020-12.
    Draft2020,
}

impl Dialect {
    /// Names of the dialects that compile, newest first.
    pub const SUPPORTED: &'static [&'static str] =
        &["2020-12", "2019-09", "draft-07", "draft-06", "draft-04"];

    /// All of them, newest first.
    pub const ALL: &'static [Dialect] = &[
        Dialect::Draft2020,
        Dialect::Draft2019,
        Dialect::Draft7,
        Dialect::Draft6,
        Dialect::Draft4,
    ];

    /// The name of the dialect in options.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Draft2020 => "2020-12",
            Dialect::Draft2019 => "2019-09",
            Dialect::Draft7 => "draft-07",
            Dialect::Draft6 => "draft-06",
            Dialect::Draft4 => "draft-04",
        }
    }

    /// The dialect of a name in options.
    pub fn from_name(name: &str) -> Option<Self> {
        Dialect::ALL.iter().copied().find(|dialect| dialect.name() == name)
    }

    /// The dialect that a `$schema` names. An empty fragment and `http` for `https` make no
    /// difference.
    pub fn from_schema_uri(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let path = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        Some(match path.strip_prefix("json-schema.org/")? {
            "draft/2020-12/schema" => Dialect::Draft2020,
            "draft/2019-09/schema" => Dialect::Draft2019,
            "draft-07/schema" => Dialect::Draft7,
            "draft-06/schema" => Dialect::Draft6,
            "draft-04/schema" => Dialect::Draft4,
            _ => return None,
        })
    }

    /// True if nothing that stands beside `$ref` counts.
    pub(crate) fn isolates_ref(self) -> bool {
        self <= Dialect::Draft7
    }
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            dialect: Dialect::Draft2020,
            keywords: Keywords::Full,
            formats: Formats::Annotate,
            resources: Vec::new(),
            duplicate_keys: DuplicateKeys::Last,
            max_depth: 512,
            max_errors: 16,
            max_steps: None,
            max_subschemas: 50_000,
            max_schema_bytes: 1_048_576,
        }
    }
}
