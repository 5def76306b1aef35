//! The dynamic scope as one number: for each name that dynamic references go by, the outermost
//! resource entered so far that has the anchor.
//!
//! Frames of one number resolve every dynamic reference alike, so an answer may be remembered with
//! it. Numbers are given as scopes are met and mean the same for the whole judgement; 0 is the
//! scope outside of all resources. A program without such names has only that one.

use crate::schema::program::{DynamicOp, NodeId};
use crate::table::Table;

use super::{Context, Judge};

/// Names in all scopes of one judgement; with more nothing is said.
const MAX_NAMES: usize = 1 << 20;

/// No resource so far has the anchor.
const NONE: u32 = u32::MAX;

/// The scopes met so far.
#[derive(Default)]
pub(super) struct Scopes {
    count: u32,
    /// For each scope after the first, for each name the candidate chosen, or [`NONE`].
    choices: Vec<u32>,
    /// Where entering a resource leads from a scope.
    entered: Table<(u32, u32), u32>,
    /// The scopes by their choices.
    known: Table<Box<[u32]>, u32>,
}

impl Judge {
    /// The scope after entering a node's resource; `None`, with the reason noted, if there are too
    /// many.
    #[inline(never)]
    pub(super) fn scope_within(&mut self, cx: Context<'_>, id: NodeId) -> Option<u32> {
        let resource = cx.program.node(id).resource;
        let outer = match self.frames.last() {
            Some(frame) if cx.program.node(frame.node).resource == resource => {
                return Some(frame.scope);
            }
            Some(frame) => frame.scope,
            None => 0,
        };
        let scopes = self.scopes.get_or_insert_default();
        if let Some(&scope) = scopes.entered.get(&(outer, resource)) {
            return Some(scope);
        }
        let names = &cx.program.dynamic_names;
        self.meter.count(names.len() as u64);
        let mut choices = scopes.choices(outer, names.len());
        for (choice, candidates) in choices.iter_mut().zip(names) {
            if *choice == NONE
                && let Ok(found) = candidates.binary_search_by_key(&resource, |entry| entry.0)
            {
                *choice = found as u32;
            }
        }
        let scope = scopes.number(choices);
        match scope {
            Some(scope) => drop(scopes.entered.insert((outer, resource), scope)),
            None => drop(self.reason.get_or_insert("limit")),
        }
        scope
    }

    /// The target of a dynamic reference of the top frame.
    pub(super) fn dynamic_node(&self, cx: Context<'_>, op: &DynamicOp) -> NodeId {
        let scope = self.frames.last().map_or(0, |frame| frame.scope);
        let names = &cx.program.dynamic_names;
        let found = op.name.and_then(|name| {
            let candidates = names.get(name as usize)?;
            let choice = self.scopes.as_ref()?.choice(scope, name, names.len())?;
            Some(candidates.get(choice as usize)?.1)
        });
        found.unwrap_or(op.otherwise)
    }
}

impl Scopes {
    /// The choices of a scope.
    fn choices(&self, scope: u32, names: usize) -> Box<[u32]> {
        let start = (scope as usize).wrapping_sub(1).wrapping_mul(names);
        match self.choices.get(start..start.wrapping_add(names)) {
            Some(choices) if scope > 0 => choices.into(),
            _ => vec![NONE; names].into(),
        }
    }

    fn choice(&self, scope: u32, name: u32, names: usize) -> Option<u32> {
        let start = (scope as usize).checked_sub(1)? * names;
        self.choices.get(start + name as usize).copied()
    }

    /// The scope of such choices.
    fn number(&mut self, choices: Box<[u32]>) -> Option<u32> {
        if choices.iter().all(|&choice| choice == NONE) {
            return Some(0);
        }
        if let Some(&scope) = self.known.get(&choices) {
            return Some(scope);
        }
        if self.choices.len() + choices.len() > MAX_NAMES || self.entered.len() >= MAX_NAMES {
            return None;
        }
        self.count += 1;
        self.choices.extend_from_slice(&choices);
        self.known.insert(choices, self.count);
        Some(self.count)
    }
}
