//! Punycode (RFC 3492) of one label, in memory of fixed size.
//!
//! Invariant: a label never has more code points than its encoding has bytes, so what does not fit
//! into [`MAX_LABEL`] places has no encoding of that length.

use super::address::MAX_LABEL;

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const INITIAL_BIAS: u32 = 72;
const INITIAL_POINT: u32 = 0x80;

/// The code points of a label.
#[derive(Clone, Copy)]
pub(super) struct Label {
    points: [u32; MAX_LABEL],
    length: usize,
}

impl Label {
    pub(super) fn new() -> Self {
        Label { points: [0; MAX_LABEL], length: 0 }
    }

    pub(super) fn points(&self) -> &[u32] {
        self.points.get(..self.length).unwrap_or(&[])
    }

    /// Appends a code point; `None` if there is no room.
    pub(super) fn push(&mut self, point: u32) -> Option<()> {
        *self.points.get_mut(self.length)? = point;
        self.length += 1;
        Some(())
    }

    fn insert(&mut self, at: usize, point: u32) -> Option<()> {
        self.push(point)?;
        self.points.get_mut(at..self.length)?.rotate_right(1);
        Some(())
    }
}

fn threshold(k: u32, bias: u32) -> u32 {
    k.saturating_sub(bias).clamp(T_MIN, T_MAX)
}

fn adapt(delta: u32, count: u32, first: bool) -> u32 {
    let mut delta = if first { delta / DAMP } else { delta / 2 };
    delta += delta / count.max(1);
    let mut k = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

/// The label that an encoding stands for, which follows `xn--`; letters become small.
pub(super) fn decode(text: &[u8]) -> Option<Label> {
    let mut label = Label::new();
    let digits = match text.iter().rposition(|&byte| byte == b'-') {
        Some(at) => {
            for byte in text.get(..at)? {
                label.push(byte.to_ascii_lowercase() as u32)?;
            }
            text.get(at + 1..)?
        }
        None => text,
    };
    let (mut point, mut at, mut bias) = (INITIAL_POINT, 0_u32, INITIAL_BIAS);
    let mut digits = digits.iter();
    while !digits.as_slice().is_empty() {
        let (start, mut weight, mut k) = (at, 1_u32, BASE);
        loop {
            let digit = match digits.next()? {
                byte @ (b'a'..=b'z' | b'A'..=b'Z') => byte.to_ascii_lowercase() - b'a',
                byte @ b'0'..=b'9' => byte - b'0' + 26,
                _ => return None,
            } as u32;
            at = at.checked_add(digit.checked_mul(weight)?)?;
            let threshold = threshold(k, bias);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(BASE - threshold)?;
            k += BASE;
        }
        let count = label.length as u32 + 1;
        bias = adapt(at - start, count, start == 0);
        point = point.checked_add(at / count)?;
        at %= count;
        label.insert(at as usize, point)?;
        at += 1;
    }
    Some(label)
}

/// Hands the bytes of a label's encoding to a function, without `xn--`; `None` if it has none.
pub(super) fn encode(points: &[u32], mut with: impl FnMut(u8)) -> Option<()> {
    let basic = points.iter().filter(|&&point| point < INITIAL_POINT);
    let count = basic.clone().count() as u32;
    basic.for_each(|&point| with(point as u8));
    if count > 0 {
        with(b'-');
    }
    let (mut point, mut delta, mut bias, mut done) = (INITIAL_POINT, 0_u32, INITIAL_BIAS, count);
    while (done as usize) < points.len() {
        let next = points.iter().copied().filter(|&other| other >= point).min()?;
        delta = delta.checked_add((next - point).checked_mul(done + 1)?)?;
        point = next;
        for &other in points {
            if other < point {
                delta = delta.checked_add(1)?;
            }
            if other != point {
                continue;
            }
            let (mut rest, mut k) = (delta, BASE);
            loop {
                let threshold = threshold(k, bias);
                if rest < threshold {
                    break;
                }
                with(digit(threshold + (rest - threshold) % (BASE - threshold)));
                rest = (rest - threshold) / (BASE - threshold);
                k += BASE;
            }
            with(digit(rest));
            bias = adapt(delta, done + 1, done == count);
            delta = 0;
            done += 1;
        }
        delta = delta.checked_add(1)?;
        point += 1;
    }
    Some(())
}

fn digit(value: u32) -> u8 {
    match value {
        0..26 => b'a' + value as u8,
        _ => b'0' + (value as u8).saturating_sub(26),
    }
}
