//! The keywords of one schema object, by name, and which of them a dialect knows.
//!
//! Owns the list of keywords that are known in some dialect. The last of repeated members counts.

use crate::json::Value;
use crate::schema::names::head;
use crate::schema::options::Dialect;

macro_rules! keywords {
    ($($variant:ident $name:literal)*) => {
        /// A keyword that some dialect knows.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Keyword { $($variant),* }

        impl Keyword {
            const COUNT: usize = [$($name),*].len();

            pub(super) const ALL: [Self; Self::COUNT] = [$(Keyword::$variant),*];

            /// All names, for lint.
            pub(super) const NAMES: &'static [&'static str] = &[$($name),*];

            pub(super) fn of_name(name: &[u8]) -> Option<Self> {
                let mut at = place_of(head(name), name.len());
                loop {
                    let keyword = *Self::ALL.get(*PLACES.get(at)? as usize)?;
                    if keyword.name().as_bytes() == name {
                        return Some(keyword);
                    }
                    at = (at + 1) % PLACES.len();
                }
            }

            pub(super) fn name(self) -> &'static str {
                match self { $(Keyword::$variant => $name),* }
            }
        }
    };
}

keywords! {
    Type "type"
    Properties "properties"
    Required "required"
    Description "description"
    Items "items"
    Enum "enum"
    Const "const"
    AdditionalProperties "additionalProperties"
    Ref "$ref"
    Title "title"
    Default "default"
    Format "format"
    AnyOf "anyOf"
    OneOf "oneOf"
    AllOf "allOf"
    Not "not"
    If "if"
    Then "then"
    Else "else"
    Minimum "minimum"
    Maximum "maximum"
    ExclusiveMinimum "exclusiveMinimum"
    ExclusiveMaximum "exclusiveMaximum"
    MultipleOf "multipleOf"
    MinLength "minLength"
    MaxLength "maxLength"
    Pattern "pattern"
    MinItems "minItems"
    MaxItems "maxItems"
    UniqueItems "uniqueItems"
    PrefixItems "prefixItems"
    AdditionalItems "additionalItems"
    Contains "contains"
    MinContains "minContains"
    MaxContains "maxContains"
    MinProperties "minProperties"
    MaxProperties "maxProperties"
    PatternProperties "patternProperties"
    PropertyNames "propertyNames"
    DependentRequired "dependentRequired"
    DependentSchemas "dependentSchemas"
    Dependencies "dependencies"
    UnevaluatedItems "unevaluatedItems"
    UnevaluatedProperties "unevaluatedProperties"
    Defs "$defs"
    Definitions "definitions"
    Id "$id"
    ElderId "id"
    Schema "$schema"
    Anchor "$anchor"
    DynamicAnchor "$dynamicAnchor"
    DynamicRef "$dynamicRef"
    RecursiveAnchor "$recursiveAnchor"
    RecursiveRef "$recursiveRef"
    Vocabulary "$vocabulary"
    Comment "$comment"
    Examples "examples"
    ReadOnly "readOnly"
    WriteOnly "writeOnly"
    Deprecated "deprecated"
    ContentEncoding "contentEncoding"
    ContentMediaType "contentMediaType"
    ContentSchema "contentSchema"
}

/// Keywords by a hash of their names, open addressing; [`Keyword::COUNT`] where there is none.
#[expect(clippy::indexing_slicing, reason = "done once, by the compiler")]
const PLACES: [u8; 128] = {
    let mut places = [Keyword::COUNT as u8; 128];
    let mut rest = Keyword::NAMES;
    while let [name, tail @ ..] = rest {
        let mut at = place_of(head(name.as_bytes()), name.len());
        while places[at] as usize != Keyword::COUNT {
            at = (at + 1) % places.len();
        }
        places[at] = (Keyword::COUNT - rest.len()) as u8;
        rest = tail;
    }
    places
};

