//! The rules of the protocols: each is defined once in `docs/protocol/`, and `docs/evidence/protocol.md` has
//! a row with the tests that cover it. Tests, mistakes and pages that are named exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{pages, read, root};

/// Letters that start the number of a rule.
const LETTERS: &str = "SMPRUFT";

/// Returns the number at the start of a text, such as `S9a`.
fn rule(text: &str) -> Option<&str> {
    let letter = text.chars().next().filter(|letter| LETTERS.contains(*letter))?;
    let rest = &text[letter.len_utf8()..];
    let digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let ends = &rest[digits..];
    let suffix = usize::from(ends.starts_with(|letter: char| letter.is_ascii_lowercase()));
    let end = 1 + digits + suffix;
    (digits > 0 && !text[end..].starts_with(char::is_alphanumeric)).then_some(&text[..end])
}

/// Returns the rules that a page defines: items that start with an anchor and a number in bold.
fn defined(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in page.lines().filter(|line| line.trim_start().starts_with("- ")) {
        let Some((before, title)) = line.split_once("**") else { continue };
        let Some(rule) = rule(title) else { continue };
        let anchor = format!("- <a id=\"{}\"></a>", rule.to_lowercase());
        assert_eq!(before, anchor, "the anchor of {rule}");
        found.push(rule.to_owned());
    }
    found
}

/// Rules of all pages, with the page that defines each.
fn rules() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for page in pages("docs/protocol", false) {
        for rule in defined(&read(&page)) {
            let page = page.display().to_string();
            if let Some(other) = found.insert(rule.clone(), page.clone()) {
                panic!("{rule} is defined in {other} and in {page}");
            }
        }
    }
    found
}

fn evidence() -> String {
    read(Path::new("docs/evidence/protocol.md"))
}

/// Cells of the rows of a page's tables, without headings.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let lines: Vec<_> = page.lines().collect();
    let is_row = |index: &usize| lines[*index].starts_with("| ");
    let is_heading = |index: usize| lines.get(index + 1).is_some_and(|next| next.starts_with("|---"));
    let indices = (0..lines.len()).filter(is_row).filter(|index| !is_heading(*index));
    indices.map(|index| lines[index].trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Code spans of a text.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Names of files and folders of the tree, each with the test that is named behind it.
fn named(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let paths = spans(text).filter(|span| span.contains('/') && !span.contains(' '));
    paths.map(|span| span.split_once("::").map_or((span, None), |(file, test)| (file, Some(test))))
}

/// Returns whether a file has a test of this name.
fn has_test(file: &str, test: &str) -> bool {
    let text = read(Path::new(file));
    let Some((before, _)) = text.split_once(&format!("fn {test}(")) else { return false };
    before.lines().rev().take(5).any(|line| line.contains("#[test]") || line.contains("#[tokio::test"))
}

#[test]
fn each_rule_is_defined_once_and_none_is_missing() {
    let rules = rules();
    for letter in LETTERS.chars() {
        let number = |rule: &String| {
            let digits =
                rule.strip_prefix(letter)?.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
            digits.parse::<usize>().ok()
        };
        let numbers: BTreeSet<_> = rules.keys().filter_map(number).collect();
        assert_eq!(numbers, (1..=numbers.len()).collect(), "numbers of {letter}");
        assert!(numbers.len() >= 6, "{letter}: {numbers:?}");
    }
    assert!(rules.len() >= 90, "{} rules", rules.len());
}

#[test]
fn each_rule_has_a_row_in_the_evidence_with_a_test() {
    let text = evidence();
    let mut missing: BTreeSet<_> = rules().into_keys().collect();
    for row in rows(&text) {
        let Some(rule) = rule(row[0]).filter(|rule| *rule == row[0]) else { continue };
        assert!(missing.remove(rule), "{rule} has two rows, or no page defines it");
        let is_rust = |(file, _): (&str, Option<&str>)| file.ends_with(".rs");
        assert!(named(row[1]).any(is_rust), "the row of {rule} names no test");
    }
    assert!(missing.is_empty(), "docs/evidence/protocol.md has no row for {missing:?}");
}

#[test]
fn tests_and_mistakes_that_the_evidence_names_exist() {
    for page in ["docs/evidence/protocol.md", "docs/evidence/test-matrix.md"] {
        let text = read(Path::new(page));
        for (file, test) in named(&text) {
            assert!(root().join(file).exists(), "{page} names {file}, which does not exist");
            if let Some(test) = test {
                assert!(has_test(file, test), "{file} has no test {test}");
            }
        }
    }
    let text = evidence();
    for row in rows(&text).into_iter().filter(|row| row.len() == 3) {
        let mut folders: Vec<_> = named(row[1]).filter_map(|(file, _)| Path::new(file).parent()).collect();
        folders.push(Path::new("tests/model/src"));
        let sources: String = folders.into_iter().map(text_of).collect();
        for mistake in spans(row[2]).filter(|span| !span.contains('/')) {
            let variant = format!("    {mistake},\n");
            assert!(sources.contains(&variant), "{}: the tests know no mistake {mistake}", row[0]);
        }
    }
    assert!(!has_test("tests/tests/book/protocol.rs", "has_test"));
}

/// Returns all Rust sources of a folder.
fn text_of(folder: &Path) -> String {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let files =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "rs"));
    files.map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// Returns offset, bytes and field of the rows of the first table whose rows have four cells.
