//! The pointers of violations, found without walking the same way twice.
//!
//! Violations come mostly in the order of the value, so the way to the last one is kept and the
//! next is looked for from there. What is walked is metered.

use crate::json::{Meter, Tag, pointer};
use crate::schema::program::NodeId;
use crate::table::Table;

use super::{Context, Judge};

/// A container on the way to a value.
#[derive(Clone, Copy)]
struct Level {
    container: u32,
    /// Position of the member's name or of the element, and its ordinal.
    child: u32,
    index: u32,
}

/// The way to the violation last located.
#[derive(Default)]
pub(super) struct Locator {
    levels: Vec<Level>,
    /// From a subschema to one inside.
    within_schema: Table<(NodeId, NodeId), String>,
}

impl Judge {
    /// The pointer from the value judged to the one at a position inside. The position of a
    /// member's name gives the pointer of its object.
    pub(super) fn instance_path(&mut self, cx: Context<'_>, at: u32) -> String {
        let mut path = String::new();
        let locator = self.locator.get_or_insert_default();
        locator.walk(cx, self.position, at, &mut self.meter);
        for level in &locator.levels {
            match cx.word(level.container).tag() {
                Tag::ObjectOpen => {
                    let name = cx.value(level.child).text();
                    pointer::push(&mut path, &name.map(|name| name.to_str()).unwrap_or_default());
                }
                _ => pointer::push(&mut path, &level.index.to_string()),
            }
        }
        self.meter.count_bytes(path.len());
        path
    }

    /// The pointer from a subschema to one that stands inside.
    pub(super) fn within_schema(&mut self, cx: Context<'_>, outer: NodeId, inner: NodeId) -> &str {
        let meter = &mut self.meter;
        let locator = self.locator.get_or_insert_default();
        let key = (outer, inner);
        if locator.within_schema.get(&key).is_none() {
            let (outer, inner) = (cx.program.node(outer), cx.program.node(inner));
            let document = cx.program.documents.get(inner.document as usize);
            // Whatever stands between them is walked at most once.
            meter.count(u64::from(inner.position.saturating_sub(outer.position)) / 4);
            let path = document
                .map(|document| pointer::locate(document.value(outer.position), inner.position));
            locator.within_schema.insert(key, path.unwrap_or_default());
        }
        locator.within_schema.get(&key).map_or("", String::as_str)
    }
}

impl Locator {
    /// Goes from where it is to a position inside the value at `root`.
    fn walk(&mut self, cx: Context<'_>, root: u32, at: u32, meter: &mut Meter) {
        let mut container = root;
        let mut from = (container + 1, 0);
        while let Some(level) = self.levels.last() {
            let value = value_of(cx, level);
            let after = cx.after(value);
            if (value..after).contains(&at) {
                container = value;
                from = (value + 1, 0);
                break;
            }
            let Level { container: outer, index, .. } = *level;
            self.levels.pop();
            if (outer..cx.after(outer)).contains(&at) {
                container = outer;
                from = if at >= after { (after, index + 1) } else { (outer + 1, 0) };
                break;
            }
        }
        while container != at {
            let tag = cx.word(container).tag();
            if tag != Tag::ObjectOpen && tag != Tag::ArrayOpen {
                return;
            }
            let end = cx.after(container) - 1;
            let (mut child, mut index) = from;
            let found = loop {
                if child >= end {
                    return;
                }
                meter.count(1);
                let level = Level { container, child, index };
                let value = value_of(cx, &level);
                if at < value {
                    return;
                }
                let after = cx.after(value);
                if at < after {
                    break level;
                }
                (child, index) = (after, index + 1);
            };
            container = value_of(cx, &found);
            from = (container + 1, 0);
            self.levels.push(found);
        }
    }
}

/// The position of the value of a member or of an element.
fn value_of(cx: Context<'_>, level: &Level) -> u32 {
    level.child + (cx.word(level.container).tag() == Tag::ObjectOpen) as u32
}
