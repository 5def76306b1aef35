//! The outbound queue (rows R56, R63 and R64): frames in order, a bound on those not yet taken, and
//! behind it those that wait for room.
//!
//! Invariant: `waiting` is empty unless `queue` is full, and tickets rise in both, so frames leave
//! in the order they were offered.

use crate::sorted::Sorted;

use super::event::Handle;

/// A frame's place in the queue, for taking it back.
pub(super) type Ticket = u64;

/// Whose frame it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// A request of ours, by its id.
    Request(u32),
    /// A notification of the host's.
    Notice(Handle),
    /// An answer to the server.
    Answer,
    /// `notifications/initialized`.
    Initialized,
    /// `notifications/cancelled`.
    Cancellation,
}

/// What an offer meets with when the queue is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WhenFull {
    /// It is refused.
    Refuse,
    /// It waits for room.
    Wait,
    /// It goes in all the same: the session's own frames, of which there are few.
    Exceed,
}

/// What became of an offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Offered {
    /// It is in the queue.
    Queued(Ticket),
    /// It waits for room.
    Waits(Ticket),
    /// It was refused.
    Refused,
}

struct Entry<O> {
    frame: Vec<u8>,
    owner: O,
}

/// The queue. `O` says whose a frame is: each kind of session has its own.
pub(super) struct Outbound<O = Owner> {
    queue: Sorted<Ticket, Entry<O>>,
    waiting: Sorted<Ticket, Entry<O>>,
    capacity: usize,
    next: Ticket,
}

impl<O: Copy> Outbound<O> {
    pub(super) fn new(capacity: usize) -> Self {
        Outbound { queue: Sorted::new(), waiting: Sorted::new(), capacity, next: 0 }
    }

    /// Puts a frame at the end.
    pub(super) fn offer(&mut self, frame: Vec<u8>, owner: O, when_full: WhenFull) -> Offered {
        let full = self.queue.len() >= self.capacity;
        if full && when_full == WhenFull::Refuse {
            return Offered::Refused;
        }
        let ticket = self.next;
        self.next += 1;
        let entry = Entry { frame, owner };
        if full && when_full == WhenFull::Wait {
            self.waiting.insert(ticket, entry);
            Offered::Waits(ticket)
        } else {
            self.queue.insert(ticket, entry);
            Offered::Queued(ticket)
        }
    }

    /// True if a frame is to be taken.
    pub(super) fn has_frame(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes the first frame.
    pub(super) fn take(&mut self) -> Option<(Vec<u8>, O)> {
        let (_, entry) = self.queue.pop_first()?;
        Some((entry.frame, entry.owner))
    }

    /// Takes a frame back, wherever it waits.
    pub(super) fn withdraw(&mut self, ticket: Ticket) {
        if self.queue.remove(&ticket).is_none() {
            self.waiting.remove(&ticket);
        }
    }

    /// Moves the first waiting frame into the queue if there is room, and says whose it is.
    pub(super) fn promote(&mut self) -> Option<O> {
        self.promote_ticket().map(|(_, owner)| owner)
    }

    /// As [`Outbound::promote`], with the frame's place.
    pub(super) fn promote_ticket(&mut self) -> Option<(Ticket, O)> {
        if self.queue.len() >= self.capacity {
            return None;
        }
        let (ticket, entry) = self.waiting.pop_first()?;
        let owner = entry.owner;
        self.queue.insert(ticket, entry);
        Some((ticket, owner))
    }

    /// True if no frame is left.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.waiting.is_empty()
    }

    /// True if an offer would have to wait.
    pub(super) fn is_full(&self) -> bool {
        self.queue.len() >= self.capacity
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn offer(outbound: &mut Outbound, name: u8, when_full: WhenFull) -> Offered {
        outbound.offer(vec![name], Owner::Answer, when_full)
    }

    #[test]
    fn frames_leave_in_order_and_wait_for_room() {
        let mut outbound = Outbound::new(1);
        assert_eq!(offer(&mut outbound, 1, WhenFull::Wait), Offered::Queued(0));
        assert_eq!(offer(&mut outbound, 2, WhenFull::Wait), Offered::Waits(1));
        assert_eq!(offer(&mut outbound, 3, WhenFull::Wait), Offered::Waits(2));
        assert_eq!(offer(&mut outbound, 4, WhenFull::Refuse), Offered::Refused);
        assert_eq!(outbound.promote(), None);
        assert_eq!(outbound.take().unwrap().0, [1]);
        assert_eq!(outbound.promote(), Some(Owner::Answer));
        assert_eq!(outbound.promote(), None);
        outbound.withdraw(1);
        assert_eq!(outbound.promote(), Some(Owner::Answer));
        assert_eq!(outbound.take().unwrap().0, [3]);
        assert!(outbound.take().is_none());
    }

    #[test]
    fn the_sessions_own_frames_exceed_the_bound() {
        let mut outbound = Outbound::new(1);
        offer(&mut outbound, 1, WhenFull::Exceed);
        assert_eq!(offer(&mut outbound, 2, WhenFull::Exceed), Offered::Queued(1));
        assert_eq!(outbound.take().unwrap().0, [1]);
        assert_eq!(outbound.take().unwrap().0, [2]);
    }
}
