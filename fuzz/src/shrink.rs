//! Making a case of a difference small: what can be left out without losing it, is.

use serde_json::Value;

/// The smallest text found by leaving out members and elements, and putting `{}`, `true` or a child
/// in the place of a value, as long as `differs` holds.
pub(crate) fn shrink(text: &str, differs: impl Fn(&str) -> bool) -> String {
    let Ok(mut best) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    // Written anew, it may not differ any more: names that repeat are gone.
    if !differs(&best.to_string()) {
        return text.to_owned();
    }
    'again: loop {
        for smaller in smaller(&best) {
            if differs(&smaller.to_string()) {
                best = smaller;
                continue 'again;
            }
        }
        return best.to_string();
    }
}

/// Every value with one thing less in it.
fn smaller(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Object(members) => {
            found.extend(members.values().filter(|member| member.is_object()).cloned());
            if !members.is_empty() {
                found.push(Value::Object(Default::default()));
            }
            for name in members.keys() {
                let mut fewer = members.clone();
                fewer.remove(name);
                found.push(Value::Object(fewer));
            }
            for (name, member) in members {
                for less in smaller(member) {
                    let mut changed = members.clone();
                    changed.insert(name.clone(), less);
                    found.push(Value::Object(changed));
                }
            }
        }
        Value::Array(items) => {
            for index in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(index);
                found.push(Value::Array(fewer));
            }
            for (index, item) in items.iter().enumerate() {
                for less in smaller(item) {
                    let mut changed = items.clone();
                    changed[index] = less;
                    found.push(Value::Array(changed));
                }
            }
        }
        _ => {}
    }
    found
}
