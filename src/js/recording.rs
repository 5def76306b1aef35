//! Masking for recordings, seen from JavaScript.

use wasm_bindgen::prelude::*;

use crate::redact::{self, ErrorOutputMasker, OutputMasker};

/// Masks a text of the host's.
#[wasm_bindgen(js_name = maskText)]
pub fn mask_text(text: &str) -> String {
    redact::mask(text).into_owned()
}

/// Masks a JSON text of the host's; the result is JSON text too.
#[wasm_bindgen(js_name = maskJson)]
pub fn mask_json(text: &str) -> String {
    match redact::mask_json(text) {
        Some(masked) => masked.into_owned(),
        None => redact::mask(text).into_owned(),
    }
}

/// Masks what one server writes to its two streams.
#[wasm_bindgen]
pub struct RecordingMask {
    output: OutputMasker,
    errors: ErrorOutputMasker,
    masked: bool,
}

#[wasm_bindgen]
impl RecordingMask {
    /// A mask for a session of this bound and profile.
    #[wasm_bindgen(constructor)]
    pub fn new(max_frame_bytes: f64, strict: bool) -> RecordingMask {
        RecordingMask {
            output: OutputMasker::new(max_frame_bytes as usize, strict),
            errors: ErrorOutputMasker::default(),
            masked: false,
        }
    }

    /// Takes bytes of stdout; gives the lines they complete, masked.
    pub fn chunk(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.masked = self.output.push(chunk, &mut out);
        out
    }

    /// Gives what an unfinished line of stdout holds.
    #[wasm_bindgen(js_name = chunkEnd)]
    pub fn chunk_end(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.masked = self.output.end(&mut out);
        out
    }

    /// Stdout begins anew.
    pub fn reset(&mut self) {
        self.output.reset();
    }

    /// Takes bytes of stderr; gives the lines they complete, masked.
    pub fn stderr(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = String::new();
        self.masked = self.errors.push(chunk, &mut out);
        out.into_bytes()
    }

    /// Gives what an unfinished line of stderr holds beyond what was given of it before.
    #[wasm_bindgen(js_name = stderrPending)]
    pub fn stderr_pending(&mut self) -> Vec<u8> {
        let mut out = String::new();
        self.masked = self.errors.pending(&mut out);
        out.into_bytes()
    }

    /// True if the last call masked something.
    pub fn masked(&self) -> bool {
        self.masked
    }
}
