//! Content blocks of a tool result: which types there are, what each needs, what a fault costs.
//!
//! Invariant: a block is judged by itself. One that lacks what its type needs is left out, one of
//! a type this table does not know is kept, both are listed, and neither touches its neighbours.
//! The table is the union of all revisions (DESIGN.md section 6.2): servers send blocks that are
//! newer than the revision they negotiated, and a host can only gain by reading them.

use crate::json::Value;

/// What is wrong with a content block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockFault {
    /// It is not an object.
    NotAnObject,
    /// It has no `type`, or one that is no string.
    MissingType,
    /// Its type is none of the protocol's. The block is kept.
    UnknownType,
    /// A text block without a string `text`.
    MissingText,
    /// A block of another type without a member that type needs.
    MissingMember,
}

impl BlockFault {
    /// The reason as `contentProblems` spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            BlockFault::NotAnObject => "not_an_object",
            BlockFault::MissingType => "missing_type",
            BlockFault::UnknownType => "unknown_type",
            BlockFault::MissingText => "missing_text",
            BlockFault::MissingMember => "missing_member",
        }
    }

    /// True if a block with this fault is not handed out.
    pub const fn drops(self) -> bool {
        !matches!(self, BlockFault::UnknownType)
    }
}

/// The members that a known type needs, as strings of the object they stand in.
pub(crate) struct BlockType {
    /// The value of `type`.
    pub(crate) name: &'static str,
    /// The member that holds the needed strings, if it is not the block itself.
    pub(crate) within: Option<&'static str>,
    /// The needed strings.
    pub(crate) strings: &'static [&'static str],
}

/// Every content block of the revisions up to 2026-07-28.
pub(crate) const BLOCK_TYPES: [BlockType; 5] = [
    BlockType { name: "text", within: None, strings: &["text"] },
    BlockType { name: "image", within: None, strings: &["data", "mimeType"] },
    BlockType { name: "audio", within: None, strings: &["data", "mimeType"] },
    // Text or blob may both be absent: a resource that is only named is still a resource.
    BlockType { name: "resource", within: Some("resource"), strings: &["uri"] },
    BlockType { name: "resource_link", within: None, strings: &["uri", "name"] },
];

/// Judges one block: nothing if it is what its type says it is.
pub fn fault_of_block(block: Value<'_>) -> Option<BlockFault> {
    if !block.is_object() {
        return Some(BlockFault::NotAnObject);
    }
    let Some(name) = block.get("type").and_then(Value::text) else {
        return Some(BlockFault::MissingType);
    };
    let Some(known) = BLOCK_TYPES.iter().find(|known| name.eq_str(known.name)) else {
        return Some(BlockFault::UnknownType);
    };
    let holder = match known.within {
        Some(member) => block.get(member),
        None => Some(block),
    };
    let complete = holder.is_some_and(|holder| {
        known.strings.iter().all(|member| holder.get(member).is_some_and(Value::is_string))
    });
    match (complete, known.name) {
        (true, _) => None,
        (false, "text") => Some(BlockFault::MissingText),
        (false, _) => Some(BlockFault::MissingMember),
    }
}

/// What was found about the blocks of one result.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ContentFindings {
    /// Blocks with a fault, in order: index and fault.
    pub faults: Vec<(u32, BlockFault)>,
    /// Optional members of blocks that are `null` and so count as absent: index and name.
    pub null_members: Vec<(u32, &'static str)>,
}

impl ContentFindings {
    /// Indices of the blocks that are not handed out, in order.
    pub fn dropped(&self) -> impl Iterator<Item = u32> + '_ {
        self.faults.iter().filter(|(_, fault)| fault.drops()).map(|&(index, _)| index)
    }
}

/// Judges every block of a `content` array; none if a block repeats a member that is read. Anything
/// but an array has no blocks.
pub fn check_content(content: Value<'_>) -> Option<ContentFindings> {
    let mut findings = ContentFindings::default();
    for (index, block) in (0..).zip(content.elements()) {
        check_members(block, index, &mut findings.null_members)?;
        if let Some(fault) = fault_of_block(block) {
            findings.faults.push((index, fault));
        }
    }
    Some(findings)
}

/// The members of a block that are read, the optional ones first.
const READ: [&str; 9] =
    ["annotations", "_meta", "type", "text", "data", "mimeType", "uri", "name", "resource"];
const OPTIONAL: usize = 2;

