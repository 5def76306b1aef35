//! Choices between values: the variant of a union that fits best, the elements of a set.

use crate::error::Error;
use crate::json::{Kind as JsonKind, Numbers, equal, number};
use crate::table::{Set, Table};

use super::ChangeKind;
use super::machine::Caster;
use super::types::{Kind, TypeId};
use super::write::{At, Part, PartId, Parts, members_of};

impl Caster<'_> {
    /// Drops elements that repeat a scalar; containers are never the same, as in a `Set`.
    pub(super) fn unique(
        &mut self,
        node: TypeId,
        elements: Vec<PartId>,
        quiet: bool,
    ) -> Result<Option<PartId>, Error> {
        let mut seen: Set<Vec<u8>> = Set::new();
        let mut kept = Vec::new();
        for (index, part) in elements.into_iter().enumerate() {
            self.count(1)?;
            if scalar_key(&self.parts, part).is_some_and(|key| !seen.insert(key)) {
                self.tell_at(&index.to_string(), ChangeKind::Removed, quiet)?;
            } else {
                kept.push(part);
            }
        }
        let part = self.parts.add(Part::Array(kept));
        let at = self.parts.intern(part)?;
        if self.has(node, Some(at))? {
            return Ok(Some(part));
        }
        let found = self.get(node)?;
        Err(self.impossible(found))
    }

    /// The variant that fits best: the first of those with the highest score.
    pub(super) fn select(
        &mut self,
        variants: &[TypeId],
        item: Option<At>,
    ) -> Result<TypeId, Error> {
        let mut selected = *variants.first().unwrap_or(&0);
        let mut best = 0;
        let given = item.and_then(|at| self.parts.value(at)).map(members_of).unwrap_or_default();
        let given: Table<Vec<u8>, u32> =
            given.into_iter().map(|(key, _, position)| (key, position)).collect();
        for &variant in variants {
            let score = self.score(variant, item, &given)?;
            if score > best {
                selected = variant;
                best = score;
            }
        }
        Ok(selected)
    }

    pub(super) fn score(
        &mut self,
        variant: TypeId,
        item: Option<At>,
        given: &Table<Vec<u8>, u32>,
    ) -> Result<u64, Error> {
        let is_container = item
            .and_then(|at| self.parts.value(at))
            .is_some_and(|at| at.is_object() || at.is_array());
        let mut best = 0;
        let mut open = vec![variant];
        let mut seen = Set::new();
        while let Some(node) = open.pop() {
            self.count(1)?;
            let node = self.types.resolved(node);
            if !seen.insert(node) {
                continue;
            }
            let score = match &self.get(node)?.kind {
                Kind::Union(variants) => {
                    open.extend(variants);
                    0
                }
                Kind::Object { members, .. } if is_container => {
                    let mut sum = 0;
                    for member in members {
                        let position = given.get(&member.key).copied();
                        let value = position.zip(item).map(|(position, at)| At { position, ..at });
                        sum += u64::from(self.is_literal(member.node, value)?) * 100
                            + u64::from(self.has(member.node, value)?) * 10
                            + u64::from(value.is_some());
                    }
                    sum
                }
                _ => u64::from(self.has(node, item)?),
            };
            best = best.max(score);
        }
        Ok(best)
    }

    /// True if the type is one constant and the value is it.
    pub(super) fn is_literal(&self, node: TypeId, item: Option<At>) -> Result<bool, Error> {
        let found = self.get(self.types.resolved(node))?;
        let place = match found.kind {
            Kind::Literal { first, only: true } => Some(first),
            _ => found.constant,
        };
        let constant = place.and_then(|place| self.source.value(place));
        let value = item.and_then(|at| self.parts.value(at));
        Ok(constant.zip(value).is_some_and(|(left, right)| equal(left, right, Numbers::Doubles)))
    }
}

/// A key that equal scalars share; none for a container.
fn scalar_key(parts: &Parts<'_>, id: PartId) -> Option<Vec<u8>> {
    let value = match parts.part(id) {
        Part::Text(text) => {
            let is_container = text.starts_with(['{', '[']);
            return (!is_container).then(|| key_of_text(text));
        }
        _ => parts.given(id)?,
    };
    match value.kind() {
        JsonKind::Object | JsonKind::Array => None,
        JsonKind::String => {
            let mut key = b"\"".to_vec();
            key.extend_from_slice(&value.text()?.to_wtf8());
            Some(key)
        }
        _ => Some(key_of_text(value.raw())),
    }
}

/// The key of a scalar's text: numbers by the double they are, strings without their last quote.
fn key_of_text(text: &str) -> Vec<u8> {
    if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return number::double(text).to_bits().to_be_bytes().to_vec();
    }
    text.strip_suffix('"').unwrap_or(text).as_bytes().to_vec()
}
