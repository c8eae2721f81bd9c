//! The tree and the lists of `ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};

/// Level of each folder, from the tree.
pub fn levels(document: &str) -> BTreeMap<String, u32> {
    let tree = document.split("```").nth(1).expect("ARCHITECTURE.md has a tree");
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let level = words.next()?.parse().ok()?;
        Some((words.next()?.strip_suffix('/')?.to_owned(), level))
    };
    tree.lines().filter_map(line).collect()
}

/// Packages listed under each heading that names folders; names are in the backquotes before the colon.
pub fn packages(document: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut heading = String::new();
    for line in document.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text.to_owned();
        }
        let Some((names, _)) = line.strip_prefix("- `").and_then(|item| item.split_once(':')) else {
            continue;
        };
        let names = names.split(',').map(|name| name.trim().trim_matches('`').to_owned());
        found.entry(heading.clone()).or_default().extend(names);
    }
    found
}
