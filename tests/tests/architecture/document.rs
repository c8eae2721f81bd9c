//! The picture and the table of `ARCHITECTURE.md`.

use std::collections::BTreeSet;

/// A row of the table.
pub struct Row {
    pub level: u32,
    pub name: String,
    pub depends_on: BTreeSet<String>,
}

/// The rows `| level | crate | noun | I/O | depends on |`.
pub fn table(document: &str) -> Vec<Row> {
    let row = |line: &str| {
        let cells: Vec<_> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let [level, name, _noun, _io, depends_on] = cells[..] else { return None };
        let depends_on = depends_on.split(',').map(str::trim).filter(|name| *name != "–");
        Some(Row {
            level: level.parse().ok()?,
            name: name.trim_matches('`').to_owned(),
            depends_on: depends_on.map(str::to_owned).collect(),
        })
    };
    document.lines().filter_map(row).collect()
}

/// The lines of the picture: a level, then the crates on it.
pub fn picture(document: &str) -> BTreeSet<(u32, String)> {
    let drawn = document.split("```").nth(1).expect("ARCHITECTURE.md has a picture");
    let line = |line: &str| -> Vec<(u32, String)> {
        let mut words = line.split_whitespace();
        match words.next().and_then(|level| level.parse().ok()) {
            Some(level) => words.map(|name| (level, name.to_owned())).collect(),
            None => Vec::new(),
        }
    };
    drawn.lines().flat_map(line).collect()
}
