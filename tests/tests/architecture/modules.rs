//! The files of a program or a library, found by its `mod` lines without a compiler.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns a root file and all files of its modules, whatever features they need.
pub fn files(root: &Path) -> BTreeSet<PathBuf> {
    // Each file with the folder that its modules are in.
    let (mut found, mut open) = (BTreeSet::new(), vec![(root.to_owned(), folder(root).to_owned())]);
    while let Some((file, below)) = open.pop() {
        // A file has one real path, however modules name it.
        let Ok(file) = file.canonicalize() else { continue };
        if !found.insert(file.clone()) {
            continue;
        }
        for (name, path) in modules(&fs::read_to_string(&file).expect("a source file")) {
            if let Some(path) = path {
                let file = folder(&file).join(path);
                open.push((file.clone(), folder(&file).to_owned()));
            } else {
                let inside = below.join(&name);
                open.push((inside.with_extension("rs"), inside.clone()));
                open.push((inside.join("mod.rs"), inside));
            }
        }
    }
    found
}

fn folder(file: &Path) -> &Path {
    file.parent().expect("a file is in a folder")
}

/// Returns the modules that a file declares in other files: the name, and the `#[path]` if there is one.
fn modules(text: &str) -> Vec<(String, Option<String>)> {
    let (mut modules, mut path) = (Vec::new(), None);
    for line in text.lines().map(str::trim) {
        if let Some(given) = line.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]")) {
            path = Some(given.to_owned());
        } else if !line.starts_with("#[") {
            let path = path.take();
            // `mod x;`, `pub mod x;`, `pub(crate) mod x;`
            let declared = line.strip_suffix(';').and_then(|line| line.rsplit_once("mod "));
            if let Some((before, name)) = declared
                && (before.is_empty() || before.starts_with("pub"))
            {
                modules.push((name.to_owned(), path));
            }
        }
    }
    modules
}

/// Returns all files below a folder with this extension; empty if the folder does not exist.
pub fn below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
    let of_entry = |path: PathBuf| match path.is_dir() {
        true => below(&path, extension),
        false => vec![path],
    };
    entries.flat_map(of_entry).filter(|file| file.extension().is_some_and(|end| end == extension)).collect()
}
