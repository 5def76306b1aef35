//! Plain objects: reading the facade's, and making those that it gets.
//!
//! Each conversion is a few calls that all types share. Derived ones, with serde, would be a tenth of
//! the binary: those are for what is asked for once, as `coreInfo`.
//! Invariants: undefined and null are absent; what is there and of another type than asked for is
//! named, never guessed. An absent member of a made object is there and undefined.

use std::cell::RefCell;

use js_sys::{Array, JsString, Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::table::Table;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(extends = Object)]
    type Fresh;

    // Setting a member of a fresh plain object throws nothing to catch.
    #[wasm_bindgen(method, indexing_setter)]
    fn set(this: &Fresh, name: &JsString, value: &JsValue);
}

thread_local! {
    /// Names by where they stand in memory: each is made into a JavaScript string once.
    static NAMES: RefCell<Table<(usize, usize), JsString>> = RefCell::default();
}

#[inline(never)]
fn name_of(name: &'static str) -> JsString {
    let place = (name.as_ptr() as usize, name.len());
    NAMES.with_borrow_mut(|names| {
        if let Some(known) = names.get(&place) {
            return known.clone();
        }
        let made = JsString::from(name);
        names.insert(place, made.clone());
        made
    })
}

/// The name of a member that is of another type than it must be.
pub(super) type Wrong = &'static str;

/// An object of the facade's, which holds plain data only.
pub(super) struct Members<'a>(pub(super) &'a JsValue);

impl Members<'_> {
    /// A member, if it is there.
    #[inline(never)]
    pub(super) fn get(&self, name: &'static str) -> Option<JsValue> {
        let member = Reflect::get(self.0, &name_of(name)).ok()?;
        (!member.is_undefined() && !member.is_null()).then_some(member)
    }

    #[inline(never)]
    pub(super) fn text(&self, name: &'static str) -> Result<Option<String>, Wrong> {
        self.get(name).map(|member| member.as_string().ok_or(name)).transpose()
    }

    #[inline(never)]
    pub(super) fn flag(&self, name: &'static str) -> Result<Option<bool>, Wrong> {
        self.get(name).map(|member| member.as_bool().ok_or(name)).transpose()
    }

    /// A flag that is off if it is absent.
    pub(super) fn is_set(&self, name: &'static str) -> Result<bool, Wrong> {
        Ok(self.flag(name)?.unwrap_or(false))
    }

    #[inline(never)]
    pub(super) fn number(&self, name: &'static str) -> Result<Option<f64>, Wrong> {
        self.get(name).map(|member| member.as_f64().ok_or(name)).transpose()
    }

    /// A whole number within bounds.
    #[inline(never)]
    pub(super) fn integer(
        &self,
        name: &'static str,
        least: f64,
        most: f64,
    ) -> Result<Option<f64>, Wrong> {
        match self.number(name)? {
            Some(number) if !(number.fract() == 0.0 && (least..=most).contains(&number)) => {
                Err(name)
            }
            number => Ok(number),
        }
    }

    #[inline(never)]
    pub(super) fn texts(&self, name: &'static str) -> Result<Option<Vec<String>>, Wrong> {
        let Some(entries) = self.entries(name)? else { return Ok(None) };
        let texts: Option<Vec<String>> = entries.iter().map(JsValue::as_string).collect();
        texts.map(Some).ok_or(name)
    }

    /// The entries of an array.
    #[inline(never)]
    pub(super) fn entries(&self, name: &'static str) -> Result<Option<Vec<JsValue>>, Wrong> {
        self.get(name)
            .map(|member| member.dyn_ref::<Array>().map(Array::to_vec).ok_or(name))
            .transpose()
    }

    /// Which of these texts a member is.
    #[inline(never)]
    fn place(&self, name: &'static str, names: &[&str]) -> Result<Option<usize>, Wrong> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        names.iter().position(|known| *known == text).map(Some).ok_or(name)
    }

    /// What a text stands for.
    pub(super) fn choice<T: Copy, const N: usize>(
        &self,
        name: &'static str,
        names: [&str; N],
        values: [T; N],
    ) -> Result<Option<T>, Wrong> {
        Ok(self.place(name, &names)?.and_then(|place| values.get(place).copied()))
    }
}

/// A plain object in the making.
pub(super) struct Plain(Fresh);

impl Plain {
    #[inline(never)]
    pub(super) fn new() -> Self {
        Plain(Object::new().unchecked_into())
    }

    /// An object that says of what kind it is.
    pub(super) fn of_type(name: &str) -> Self {
        Plain::new().text("type", name)
    }

