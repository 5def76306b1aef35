//! The template's modules and what they import from each other.
//!
//! Invariant: a checked graph has no import of a file or of a name that is not there, and no circle.

use std::collections::{BTreeMap, BTreeSet};

use super::twin::{Import, Twin};
use crate::process::{Failure, Outcome};

/// Modules by their path below `pkg-template/`.
pub(super) struct Graph {
    modules: BTreeMap<String, Twin>,
}

impl Graph {
    /// Checks the modules against each other.
    pub(super) fn new(modules: BTreeMap<String, Twin>) -> Outcome<Self> {
        let graph = Self { modules };
        graph.check_files()?;
        graph.check_circles()?;
        graph.check_names()?;
        Ok(graph)
    }

    /// Every module with its path.
    pub(super) fn modules(&self) -> impl Iterator<Item = (&str, &Twin)> {
        self.modules.iter().map(|(path, twin)| (path.as_str(), twin))
    }

    /// Every name a module exports, also those it passes on; `None` for a module that is not there.
    pub(super) fn exports(&self, module: &str) -> Option<BTreeSet<&str>> {
        let mut names = BTreeSet::new();
        let mut open = vec![module.to_owned()];
        while let Some(module) = open.pop() {
            let twin = self.modules.get(&module)?;
            open.extend(twin.passes_on.iter().map(|target| resolve(&module, target)));
            names.extend(twin.exports.iter().map(String::as_str));
        }
        Some(names)
    }

    /// The imports of files of the template, with the paths they mean.
    fn imports<'a>(&self, path: &str, twin: &'a Twin) -> Vec<(String, &'a Import)> {
        let own = twin.imports.iter().filter(|import| import.module.starts_with('.'));
        own.map(|import| (resolve(path, &import.module), import)).collect()
    }

    fn check_files(&self) -> Outcome<()> {
        for (path, twin) in &self.modules {
            for (target, _) in self.imports(path, twin) {
                if !self.modules.contains_key(&target) {
                    return Err(refused(path, &format!("imports {target}, which is not there")));
                }
            }
        }
        Ok(())
    }

    /// CommonJS twins take names when they are loaded: in a circle one would take `undefined`.
    fn check_circles(&self) -> Outcome<()> {
        let mut left: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (path, twin) in &self.modules {
            left.insert(
                path,
                self.imports(path, twin).into_iter().map(|(target, _)| target).collect(),
            );
        }
        // Take away what imports nothing that is left, as long as there is such a module.
        loop {
            let free: Vec<&str> = left
                .iter()
                .filter(|(_, targets)| targets.is_empty())
                .map(|(path, _)| *path)
                .collect();
            if free.is_empty() {
                break;
            }
            left.retain(|path, _| !free.contains(path));
            left.values_mut()
                .for_each(|targets| targets.retain(|target| !free.contains(&target.as_str())));
        }
        match left.keys().next() {
            None => Ok(()),
            Some(path) => {
                let circle = left.keys().copied().collect::<Vec<_>>().join(", ");
                Err(refused(path, &format!("is in a circle of imports among {circle}")))
            }
        }
    }

    /// A twin would silently take `undefined` for a name that is not exported.
    fn check_names(&self) -> Outcome<()> {
        for (path, twin) in &self.modules {
            for (target, import) in self.imports(path, twin) {
                let offered = self.exports(&target).unwrap_or_default();
                if let Some(missing) =
                    import.names.iter().find(|name| !offered.contains(name.as_str()))
                {
                    return Err(refused(
                        path,
                        &format!("imports {missing}, which {target} does not export"),
                    ));
                }
            }
        }
        Ok(())
    }
}

fn refused(path: &str, why: &str) -> Failure {
    Failure::new(format!("pkg-template/{path} {why}"))
}

/// The path that a relative import means.
fn resolve(from: &str, target: &str) -> String {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for piece in target.split('/') {
        match piece {
            "." => {}
            ".." => {
                folders.pop();
            }
            name => folders.push(name),
        }
    }
    folders.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::twin;
    use super::*;

    fn graph(sources: &[(&str, &str)]) -> Outcome<Graph> {
        let read = |path: &str, source: &str| (path.to_owned(), twin::read(path, source).unwrap());
        Graph::new(sources.iter().map(|(path, source)| read(path, source)).collect())
    }

    fn why(sources: &[(&str, &str)]) -> String {
        graph(sources).err().map(|failure| failure.to_string()).unwrap_or_default()
    }

    #[test]
    fn relative_imports_are_resolved() {
        assert_eq!(resolve("lib/a.js", "./b.js"), "lib/b.js");
        assert_eq!(resolve("entry/x/a.js", "../../lib/b.js"), "lib/b.js");
    }

    #[test]
    fn names_are_found_where_they_are_passed_on() {
        let graph = graph(&[
            ("entry/a.js", "export * from \"../lib/b.js\";\n\nexport { x };\n"),
            ("lib/b.js", "import { readFile } from \"node:fs\";\n\nexport { y };\n"),
        ]);
        let graph = graph.unwrap();
        assert_eq!(graph.exports("entry/a.js"), Some(BTreeSet::from(["x", "y"])));
        assert_eq!(graph.exports("entry/c.js"), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_refused() {
        assert!(
            why(&[("a.js", "import { b } from \"./b.js\";\nexport { b };\n")])
                .contains("not there")
        );
    }

    #[test]
    fn a_circle_is_refused() {
        let (a, b) = (
            "import { b } from \"./b.js\";\nexport { a };\n",
            "import { a } from \"./a.js\";\nexport { b };\n",
        );
        assert!(why(&[("a.js", a), ("b.js", b), ("c.js", "export { c };\n")]).contains("circle"));
    }

    #[test]
    fn a_name_that_is_not_exported_is_refused() {
        let a = ("a.js", "import { x as z } from \"./b.js\";\nexport { z };\n");
        assert_eq!(why(&[a, ("b.js", "export { x };\n")]), "");
        assert!(why(&[a, ("b.js", "export { y };\n")]).contains("imports x"));
    }
}
