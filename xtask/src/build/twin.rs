//! From one module of the template to its CommonJS twin and its list of exports.
//!
//! The template is written in a style that a line-by-line reading can follow, so that the build
//! needs no bundler: named imports first, one `export { … };` last, and between them nothing that
//! only an ECMAScript module may do.
//!
//! Invariant: what does not keep to the style is refused with its line; nothing is guessed.

use crate::process::{Failure, Outcome};

/// A module of the template, read.
#[derive(Debug)]
pub(super) struct Twin {
    /// The same module as CommonJS.
    pub(super) commonjs: String,
    /// The names it exports by itself, in their order.
    pub(super) exports: Vec<String>,
    /// The modules whose exports it passes on: `export * from "./x.js";`.
    pub(super) passes_on: Vec<String>,
    /// What it imports.
    pub(super) imports: Vec<Import>,
}

/// One import statement.
#[derive(Debug, PartialEq)]
pub(super) struct Import {
    /// The module as written: `./x.js`, `node:fs`.
    pub(super) module: String,
    /// The names it is asked for; none where its exports are passed on.
    pub(super) names: Vec<String>,
}

/// One name of an import or export list: what it is called on either side.
struct Name {
    inner: String,
    outer: String,
}

impl Name {
    /// As a member of an object pattern or literal.
    fn member(&self) -> String {
        if self.outer == self.inner {
            self.outer.clone()
        } else {
            format!("{}: {}", self.outer, self.inner)
        }
    }
}

#[derive(PartialEq)]
enum Part {
    Imports,
    Code,
    Exported,
}

/// A module that is being read, up to some line.
struct Reading {
    part: Part,
    commonjs: String,
    exported: Vec<Name>,
    passed_on: Vec<String>,
    imports: Vec<Import>,
}

/// Reads one module. `path` is for messages only.
pub(super) fn read(path: &str, source: &str) -> Outcome<Twin> {
    let mut reading = Reading {
        part: Part::Imports,
        commonjs: "\"use strict\";\n".to_owned(),
        exported: Vec::new(),
        passed_on: Vec::new(),
        imports: Vec::new(),
    };
    let mut in_comment = false;
    let mut lines = source.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let refuse = |why: &str| Failure::new(format!("{path}:{}: {why}", number + 1));
        let block = in_comment || line.trim_start().starts_with("/*");
        if block || line.trim_start().starts_with("//") {
            in_comment = block && !line.contains("*/");
            reading.keep(line);
        } else if let Some(keyword) = statement_keyword(line) {
            let mut statement = line.to_owned();
            while !statement.ends_with(';') {
                let (_, next) = lines.next().ok_or_else(|| refuse("a statement without an end"))?;
                statement.push(' ');
                statement.push_str(next.trim());
            }
            reading.statement(keyword, &statement).map_err(refuse)?;
        } else {
            reading.code(line).map_err(refuse)?;
        }
    }
    reading.end().ok_or_else(|| Failure::new(format!("{path}: no export list at its end")))
}

/// `import` or `export`, when the line begins with that word.
fn statement_keyword(line: &str) -> Option<&'static str> {
    ["import", "export"].into_iter().find(|word| {
        line.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_name_character))
    })
}

impl Reading {
    fn keep(&mut self, line: &str) {
        self.commonjs.push_str(line);
        self.commonjs.push('\n');
    }

