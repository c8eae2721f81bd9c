//! Words that the style guide replaces: `words.txt` counts them per file, and a count may only fall.
//!
//! `UPDATE_WORDS=1` writes the counts of today, if no word occurs more often in the whole tree than the file
//! says. A rule that is new needs a new file: delete `words.txt`, then write it.

mod docs;
mod flags;
mod rules;
mod scan;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::root;

/// The word of a finding, and its line, from 1.
type Found = (&'static str, usize);

/// Counts by file and word.
type Counts = BTreeMap<(String, String), usize>;

const FILE: &str = "tests/tests/architecture/words.txt";

/// Endings of the files that people read or write.
const ENDINGS: [&str; 9] = ["rs", "py", "pyi", "p4", "proto", "md", "sh", "yaml", "yml"];

/// Folders that hold no text of ours, wherever they are.
const OTHERS: [&str; 5] = ["target", "out", "build", "venv", "__pycache__"];

/// Files that name the words themselves, and pages that repeat texts of the sources.
const EXCEPT: [&str; 4] =
    ["tests/tests/architecture/words/", "cli/src/banned.rs", "docs/reference/cli/", "style.md"];

/// Files below a folder, by their paths from the root.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).expect("a folder of the tree") {
        let entry = entry.expect("an entry");
        let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
        let name = name.to_string_lossy();
        if entry.file_type().expect("a type").is_dir() {
            if !name.starts_with('.') && !OTHERS.contains(&&*name) {
                files(&path, found);
            }
        } else if path.extension().is_some_and(|end| ENDINGS.iter().any(|ending| end == *ending)) {
            found.push(path);
        }
    }
}

/// All findings in the tree, by file.
fn findings() -> BTreeMap<String, Vec<Found>> {
    let mut paths = Vec::new();
    files(Path::new(""), &mut paths);
    let mut words = scan::Words::default();
    let mut all = BTreeMap::new();
    for path in paths {
        let name = path.to_str().expect("names are text").to_owned();
        if EXCEPT.iter().any(|part| name.contains(part)) {
            continue;
        }
        let text = fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut found = words.scan(&without_printed(&text));
        found.extend(docs::openings(&name, &text));
        found.extend(flags::named(&name, &text));
        found.sort_by_key(|(_, line)| *line);
        all.insert(name, found);
    }
    all
}

/// The text with empty lines for regions that tests print from sources.
fn without_printed(text: &str) -> String {
    let mut is_printed = false;
    let lines = text.lines().map(|line| {
        is_printed = (is_printed || line.starts_with("<!-- printed")) && line != "<!-- end -->";
        if is_printed { "" } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn counts(findings: &BTreeMap<String, Vec<Found>>) -> Counts {
    let mut counts = Counts::new();
    for (file, found) in findings {
        for (word, _) in found {
            *counts.entry((file.clone(), (*word).to_owned())).or_default() += 1;
        }
    }
    counts
}

/// Reads lines of file, word and count, with tabs between.
fn parse(text: &str) -> Counts {
    let row = |line: &str| {
        let cells: Vec<_> = line.split('\t').collect();
        let [file, word, count] = cells[..] else { panic!("{FILE}: {line}: three cells are expected") };
        let count = count.parse().unwrap_or_else(|error| panic!("{FILE}: {line}: {error}"));
        ((file.to_owned(), word.to_owned()), count)
    };
    text.lines().map(row).collect()
}

fn print(counts: &Counts) -> String {
    counts.iter().map(|((file, word), count)| format!("{file}\t{word}\t{count}\n")).collect()
}

/// The count of each word in all files together.
fn totals(counts: &Counts) -> BTreeMap<&str, usize> {
    let mut totals = BTreeMap::new();
    for ((_, word), count) in counts {
        *totals.entry(word.as_str()).or_default() += count;
    }
    totals
}

/// Words that occur more often than they may, with the difference.
fn risen<'c>(found: &'c Counts, known: &Counts) -> Vec<(&'c str, usize)> {
    let known = totals(known);
    let more = |(word, count): (&'c str, usize)| {
        let more = count.saturating_sub(known.get(word).copied().unwrap_or(0));
        (more > 0).then_some((word, more))
    };
    totals(found).into_iter().filter_map(more).collect()
}

/// Places of words that a file has more often than it may: each line of such a word.
fn surplus(findings: &BTreeMap<String, Vec<Found>>, found: &Counts, known: &Counts) -> Vec<String> {
    let mut places = Vec::new();
    for ((file, word), count) in found {
        let allowed = known.get(&(file.clone(), word.clone())).copied().unwrap_or(0);
        if *count > allowed {
            let lines = findings[file].iter().filter(|(other, _)| other == word);
            places
                .extend(lines.map(|(_, line)| format!("{file}:{line}: {word} ({count}, at most {allowed})")));
        }
    }
    places
}

#[test]
fn words_that_the_style_guide_replaces_become_fewer() {
    let findings = findings();
    let (found, path) = (counts(&findings), root().join(FILE));
    let known = path.is_file().then(|| parse(&fs::read_to_string(&path).unwrap()));
    if std::env::var_os("UPDATE_WORDS").is_some() {
        let risen = known.as_ref().map(|known| risen(&found, known)).unwrap_or_default();
        let places = known.as_ref().map(|known| surplus(&findings, &found, known)).unwrap_or_default();
        assert!(risen.is_empty(), "counts only fall; too many: {risen:?}\n{}", places.join("\n"));
        fs::write(&path, print(&found)).unwrap();
        return;
    }
    let known = known.unwrap_or_else(|| panic!("{FILE} does not exist; write it with UPDATE_WORDS=1"));
    let places = surplus(&findings, &found, &known);
    assert!(
        places.is_empty(),
        "write other words (or, where files moved, run with UPDATE_WORDS=1):\n{}",
        places.join("\n")
    );
    let fallen: Vec<_> =
        known.iter().filter(|(place, count)| found.get(*place).is_none_or(|found| found < *count)).collect();
    assert!(fallen.is_empty(), "fewer than {FILE} says; lower it with UPDATE_WORDS=1: {fallen:#?}");
}

#[test]
fn counts_are_read_as_written_and_compared_by_file_and_word() {
    let of = |rows: &[(&str, &str, usize)]| -> Counts {
        rows.iter().map(|(file, word, count)| (((*file).into(), (*word).into()), *count)).collect()
    };
    let known = of(&[("a.rs", "told", 2), ("b.rs", "so many", 1)]);
    assert_eq!(parse("a.rs\ttold\t2\nb.rs\tso many\t1\n"), known);
    assert_eq!(parse(&print(&known)), known);
    // A file that moved has its words elsewhere: the totals stay.
    let moved = of(&[("c.rs", "told", 2), ("b.rs", "so many", 1)]);
    let lines = BTreeMap::from([("c.rs".to_owned(), vec![("told", 4), ("told", 9)])]);
    assert_eq!(risen(&moved, &known), []);
    let places = ["c.rs:4: told (2, at most 0)", "c.rs:9: told (2, at most 0)"];
    assert_eq!(surplus(&lines, &moved, &known), places);
    assert_eq!(risen(&of(&[("a.rs", "told", 2), ("c.rs", "told", 1)]), &known), [("told", 1)]);
}

#[test]
fn printed_regions_are_left_out() {
    let text = "told\n<!-- printed: a -->\ntold\n<!-- end -->\ntold";
    assert_eq!(scan::Words::default().scan(&without_printed(text)), [("told", 1), ("told", 5)]);
}
