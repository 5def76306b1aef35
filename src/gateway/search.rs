//! Finding operations: which match, in which order, and a page of them.
//!
//! Invariants: a query only narrows; the order depends on the operations and the query alone, never
//! on the order of registration; a cursor holds where the last page ended, so that operations which
//! come and go between pages neither repeat nor hide others.

use std::cmp::Reverse;

use crate::registry::{Kind, Spec, Summary};

/// Longest description that a page repeats, in code points: who wants all of it asks for the schema.
const MAX_DESCRIPTION: usize = 1_024;

/// Most words of a query that are looked at. Words beyond them would only narrow further.
const MAX_WORDS: usize = 16;

/// What is looked for.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Query {
    /// Words, each of which must occur in the id, title, description or tags; none match all.
    pub text: String,
    /// Only operations of this namespace.
    pub namespace: Option<String>,
    /// Only operations of this type.
    pub kind: Option<String>,
    /// Where the page before ended, as it said.
    pub cursor: Option<String>,
}

/// An operation that the caller may call.
#[derive(Clone, Debug)]
pub struct Operation<'a> {
    /// Its id, `namespace.name`.
    pub id: &'a str,
    /// `query` or `mutation`.
    pub kind: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its description; may be empty.
    pub description: &'a str,
    /// Its tags.
    pub tags: &'a [String],
}

impl<'a> Operation<'a> {
    /// A registered operation; none if it is not one to call.
    pub fn of(spec: &'a Spec) -> Option<Self> {
        let kind = match spec.kind() {
            Kind::Query | Kind::Mutation => spec.kind().as_str(),
            Kind::Subscription | Kind::Publish => return None,
        };
        let Summary { title, description, tags } = spec.summary();
        Some(Operation { id: spec.id(), kind, title: title.as_deref(), description, tags })
    }
}

/// A page of what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The operations on it, by their index in what was given, with the text that describes each.
    pub operations: Vec<(usize, String)>,
    /// Where it ends, if there is more.
    pub next_cursor: Option<String>,
}

/// Finds operations; none if the cursor is not one of ours.
pub fn search(operations: &[Operation<'_>], query: &Query, page_size: usize) -> Option<Found> {
    let after = match &query.cursor {
        Some(cursor) => Some(read_cursor(cursor)?),
        None => None,
    };
    let words = words(&query.text);
    let mut found: Vec<(Reverse<u32>, &str, usize)> = operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| is_wanted(operation, query))
        .filter_map(|(index, operation)| {
            Some((Reverse(score(operation, &words)?), operation.id, index))
        })
        .filter(|&(score, id, _)| after.is_none_or(|after| (score, id) > after))
        .collect();
    crate::sorted::sort(&mut found);
    let page_size = page_size.max(1);
    let next_cursor = match found.get(page_size - 1) {
        Some(&(Reverse(score), id, _)) if found.len() > page_size => Some(format!("{score}:{id}")),
        _ => None,
    };
    let operations = found
        .into_iter()
        .take(page_size)
        .filter_map(|(_, _, index)| Some((index, description(operations.get(index)?))))
        .collect();
    Some(Found { operations, next_cursor })
}

fn read_cursor(cursor: &str) -> Option<(Reverse<u32>, &str)> {
    let (score, id) = cursor.split_once(':')?;
    Some((Reverse(score.parse().ok()?), id))
}

fn is_wanted(operation: &Operation<'_>, query: &Query) -> bool {
    let namespace = operation.id.split_once('.').map_or("", |(namespace, _)| namespace);
    query.namespace.as_deref().is_none_or(|wanted| wanted == namespace)
        && query.kind.as_deref().is_none_or(|wanted| wanted == operation.kind)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().take(MAX_WORDS).map(str::to_lowercase).collect()
}

/// How well the operation fits; none if a word occurs nowhere in it.
fn score(operation: &Operation<'_>, words: &[String]) -> Option<u32> {
    if words.is_empty() {
        return Some(0);
    }
    let id = operation.id.to_lowercase();
    let name = id.split_once('.').map_or("", |(_, name)| name);
    let title = operation.title.unwrap_or_default().to_lowercase();
    let description = operation.description.to_lowercase();
    let tags: Vec<String> = operation.tags.iter().map(|tag| tag.to_lowercase()).collect();
    let mut total = 0;
    for word in words {
        // The name says best what an operation is; prose mentions much else.
        let best = [
            weigh(&id, word, [100, 50, 30]),
            weigh(name, word, [90, 50, 30]),
            weigh(&title, word, [60, 30, 20]),
            tags.iter().map(|tag| weigh(tag, word, [40, 20, 15])).max().unwrap_or(0),
            weigh(&description, word, [10, 10, 5]),
        ];
        match best.into_iter().max() {
            None | Some(0) => return None,
            Some(best) => total += best,
        }
    }
    Some(total)
}

/// The weight of a word that is the whole text, begins a word of it, or occurs in it.
fn weigh(text: &str, word: &str, [whole, start, inside]: [u32; 3]) -> u32 {
    if text == word {
        return whole;
    }
    let mut best = 0;
    for (at, _) in text.match_indices(word) {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        if before.is_none_or(|before| !before.is_alphanumeric()) {
            return start;
        }
        best = inside;
    }
    best
}

