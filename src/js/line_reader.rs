//! `LineReader`: newline framing for hosts that want nothing else.

use wasm_bindgen::prelude::*;

use crate::error::{Code, Error, Facts};
use crate::session::options::Limits;
use crate::wire::{Frame, LineReader};

use super::fault::fault;
use super::message::profile;

/// Splits a byte stream into lines.
#[wasm_bindgen]
pub struct Lines {
    reader: LineReader,
    max_frame_bytes: usize,
}

#[wasm_bindgen]
impl Lines {
    /// A reader; what is not given is the profile's default.
    #[wasm_bindgen(constructor)]
    pub fn new(max_frame_bytes: Option<f64>, strict: bool) -> Lines {
        let profile = profile(strict);
        let max = max_frame_bytes.unwrap_or(Limits::of(profile).max_frame_bytes) as usize;
        Lines { reader: LineReader::new(max, profile), max_frame_bytes: max }
    }

    /// Takes bytes.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), JsValue> {
        self.reader.push(chunk).map_err(|_| {
            let facts = Facts { limit: Some(self.max_frame_bytes as u64), ..Facts::default() };
            fault(&Error::new(Code::ProtocolError, "frame_too_long").facts(facts))
        })
    }

    /// The stream ended.
    pub fn end(&mut self) {
        self.reader.end();
    }

    /// The next line.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.reader.next_frame()? {
                Frame::Line(line) => return Some(line),
                Frame::Bom | Frame::TooLong(_) => {}
            }
        }
    }

    /// How many over-long lines were skipped.
    pub fn skipped(&self) -> f64 {
        self.reader.skipped() as f64
    }
}
