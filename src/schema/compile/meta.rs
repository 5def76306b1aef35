//! The meta-schemas of the dialects, so that a schema may refer to them.
//!
//! They are only compiled when a reference leads to them: compiling checks keywords by itself.

/// The text of a meta-schema by its URI, without fragment.
pub(super) fn document(uri: &str) -> Option<&'static str> {
    Some(match uri {
        "http://json-schema.org/draft-07/schema" => include_str!("meta/draft-07.json"),
        "https://json-schema.org/draft/2020-12/schema" => include_str!("meta/2020-12.json"),
        "https://json-schema.org/draft/2020-12/meta/core" => {
            include_str!("meta/2020-12-core.json")
        }
        "https://json-schema.org/draft/2020-12/meta/applicator" => {
            include_str!("meta/2020-12-applicator.json")
        }
        "https://json-schema.org/draft/2020-12/meta/unevaluated" => {
            include_str!("meta/2020-12-unevaluated.json")
        }
        "https://json-schema.org/draft/2020-12/meta/validation" => {
            include_str!("meta/2020-12-validation.json")
        }
        "https://json-schema.org/draft/2020-12/meta/meta-data" => {
            include_str!("meta/2020-12-meta-data.json")
        }
        "https://json-schema.org/draft/2020-12/meta/format-annotation" => {
            include_str!("meta/2020-12-format-annotation.json")
        }
        "https://json-schema.org/draft/2020-12/meta/content" => {
            include_str!("meta/2020-12-content.json")
        }
        _ => return None,
    })
}