/// The operation's own description, or one made from what it is.
fn description(operation: &Operation<'_>) -> String {
    let own = operation.description.trim();
    if own.is_empty() {
        let namespace = operation.id.split_once('.').map_or("", |(namespace, _)| namespace);
        let Operation { id, kind, .. } = operation;
        return format!("{kind} operation `{id}` in namespace `{namespace}`");
    }
    match own.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", own.get(..end).unwrap_or_default()),
        None => own.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn operation<'a>(id: &'a str, description: &'a str) -> Operation<'a> {
        Operation { id, kind: "query", title: None, description, tags: &[] }
    }

    fn query(text: &str) -> Query {
        Query { text: text.to_owned(), ..Query::default() }
    }

    fn ids<'a>(operations: &[Operation<'a>], query: &Query) -> Vec<&'a str> {
        let found = search(operations, query, 100).unwrap();
        found.operations.iter().map(|&(index, _)| operations[index].id).collect()
    }

    #[test]
    fn without_words_all_are_found_by_id() {
        let operations = [operation("b.x", ""), operation("a.z", ""), operation("a.y", "")];
        for text in ["", "  \t"] {
            assert_eq!(ids(&operations, &query(text)), ["a.y", "a.z", "b.x"]);
        }
    }

    #[test]
    fn every_word_must_occur_and_case_does_not_matter() {
        let tags = ["Outbox".to_owned()];
        let mut tagged = operation("mail.send", "Sends a letter");
        tagged.tags = &tags;
        tagged.title = Some("Écrire");
        let operations = [operation("fs.readFile", "Reads a file"), tagged];
        for (text, expected) in [
            ("FS", vec!["fs.readFile"]),
            ("readfile", vec!["fs.readFile"]),
            ("file READS", vec!["fs.readFile"]),
            ("file letter", vec![]),
            ("outbox", vec!["mail.send"]),
            ("écrire send", vec!["mail.send"]),
            (".", vec!["fs.readFile", "mail.send"]),
            ("nothing", vec![]),
        ] {
            assert_eq!(ids(&operations, &query(text)), expected, "{text}");
        }
    }

    #[test]
    fn names_come_before_titles_tags_and_prose() {
        let mut titled = operation("a.d", "");
        titled.title = Some("Copy things");
        let tags = ["copywriting".to_owned()];
        let mut tagged = operation("a.c", "");
        tagged.tags = &tags;
        let operations = [
            operation("a.a", "makes a copy"),
            operation("a.b", "photocopying"),
            tagged,
            titled,
            operation("a.hardcopy", ""),
            operation("a.copy_file", ""),
            operation("a.copy", ""),
            operation("copy.z", ""),
        ];
        assert_eq!(
            ids(&operations, &query("copy")),
            ["a.copy", "a.copy_file", "copy.z", "a.d", "a.hardcopy", "a.c", "a.a", "a.b"]
        );
    }

    #[test]
    fn the_order_of_registration_does_not_matter() {
        let mut operations =
            vec![operation("a.x", "one"), operation("b.one", ""), operation("one.a", "")];
        let first = ids(&operations, &query("one"));
        operations.reverse();
        assert_eq!(ids(&operations, &query("one")), first);
    }

    #[test]
    fn filters_narrow() {
        let mut write = operation("fs.write", "");
        write.kind = "mutation";
        let operations = [operation("fs.read", ""), write, operation("fsx.read", "")];
        let namespace = Query { namespace: Some("fs".to_owned()), ..query("") };
        assert_eq!(ids(&operations, &namespace), ["fs.read", "fs.write"]);
        let kind = Query { kind: Some("mutation".to_owned()), ..namespace.clone() };
        assert_eq!(ids(&operations, &kind), ["fs.write"]);
        let none = Query { kind: Some("subscription".to_owned()), ..namespace };
        assert!(ids(&operations, &none).is_empty());
    }

    #[test]
    fn pages_follow_each_other_though_operations_come_and_go() {
        let ids: Vec<String> = (0..25).map(|number| format!("ns.op{number:02}")).collect();
        let mut operations: Vec<Operation<'_>> = ids.iter().map(|id| operation(id, "")).collect();
        let mut seen = Vec::new();
        let mut cursor = None;
        for page in 0..5 {
            let wanted = Query { cursor: cursor.clone(), ..query("op") };
            let found = search(&operations, &wanted, 10).unwrap();
            seen.extend(found.operations.iter().map(|&(index, _)| operations[index].id.to_owned()));
            cursor = found.next_cursor;
            if page == 0 {
                operations.remove(3);
            }
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, ids);
        assert_eq!(cursor, None);
        for cursor in ["", "x", "1", "-1:ns.op", "99999999999:a"] {
            let wanted = Query { cursor: Some(cursor.to_owned()), ..query("") };
            assert_eq!(search(&operations, &wanted, 10), None, "{cursor}");
        }
    }

    #[test]
    fn descriptions_are_the_operations_own() {
        let long = "é".repeat(2_000);
        let operations =
            [operation("a.own", " Reads. "), operation("b.none", "  "), operation("c.long", &long)];
        let found = search(&operations, &query(""), 10).unwrap();
        let texts: Vec<&str> = found.operations.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts[..2], ["Reads.", "query operation `b.none` in namespace `b`"]);
        assert_eq!(texts[2].chars().count(), 1_025);
    }
}
