//! Deadlines, in the order they fall due.
//!
//! Invariant: a timer is set at most once; equal times fire in the order of [`Timer`].

use std::cmp::Ordering;

use crate::sorted::Sorted;

use super::event::Handle;

/// What a deadline is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Timer {
    /// A request of ours, by its id.
    Request(u32),
    /// A notification of the host's that waits for room.
    Notice(Handle),
    /// `notifications/initialized` waits for room.
    Initialized,
    /// An answer to the server waits for room.
    Answer,
    /// From `connect` to `ready`.
    Connect,
    /// The catalog is to be read anew.
    Refresh,
    /// The end of stderr is not waited for any longer.
    Drain,
    /// The probe was met with silence: `initialize` is tried beside it.
    Hedge,
    /// A round of a request waits for the host, or pauses.
    Round(Handle),
    /// The subscription is to be opened again.
    Listen,
}

/// Milliseconds, ordered.
#[derive(Clone, Copy, Debug)]
struct Time(f64);

impl PartialEq for Time {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The deadlines that are set.
#[derive(Default)]
pub(super) struct Timers {
    order: Sorted<(Time, Timer), ()>,
    times: Sorted<Timer, Time>,
}

impl Timers {
    /// Sets a timer, in place of an earlier time; infinity unsets it.
    pub(super) fn set(&mut self, timer: Timer, at: f64) {
        self.unset(timer);
        if at < f64::INFINITY {
            self.order.insert((Time(at), timer), ());
            self.times.insert(timer, Time(at));
        }
    }

    /// Unsets a timer.
    pub(super) fn unset(&mut self, timer: Timer) {
        if let Some(time) = self.times.remove(&timer) {
            self.order.remove(&(time, timer));
        }
    }

    /// When a timer falls due.
    pub(super) fn at(&self, timer: Timer) -> Option<f64> {
        self.times.get(&timer).map(|time| time.0)
    }

    /// When the first timer falls due.
    pub(super) fn first(&self) -> Option<f64> {
        self.order.first().map(|((time, _), ())| time.0)
    }

    /// Takes the first timer that is due.
    pub(super) fn due(&mut self, now: f64) -> Option<Timer> {
        let &((time, timer), ()) = self.order.first()?;
        if time.0 > now {
            return None;
        }
        self.unset(timer);
        Some(timer)
    }

    /// Unsets every timer.
    pub(super) fn clear(&mut self) {
        self.order.clear();
        self.times.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn timers_fall_due_in_order() {
        let mut timers = Timers::default();
        timers.set(Timer::Request(2), 5.0);
        timers.set(Timer::Request(1), 5.0);
        timers.set(Timer::Drain, 1.0);
        timers.set(Timer::Drain, 9.0);
        timers.set(Timer::Connect, f64::INFINITY);
        assert_eq!(timers.first(), Some(5.0));
        assert_eq!(timers.due(4.0), None);
        assert_eq!(timers.due(5.0), Some(Timer::Request(1)));
        assert_eq!(timers.due(5.0), Some(Timer::Request(2)));
        assert_eq!(timers.at(Timer::Drain), Some(9.0));
        timers.unset(Timer::Drain);
        assert_eq!(timers.first(), None);
    }
}
