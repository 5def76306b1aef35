//! Judging a JSON text: reading and judging as one piece of sliced work.

use std::task::Poll;

use crate::json::{Fault, Limits, Progress, Reader, Tape};

use super::judge::Judge;
use super::outcome::{Outcome, Verdict, Violation};
use super::program::Program;

/// Bytes read in one step.
const BYTES_A_STEP: u64 = 16;

/// The judgement of a text under way. Owns the text.
pub struct TextJudge {
    bytes: Vec<u8>,
    stage: Stage,
}

enum Stage {
    Reading(Reader),
    Judging(Tape, Box<Judge>),
    Done,
}

impl TextJudge {
    /// Starts with a text.
    pub fn new(program: &Program, bytes: Vec<u8>) -> Self {
        let reader = Reader::new(Limits::depth(program.max_depth()));
        TextJudge { bytes, stage: Stage::Reading(reader) }
    }

    /// Goes on until done or until `steps` are spent, counting them down. Every step must be given
    /// the same program. A text that is no JSON is invalid by the keyword `json`.
    pub fn step(&mut self, program: &Program, steps: &mut u64) -> Poll<Outcome> {
        while *steps > 0 {
            match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Reading(mut reader) => {
                    let budget = steps.saturating_mul(BYTES_A_STEP).min(usize::MAX as u64);
                    let before = reader.position();
                    let progress = reader.run(&self.bytes, budget as usize);
                    let read = (reader.position() - before) as u64;
                    *steps = steps.saturating_sub(read / BYTES_A_STEP + 1);
                    self.stage = match progress {
                        Ok(Progress::Pending) => Stage::Reading(reader),
                        Ok(Progress::Done) => {
                            Stage::Judging(reader.finish(), Box::new(Judge::new(program, 0)))
                        }
                        Err(fault) => return Poll::Ready(refused(fault)),
                    };
                }
                Stage::Judging(tape, mut judge) => {
                    let outcome = judge.step(program, &self.bytes, &tape, steps);
                    self.stage = Stage::Judging(tape, judge);
                    return outcome;
                }
                Stage::Done => return Poll::Ready(refused(Fault::Syntax(0))),
            }
        }
        Poll::Pending
    }
}

/// Judges a text in one go.
pub fn judge_text(program: &Program, bytes: &[u8]) -> Outcome {
    match crate::json::read(bytes, Limits::depth(program.max_depth())) {
        Ok(tape) => super::judge(program, bytes, &tape, 0),
        Err(fault) => refused(fault),
    }
}

fn refused(fault: Fault) -> Outcome {
    let outcome = Outcome {
        verdict: Verdict::Unknown,
        reason: Some("limit"),
        violations: Vec::new(),
        truncated: false,
        repeated_member: false,
    };
    match fault {
        Fault::Tokens | Fault::Size => outcome,
        Fault::Syntax(_) | Fault::Utf8(_) => Outcome {
            verdict: Verdict::Invalid,
            reason: None,
            violations: vec![Violation {
                instance_path: String::new(),
                schema_path: String::new(),
                keyword: "json",
                params: "{}".to_owned(),
            }],
            ..outcome
        },
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;
    use crate::schema::{CompileOptions, compile};

    #[test]
    fn texts_are_judged_in_any_slices() {
        let schema = br#"{"items":{"type":"integer"}}"#;
        let program = compile(schema, &CompileOptions::default()).unwrap();
        for (text, verdict, keyword) in [
            ("[1,2,3]", Verdict::Valid, None),
            (
                "[1,\"a long string that takes more than one step to read\"]",
                Verdict::Invalid,
                Some("type"),
            ),
            ("[1,2", Verdict::Invalid, Some("json")),
            ("", Verdict::Invalid, Some("json")),
        ] {
            let whole = judge_text(&program, text.as_bytes());
            assert_eq!(whole.verdict, verdict, "{text}");
            assert_eq!(whole.violations.first().map(|first| first.keyword), keyword);
            for slice in [1, 2, 1_000] {
                let mut judge = TextJudge::new(&program, text.as_bytes().to_vec());
                let sliced = loop {
                    if let Poll::Ready(outcome) = judge.step(&program, &mut { slice }) {
                        break outcome;
                    }
                };
                assert_eq!(sliced, whole, "{text} in slices of {slice}");
            }
        }
        let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));
        assert_eq!(judge_text(&program, deep.as_bytes()).reason, Some("limit"));
    }
}
