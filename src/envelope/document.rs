//! The schema documents of envelopes.
//!
//! Invariant: [`RESPONSE_ENVELOPE_SCHEMA`] accepts exactly what the guard accepts; a test judges
//! one by the other. Content blocks of a known type must have what the type needs, blocks of other
//! types need a `type` alone, so that every envelope made of a tool result is one.

macro_rules! meta_schema {
    () => {
        r#"{"anyOf":[
{"type":"object","properties":{"source":{"const":"local"},"operationId":{"type":"string"},"timestamp":{"type":"number"}},"required":["source","operationId","timestamp"]},
{"type":"object","properties":{"source":{"const":"http"},"statusCode":{"type":"number"},"headers":{"type":"object","additionalProperties":{"type":"string"}},"contentType":{"type":"string"}},"required":["source","statusCode","headers","contentType"]},
{"type":"object","properties":{"source":{"const":"mcp"},"isError":{"type":"boolean"},"content":{"type":"array","items":{"anyOf":[
{"type":"object","properties":{"type":{"const":"text"},"text":{"type":"string"}},"required":["type","text"]},
{"type":"object","properties":{"type":{"enum":["image","audio"]},"data":{"type":"string"},"mimeType":{"type":"string"}},"required":["type","data","mimeType"]},
{"type":"object","properties":{"type":{"const":"resource"},"resource":{"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"]}},"required":["type","resource"]},
{"type":"object","properties":{"type":{"const":"resource_link"},"uri":{"type":"string"},"name":{"type":"string"}},"required":["type","uri","name"]},
{"type":"object","properties":{"type":{"type":"string","not":{"enum":["text","image","audio","resource","resource_link"]}}},"required":["type"]}
]}},"structuredContent":true,"_meta":{"type":"object"}},"required":["source","isError","content"]}
]}"#
    };
}

/// JSON text of the schema of an envelope's `meta`.
pub const RESPONSE_META_SCHEMA: &str = meta_schema!();

/// JSON text of the schema of an envelope.
pub const RESPONSE_ENVELOPE_SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"data":true,"meta":"#,
    meta_schema!(),
    r#"},"required":["data","meta"]}"#
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::content::BLOCK_TYPES;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn documents_are_json_and_name_every_block_type() {
        let document: serde_json::Value = serde_json::from_str(RESPONSE_ENVELOPE_SCHEMA).unwrap();
        let meta: serde_json::Value = serde_json::from_str(RESPONSE_META_SCHEMA).unwrap();
        assert_eq!(document["properties"]["meta"], meta);
        let blocks = &meta["anyOf"][2]["properties"]["content"]["items"]["anyOf"];
        let known = &blocks[4]["properties"]["type"]["not"]["enum"];
        let names: Vec<&str> = BLOCK_TYPES.iter().map(|block| block.name).collect();
        assert_eq!(*known, serde_json::json!(names));
    }
}
