//! The compiled form of a schema: a flat list of instructions, and the tables they point into.
//!
//! Invariant: every index in an instruction or table was made by the compiler of the same program
//! and lies inside its table. A program is immutable; positions in it are word positions of the
//! tapes of its own documents.

use std::rc::Rc;

use crate::json::multiple::Divisor;
use crate::json::{Numbers, Tag, Tape, Value, Word};

use super::format::{Format, IdnaCell};
use super::member::{Member, Members};
use super::names::NameTable;
use super::options::{Dialect, DuplicateKeys};
use super::pattern::Pattern;

/// Sets of value types as bits. A number is an integer, written as one or not, or has a fraction.
pub(crate) mod kinds {
    pub(crate) const NULL: u8 = 1;
    pub(crate) const BOOLEAN: u8 = 2;
    pub(crate) const INTEGER: u8 = 4;
    pub(crate) const FRACTION: u8 = 8;
    /// A whole number written with a point or an exponent.
    pub(crate) const WHOLE: u8 = 128;
    pub(crate) const NUMBER: u8 = INTEGER | WHOLE | FRACTION;
    pub(crate) const STRING: u8 = 16;
    pub(crate) const ARRAY: u8 = 32;
    pub(crate) const OBJECT: u8 = 64;
    pub(crate) const ALL: u8 = 255;

    /// The bits of a type name of JSON Schema.
    pub(crate) fn of_name(name: &str) -> Option<(u8, &'static str)> {
        Some(match name {
            "null" => (NULL, "null"),
            "boolean" => (BOOLEAN, "boolean"),
            "integer" => (INTEGER | WHOLE, "integer"),
            "number" => (NUMBER, "number"),
            "string" => (STRING, "string"),
            "array" => (ARRAY, "array"),
            "object" => (OBJECT, "object"),
            _ => return None,
        })
    }
}

/// The bits a tag may have; a number with a point or exponent may be either kind of number.
#[inline]
pub(crate) const fn kinds_of_tag(tag: Tag) -> u8 {
    match tag {
        Tag::Null => kinds::NULL,
        Tag::False | Tag::True => kinds::BOOLEAN,
        Tag::Integer => kinds::INTEGER,
        Tag::Decimal => kinds::WHOLE | kinds::FRACTION,
        Tag::ObjectOpen | Tag::ObjectClose => kinds::OBJECT,
        Tag::ArrayOpen | Tag::ArrayClose => kinds::ARRAY,
        _ => kinds::STRING,
    }
}

/// The same for a word, by its tag's number.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "four bits index sixteen entries")]
pub(crate) fn kinds_of_word(word: Word) -> u8 {
    const KINDS: [u8; 16] = {
        let mut kinds = [0; 16];
        let mut tag = 0;
        while tag < 16 {
            kinds[tag] = kinds_of_tag(Tag::of_bits(tag));
            tag += 1;
        }
        kinds
    };
    KINDS[word.tag_bits() & 15]
}

/// Index of a [`Node`].
pub(crate) type NodeId = u32;

/// A run of entries in one of the program's flat tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A compiled subschema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Types that can satisfy it; others fail at once.
    pub(crate) kinds: u8,
    /// Judged without a frame: `fast` holds assertions on the value alone.
    pub(crate) leaf: bool,
    /// Needs to know which members or elements its keywords evaluated.
    pub(crate) tracks: bool,
    /// Referenced from several places: worth remembering what it came to.
    pub(crate) shared: bool,
    /// The schema `false`.
    pub(crate) never: bool,
    /// The node to judge by when nothing is explained: itself, or what it is a mere reference to.
    pub(crate) forward: NodeId,
    /// Instructions for the verdict.
    pub(crate) fast: Span,
    /// Instructions for the explanation: one for each keyword, in the order of reports.
    pub(crate) full: Span,
    /// The document it stands in.
    pub(crate) document: u32,
    /// Where in that document.
    pub(crate) position: u32,
    /// The schema resource it belongs to.
    pub(crate) resource: u32,
}

