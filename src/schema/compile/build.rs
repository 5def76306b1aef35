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
    /// What may still be spent on telling branches apart.
    pub(super) switch_budget: usize,
    /// What the patterns took so far.
    pub(super) patterns_spent: Spent,
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
            switch_budget: super::switch::BUDGET,
            patterns_spent: Spent::default(),
        }
    }

    pub(super) fn add_document(&mut self, document: Document) -> u32 {
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

    /// `enum` (a list of members) or `const` (the member itself), and the types it allows.
    pub(super) fn enumeration(
        &mut self,
        keyword: &'static str,
        index: u32,
        value: Value<'_>,
        numbers: Numbers,
    ) -> (Op, u8) {
        let one = (keyword != "enum").then_some(value);
        let all = one.is_none().then(|| value.elements());
        let mut strings = NameTable::default();
        let mut others = Vec::new();
        for member in one.into_iter().chain(all.into_iter().flatten()) {
            match member.text().map(|text| text.to_wtf8()) {
                None => others.push(member),
                Some(text) => {
                    strings.insert(&text);
                }
            }
        }
        let mut set = EnumSet {
            keyword,
            place: Place { document: index, position: value.position() },
            kinds: if strings.len() == 0 { 0 } else { kinds::STRING },
            numbers,
            document: index,
            strings,
            few: Vec::new(),
            hashes: Vec::new(),
        };
        for member in &others {
            set.kinds |= match member.number() {
                Some(_) if numbers == Numbers::Doubles => kinds::NUMBER,
                Some(text) if number::is_integer(text.as_bytes()) => kinds::INTEGER | kinds::WHOLE,
                Some(_) => kinds::FRACTION,
                None => kinds_of_tag(member.tag()),
            };
        }
        let containers = kinds::ARRAY | kinds::OBJECT;
        if set.kinds & containers == 0 && others.len() <= FEW {
            set.few = others.iter().map(|member| member.position()).collect();
        } else if let Some(document) = self.document(index) {
            let hash = |member: &Value<'_>| {
                let position = member.position();
                (json::hash(&document.bytes, &document.tape, position, numbers, 0), position)
            };
            set.hashes = others.iter().map(hash).collect();
            crate::sorted::sort(&mut set.hashes);
        }
        let kinds = set.kinds;
        (Op::Enum(push(&mut self.program.enums, set)), kinds)
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