fn layout(text: &str) -> Vec<Vec<&str>> {
    let rows = rows(text).into_iter().filter(|row| row.len() == 4);
    let begins = rows.skip_while(|row| row[2] != "destination");
    let mut found = Vec::new();
    for row in begins {
        found.push(row[..3].to_vec());
        if row[2] == "values" {
            break;
        }
    }
    found
}

#[test]
fn the_header_is_that_of_the_code() {
    let code = read(Path::new("protocol/wire/src/lib.rs"));
    let code: Vec<_> = code.lines().filter_map(|line| line.strip_prefix("//! ")).collect();
    let page = read(Path::new("docs/protocol/frames.md"));
    let code = code.join("\n");
    let expected = layout(&code);
    assert_eq!(expected.len(), 17, "{expected:?}");
    assert_eq!(layout(&page), expected);
}

/// Pages of `docs/` that a file's text names.
fn pages_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("docs/").skip(1).filter_map(|rest| {
        let name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '-' | '_');
        let end = rest.find(|letter| !name(letter))?;
        rest[end..].starts_with(".md").then_some(&rest[..end])
    })
}

fn collect_broken(folder: &Path, broken: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !matches!(name, "book" | "target" | "venv") && !name.starts_with('.') {
                collect_broken(&path, broken);
            }
        } else if [".rs", ".p4", ".py", ".toml", ".proto"].iter().any(|ending| name.ends_with(ending)) {
            let text = std::fs::read_to_string(&path).unwrap();
            let unknown =
                pages_in(&text).filter(|page| !root().join("docs").join(format!("{page}.md")).exists());
            broken.extend(unknown.map(|page| format!("{}: docs/{page}.md", path.display())));
        }
    }
}

#[test]
fn pages_that_sources_name_exist() {
    let found: Vec<_> = pages_in("see docs/protocol/ps.md, and docs/images/a.svg (docs/a-b.md)").collect();
    assert_eq!(found, ["protocol/ps", "a-b"]);
    let mut broken = Vec::new();
    collect_broken(&root(), &mut broken);
    assert!(broken.is_empty(), "these pages do not exist:\n{}", broken.join("\n"));
}

#[test]
fn numbers_of_rules_are_read() {
    assert_eq!(
        ["S9a Several", "T1", "M12: x", "P4Runtime", "TCP", "Q1", ""].map(rule),
        [Some("S9a"), Some("T1"), Some("M12"), None, None, None, None]
    );
    assert_eq!(defined("- <a id=\"s9a\"></a>**S9a Several restarts.** Text.\n- **Other.** Text.\n"), ["S9a"]);
}