/// Where a name is looked for first, by its first bytes and its length.
const fn place_of(head: u64, len: usize) -> usize {
    ((head ^ len as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57) as usize
}

/// A set of keywords.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct KeywordSet(u64);

const _: () = assert!(Keyword::COUNT <= u64::BITS as usize, "a set holds a bit for each keyword");

impl KeywordSet {
    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn of(keywords: &[Keyword]) -> Self {
        let mut bits = 0;
        let mut rest = keywords;
        while let [first, tail @ ..] = rest {
            bits |= 1 << *first as u32;
            rest = tail;
        }
        KeywordSet(bits)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        KeywordSet(self.0 | other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        KeywordSet(self.0 & !other.0)
    }

    #[inline]
    pub(super) const fn has(self, keyword: Keyword) -> bool {
        self.0 >> keyword as u32 & 1 == 1
    }

    /// The keywords of a dialect.
    pub(super) const fn of_dialect(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Draft4 => DRAFT_4,
            Dialect::Draft6 => DRAFT_6,
            Dialect::Draft7 => DRAFT_7,
            Dialect::Draft2019 => DRAFT_2019,
            Dialect::Draft2020 => DRAFT_2020,
        }
    }
}

const DRAFT_4: KeywordSet = KeywordSet::of(&[
    Keyword::Type,
    Keyword::Properties,
    Keyword::Required,
    Keyword::Description,
    Keyword::Items,
    Keyword::Enum,
    Keyword::AdditionalProperties,
    Keyword::Ref,
    Keyword::Title,
    Keyword::Default,
    Keyword::Format,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
    Keyword::Not,
    Keyword::Minimum,
    Keyword::Maximum,
    Keyword::ExclusiveMinimum,
    Keyword::ExclusiveMaximum,
    Keyword::MultipleOf,
    Keyword::MinLength,
    Keyword::MaxLength,
    Keyword::Pattern,
    Keyword::MinItems,
    Keyword::MaxItems,
    Keyword::UniqueItems,
    Keyword::AdditionalItems,
    Keyword::MinProperties,
    Keyword::MaxProperties,
    Keyword::PatternProperties,
    Keyword::Dependencies,
    Keyword::Definitions,
    Keyword::ElderId,
    Keyword::Schema,
]);

const DRAFT_6: KeywordSet =
    DRAFT_4.without(KeywordSet::of(&[Keyword::ElderId])).or(KeywordSet::of(&[
        Keyword::Id,
        Keyword::Const,
        Keyword::Contains,
        Keyword::PropertyNames,
        Keyword::Examples,
    ]));

const DRAFT_7: KeywordSet = DRAFT_6.or(KeywordSet::of(&[
    Keyword::If,
    Keyword::Then,
    Keyword::Else,
    Keyword::Comment,
    Keyword::ReadOnly,
    Keyword::WriteOnly,
    Keyword::ContentEncoding,
    Keyword::ContentMediaType,
]));

/// `dependencies` and `definitions` are no keywords from here on, but the meta-schemas keep the
/// names for their meaning.
const DRAFT_2019: KeywordSet = DRAFT_7.or(KeywordSet::of(&[
    Keyword::Defs,
    Keyword::Anchor,
    Keyword::RecursiveAnchor,
    Keyword::RecursiveRef,
    Keyword::Vocabulary,
    Keyword::DependentRequired,
    Keyword::DependentSchemas,
    Keyword::UnevaluatedItems,
    Keyword::UnevaluatedProperties,
    Keyword::MinContains,
    Keyword::MaxContains,
    Keyword::Deprecated,
    Keyword::ContentSchema,
]));

const DRAFT_2020: KeywordSet = DRAFT_2019
    .without(KeywordSet::of(&[
        Keyword::AdditionalItems,
        Keyword::RecursiveAnchor,
        Keyword::RecursiveRef,
    ]))
    .or(KeywordSet::of(&[Keyword::PrefixItems, Keyword::DynamicAnchor, Keyword::DynamicRef]));

/// Keywords of the core, which no meta-schema can turn off, with the two old names that are kept.
const CORE: KeywordSet = KeywordSet::of(&[
    Keyword::Schema,
    Keyword::Id,
    Keyword::Ref,
    Keyword::Defs,
    Keyword::Definitions,
    Keyword::Comment,
    Keyword::Anchor,
    Keyword::DynamicAnchor,
    Keyword::DynamicRef,
    Keyword::RecursiveAnchor,
    Keyword::RecursiveRef,
    Keyword::Vocabulary,
]);

const APPLICATOR: KeywordSet = KeywordSet::of(&[
    Keyword::PrefixItems,
    Keyword::Items,
    Keyword::AdditionalItems,
    Keyword::Contains,
    Keyword::Properties,
    Keyword::PatternProperties,
    Keyword::AdditionalProperties,
    Keyword::PropertyNames,
    Keyword::DependentSchemas,
    Keyword::Dependencies,
    Keyword::If,
    Keyword::Then,
    Keyword::Else,
    Keyword::AllOf,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Not,
]);

const UNEVALUATED: KeywordSet =
    KeywordSet::of(&[Keyword::UnevaluatedItems, Keyword::UnevaluatedProperties]);

const VALIDATION: KeywordSet = KeywordSet::of(&[
    Keyword::Type,
    Keyword::Enum,
    Keyword::Const,
    Keyword::Minimum,
    Keyword::Maximum,
    Keyword::ExclusiveMinimum,
    Keyword::ExclusiveMaximum,
    Keyword::MultipleOf,
    Keyword::MinLength,
    Keyword::MaxLength,
    Keyword::Pattern,
    Keyword::MinItems,
    Keyword::MaxItems,
    Keyword::UniqueItems,
    Keyword::MinContains,
    Keyword::MaxContains,
    Keyword::MinProperties,
    Keyword::MaxProperties,
    Keyword::Required,
    Keyword::DependentRequired,
]);

const META_DATA: KeywordSet = KeywordSet::of(&[
    Keyword::Title,
    Keyword::Description,
    Keyword::Default,
    Keyword::Deprecated,
    Keyword::ReadOnly,
    Keyword::WriteOnly,
    Keyword::Examples,
]);

const CONTENT: KeywordSet =
    KeywordSet::of(&[Keyword::ContentEncoding, Keyword::ContentMediaType, Keyword::ContentSchema]);

/// How the subschemas of a resource are read: the rules of a dialect, for some of its keywords.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reading {
    pub(super) dialect: Dialect,
    pub(super) keywords: KeywordSet,
    /// A meta-schema demands that formats are asserted, whatever the options say.
    pub(super) asserts_formats: bool,
}

