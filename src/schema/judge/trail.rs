//! Instance paths: the pointer to each value that is told, found from the one told before.
//!
//! Violations come mostly in the order of the value, so each walk goes on where the last one was:
//! all of them together cost about one walk over the value, not one each.

use crate::json::{Tag, pointer};

use super::{Context, Judge};

/// Where the last walk went down: a container, and the member's name or the element in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    container: u32,
    child: u32,
    ordinal: u32,
}

/// Members or elements passed for one step.
const A_STEP: u32 = 8;

impl Judge {
    /// The pointer from the root to a value; that to its object for a member's name.
    pub(super) fn locate(&mut self, cx: Context<'_>, target: u32) -> String {
        let mut path = String::new();
        let (mut at, mut level, mut passed) = (self.position, 0, 0);
        while at != target {
            let word = cx.word(at);
            let is_object = word.tag() == Tag::ObjectOpen;
            if !is_object && word.tag() != Tag::ArrayOpen {
                break;
            }
            let end = at + word.payload();
            let known = self.trail.get(level).filter(|turn| turn.container == at);
            let (mut child, mut ordinal) = match known {
                Some(turn) if turn.child <= target => (turn.child, turn.ordinal),
                _ => (at + 1, 0),
            };
            let mut next = cx.after(child + is_object as u32);
            while target >= next && next < end {
                child = next;
                ordinal += 1;
                passed += 1;
                next = cx.after(child + is_object as u32);
            }
            if target >= next || target < child + is_object as u32 {
                break;
            }
            self.trail.truncate(level);
            self.trail.push(Turn { container: at, child, ordinal });
            level += 1;
            match cx.value(child).text().filter(|_| is_object) {
                Some(name) => pointer::push(&mut path, &name.to_str()),
                None => pointer::push(&mut path, &ordinal.to_string()),
            }
            at = child + is_object as u32;
        }
        self.meter.count((passed / A_STEP) as u64);
        path
    }
}
