//! The index of decisions, and the status of each.

use std::collections::BTreeSet;
use std::fs;

use super::at;

const FOLDER: &str = "docs/decisions";

/// A decision's page.
#[derive(Debug, PartialEq)]
struct Decision {
    number: u32,
    file: String,
    title: String,
    /// The line behind `Status: `.
    status: String,
    text: String,
}

impl Decision {
    fn read(file: &str, text: String) -> Self {
        let number = file.split('-').next().and_then(|digits| digits.parse().ok());
        let number = number.unwrap_or_else(|| panic!("{file}: no number"));
        let mut lines = text.lines();
        let title = lines.next().and_then(|line| line.strip_prefix(&format!("# {number}. ")));
        let title =
            title.unwrap_or_else(|| panic!("{file}: line 1: expected `# {number}. TITLE`")).to_owned();
        let status = lines.nth(1).and_then(|line| line.strip_prefix("Status: "));
        let status = status.unwrap_or_else(|| panic!("{file}: line 3: expected `Status: …`")).to_owned();
        Decision { number, file: file.to_owned(), title, status, text }
    }

    /// Numbers of the decisions that the status links, with the files.
    fn links(&self) -> Vec<(u32, &str)> {
        self.status.split("[decision ").skip(1).filter_map(link).collect()
    }

    /// Returns why the status is wrong.
    fn problem(&self, files: &BTreeSet<String>) -> Option<String> {
        let links = self.links();
        let is_known = match &links[..] {
            [] => self.status == "Accepted",
            _ => ["Superseded by ", "Accepted; in part superseded by "]
                .iter()
                .any(|start| self.status.starts_with(start)),
        };
        let is_later = |(number, file): &(u32, &str)| {
            *number > self.number && files.contains(*file) && file.starts_with(&format!("{number:04}-"))
        };
        // A statement of the page's text must also be in its status.
        let marks = self.text.lines().skip(3).filter(|line| line.to_lowercase().contains("*superseded"));
        let unnamed = marks.flat_map(|line| line.split("](").skip(1)).find(|rest| {
            let file = rest.split(')').next().unwrap_or_default();
            files.contains(file) && !links.iter().any(|(_, linked)| *linked == file)
        });
        (!is_known || !links.iter().all(is_later) || unnamed.is_some()).then(|| {
            format!(
                "{}: Status: {}; expected Accepted, Superseded by, or Accepted; in part superseded by a \
                     later decision, all of those that the text links",
                self.file, self.status
            )
        })
    }
}

/// Returns the number and the target of a link at the start of `rest`.
fn link(rest: &str) -> Option<(u32, &str)> {
    let (number, target) = rest.split_once("](")?;
    Some((number.parse().ok()?, target.split(')').next()?))
}

/// Returns all decisions, by number.
fn decisions() -> Vec<Decision> {
    let entries = fs::read_dir(at(FOLDER)).unwrap().map(|entry| entry.unwrap().path());
    let names = entries.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    let mut names: Vec<_> = names.filter(|name| name != "README.md").collect();
    names.sort();
    names
        .iter()
        .map(|name| Decision::read(name, fs::read_to_string(at(FOLDER).join(name)).unwrap()))
        .collect()
}

/// Returns the table of all decisions.
pub fn table() -> String {
    let row = |decision: &Decision| {
        let Decision { number, file, title, status, .. } = decision;
        format!("| [{number:04}]({file}) | {title} | {status} |\n")
    };
    let rows: String = decisions().iter().map(row).collect();
    format!("| Number | Decision | Status |\n|---|---|---|\n{rows}")
}

#[test]
fn every_decision_has_a_status() {
    let all = decisions();
    let files = all.iter().map(|decision| decision.file.clone()).collect();
    let problems: Vec<_> = all.iter().filter_map(|decision| decision.problem(&files)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let readme = fs::read_to_string(at(FOLDER).join("README.md")).unwrap();
    let last = all.last().map_or(0, |decision| decision.number);
    for number in 1..=last {
        let count = all.iter().filter(|decision| decision.number == number).count();
        let is_free = readme.contains(&format!("There is no decision {number:04}"));
        assert_eq!(count, usize::from(!is_free), "decision {number:04}; README.md names free numbers");
    }
}

#[test]
fn a_status_names_later_decisions() {
    let files: BTreeSet<_> = ["0001-a.md", "0002-b.md", "0003-c.md"].map(str::to_owned).into();
    let problem = |status: &str, text: &str| {
        let page = format!("# 2. B\n\nStatus: {status}\n\n{text}\n");
        Decision::read("0002-b.md", page).problem(&files).is_some()
    };
    assert!(!problem("Accepted", "Text."));
    assert!(!problem("Superseded by [decision 3](0003-c.md)", ""));
    assert!(!problem(
        "Accepted; in part superseded by [decision 3](0003-c.md) (points)",
        "*Superseded by [3](0003-c.md)*"
    ));
    for (status, text) in [
        ("Done", ""),
        ("Superseded by [decision 1](0001-a.md)", ""),
        ("Superseded by [decision 3](0002-b.md)", ""),
        ("Superseded by [decision 4](0004-d.md)", ""),
        ("Accepted", "*Superseded here by [decision 3](0003-c.md).*"),
        ("Since [decision 3](0003-c.md)", ""),
    ] {
        assert!(problem(status, text), "{status} {text}");
    }
}
