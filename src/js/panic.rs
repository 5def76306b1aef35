//! What a panic leaves behind: its message and place, in memory that survives the trap.
//!
//! Invariant: the text ends with a NUL. JavaScript reads it straight from linear memory, because no
//! function of a trapped instance may run.

use std::sync::atomic::{AtomicU8, Ordering};

use wasm_bindgen::prelude::*;

/// Bytes kept of a panic's text, the NUL included.
const CAPACITY: usize = 512;

static NOTE: [AtomicU8; CAPACITY] = [const { AtomicU8::new(0) }; CAPACITY];

/// Runs when an instance starts.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        let kept = text.bytes().take(CAPACITY - 1).chain([0]);
        for (slot, byte) in NOTE.iter().zip(kept) {
            slot.store(byte, Ordering::Relaxed);
        }
        #[cfg(feature = "console-panics")]
        console_error_panic_hook::hook(info);
    }));
}

/// Where the text of a panic will stand.
#[wasm_bindgen(js_name = panicNote)]
pub fn panic_note() -> usize {
    NOTE.as_ptr() as usize
}

/// Panics, for the tests of trap handling. Not in the package.
#[cfg(feature = "test-traps")]
#[wasm_bindgen(js_name = testTrap)]
#[allow(clippy::panic)]
pub fn test_trap() {
    panic!("trapped on purpose");
}
