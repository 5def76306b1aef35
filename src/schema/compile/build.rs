//! The program under construction: nodes to compile, and the tables they fill.
//!
//! Invariant: one node for each place of a document that is a schema, however often it is reached.

use std::rc::Rc;

use crate::json::{self, Numbers, Value, number, pointer};
use crate::schema::error::SchemaError;
use crate::schema::names::NameTable;
use crate::schema::options::{CompileOptions, Formats};
use crate::schema::pattern::Spent;
use crate::schema::program::{
    Bound, ContainsOp, DependenciesOp, DivisorOp, Document, DynamicOp, EnumSet, IfOp, ItemsOp,
    Node, NodeId, ObjectOp, Op, PatternOp, Place, Program, Span, SwitchOp, TypeSet, kinds,
    kinds_of_tag,
};

/// Up to this many members of an `enum` are compared one by one.
const FEW: usize = 6;

pub(super) struct Build {
    pub(super) program: Program,
    /// Whether `format` is judged.
    pub(super) formats: Formats,
    /// Nodes compiled so far; those after them are queued.
    compiled: NodeId,
    /// For each document, the node at each word position, or [`NOWHERE`].
    node_at: Vec<Vec<NodeId>>,
    max_nodes: usize,
    /// Whether each node stands where a keyword applies it.
    applied: Vec<bool>,
    filling: Vec<Filling>,
    /// Memory for the instructions of the next subschema.
    pub(super) spare: Vec<Op>,
    /// What may still be spent on telling branches apart.
    pub(super) switch_budget: usize,
    /// What the patterns took so far.
    pub(super) patterns_spent: Spent,
}

/// Subschemas for which there is room from the start.
const MAX_RESERVED: usize = 1_024;

/// Sets of types among which one is looked for that says the same.
const MAX_SHARED: usize = 16;

/// Members of an `enum` noted in one step of compiling.
const FILLED_AT_ONCE: usize = 64;

/// An enumeration whose members are not all noted.
struct Filling {
    id: u32,
    /// The words of the members that are not.
    next: u32,
    end: u32,
    hashed: bool,
}

const NOWHERE: NodeId = u32::MAX;

impl Build {
    pub(super) fn new(options: &CompileOptions) -> Self {
        let max_nodes = match options.keywords {
            crate::schema::options::Keywords::Full => options.max_subschemas,
            // Only the size of the text bounds these.
            crate::schema::options::Keywords::Structural => usize::MAX,
        };
        Build {
            program: Program {
                nodes: Vec::new(),
                fast: Vec::new(),
                switches: Vec::new(),
                ops: Vec::new(),
                lists: Vec::new(),
                types: Vec::new(),
                enums: Vec::new(),
                bounds: Vec::new(),
                patterns: Vec::new(),
                divisors: Vec::new(),
                objects: Vec::new(),
                common_objects: Vec::new(),
                members: Vec::new(),
                items: Vec::new(),
                contains: Vec::new(),
                ifs: Vec::new(),
                dependencies: Vec::new(),
                dynamics: Vec::new(),
                dynamic_names: Vec::new(),
                documents: Vec::new(),
                idna: Default::default(),
                problems: Vec::new(),
                root: 0,
                dialect: options.dialect,
                duplicate_keys: options.duplicate_keys,
                max_depth: options.max_depth,
                max_errors: options.max_errors,
                max_steps: options.max_steps,
            },
            formats: options.formats,
            compiled: 0,
            node_at: Vec::new(),
            max_nodes,
            applied: Vec::new(),
            filling: Vec::new(),
            spare: Vec::new(),
            switch_budget: super::switch::BUDGET,
            patterns_spent: Spent::default(),
        }
    }

    pub(super) fn add_document(&mut self, document: Document) -> u32 {
        // As many subschemas and keywords as are usual in a text of that size.
        let usual = (document.tape.len() / 8).min(MAX_RESERVED);
        self.program.nodes.reserve(usual);
        self.program.ops.reserve(2 * usual);
        self.node_at.push(vec![NOWHERE; document.tape.len()]);
        self.program.documents.push(Rc::new(document));
        self.program.documents.len() as u32 - 1
    }

    pub(super) fn document(&self, index: u32) -> Option<Rc<Document>> {
        self.program.documents.get(index as usize).cloned()
    }