    /// A line that is neither a comment nor an import or export.
    fn code(&mut self, line: &str) -> Result<(), &'static str> {
        if !line.trim().is_empty() {
            if self.part == Part::Exported {
                return Err("code after the export list");
            }
            self.part = Part::Code;
            check_code(line)?;
        }
        self.keep(line);
        Ok(())
    }

    /// A whole import or export statement on one line.
    fn statement(&mut self, keyword: &str, statement: &str) -> Result<(), &'static str> {
        if let Some(quoted) = statement.strip_prefix("export * from ") {
            let module = unquoted(quoted.trim_end_matches(';')).ok_or(SHAPE)?;
            if self.part != Part::Imports {
                return Err("an export of everything after code");
            }
            self.passed_on.push(commonjs_path(&module).ok_or(TARGET)?);
            self.imports.push(Import { module, names: Vec::new() });
            return Ok(());
        }
        match (keyword, split_statement(keyword, statement)?) {
            ("import", (names, Some(module))) => {
                if self.part != Part::Imports {
                    return Err("an import after code");
                }
                let bound = names.iter().map(Name::member).collect::<Vec<_>>().join(", ");
                let target = commonjs_path(&module).ok_or(TARGET)?;
                self.keep(&format!("const {{ {bound} }} = require(\"{target}\");"));
                let names = names.into_iter().map(|name| name.outer).collect();
                self.imports.push(Import { module, names });
                Ok(())
            }
            ("export", (names, None)) if self.part != Part::Exported => {
                self.exported = names;
                self.part = Part::Exported;
                Ok(())
            }
            _ => Err("a second export list, or one with `from`"),
        }
    }

    /// The twin, unless the module exports nothing.
    fn end(mut self) -> Option<Twin> {
        if self.part != Part::Exported && self.passed_on.is_empty() {
            return None;
        }
        let passed_on = self.passed_on.iter().map(|target| format!("...require(\"{target}\")"));
        let members = passed_on.chain(self.exported.iter().map(Name::member));
        let members: String = members.map(|member| format!("  {member},\n")).collect();
        self.commonjs.push_str(&format!("module.exports = {{\n{members}}};\n"));
        Some(Twin {
            commonjs: self.commonjs,
            exports: self.exported.into_iter().map(|name| name.outer).collect(),
            passes_on: self.passed_on.iter().map(|target| target.replace(".cjs", ".js")).collect(),
            imports: self.imports,
        })
    }
}

const SHAPE: &str = "only `import { a, b as c } from \"…\";`, `export * from \"./x.js\";` and \
                     `export { a, b as c };` are read";
const TARGET: &str = "imports neither ./x.js nor node:x";

/// The CommonJS name of an imported module; `None` for what a twin cannot import.
fn commonjs_path(module: &str) -> Option<String> {
    if module.starts_with("node:") {
        return Some(module.to_owned());
    }
    let stem = module.strip_suffix(".js")?;
    (stem.starts_with("./") || stem.starts_with("../")).then(|| format!("{stem}.cjs"))
}

/// `{ a, b as c }` and, where there is one, the module after `from`.
fn split_statement(
    keyword: &str,
    statement: &str,
) -> Result<(Vec<Name>, Option<String>), &'static str> {
    let rest =
        statement.strip_prefix(keyword).and_then(|rest| rest.strip_suffix(';')).ok_or(SHAPE)?;
    let (list, after) =
        rest.trim().strip_prefix('{').and_then(|rest| rest.split_once('}')).ok_or(SHAPE)?;
    let module = match after.trim() {
        "" => None,
        from => Some(
            from.strip_prefix("from").and_then(|quoted| unquoted(quoted.trim())).ok_or(SHAPE)?,
        ),
    };
    let mut names = Vec::new();
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let (first, second) = item.split_once(" as ").unwrap_or((item, item));
        let (first, second) = (first.trim(), second.trim());
        if ![first, second].iter().all(|name| is_name(name) && *name != "default") {
            return Err(SHAPE);
        }
        // An import names the outside first, an export the inside.
        let (outer, inner) = if keyword == "import" { (first, second) } else { (second, first) };
        names.push(Name { inner: inner.to_owned(), outer: outer.to_owned() });
    }
    Ok((names, module))
}

