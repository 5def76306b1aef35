//! What the verdict needs of an object's declared members, side by side: one entry tells a name and
//! how to judge the value.
//!
//! Invariant: made of a linked program, and says what its [`ObjectOp`] and [`Fast`] entries say.

use crate::json::{Tag, Word};

use super::names::{head, low_bytes, tail};
use super::program::{Fast, ItemsOp, Leaf, NO_NODE, ObjectOp, Op, Program, Span};

/// Names that fit the bits of a frame.
pub(crate) const BITS: usize = 64;

/// Levels of members and elements that are judged without frames.
pub(crate) const LEVELS: u8 = 8;

/// A declared name and the schema of its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// See [`head`] and [`tail`].
    head: u64,
    tail: u64,
    /// The bytes of a name's first eight that belong to it.
    mask: u64,
    /// Tag and length as a name's word has them; [`LONG`] for a name of more than 16 bytes.
    key: u32,
    pub(crate) fast: Fast,
}

/// As no word has it: there is no such tag.
const LONG: u32 = u32::MAX;

impl Member {
    /// True if this is the name without escapes that a word of a text's tape is. `false` may also
    /// mean that it takes a closer look: the name is long, or the text ends soon after it.
    #[inline(always)]
    pub(crate) fn is_surely(&self, text: &[u8], name: Word) -> bool {
        if self.key != name.high() {
            return false;
        }
        let (start, len) = (name.offset() as usize, name.payload() as usize);
        let Some(first) = text.get(start..start + 8).and_then(|first| first.first_chunk::<8>())
        else {
            return false;
        };
        if u64::from_le_bytes(*first) & self.mask != self.head {
            return false;
        }
        len <= 8 || {
            let from = start + len - 8;
            let last = text.get(from..from + 8).and_then(|last| last.first_chunk::<8>());
            last.is_some_and(|last| u64::from_le_bytes(*last) == self.tail)
        }
    }
}

/// An [`ObjectOp`] without patterns, of at most [`BITS`] names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members {
    /// In [`Program::members`], by slot.
    pub(crate) span: Span,
    pub(crate) required: u64,
    /// For a member that is not declared.
    pub(crate) others: Fast,
}

/// Fills the tables of a program whose nodes are linked. An object with patterns or many names has
/// no entry.
pub(crate) fn lay_out(program: &mut Program) {
    flatten(program);
    let mut members = Vec::new();
    let entry = |op: &ObjectOp| {
        if !op.patterns.is_empty() || op.names.len() > BITS {
            return None;
        }
        let start = members.len() as u32;
        for (slot, &node) in (0..).zip(&op.nodes) {
            let name = op.names.name(slot);
            members.push(Member {
                head: head(name),
                tail: tail(name),
                mask: low_bytes(name.len()),
                key: match name.len() {
                    ..=16 => Word::new(Tag::Key, name.len() as u32, 0).high(),
                    _ => LONG,
                },
                fast: program.fast(if node == NO_NODE { op.additional } else { node }),
            });
        }
        let span = Span { start, end: members.len() as u32 };
        Some(Members { span, required: op.required_bits, others: program.fast(op.additional) })
    };
    let objects = program.objects.iter().map(entry).collect();
    program.common_objects = objects;
    program.members = members;
}

/// Finds the nodes that [`Leaf::Kinds`] and [`Leaf::Flat`] are for. Children mostly come after their
/// parents, so one pass from the end finds nearly all of them; the others have frames.
fn flatten(program: &mut Program) {
    let mut levels = vec![0; program.nodes.len()];
    for id in (0..program.fast.len()).rev() {
        let Some(&fast) = program.fast.get(id) else { continue };
        let leaf = match fast.leaf {
            Leaf::Always if fast.ops.start == fast.ops.end => Leaf::Kinds,
            Leaf::Never => match levels_below(program, &levels, &fast) {
                Some(below) if below < LEVELS => {
                    if let Some(level) = levels.get_mut(id) {
                        *level = below + 1;
                    }
                    Leaf::Flat
                }
                _ => continue,
            },
            _ => continue,
        };
        if let Some(fast) = program.fast.get_mut(id) {
            fast.leaf = leaf;
        }
    }
}

/// How many levels below a node need no frame; none if one does, or the node itself.
fn levels_below(program: &Program, levels: &[u8], fast: &Fast) -> Option<u8> {
    // Where references are told by what was entered before, entering counts.
    if fast.tracks || fast.shared || !program.dynamic_names.is_empty() {
        return None;
    }
    let level = |node: u32| match node {
        NO_NODE => Some(0),
        _ if program.fast(node).leaf == Leaf::Never => None,
        _ => levels.get(node as usize).copied(),
    };
    let mut most = 0;
    for op in program.ops.get(fast.ops.start as usize..fast.ops.end as usize)? {
        most = most.max(match *op {
            Op::Object(index) => {
                let ObjectOp { names, nodes, patterns, additional, .. } =
                    program.objects.get(index as usize)?;
                if !patterns.is_empty() || names.len() > BITS {
                    return None;
                }
                let nodes = nodes.iter().chain([additional]);
                nodes.copied().try_fold(0, |most, node| Some(level(node)?.max(most)))?
            }
            Op::Items(index) => match *program.items.get(index as usize)? {
                ItemsOp { prefix, rest, .. } if prefix.start == prefix.end && rest != NO_NODE => {
                    level(rest)?
                }
                _ => return None,
            },
            Op::MinItems(_) | Op::MaxItems(_) | Op::MinProperties(..=1) => 0,
            _ => return None,
        });
    }
    Some(most)
}