    /// The node at a place, if it has one.
    pub(super) fn node_at(&self, document: u32, position: u32) -> Option<NodeId> {
        let id = *self.node_at.get(document as usize)?.get(position as usize)?;
        (id != NOWHERE).then_some(id)
    }

    /// The node of a place, made and queued if there is none yet.
    ///
    /// # Errors
    /// `limit` if there are too many.
    pub(super) fn add_node(&mut self, node: Node) -> Result<NodeId, SchemaError> {
        if let Some(id) = self.node_at(node.document, node.position) {
            return Ok(id);
        }
        if self.program.nodes.len() >= self.max_nodes {
            return Err(SchemaError::new("limit", self.pointer(node.document, node.position)));
        }
        let id = self.program.nodes.len() as NodeId;
        self.program.nodes.push(Node { forward: id, ..node });
        let places = self.node_at.get_mut(node.document as usize);
        if let Some(place) = places.and_then(|places| places.get_mut(node.position as usize)) {
            *place = id;
        }
        Ok(id)
    }

    /// True if nodes are queued.
    pub(super) fn has_work(&self) -> bool {
        (self.compiled as usize) < self.program.nodes.len()
    }

    /// The next queued node, in the order in which they were made.
    pub(super) fn next_node(&mut self) -> Option<NodeId> {
        let next = self.compiled;
        self.has_work().then(|| {
            self.compiled += 1;
            next
        })
    }

    /// Notes that the keyword a node stands in applies it.
    pub(super) fn note_applied(&mut self, id: NodeId) {
        let index = id as usize;
        if index >= self.applied.len() {
            self.applied.resize(index + 1, false);
        }
        if let Some(applied) = self.applied.get_mut(index) {
            *applied = true;
        }
    }

    pub(super) fn is_applied(&self, id: NodeId) -> bool {
        self.applied.get(id as usize) == Some(&true)
    }

    /// True if the target of some reference depends on the resources entered before.
    pub(super) fn is_dynamic(&self) -> bool {
        !self.program.dynamic_names.is_empty()
    }

    pub(super) fn node(&self, id: NodeId) -> Node {
        self.program.node(id)
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.program.nodes.get_mut(id as usize)
    }

    /// The pointer to a place of a document.
    pub(super) fn pointer(&self, document: u32, position: u32) -> String {
        let document = self.program.documents.get(document as usize);
        document.map_or(String::new(), |document| pointer::locate(document.value(0), position))
    }

    /// Gives a node its types and its instructions, one for each keyword.
    pub(super) fn finish_node(&mut self, id: NodeId, kinds: u8, ops: &[Op]) {
        let start = self.program.ops.len() as u32;
        self.program.ops.extend_from_slice(ops);
        let end = self.program.ops.len() as u32;
        if let Some(node) = self.node_mut(id) {
            node.kinds = kinds;
            node.full = Span { start, end };
            node.fast = node.full;
        }
    }

    pub(super) fn list(&mut self, nodes: &[NodeId]) -> Span {
        let start = self.program.lists.len() as u32;
        self.program.lists.extend_from_slice(nodes);
        Span { start, end: self.program.lists.len() as u32 }
    }

    pub(super) fn types(&mut self, types: TypeSet) -> Op {
        Op::Type(push(&mut self.program.types, types))
    }

    /// The one type of a name; schemas name few types many times.
    pub(super) fn one_type(&mut self, name: &'static str, kinds: u8) -> Op {
        let mut known = self.program.types.iter().take(MAX_SHARED);
        match known.position(|set| set.kinds == kinds && *set.names == [name]) {
            Some(index) => Op::Type(index as u32),
            None => self.types(TypeSet { names: vec![name], kinds }),
        }
    }