/// When a node is judged without a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaf {
    Never,
    /// Unless the value is a long string: it has patterns, and matching those may have to stop.
    Short,
    Always,
    /// Always, and the types alone decide.
    Kinds,
    /// Where that finds it valid: members or elements, in few levels, that need no frame either.
    Flat,
}

/// What the verdict needs of a node, small because it is read for every value: the entry of a mere
/// reference is that of its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fast {
    pub(crate) kinds: u8,
    pub(crate) leaf: Leaf,
    pub(crate) tracks: bool,
    pub(crate) shared: bool,
    /// The node itself.
    pub(crate) id: NodeId,
    pub(crate) ops: Span,
}

/// One instruction. Numbers are indices into the tables of [`Program`] unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    /// Types by name; for the verdict [`Node::kinds`] has them.
    Type(u32),
    Enum(u32),
    Minimum(u32),
    Maximum(u32),
    ExclusiveMinimum(u32),
    ExclusiveMaximum(u32),
    MultipleOf(u32),
    /// The length itself.
    MinLength(u32),
    /// The length itself.
    MaxLength(u32),
    Pattern(u32),
    /// The format itself.
    Format(Format),
    /// The count itself.
    MinItems(u32),
    /// The count itself.
    MaxItems(u32),
    Unique,
    Items(u32),
    Contains(u32),
    /// The count itself.
    MinProperties(u32),
    /// The count itself.
    MaxProperties(u32),
    Object(u32),
    /// A node for each name.
    PropertyNames(NodeId),
    Dependencies(u32),
    AllOf(Span),
    AnyOf(Span),
    OneOf(Span),
    /// `anyOf` or `oneOf` whose branches are told apart by a member; for the verdict only.
    Switch(u32),
    Not(NodeId),
    If(u32),
    Reference(NodeId),
    /// The target depends on the resources entered so far.
    DynamicReference(u32),
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
}

/// A value of a schema document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) document: u32,
    pub(crate) position: u32,
}

/// `type`: the names, and the kinds of values they mean in the dialect.
#[derive(Debug)]
pub(crate) struct TypeSet {
    pub(crate) names: Vec<&'static str>,
    pub(crate) kinds: u8,
}

/// `enum` and `const`: the values allowed.
#[derive(Debug)]
pub(crate) struct EnumSet {
    /// `enum` or `const`.
    pub(crate) keyword: &'static str,
    /// The keyword's value.
    pub(crate) place: Place,
    pub(crate) kinds: u8,
    pub(crate) numbers: Numbers,
    pub(crate) document: u32,
    /// The members that are strings.
    pub(crate) strings: NameTable,
    /// Positions of the other members, if they are few and no containers.
    pub(crate) few: Vec<u32>,
    /// The other members by hash, ascending, if they are many or containers.
    pub(crate) hashes: Vec<(u64, u32)>,
}

impl EnumSet {
    /// True if one value alone is allowed.
    pub(crate) fn is_constant(&self) -> bool {
        self.strings.len() + self.few.len() + self.hashes.len() == 1
    }
}

/// A numeric limit.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) place: Place,
    pub(crate) text: Box<[u8]>,
    /// The limit, if it is a short integer.
    pub(crate) small: Option<i64>,
}

/// `multipleOf`.
#[derive(Debug)]
pub(crate) struct DivisorOp {
    pub(crate) place: Place,
    pub(crate) divisor: Divisor,
}

/// A regular expression and where it stands.
#[derive(Debug)]
pub(crate) struct PatternOp {
    pub(crate) place: Place,
    pub(crate) pattern: Pattern,
}