fn unquoted(text: &str) -> Option<String> {
    Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

/// Refuses what has no CommonJS counterpart.
fn check_code(line: &str) -> Result<(), &'static str> {
    let code = line.split("//").next().unwrap_or(line);
    if code.contains("import.meta") || code.contains("import(") {
        return Err("import.meta and import() have no twin");
    }
    let at_top = !line.starts_with(char::is_whitespace);
    if at_top && code.contains("await ") && !code.contains("async") {
        return Err("await outside of a function");
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|first| is_name_character(first) && !first.is_ascii_digit())
        && text.chars().all(is_name_character)
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(module: &str, names: &[&str]) -> Import {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Import { module: module.to_owned(), names }
    }

    fn refused(source: &str) -> String {
        read("x.js", source).unwrap_err().to_string()
    }

    #[test]
    fn imports_code_and_exports_get_a_twin() {
        let source = "\
// What it owns.
import { a, b as c } from \"./x.js\";
import {
  d,
} from \"../lib/y.js\";
import { readFile } from \"node:fs\";

const e = () => a + c;

export { e, d as f };
";
        let twin = read("x.js", source).unwrap();
        assert_eq!(
            twin.commonjs,
            "\
\"use strict\";
// What it owns.
const { a, b: c } = require(\"./x.cjs\");
const { d } = require(\"../lib/y.cjs\");
const { readFile } = require(\"node:fs\");

const e = () => a + c;

module.exports = {
  e,
  f: d,
};
"
        );
        assert_eq!(twin.exports, ["e", "f"]);
        assert_eq!(
            twin.imports,
            [
                import("./x.js", &["a", "b"]),
                import("../lib/y.js", &["d"]),
                import("node:fs", &["readFile"])
            ]
        );
    }

    #[test]
    fn exports_of_another_module_are_passed_on() {
        let twin = read("x.js", "export * from \"./y.js\";\n\nf();\nexport { f };\n").unwrap();
        assert_eq!(
            twin.commonjs,
            "\"use strict\";\n\nf();\nmodule.exports = {\n  ...require(\"./y.cjs\"),\n  f,\n};\n"
        );
        assert_eq!(twin.passes_on, ["./y.js"]);
        assert_eq!(twin.imports, [import("./y.js", &[])]);
    }

    #[test]
    fn comments_may_say_anything() {
        let source = "/**\n import x\n export y\n * import.meta\n */\n// import(\nexport { };\n";
        assert!(read("x.js", source).unwrap().exports.is_empty());
    }

    #[test]
    fn a_name_that_begins_like_a_keyword_is_code() {
        assert_eq!(
            read("x.js", "importAll();\nexports_ = 1;\nexport { a };\n").unwrap().exports,
            ["a"]
        );
    }

    #[test]
    fn other_forms_are_refused_with_their_line() {
        assert!(refused("import a from \"./x.js\";\nexport { a };\n").starts_with("x.js:1: "));
        assert!(refused("import * as a from \"./x.js\";\nexport { a };\n").starts_with("x.js:1: "));
        assert!(
            refused("import { default as a } from \"./x.js\";\nexport { a };\n")
                .starts_with("x.js:1: ")
        );
        assert!(refused("export const a = 1;\n").starts_with("x.js:1: "));
        assert!(refused("\nexport default 1;\n").starts_with("x.js:2: "));
        assert!(refused("import { a } from \"ajv\";\nexport { a };\n").starts_with("x.js:1: "));
    }

    #[test]
    fn what_only_an_ecmascript_module_may_do_is_refused() {
        assert!(refused("const a = import.meta.url;\nexport { a };\n").contains("no twin"));
        assert!(refused("const a = await b();\nexport { a };\n").contains("await"));
        assert!(
            refused("f();\nimport { a } from \"./x.js\";\nexport { a };\n").contains("after code")
        );
        assert!(refused("export { a };\nf();\n").contains("code after"));
        assert!(refused("const a = 1;\n").contains("no export list"));
        assert!(refused("export { a } from \"./x.js\";\n").contains("from"));
    }
}