    #[inline(never)]
    pub(super) fn value(self, name: &'static str, value: &JsValue) -> Self {
        self.0.set(&name_of(name), value);
        self
    }

    #[inline(never)]
    pub(super) fn text(self, name: &'static str, text: &str) -> Self {
        self.value(name, &JsValue::from_str(text))
    }

    #[inline(never)]
    pub(super) fn maybe_text(self, name: &'static str, text: Option<&str>) -> Self {
        self.value(name, &text.map_or(JsValue::UNDEFINED, JsValue::from_str))
    }

    #[inline(never)]
    pub(super) fn flag(self, name: &'static str, flag: bool) -> Self {
        self.value(name, &JsValue::from_bool(flag))
    }

    #[inline(never)]
    pub(super) fn number(self, name: &'static str, number: f64) -> Self {
        self.value(name, &JsValue::from_f64(number))
    }

    #[inline(never)]
    pub(super) fn maybe_number(self, name: &'static str, number: Option<f64>) -> Self {
        self.value(name, &number.map_or(JsValue::UNDEFINED, JsValue::from_f64))
    }

    pub(super) fn texts(self, name: &'static str, texts: &[String]) -> Self {
        self.value(name, &list(&mut texts.iter().map(|text| JsValue::from_str(text))))
    }

    pub(super) fn numbers(self, name: &'static str, numbers: &[u32]) -> Self {
        let mut numbers = numbers.iter().map(|&number| JsValue::from_f64(f64::from(number)));
        self.value(name, &list(&mut numbers))
    }

    /// A member that is a list.
    pub(super) fn list(
        self,
        name: &'static str,
        entries: &mut dyn Iterator<Item = JsValue>,
    ) -> Self {
        self.value(name, &list(entries))
    }

    pub(super) fn done(self) -> JsValue {
        self.0.into()
    }
}

/// An array.
#[inline(never)]
pub(super) fn list(entries: &mut dyn Iterator<Item = JsValue>) -> JsValue {
    let list = Array::new();
    for entry in entries {
        list.push(&entry);
    }
    list.into()
}

#[cfg(test)]
mod tests {
    use js_sys::JSON;
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    fn parsed(text: &str) -> JsValue {
        JSON::parse(text).unwrap()
    }

    #[test]
    fn members_are_read_by_their_type() {
        let object = parsed(r#"{"a":"é😀","b":true,"c":1.5,"d":["x","y"],"e":null,"f":[1]}"#);
        let members = Members(&object);
        assert_eq!(members.text("a"), Ok(Some("é😀".to_owned())));
        assert_eq!(members.is_set("b"), Ok(true));
        assert_eq!(members.number("c"), Ok(Some(1.5)));
        assert_eq!(members.texts("d"), Ok(Some(vec!["x".to_owned(), "y".to_owned()])));
        assert_eq!(members.text("e"), Ok(None));
        assert_eq!(members.is_set("g"), Ok(false));
        assert_eq!(members.text("b"), Err("b"));
        assert_eq!(members.flag("a"), Err("a"));
        assert_eq!(members.number("a"), Err("a"));
        assert_eq!(members.texts("a"), Err("a"));
        assert_eq!(members.texts("f"), Err("f"));
        assert_eq!(members.integer("c", 0.0, 9.0), Err("c"));
        assert_eq!(members.choice("a", ["é", "é😀"], [1, 2]), Ok(Some(2)));
        assert_eq!(members.choice("a", ["é"], [1]), Err("a"));
    }

    #[test]
    fn whole_numbers_keep_within_their_bounds() {
        let object = parsed(r#"{"a":9,"b":10,"c":-1}"#);
        let members = Members(&object);
        assert_eq!(members.integer("a", 0.0, 9.0), Ok(Some(9.0)));
        assert_eq!(members.integer("b", 0.0, 9.0), Err("b"));
        assert_eq!(members.integer("c", 0.0, 9.0), Err("c"));
    }

    #[test]
    fn an_object_has_what_was_put_in() {
        let made = Plain::of_type("a")
            .text("text", "é😀")
            .maybe_text("absent", None)
            .flag("flag", true)
            .number("number", 1.5)
            .maybe_number("none", None)
            .numbers("numbers", &[1, 2])
            .texts("texts", &["x".to_owned()])
            .done();
        assert!(JsString::from("absent").js_in(&made));
        assert_eq!(
            JSON::stringify(&made).map(String::from).unwrap(),
            r#"{"type":"a","text":"é😀","flag":true,"number":1.5,"numbers":[1,2],"texts":["x"]}"#
        );
    }
}
