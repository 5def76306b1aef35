//! Small values of few levels, judged without frames: most records are valid, and have no more than
//! members with types and short lists.
//!
//! Invariant: says `valid` only where frames would, counts the same steps, and else leaves no trace,
//! so that frames do it again from the start: only they can pause, doubt and explain. The depth of
//! calls is bounded by [`LEVELS`], which is the compiler's number and not the peer's.

use crate::json::{Tag, Word};
use crate::schema::member::LEVELS;
use crate::schema::program::{Fast, Leaf, Op, kinds_of_word};

use super::common::find;
use super::frame::Answer;
use super::{A_FRAME, Context, Judge, MAX_FRAMES};

/// Words of a value that is tried: one that takes longer must be able to pause.
const MAX_WORDS: u32 = 1 << 10;

impl Judge {
    /// True if the value is valid by a node that is [`Leaf::Flat`]. False says nothing.
    #[inline(never)]
    pub(super) fn is_flatly_valid(
        &mut self,
        cx: Context<'_>,
        fast: &Fast,
        word: Word,
        at: u32,
    ) -> bool {
        if word.span() > MAX_WORDS || self.frames.len() + LEVELS as usize >= MAX_FRAMES {
            return false;
        }
        let before = self.meter.used;
        // Frames that end by the count of a pause have not paused.
        if self.flat(cx, fast, word, at) && self.meter.used <= self.meter.stop {
            return true;
        }
        self.meter.used = before;
        false
    }

    /// The same, with the steps that were counted.
    fn flat(&mut self, cx: Context<'_>, fast: &Fast, word: Word, at: u32) -> bool {
        self.meter.count(A_FRAME);
        let ops = cx.program.ops.get(fast.ops.start as usize..fast.ops.end as usize);
        ops.unwrap_or(&[]).iter().all(|&op| match op {
            Op::Object(index) => self.flat_members(cx, index, word, at),
            Op::Items(index) => self.flat_elements(cx, index, word, at),
            _ => {
                self.meter.count(1);
                self.scalar(cx, op, at) == Answer::Valid
            }
        })
    }

    fn flat_members(&mut self, cx: Context<'_>, index: u32, open: Word, at: u32) -> bool {
        if open.tag_bits() != Tag::ObjectOpen as usize {
            return true;
        }
        let end = (at + open.payload()) as usize;
        let (Some(words), Some(Some(common))) =
            (cx.tape.words.get(..end), cx.program.common_objects.get(index as usize))
        else {
            return false;
        };
        let span = common.span.start as usize..common.span.end as usize;
        let declared = cx.program.members.get(span).unwrap_or(&[]);
        let (mut key, mut guess, mut seen) = (at as usize + 1, 0, 0_u64);
        let mut steps = 1;
        while let Some(&[name, value]) = words.get(key..).and_then(|rest| rest.first_chunk()) {
            steps += 1;
            let fast = match find(cx, index, declared, name, key, guess) {
                Some((slot, fast)) => {
                    guess = slot + 1;
                    let bit = 1 << (slot & 63);
                    if seen & bit != 0 {
                        return false;
                    }
                    seen |= bit;
                    fast
                }
                None => &common.others,
            };
            if !self.is_plainly_valid(cx, fast, value, key as u32 + 1) {
                return false;
            }
            key += 1 + value.span() as usize;
        }
        self.meter.count(steps);
        seen & common.required == common.required
    }

    fn flat_elements(&mut self, cx: Context<'_>, index: u32, open: Word, at: u32) -> bool {
        if open.tag_bits() != Tag::ArrayOpen as usize {
            return true;
        }
        let end = (at + open.payload()) as usize;
        let (Some(words), Some(op)) =
            (cx.tape.words.get(..end), cx.program.items.get(index as usize))
        else {
            return false;
        };
        let fast = cx.program.fast(op.rest);
        let mut at = at as usize + 1;
        let mut steps = 1;
        while let Some(&value) = words.get(at) {
            steps += 1;
            if !self.is_plainly_valid(cx, &fast, value, at as u32) {
                return false;
            }
            at += value.span() as usize;
        }
        self.meter.count(steps);
        true
    }

