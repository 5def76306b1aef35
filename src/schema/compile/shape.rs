//! The keywords of one schema object, by name.
//!
//! Owns the list of keywords that are known in some dialect. The last of repeated members counts.

use crate::json::Value;

macro_rules! keywords {
    ($($variant:ident $name:literal)*) => {
        /// A keyword that some dialect knows.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Keyword { $($variant),* }

        impl Keyword {
            const COUNT: usize = [$($name),*].len();

            /// All names, for lint.
            pub(super) const NAMES: &'static [&'static str] = &[$($name),*];

            pub(super) fn of_name(name: &[u8]) -> Option<Self> {
                $(
                    // Kept as a chain of comparisons by length and bytes: the compiler turns it
                    // into a switch on the length.
                    if name == $name.as_bytes() {
                        return Some(Keyword::$variant);
                    }
                )*
                None
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
    Schema "$schema"
    Anchor "$anchor"
    DynamicAnchor "$dynamicAnchor"
    DynamicRef "$dynamicRef"
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

/// Where each keyword's value stands in one schema object.
pub(super) struct Shape {
    /// Word position plus one; 0 for an absent keyword.
    places: [u32; Keyword::COUNT],
}

impl Shape {
    pub(super) fn of(schema: Value<'_>) -> Self {
        let mut places = [0; Keyword::COUNT];
        for (name, value) in schema.members() {
            if let Some(keyword) = Keyword::of_name(&name.to_wtf8())
                && let Some(place) = places.get_mut(keyword as usize)
            {
                *place = value.position() + 1;
            }
        }
        Shape { places }
    }

    /// The position of a keyword's value.
    pub(super) fn get(&self, keyword: Keyword) -> Option<u32> {
        self.places.get(keyword as usize).and_then(|place| place.checked_sub(1))
    }

    pub(super) fn has(&self, keyword: Keyword) -> bool {
        self.get(keyword).is_some()
    }
}
