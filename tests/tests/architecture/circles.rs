//! No two files of a crate import each other, directly or through others.
//!
//! A file imports another if it names an item in it: by `use`, or by a path that starts with `crate`,
//! `super`, `self` or a module below it. A re-exported item is looked up in the file that defines it. A
//! crate's root is left out: it lists modules and re-exports. So are unit tests, which may use all that they
//! test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::source::{Source, strip};

/// A module by its path from the crate's root, which is the empty path.
pub type Module = Vec<String>;

/// The modules of a crate, each in its own file.
pub struct Crate {
    sources: BTreeMap<Module, Source>,
}

impl Crate {
    /// Reads the files below a crate's `src`, but for those of unit tests.
    pub fn read(src: &Path) -> Self {
        let mut files = Vec::new();
        list(src, &mut files);
        let read = |file: PathBuf| {
            let text = fs::read_to_string(&file).expect("a source file");
            (module_of(file.strip_prefix(src).expect("it is below")), Source::parse(&strip(&text)))
        };
        Self { sources: files.into_iter().map(read).collect() }
    }

    /// Returns the imports of texts, by module, for tests of this test.
    pub fn of_texts(texts: &[(&str, &str)]) -> Self {
        let module =
            |path: &str| path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let sources = texts.iter().map(|(path, text)| (module(path), Source::parse(&strip(text))));
        Self { sources: sources.collect() }
    }

    /// Pairs of modules that import each other directly, for messages.
    pub fn pairs(&self) -> Vec<String> {
        let imports: BTreeMap<_, _> =
            self.sources.keys().map(|module| (module, self.imports(module))).collect();
        let mutual = |(module, named): (&&Module, &BTreeSet<Module>)| -> Vec<String> {
            let back = named.iter().filter(|other| *module < other && imports[other].contains(*module));
            back.map(|other| format!("{} and {}", module.join("::"), other.join("::"))).collect()
        };
        imports.iter().flat_map(mutual).collect()
    }

    /// Groups of modules that import each other, directly or through others in the group.
    pub fn circles(&self) -> Vec<BTreeSet<String>> {
        let edges: BTreeMap<&Module, BTreeSet<Module>> =
            self.sources.keys().map(|module| (module, self.imports(module))).collect();
        let reach: BTreeMap<&Module, BTreeSet<&Module>> =
            edges.keys().map(|&module| (module, reachable(&edges, module))).collect();
        let group = |module: &&Module| -> BTreeSet<String> {
            let back = reach[*module].iter().filter(|other| reach[**other].contains(*module));
            back.map(|other| other.join("::")).collect()
        };
        let groups: BTreeSet<_> = self.sources.keys().collect::<Vec<_>>().iter().map(group).collect();
        groups.into_iter().filter(|group| group.len() > 1).collect()
    }

    /// Returns the modules that define the items which a module names, except for the root and itself.
    fn imports(&self, module: &Module) -> BTreeSet<Module> {
        let source = &self.sources[module];
        let named = source.imported.iter().map(|(_, path)| path).chain(&source.named);
        let defined = named.filter_map(|path| self.definition(module, path, 0));
        defined.filter(|target| target != module && !target.is_empty()).collect()
    }

    /// Returns the module in which a path leads to an item; nothing of another crate.
    fn definition(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let mut rest = path.iter().peekable();
        let mut at = match rest.peek()?.as_str() {
            "crate" => {
                rest.next();
                Vec::new()
            }
            "self" => {
                rest.next();
                from.clone()
            }
            "super" => {
                let mut at = from.clone();
                while rest.next_if(|part| *part == "super").is_some() {
                    at.pop();
                }
                at
            }
            first => {
                let child = [from.as_slice(), &[first.to_owned()]].concat();
                self.sources.contains_key(&child).then(|| from.clone())?
            }
        };
        for part in rest {
            let child = [at.as_slice(), std::slice::from_ref(part)].concat();
            if self.sources.contains_key(&child) {
                at = child;
                continue;
            }
            let imported = self.sources.get(&at)?.imported.iter().find(|(name, _)| name == part);
            return match imported {
                Some((_, path)) if depth < 8 => self.definition(&at, path, depth + 1),
                _ => Some(at),
            };
        }
        Some(at)
    }
}

fn reachable<'a>(edges: &'a BTreeMap<&Module, BTreeSet<Module>>, from: &'a Module) -> BTreeSet<&'a Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        for next in &edges[module] {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            list(&path, files);
        } else if path.to_string_lossy().ends_with(".rs") && !path.to_string_lossy().ends_with("tests.rs") {
            files.push(path);
        }
    }
}

fn module_of(file: &Path) -> Module {
    let mut parts: Module = file.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let stem = parts.pop().expect("a file name");
    match stem.trim_end_matches(".rs") {
        "mod" => {}
        "lib" | "main" if parts.is_empty() => {}
        stem => parts.push(stem.to_owned()),
    }
    parts
}

#[test]
fn a_circle_is_found_through_re_exports_and_longer_ways() {
    let two = [
        ("", "pub use a::A; mod a; mod b;"),
        ("a", "use crate::b::B;"),
        ("b", "use crate::A; pub struct B;"),
    ];
    assert_eq!(Crate::of_texts(&two).circles(), [BTreeSet::from(["a".to_owned(), "b".to_owned()])]);

    let three = [
        ("", ""),
        ("a", "use crate::{b::{self, B}, x};"),
        ("b", "fn f() { super::c::g() }"),
        ("c", "use crate::a;"),
        ("x", ""),
    ];
    assert_eq!(Crate::of_texts(&three).circles(), [BTreeSet::from(["a", "b", "c"].map(str::to_owned))]);

    let below = [("", ""), ("a", "mod c; fn f() { c::g() }"), ("a::c", "use super::Kind; pub fn g() {}")];
    assert_eq!(Crate::of_texts(&below).circles(), [BTreeSet::from(["a", "a::c"].map(str::to_owned))]);

    let child = [("", ""), ("a", "mod c; use c::C;"), ("a::c", "use super::Kind; pub struct C;")];
    assert_eq!(Crate::of_texts(&child).circles(), [BTreeSet::from(["a", "a::c"].map(str::to_owned))]);
}

#[test]
fn what_is_no_import_makes_no_circle() {
    let texts = [
        ("", "mod a; mod b;"),
        ("a", "use crate::b::B;"),
        (
            "b",
            "// use crate::a::A;\nconst T: &str = \"crate::a::A\"; #[cfg(test)] mod tests { use crate::a::A; } use std::a;",
        ),
    ];
    assert_eq!(Crate::of_texts(&texts).circles(), Vec::<BTreeSet<String>>::new());
}