    #[inline(always)]
    fn is_plainly_valid(&mut self, cx: Context<'_>, fast: &Fast, word: Word, at: u32) -> bool {
        let possible = kinds_of_word(word);
        if fast.kinds & possible != possible && !self.accepts_kinds(cx, fast.kinds, at) {
            return false;
        }
        match fast.leaf {
            Leaf::Kinds => true,
            Leaf::Always => self.leaf(cx, fast.ops, at) == Answer::Valid,
            Leaf::Short if !cx.is_long_string(at) => self.leaf(cx, fast.ops, at) == Answer::Valid,
            Leaf::Flat => self.flat(cx, fast, word, at),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;
    use crate::json::{Limits, read};
    use crate::schema::{CompileOptions, Verdict, compile};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    const SCHEMA: &str = r#"{
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 0},
            "name": {"type": ["string", "null"], "pattern": "^[a-z]+$"},
            "kind": {"enum": ["a", "bc", "open state"]},
            "tags": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "home": {
                "type": "object",
                "properties": {"street": {"type": "string", "maxLength": 9}, "number": {}},
                "required": ["street"],
                "additionalProperties": {"type": "boolean"}
            }
        },
        "required": ["id"]
    }"#;

    /// Verdict and steps, in slices of so many.
    fn judged(text: &str, slice: u64) -> (Verdict, usize, u64) {
        let program = compile(SCHEMA.as_bytes(), &CompileOptions::default()).ok().unwrap();
        let whole = format!("[{text}]");
        let tape = read(whole.as_bytes(), Limits::depth(64)).unwrap();
        let mut judge = Judge::new(&program, 1);
        loop {
            let mut steps = slice;
            let done = judge.step(&program, whole.as_bytes(), &tape, &mut steps);
            if let Poll::Ready(outcome) = done {
                return (outcome.verdict, outcome.violations.len(), judge.meter.used);
            }
        }
    }

    #[test]
    fn nodes_of_few_levels_need_no_frame() {
        let program = compile(SCHEMA.as_bytes(), &CompileOptions::default()).ok().unwrap();
        let leaf = |text: &str| {
            let slot = program.objects.iter().find_map(|op| {
                let at =
                    (0..).zip(&op.nodes).find(|(slot, _)| op.names.name(*slot) == text.as_bytes());
                at.map(|(_, &node)| node)
            });
            program.fast(slot.unwrap()).leaf
        };
        assert_eq!(program.fast(program.root).leaf, Leaf::Flat);
        assert_eq!(leaf("tags"), Leaf::Flat);
        assert_eq!(leaf("home"), Leaf::Flat);
        assert_eq!(leaf("number"), Leaf::Kinds);
        assert_eq!(leaf("id"), Leaf::Always);
        assert_eq!(leaf("name"), Leaf::Short);
    }

    #[test]
    fn steps_and_verdicts_are_those_of_frames() {
        let long = "x".repeat(20_000);
        for (text, valid) in [
            (
                r#"{"id":1,"name":"ab","kind":"bc","tags":["x","y"],"home":{"street":"s","more":true}}"#,
                true,
            ),
            (r#"{"home":{"number":[{}],"street":"s"},"kind":"open state","id":0}"#, true),
            (r#"{"name":null,"id":3,"other":[1,2],"\u0069d":4}"#, true),
            (r#"{"id":-1,"home":{"street":1},"home":{"street":"s"},"id":2}"#, true),
            (&format!(r#"{{"id":1,"name":"{long}","home":{{"street":"s"}}}}"#), true),
            (r#"{"id":1,"tags":[]}"#, false),
            (r#"{"id":1,"tags":["x",1]}"#, false),
            (r#"{"id":1,"kind":"b"}"#, false),
            (r#"{"id":1,"home":{}}"#, false),
            (r#"{"id":1,"home":{"street":"s","more":1}}"#, false),
            (r#"{"name":"ab"}"#, false),
            (r#"{"id":0.5}"#, false),
        ] {
            let whole = judged(text, u64::MAX);
            assert_eq!(whole.0 == Verdict::Valid, valid, "{text}");
            for slice in [1, 2, 3, 7, 40] {
                assert_eq!(judged(text, slice), whole, "{text} {slice}");
            }
        }
    }
}