    /// `enum` (a list of members) or `const` (the member itself), and the types it allows.
    pub(super) fn enumeration(
        &mut self,
        keyword: &'static str,
        index: u32,
        value: Value<'_>,
        numbers: Numbers,
    ) -> (Op, u8) {
        let mut set = EnumSet {
            keyword,
            place: Place { document: index, position: value.position() },
            kinds: 0,
            numbers,
            document: index,
            strings: NameTable::default(),
            few: Vec::new(),
            hashes: Vec::new(),
        };
        // The words of the members: of a constant, those of the value itself.
        let (next, end) = match keyword {
            "enum" => (value.position() + 1, value.next_position().saturating_sub(1)),
            _ => (value.position(), value.next_position()),
        };
        let (mut members, mut others, mut at) = (0, 0, next);
        while let Some(member) = (at < end).then(|| value.sibling(at)) {
            at = member.next_position();
            members += 1;
            set.kinds |= match member.number() {
                Some(_) if numbers == Numbers::Doubles => kinds::NUMBER,
                Some(text) if number::is_integer(text.as_bytes()) => kinds::INTEGER | kinds::WHOLE,
                Some(_) => kinds::FRACTION,
                None => kinds_of_tag(member.tag()),
            };
            others += usize::from(!member.is_string());
        }
        let allowed = set.kinds;
        let hashed = allowed & (kinds::ARRAY | kinds::OBJECT) != 0 || others > FEW;
        let id = push(&mut self.program.enums, set);
        let mut filling = Filling { id, next, end, hashed };
        if members > FILLED_AT_ONCE || !self.fill(&mut filling) {
            self.filling.push(filling);
        }
        (Op::Enum(id), allowed)
    }

    /// Goes on with the enumerations that are large; false if there is nothing left to do.
    pub(super) fn fill_next(&mut self) -> bool {
        let Some(mut filling) = self.filling.pop() else { return false };
        if !self.fill(&mut filling) {
            self.filling.push(filling);
        }
        true
    }

    /// Notes some more members of an enumeration; true if there are no more.
    fn fill(&mut self, filling: &mut Filling) -> bool {
        let Some(set) = self.program.enums.get_mut(filling.id as usize) else { return true };
        let Some(document) = self.program.documents.get(set.document as usize) else { return true };
        for _ in 0..FILLED_AT_ONCE {
            if filling.next >= filling.end {
                break;
            }
            let member = document.value(filling.next);
            filling.next = member.next_position();
            if let Some(text) = member.text() {
                set.strings.insert(&text.to_wtf8());
            } else if filling.hashed {
                let (numbers, position) = (set.numbers, member.position());
                let hash = json::hash(&document.bytes, &document.tape, position, numbers, 0);
                set.hashes.push((hash, position));
            } else {
                set.few.push(member.position());
            }
        }
        let is_full = filling.next >= filling.end;
        if is_full {
            crate::sorted::sort(&mut set.hashes);
        }
        is_full
    }

    pub(super) fn bound(&mut self, document: u32, value: Value<'_>) -> u32 {
        let text = value.number().unwrap_or("0").as_bytes();
        let place = Place { document, position: value.position() };
        push(
            &mut self.program.bounds,
            Bound { place, text: text.into(), small: number::small(text) },
        )
    }

    pub(super) fn divisor(&mut self, op: DivisorOp) -> Op {
        Op::MultipleOf(push(&mut self.program.divisors, op))
    }

    pub(super) fn pattern(&mut self, op: PatternOp) -> u32 {
        push(&mut self.program.patterns, op)
    }

    pub(super) fn object(&mut self, op: ObjectOp) -> Op {
        Op::Object(push(&mut self.program.objects, op))
    }

    pub(super) fn items(&mut self, op: ItemsOp) -> Op {
        Op::Items(push(&mut self.program.items, op))
    }

    pub(super) fn contains(&mut self, op: ContainsOp) -> Op {
        Op::Contains(push(&mut self.program.contains, op))
    }

    pub(super) fn conditional(&mut self, op: IfOp) -> Op {
        Op::If(push(&mut self.program.ifs, op))
    }

    pub(super) fn switch(&mut self, op: SwitchOp) -> Op {
        Op::Switch(push(&mut self.program.switches, op))
    }

    pub(super) fn dependencies(&mut self, op: DependenciesOp) -> Op {
        Op::Dependencies(push(&mut self.program.dependencies, op))
    }

    pub(super) fn dynamic_reference(&mut self, op: DynamicOp) -> Op {
        Op::DynamicReference(push(&mut self.program.dynamics, op))
    }
}

fn push<T>(table: &mut Vec<T>, entry: T) -> u32 {
    table.push(entry);
    table.len() as u32 - 1
}
