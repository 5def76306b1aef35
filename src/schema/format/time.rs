//! Dates and times of RFC 3339, durations of its appendix A.

use super::digit;

/// Two digits at a place.
fn two(text: &[u8], at: usize) -> Option<u32> {
    Some(digit(text.get(at))? * 10 + digit(text.get(at + 1))?)
}

/// `full-date`.
pub(super) fn is_date(text: &[u8]) -> bool {
    text.len() == 10 && date(text).is_some()
}

/// The ten bytes of a date; `None` if they are none.
fn date(text: &[u8]) -> Option<()> {
    let year = two(text, 0)? * 100 + two(text, 2)?;
    let (month, day) = (two(text, 5)?, two(text, 8)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + leap as u32,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let hyphens = text.get(4) == Some(&b'-') && text.get(7) == Some(&b'-');
    (hyphens && (1..=days).contains(&day)).then_some(())
}

/// `date-time`.
pub(super) fn is_date_time(text: &[u8]) -> bool {
    text.split_at_checked(10).is_some_and(|(day, rest)| {
        date(day).is_some()
            && rest
                .split_first()
                .is_some_and(|(sign, rest)| sign.eq_ignore_ascii_case(&b'T') && is_time(rest))
    })
}

/// `full-time`. A leap second is one at the end of a day in UTC.
pub(super) fn is_time(text: &[u8]) -> bool {
    time(text).unwrap_or(false)
}

fn time(text: &[u8]) -> Option<bool> {
    let (hour, minute, second) = (two(text, 0)?, two(text, 3)?, two(text, 6)?);
    if text.get(2) != Some(&b':') || text.get(5) != Some(&b':') {
        return None;
    }
    let mut at = 8;
    if text.get(at) == Some(&b'.') {
        let fraction = text.get(at + 1..)?;
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        at += 1 + digits;
    }
    let zone = text.get(at..)?;
    let ahead = match zone {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (two(zone, 1)?, two(zone, 4)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let ahead = (hours * 60 + minutes) as i32;
            if *sign == b'+' { ahead } else { -ahead }
        }
        _ => return None,
    };
    let utc = ((hour * 60 + minute) as i32 - ahead).rem_euclid(24 * 60);
    let is_last_minute = utc == 24 * 60 - 1;
    Some(hour <= 23 && minute <= 59 && (second <= 59 || (second == 60 && is_last_minute)))
}

/// `duration`: units from large to small, none left out between two, weeks alone.
pub(super) fn is_duration(text: &[u8]) -> bool {
    let Some(text) = text.strip_prefix(b"P") else { return false };
    let (days, times) = match text.iter().position(|&byte| byte == b'T') {
        Some(at) => (text.get(..at).unwrap_or(&[]), text.get(at + 1..)),
        None => (text, None),
    };
    match times {
        None => is_run(days, b"YMD") || is_run(days, b"W"),
        Some(times) => (days.is_empty() || is_run(days, b"YMD")) && is_run(times, b"HMS"),
    }
}

/// True for one or more numbers with the units of a stretch of the list.
fn is_run(text: &[u8], units: &[u8]) -> bool {
    let mut next: Option<usize> = None;
    let mut digits = 0;
    for byte in text {
        if byte.is_ascii_digit() {
            digits += 1;
            continue;
        }
        let unit = units.iter().position(|unit| unit == byte);
        if digits == 0 || unit.is_none() || next.is_some_and(|next| unit != Some(next)) {
            return false;
        }
        next = unit.map(|unit| unit + 1);
        digits = 0;
    }
    next.is_some() && digits == 0
}