/// `properties`, `required`, `patternProperties` and `additionalProperties` of one schema.
#[derive(Debug)]
pub(crate) struct ObjectOp {
    /// The names declared, in the order of reports, then those only required.
    pub(crate) names: NameTable,
    /// The schema of each name, [`NO_NODE`] for one that is only required.
    pub(crate) nodes: Vec<NodeId>,
    /// Required names as they are listed.
    pub(crate) required: Vec<u32>,
    /// Required names as bits, if there are at most 64 names.
    pub(crate) required_bits: u64,
    pub(crate) patterns: Vec<(u32, NodeId)>,
    /// [`NO_NODE`] for none.
    pub(crate) additional: NodeId,
    /// Whether `additionalProperties` (not `unevaluatedProperties`…) is the schema `false`.
    pub(crate) closed: bool,
}

/// No node.
pub(crate) const NO_NODE: NodeId = u32::MAX;

/// `prefixItems` and `items` of one schema, under the names of its dialect.
#[derive(Debug)]
pub(crate) struct ItemsOp {
    pub(crate) prefix: Span,
    /// [`NO_NODE`] for none.
    pub(crate) rest: NodeId,
    /// The keyword of `rest`: `items` or `additionalItems`.
    pub(crate) rest_keyword: &'static str,
}

/// `contains` and its bounds.
#[derive(Debug)]
pub(crate) struct ContainsOp {
    pub(crate) node: NodeId,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    /// Whether matching elements count as evaluated.
    pub(crate) evaluates: bool,
}

/// `anyOf` or `oneOf` whose branches want certain strings as one member of an object, so that the
/// string found there leaves few of them.
#[derive(Debug)]
pub(crate) struct SwitchOp {
    /// `oneOf` rather than `anyOf`.
    pub(crate) one: bool,
    /// All branches.
    pub(crate) all: Span,
    /// The member.
    pub(crate) name: NameTable,
    /// The strings wanted, and the branches that want each, in order, with those that do not care.
    pub(crate) strings: NameTable,
    pub(crate) branches: Vec<Span>,
    /// The branches that do not care.
    pub(crate) others: Span,
}

/// `if`, `then`, `else`; [`NO_NODE`] for an absent branch.
#[derive(Debug)]
pub(crate) struct IfOp {
    pub(crate) condition: NodeId,
    pub(crate) then: NodeId,
    pub(crate) otherwise: NodeId,
}

/// `dependentRequired`, `dependentSchemas` or `dependencies`.
#[derive(Debug)]
pub(crate) struct DependenciesOp {
    pub(crate) keyword: &'static str,
    /// Every name that matters.
    pub(crate) names: NameTable,
    pub(crate) rules: Vec<Dependency>,
}

/// What the presence of one member demands.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: u32,
    pub(crate) required: Vec<u32>,
    /// [`NO_NODE`] for none.
    pub(crate) node: NodeId,
}

/// A reference by dynamic anchor: the outermost resource entered that has one decides.
#[derive(Debug)]
pub(crate) struct DynamicOp {
    /// The name in [`Program::dynamic_names`]; `None` if only one schema can be meant.
    pub(crate) name: Option<u32>,
    pub(crate) otherwise: NodeId,
    /// `$recursiveRef` rather than `$dynamicRef`.
    pub(crate) recursive: bool,
}

/// A document the program was compiled from.
pub(crate) struct Document {
    pub(crate) bytes: Vec<u8>,
    pub(crate) tape: Tape,
}

impl std::fmt::Debug for Document {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A schema is the peer's text: its size says enough.
        write!(formatter, "Document({} bytes)", self.bytes.len())
    }
}

impl Document {
    pub(crate) fn value(&self, position: u32) -> Value<'_> {
        self.tape.value(&self.bytes, position)
    }
}

/// A non-fatal finding about a schema.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaProblem {
    /// A stable code.
    pub code: &'static str,
    /// A JSON Pointer into the schema.
    pub at: String,
    /// A fixed sentence.
    pub message: &'static str,
}

