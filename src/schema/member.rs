//! What the verdict needs of an object's declared members, side by side: one entry tells a name and
//! how to judge the value.
//!
//! Invariant: made of a linked program, and says what its [`ObjectOp`] and [`Fast`] entries say.

use super::names::{head, low_bytes, tail};
use super::program::{Fast, NO_NODE, ObjectOp, Program, Span};

/// Names that fit the bits of a frame.
pub(crate) const BITS: usize = 64;

/// A declared name and the schema of its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// See [`head`] and [`tail`].
    head: u64,
    tail: u64,
    /// The bytes of a name's first eight that belong to it.
    mask: u64,
    len: u32,
    pub(crate) fast: Fast,
}

impl Member {
    /// True if this is the name without escapes at a place of a text. `false` may also mean that
    /// it takes a closer look: the name is long, or the text ends soon after it.
    #[inline(always)]
    pub(crate) fn is_surely(&self, text: &[u8], start: usize, len: u32) -> bool {
        if self.len != len || len > 16 {
            return false;
        }
        let Some(first) = text.get(start..start + 8).and_then(|first| first.first_chunk::<8>())
        else {
            return false;
        };
        if u64::from_le_bytes(*first) & self.mask != self.head {
            return false;
        }
        len <= 8 || {
            let from = start + len as usize - 8;
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
                len: name.len() as u32,
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