/// Notes optional members that are null; none if a member that is read is repeated.
fn check_members(block: Value<'_>, index: u32, nulls: &mut Vec<(u32, &'static str)>) -> Option<()> {
    let mut found = [false; READ.len()];
    for (name, value) in block.members() {
        let Some(at) = READ.iter().position(|read| name.eq_str(read)) else { continue };
        if std::mem::replace(found.get_mut(at)?, true) {
            return None;
        }
        let optional = READ.iter().take(OPTIONAL).nth(at);
        nulls.extend(optional.filter(|_| value.is_null()).map(|name| (index, *name)));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn fault(block: &str) -> Option<&'static str> {
        let tape = read(block.as_bytes(), Limits::depth(16)).unwrap();
        fault_of_block(tape.root(block.as_bytes())).map(BlockFault::as_str)
    }

    #[test]
    fn each_type_needs_its_members() {
        for (block, expected) in [
            (r#"{"type":"text","text":""}"#, None),
            (r#"{"type":"text"}"#, Some("missing_text")),
            (r#"{"type":"text","text":null}"#, Some("missing_text")),
            (r#"{"type":"text","text":["a"]}"#, Some("missing_text")),
            (r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#, None),
            (r#"{"type":"image","data":"AA=="}"#, Some("missing_member")),
            (r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#, None),
            (r#"{"type":"audio","mimeType":"audio/wav"}"#, Some("missing_member")),
            (r#"{"type":"resource","resource":{"uri":"a:b"}}"#, None),
            (r#"{"type":"resource","resource":{"uri":"a:b","text":"t"}}"#, None),
            (r#"{"type":"resource","uri":"a:b"}"#, Some("missing_member")),
            (r#"{"type":"resource","resource":{"text":"t"}}"#, Some("missing_member")),
            (r#"{"type":"resource","resource":"a:b"}"#, Some("missing_member")),
            (r#"{"type":"resource_link","uri":"a:b","name":"b"}"#, None),
            (r#"{"type":"resource_link","uri":"a:b"}"#, Some("missing_member")),
            (r#"{"type":"json","json":{}}"#, Some("unknown_type")),
            (r#"{"type":"Text","text":"t"}"#, Some("unknown_type")),
            (r#"{"text":"t"}"#, Some("missing_type")),
            (r#"{"type":7}"#, Some("missing_type")),
            (r#"{"type":null}"#, Some("missing_type")),
            ("7", Some("not_an_object")),
            ("null", Some("not_an_object")),
            ("[]", Some("not_an_object")),
            // The last of repeated members counts, as for the consumer.
            (r#"{"type":"image","type":"text","text":"t"}"#, None),
            (r#"{"t\u0079pe":"te\u0078t","text":"t"}"#, None),
        ] {
            assert_eq!(fault(block), expected, "{block}");
        }
    }

    /// P12: one bad block costs itself alone.
    #[test]
    fn faults_are_listed_by_index() {
        let content = r#"[{"type":"text","text":"keep me"},{"type":"json","json":{"a":1}},
            {"type":"resource_link","uri":"file:///a.rs","name":"a.rs"},
            {"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"text"},7]"#;
        let tape = read(content.as_bytes(), Limits::depth(16)).unwrap();
        let findings = check_content(tape.root(content.as_bytes())).unwrap();
        assert_eq!(
            findings.faults,
            [
                (1, BlockFault::UnknownType),
                (4, BlockFault::MissingText),
                (5, BlockFault::NotAnObject)
            ]
        );
        assert_eq!(findings.dropped().collect::<Vec<_>>(), [4, 5]);
        assert_eq!(findings.null_members, []);
    }

    /// P13.
    #[test]
    fn null_members_are_noted() {
        let content = r#"[{"type":"text","text":"a"},
            {"type":"text","text":"b","_meta":null,"annotations":null},7]"#;
        let tape = read(content.as_bytes(), Limits::depth(16)).unwrap();
        let findings = check_content(tape.root(content.as_bytes())).unwrap();
        assert_eq!(findings.null_members, [(1, "_meta"), (1, "annotations")]);
    }

    #[test]
    fn members_that_are_read_may_not_be_repeated() {
        for (content, ok) in [
            (r#"[{"type":"text","text":"a","t\u0065xt":"b"}]"#, false),
            (r#"[{"type":"new","_meta":{},"_meta":{}}]"#, false),
            (r#"[{"type":"text","text":"a","more":1,"more":2}]"#, true),
        ] {
            let tape = read(content.as_bytes(), Limits::depth(16)).unwrap();
            assert_eq!(check_content(tape.root(content.as_bytes())).is_some(), ok, "{content}");
        }
    }
}
