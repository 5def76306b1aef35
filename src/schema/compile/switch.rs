//! Branches that a member tells apart: `anyOf` and `oneOf` over objects with a kind in them.
//!
//! Finds the member for which most branches want certain strings. The objects' schemas are already
//! compiled, though not all of them linked, so only what stands in their own instructions counts.

use crate::schema::names::NameTable;
use crate::schema::program::{NO_NODE, NodeId, Op, Span, SwitchOp, kinds};
use crate::table::Table;

use super::build::Build;
use super::edges::ops;

/// How far references and `allOf` are followed within a branch.
const MAX_DEPTH: u32 = 4;

/// Schemas looked at within a branch.
const MAX_SCHEMAS: usize = 8;

/// Members of one schema looked at.
const MAX_MEMBERS: usize = 32;

/// Strings wanted of one member.
const MAX_STRINGS: usize = 16;

/// Members and strings looked at in one compilation.
pub(super) const BUDGET: usize = 100_000;

/// Entries in all lists of branches.
const MAX_ENTRIES: usize = 4_096;

/// The strings each branch wants of a member.
type Wants = Table<Vec<u8>, Vec<Vec<u8>>>;

/// The instruction for a list of branches, if some member tells most of them apart.
pub(super) fn make(build: &mut Build, all: Span, one: bool) -> Option<Op> {
    let branches = build.program.list(all).to_vec();
    if branches.len() < 3 {
        return None;
    }
    let mut found = Vec::with_capacity(branches.len());
    for &branch in &branches {
        if build.switch_budget == 0 {
            return None;
        }
        found.push(wants(build, branch));
    }
    let wants = found;
    let mut counts: Table<&[u8], usize> = Table::new();
    for (name, _) in wants.iter().flat_map(Table::iter) {
        match counts.get_mut(name.as_slice()) {
            Some(count) => *count += 1,
            None => drop(counts.insert(name, 1)),
        }
    }
    // The most telling member; of equals the first by name, so that the choice is one.
    let best = counts.iter().max_by_key(|(name, count)| (*count, std::cmp::Reverse(*name)));
    let (name, count) = best.map(|(name, count)| (name.to_vec(), *count))?;
    if count < 2 {
        return None;
    }
    let mut slots = NameTable::default();
    for wanted in wants.iter().filter_map(|wants| wants.get(&name)).flatten() {
        slots.insert(wanted);
    }
    let mut lists: Vec<Vec<NodeId>> = vec![Vec::new(); slots.len()];
    let mut others = Vec::new();
    let mut entries = 0;
    for (&branch, wants) in branches.iter().zip(&wants) {
        let Some(wanted) = wants.get(&name) else {
            others.push(branch);
            entries += lists.len();
            lists.iter_mut().for_each(|list| list.push(branch));
            continue;
        };
        entries += wanted.len();
        for text in wanted {
            let slot = slots.insert(text) as usize;
            if let Some(list) = lists.get_mut(slot) {
                list.push(branch);
            }
        }
        if entries > MAX_ENTRIES {
            return None;
        }
    }
    let op = SwitchOp {
        one,
        all,
        name: NameTable::new([&name]),
        strings: slots,
        branches: lists.iter().map(|list| build.list(list)).collect(),
        others: build.list(&others),
    };
    Some(build.switch(op))
}

/// For each member of which a branch wants certain strings: which.
fn wants(build: &mut Build, branch: NodeId) -> Wants {
    let mut found = Wants::new();
    let mut work = vec![(branch, 0)];
    let mut looked_at = 0;
    for _ in 0..MAX_SCHEMAS {
        let Some((id, depth)) = work.pop() else { break };
        for &op in ops(&build.program, build.node(id).full) {
            match op {
                Op::Object(index) => {
                    let Some(object) = build.program.objects.get(index as usize) else { continue };
                    for (slot, &node) in object.nodes.iter().enumerate().take(MAX_MEMBERS) {
                        looked_at += 1;
                        if let Some(strings) = strings(build, node) {
                            looked_at += strings.len();
                            let name = object.names.name(slot as u32).to_vec();
                            found.insert_new(name, strings);
                        }
                    }
                }
                Op::Reference(target) if depth < MAX_DEPTH => work.push((target, depth + 1)),
                Op::AllOf(span) if depth < MAX_DEPTH => {
                    let schemas = build.program.list(span).iter().take(MAX_SCHEMAS);
                    work.extend(schemas.map(|&id| (id, depth + 1)));
                }
                _ => {}
            }
        }
    }
    build.switch_budget = build.switch_budget.saturating_sub(looked_at + 1);
    found
}

/// The strings that a node's `const` or `enum` allows, if it allows nothing else.
fn strings(build: &Build, id: NodeId) -> Option<Vec<Vec<u8>>> {
    if id == NO_NODE {
        return None;
    }
    ops(&build.program, build.node(id).full).iter().find_map(|&op| {
        let Op::Enum(index) = op else { return None };
        let set = build.program.enums.get(index as usize)?;
        let fits = set.kinds == kinds::STRING && set.strings.len() <= MAX_STRINGS;
        fits.then(|| (0..set.strings.len() as u32).map(|s| set.strings.name(s).to_vec()).collect())
    })
}