impl Reading {
    /// By all keywords of a dialect.
    pub(super) const fn of(dialect: Dialect) -> Self {
        let keywords = KeywordSet::of_dialect(dialect);
        Reading { dialect, keywords, asserts_formats: false }
    }

    /// By the core of a dialect alone.
    pub(super) const fn core(dialect: Dialect) -> Self {
        let all = KeywordSet::of_dialect(dialect);
        let keywords = all.without(all.without(CORE));
        Reading { dialect, keywords, asserts_formats: false }
    }

    /// True for a value that may stand where a schema is wanted.
    pub(super) fn accepts(self, schema: Value<'_>) -> bool {
        schema.is_object() || (self.dialect > Dialect::Draft4 && schema.as_bool().is_some())
    }

    /// Adds a vocabulary by the last part of its URI; false if the dialect has none of the name.
    pub(super) fn add(&mut self, vocabulary: &str, required: bool) -> bool {
        let modern = self.dialect >= Dialect::Draft2020;
        let added = match vocabulary {
            "core" => CORE,
            // Unevaluated locations got a vocabulary of their own later.
            "applicator" if modern => APPLICATOR,
            "applicator" => APPLICATOR.or(UNEVALUATED),
            "unevaluated" if modern => UNEVALUATED,
            "validation" => VALIDATION,
            "meta-data" => META_DATA,
            "content" => CONTENT,
            "format-annotation" if modern => KeywordSet::of(&[Keyword::Format]),
            "format-assertion" if modern => {
                self.asserts_formats = true;
                KeywordSet::of(&[Keyword::Format])
            }
            "format" if !modern => {
                self.asserts_formats |= required;
                KeywordSet::of(&[Keyword::Format])
            }
            _ => return false,
        };
        let all = KeywordSet::of_dialect(self.dialect);
        self.keywords = self.keywords.or(all.without(all.without(added)));
        true
    }
}

/// Where each keyword's value stands in one schema object.
pub(super) struct Shape {
    /// Word position plus one; 0 for an absent keyword.
    places: [u32; Keyword::COUNT],
    /// The keywords that are there.
    pub(super) written: KeywordSet,
    /// Whether there are other names too.
    pub(super) has_others: bool,
}

impl Shape {
    pub(super) fn of(schema: Value<'_>) -> Self {
        let mut shape =
            Shape { places: [0; Keyword::COUNT], written: KeywordSet(0), has_others: false };
        for (name, value) in schema.members() {
            let Some(keyword) = Keyword::of_name(&name.to_wtf8()) else {
                shape.has_others = true;
                continue;
            };
            shape.written.0 |= 1 << keyword as u32;
            if let Some(place) = shape.places.get_mut(keyword as usize) {
                *place = value.position() + 1;
            }
        }
        shape
    }

    /// The position of a keyword's value.
    pub(super) fn get(&self, keyword: Keyword) -> Option<u32> {
        self.places.get(keyword as usize).and_then(|place| place.checked_sub(1))
    }
}
