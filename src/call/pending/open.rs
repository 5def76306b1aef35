//! The requests that are open: found by id, by what they were made for, and by when they are due.
//!
//! Invariant: each open request stands in every order that it has a key for, under the key that it
//! has; whoever changes a key takes it out first and puts it in again.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Cause, End};
use crate::sorted::{Order, Slots};

/// How the items of a subscription flow.
pub(super) struct Flow {
    pub(super) waiting: u32,
    pub(super) wanted: u32,
    pub(super) high_water_mark: u32,
}

/// An open request.
pub(super) struct Entry {
    pub(super) id: Rc<str>,
    pub(super) end: End,
    pub(super) parent: Option<Rc<str>>,
    /// Infinity is none, as for `idle_timeout`.
    pub(super) deadline: f64,
    pub(super) idle_timeout: f64,
    pub(super) alive: f64,
    pub(super) flow: Option<Flow>,
}

impl Entry {
    pub(super) fn due(&self) -> f64 {
        self.deadline.min(self.alive + self.idle_timeout)
    }

    pub(super) fn cause(&self) -> Cause {
        if self.deadline <= self.alive + self.idle_timeout {
            Cause::Deadline(self.deadline)
        } else {
            Cause::Idle(self.idle_timeout)
        }
    }

    fn key(&self) -> (End, &str) {
        (self.end, &self.id)
    }

    fn by_parent(&self, parent: &str, key: (End, &str)) -> Ordering {
        self.parent.as_deref().cmp(&Some(parent)).then_with(|| self.key().cmp(&key))
    }

    fn by_due(&self, due: f64, key: (End, &str)) -> Ordering {
        self.due().total_cmp(&due).then_with(|| self.key().cmp(&key))
    }
}

/// The open requests of one side.
#[derive(Default)]
pub(super) struct Open {
    entries: Slots<Entry>,
    by_id: Order,
    by_parent: Order,
    by_due: Order,
    ours: usize,
    served: usize,
}

impl Open {
    #[inline(never)]
    fn find(&self, key: (End, &str)) -> Option<u32> {
        self.by_id.find(&|slot| self.against(slot, &|entry| entry.key().cmp(&key)))
    }

    fn against(&self, slot: u32, compare: &dyn Fn(&Entry) -> Ordering) -> Ordering {
        self.entries.get(slot).map_or(Ordering::Less, compare)
    }

    pub(super) fn get(&self, end: End, id: &str) -> Option<&Entry> {
        self.entries.get(self.find((end, id))?)
    }

    /// For changing what is no key.
    pub(super) fn get_mut(&mut self, end: End, id: &str) -> Option<&mut Entry> {
        let slot = self.find((end, id))?;
        self.entries.get_mut(slot)
    }

    /// How many are open on an end.
    pub(super) fn count(&self, end: End) -> usize {
        match end {
            End::Caller => self.ours,
            End::Handler => self.served,
        }
    }

    fn count_mut(&mut self, end: End) -> &mut usize {
        match end {
            End::Caller => &mut self.ours,
            End::Handler => &mut self.served,
        }
    }

    /// Opens a request whose id is not open on its end.
    pub(super) fn insert(&mut self, entry: Entry) {
        *self.count_mut(entry.end) += 1;
        let slot = self.entries.insert(entry);
        let Some(entry) = self.entries.get(slot) else { return };
        let (entries, key) = (&self.entries, entry.key());
        let against = |slot, compare: &dyn Fn(&Entry) -> Ordering| {
            entries.get(slot).map_or(Ordering::Less, compare)
        };
        self.by_id.insert(slot, &|other| against(other, &|other| other.key().cmp(&key)));
        if let Some(parent) = &entry.parent {
            self.by_parent
                .insert(slot, &|other| against(other, &|other| other.by_parent(parent, key)));
        }
        self.schedule(slot);
    }

    /// Puts a request where it is due, if it ever is.
    fn schedule(&mut self, slot: u32) {
        let entries = &self.entries;
        let Some(entry) = entries.get(slot) else { return };
        let (due, key) = (entry.due(), entry.key());
        if due < f64::INFINITY {
            self.by_due.insert(slot, &|other| {
                entries.get(other).map_or(Ordering::Less, |other| other.by_due(due, key))
            });
        }
    }

    /// Takes a request out of where it is due.
    fn unschedule(&mut self, slot: u32) {
        let entries = &self.entries;
        let Some(entry) = entries.get(slot) else { return };
        let (due, key) = (entry.due(), entry.key());
        self.by_due.remove(&|other| {
            entries.get(other).map_or(Ordering::Less, |other| other.by_due(due, key))
        });
    }

    pub(super) fn remove(&mut self, end: End, id: &str) -> Option<Entry> {
        let slot = self.find((end, id))?;
        self.unschedule(slot);
        let entries = &self.entries;
        let against = |slot, compare: &dyn Fn(&Entry) -> Ordering| {
            entries.get(slot).map_or(Ordering::Less, compare)
        };
        let key = (end, id);
        if let Some(parent) = entries.get(slot).and_then(|entry| entry.parent.as_deref()) {
            self.by_parent.remove(&|other| against(other, &|other| other.by_parent(parent, key)));
        }
        self.by_id.remove(&|other| against(other, &|other| other.key().cmp(&key)));
        *self.count_mut(end) -= 1;
        self.entries.remove(slot)
    }

    /// A sign of life restarts the idle timeout.
    pub(super) fn keep_alive(&mut self, end: End, id: &str, now: f64) {
        let Some(slot) = self.find((end, id)) else { return };
        if self.entries.get(slot).is_none_or(|entry| entry.idle_timeout == f64::INFINITY) {
            return;
        }
        self.unschedule(slot);
        if let Some(entry) = self.entries.get_mut(slot) {
            entry.alive = now;
        }
        self.schedule(slot);
    }

    /// The first of the requests that were made for one.
    pub(super) fn first_below(&self, parent: &str) -> Option<&Entry> {
        let first = (End::Caller, "");
        let slot = self
            .by_parent
            .from(&|slot| self.against(slot, &|entry| entry.by_parent(parent, first)))?;
        self.entries.get(slot).filter(|entry| entry.parent.as_deref() == Some(parent))
    }

    /// The first to be due.
    pub(super) fn first_due(&self) -> Option<&Entry> {
        self.entries.get(self.by_due.first()?)
    }

    /// True if nothing is open and nothing is left of what was.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let orders = [&self.by_id, &self.by_parent, &self.by_due];
        self.ours + self.served == 0 && orders.into_iter().all(|order| order.first().is_none())
    }
}
