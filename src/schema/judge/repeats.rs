//! `duplicateKeys: "reject"`: a value with a repeated name is invalid.

use crate::json::{self, Tag};

use super::{Context, Judge};

impl Judge {
    /// Looks for an object that repeats a name and notes it as the only violation. `None` if the
    /// meter asked for a pause; objects are examined one at a time.
    pub(super) fn find_repeats(&mut self, cx: Context<'_>) -> Option<bool> {
        let end = cx.after(self.position);
        while self.repeats_from < end {
            if self.meter.spent() {
                return None;
            }
            self.meter.count(1);
            let at = self.repeats_from.max(self.position);
            if cx.word(at).tag() == Tag::ObjectOpen && self.repeats_a_name(cx, at) {
                self.repeated_member = true;
                self.violate(cx, at, "duplicateKeys", |_| {});
                return Some(true);
            }
            self.repeats_from = at + 1;
        }
        Some(false)
    }

    fn repeats_a_name(&mut self, cx: Context<'_>, object: u32) -> bool {
        self.forget_items();
        let end = object + cx.word(object).payload();
        let mut key = object + 1;
        while key < end {
            self.meter.count(json::A_HASH);
            if let Some(name) = cx.value(key).text() {
                self.meter.count_bytes(name.raw_bytes().len());
                let hash = json::hash_string(name, 0);
                let same = |other: u32| cx.value(other).text().is_some_and(|o| o.eq_text(name));
                if self.note_item(hash, key, same).is_some() {
                    return true;
                }
            }
            key = cx.after(key + 1);
        }
        false
    }
}