/// A compiled schema. Immutable; share it behind an `Rc`.
#[derive(Debug)]
pub struct Program {
    pub(crate) nodes: Vec<Node>,
    /// One for each node.
    pub(crate) fast: Vec<Fast>,
    pub(crate) switches: Vec<SwitchOp>,
    pub(crate) ops: Vec<Op>,
    pub(crate) lists: Vec<NodeId>,
    pub(crate) types: Vec<TypeSet>,
    pub(crate) enums: Vec<EnumSet>,
    pub(crate) bounds: Vec<Bound>,
    pub(crate) patterns: Vec<PatternOp>,
    pub(crate) divisors: Vec<DivisorOp>,
    pub(crate) objects: Vec<ObjectOp>,
    /// One for each of `objects`, if it is of the common form.
    pub(crate) common_objects: Vec<Option<Members>>,
    pub(crate) members: Vec<Member>,
    pub(crate) items: Vec<ItemsOp>,
    pub(crate) contains: Vec<ContainsOp>,
    pub(crate) ifs: Vec<IfOp>,
    pub(crate) dependencies: Vec<DependenciesOp>,
    pub(crate) dynamics: Vec<DynamicOp>,
    /// For each name that several schemas may be meant by: their resources, ascending, and nodes.
    pub(crate) dynamic_names: Vec<Vec<(u32, NodeId)>>,
    pub(crate) documents: Vec<Rc<Document>>,
    /// What formats of internationalised names need; empty until one is judged.
    pub(crate) idna: IdnaCell,
    pub(crate) problems: Vec<SchemaProblem>,
    pub(crate) root: NodeId,
    pub(crate) dialect: Dialect,
    pub(crate) duplicate_keys: DuplicateKeys,
    pub(crate) max_depth: u32,
    pub(crate) max_errors: usize,
    pub(crate) max_steps: Option<u64>,
}

impl Program {
    /// The dialect of the schema's root.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// What lint found.
    pub fn problems(&self) -> &[SchemaProblem] {
        &self.problems
    }

    /// Containers that may nest in a value; deeper ones make the verdict unknown. Read values with
    /// this bound.
    pub fn max_depth(&self) -> u32 {
        self.max_depth
    }

    /// True if some value does not satisfy the schema, as far as its root's keywords tell: false for
    /// `true`, `{}` and a schema of annotations alone.
    pub fn restricts(&self) -> bool {
        let root = self.node(self.root);
        root.never || root.kinds != kinds::ALL || root.full.start != root.full.end
    }

    /// The node of an id.
    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes.get(id as usize).copied().unwrap_or(NOTHING)
    }

    /// What the verdict needs of a node.
    #[inline(always)]
    pub(crate) fn fast(&self, id: NodeId) -> Fast {
        const ANYTHING: Fast = Fast {
            kinds: kinds::ALL,
            leaf: Leaf::Always,
            tracks: false,
            shared: false,
            id: NO_NODE,
            ops: Span { start: 0, end: 0 },
        };
        self.fast.get(id as usize).copied().unwrap_or(ANYTHING)
    }

    /// Nodes of a list.
    #[inline]
    pub(crate) fn list(&self, span: Span) -> &[NodeId] {
        self.lists.get(span.start as usize..span.end as usize).unwrap_or(&[])
    }

    /// The schema's value at a place.
    pub(crate) fn value(&self, place: Place) -> Option<Value<'_>> {
        Some(self.documents.get(place.document as usize)?.value(place.position))
    }
}

/// Stands for a node that cannot be missing: accepts everything.
const NOTHING: Node = Node {
    kinds: kinds::ALL,
    leaf: true,
    tracks: false,
    shared: false,
    never: false,
    forward: NO_NODE,
    fast: Span { start: 0, end: 0 },
    full: Span { start: 0, end: 0 },
    document: 0,
    position: 0,
    resource: 0,
};

/// A node before its schema is compiled: accepts everything.
pub(crate) fn blank(document: u32, position: u32, resource: u32) -> Node {
    Node { document, position, resource, ..NOTHING }
}
