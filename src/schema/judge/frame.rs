//! The judge's stack: one frame for each subschema under way on one value.

use crate::schema::program::{NodeId, Span};

/// How a frame's schema was reached from that of the frame below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Via {
    /// It stands inside.
    Inside,
    /// By `$ref`.
    Reference,
    /// By `$dynamicRef`.
    DynamicReference,
    /// By `$recursiveRef`.
    RecursiveReference,
}

/// What a subschema came to on a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    Valid,
    Invalid,
    Unknown,
}

/// What an instruction wants next.
pub(super) enum Step {
    /// It holds.
    Next,
    /// It does not hold.
    Fail,
    /// It cannot be said.
    Doubt,
    /// A frame was pushed; its answer comes back to this instruction.
    Await,
    /// The meter asked for a pause.
    Pause,
}

impl Step {
    /// The end of an instruction over many children.
    pub(super) fn of(failed: bool, doubt: bool) -> Step {
        match (failed, doubt) {
            (true, _) => Step::Fail,
            (_, true) => Step::Doubt,
            _ => Step::Next,
        }
    }
}

/// A subschema under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) node: NodeId,
    /// Position of the value.
    pub(super) at: u32,
    /// The next instruction, and where they end.
    pub(super) pc: u32,
    pub(super) pc_end: u32,
    pub(super) via: Via,
    /// The value is that of the frame below.
    pub(super) in_place: bool,
    /// Nothing is explained here or above.
    pub(super) quiet: bool,
    /// Evaluated members or elements are written to the journal.
    pub(super) tracks: bool,
    /// Some instruction failed (only met when explaining).
    pub(super) failed: bool,
    /// Some instruction could not be decided.
    pub(super) doubt: bool,
    /// The dynamic scope it is judged in; see [`super::scope`].
    pub(super) scope: u32,
    /// Length of the journal when the frame was pushed.
    pub(super) journal: u32,
    /// The state of the instruction under way.
    pub(super) op: OpState,
}

/// The state of the instruction under way; what the numbers mean is the instruction's business.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct OpState {
    pub(super) started: bool,
    /// The child under way failed and is being explained.
    pub(super) explaining: bool,
    pub(super) failed: bool,
    pub(super) flag: bool,
    /// A word position: the member or element under way.
    pub(super) child: u32,
    /// Ordinal of the member, element or branch under way.
    pub(super) index: u32,
    pub(super) valid: u32,
    pub(super) doubtful: u32,
    pub(super) stage: u32,
    pub(super) guess: u32,
    /// Start of this instruction's scratch space.
    pub(super) base: u32,
    pub(super) seen: u64,
}

impl Frame {
    pub(super) fn new(id: NodeId, ops: Span, tracks: bool, at: u32, explain: bool) -> Self {
        Frame {
            node: id,
            at,
            pc: ops.start,
            pc_end: ops.end,
            via: Via::Inside,
            in_place: false,
            quiet: !explain,
            tracks,
            failed: false,
            doubt: false,
            scope: 0,
            journal: 0,
            op: OpState::default(),
        }
    }
}
