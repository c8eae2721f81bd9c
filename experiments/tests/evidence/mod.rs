//! Summaries in the pages `docs/evidence/reproduction-*.md` are printed from the committed results:
//! `INART_WRITE=1` prints them again.
//!
//! A summary stands between a line such as `<!-- printed from results: figure inart-fig9 50 -->` and `<!--
//! end -->`. `figure` shows one place on the axis of a figure of the InArt paper. `study` shows the rows of
//! another study that have a published number, or, with names behind the study, the rows with these names.
#![allow(clippy::unwrap_used)]

mod summary;

use std::collections::BTreeMap;
use std::fs;

use inart_experiments::{experiments, studies};

use summary::{print_figure, print_study};

const PAGES: [&str; 4] = ["inart", "netstorm", "selmcast", "r2sp"];
/// Summaries are not regions of the book's tests, which print from sources.
const BEGIN: &str = "<!-- printed from results: ";
const END: &str = "<!-- end -->";
const HOW: &str = "print them with INART_WRITE=1 cargo test --workspace --test experiments evidence";

fn path(page: &str) -> String {
    format!("{}/docs/evidence/reproduction-{page}.md", env!("INART_ROOT"))
}

/// Returns the text of a page.
fn read(page: &str) -> String {
    fs::read_to_string(path(page)).unwrap_or_else(|error| panic!("{}: {error}", path(page)))
}

/// Returns text in lines of at most 150 characters; rows of tables stay as they are.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut length = 0;
        for (at, word) in line.split(' ').enumerate() {
            let more = word.chars().count() + 1;
            if at > 0 {
                let is_full = !line.starts_with('|') && length + more > 150;
                out.push(if is_full { '\n' } else { ' ' });
                length = if is_full { 0 } else { length };
            }
            length += more;
            out += word;
        }
        out.push('\n');
    }
    out
}

fn print(words: &str) -> String {
    let parts: Vec<_> = words.splitn(3, ' ').collect();
    let text = match parts[..] {
        ["figure", name, x] => print_figure(name, x),
        ["study", name] => print_study(name, None),
        ["study", name, names] => print_study(name, Some(names)),
        _ => panic!("no such summary: {words}"),
    };
    wrapped(&text)
}

/// Returns the words of a page's summaries, and the page with its summaries printed again.
fn printed(page: &str) -> (Vec<String>, String) {
    let (mut all, mut out, mut rest) = (Vec::new(), String::new(), page);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (words, after) = after.split_once(" -->\n").expect("the first line of a summary is a comment");
        let (_, after) = after.split_once(END).unwrap_or_else(|| panic!("{words}: no {END}"));
        out += &format!("{before}{BEGIN}{words} -->\n\n{}\n\n{END}", print(words).trim());
        all.push(words.to_owned());
        rest = after;
    }
    (all, out + rest)
}

#[test]
fn summaries_are_those_of_the_results() {
    let (mut all, mut other) = (Vec::new(), Vec::new());
    for page in PAGES {
        let text = read(page);
        let (words, wanted) = printed(&text);
        all.extend(words);
        if text != wanted {
            other.push(path(page));
            if std::env::var_os("INART_WRITE").is_some() {
                fs::write(path(page), wanted).unwrap();
            }
        }
    }
    let is_written = std::env::var_os("INART_WRITE").is_some();
    assert!(other.is_empty() || is_written, "differ from experiments/results: {other:#?}; {HOW}");
    // Each figure and study has one summary.
    let mut names: Vec<_> = all.iter().map(|words| words.split(' ').nth(1).unwrap()).collect();
    names.sort_unstable();
    let mut known: Vec<_> = experiments().iter().map(|figure| figure.name).collect();
    known.extend(studies().map(|study| study.name));
    known.sort_unstable();
    assert_eq!(names, known);
}

/// Each page shows the chart of every experiment that has one, under a heading with its name.
#[test]
fn pages_show_the_charts() {
    let pages: BTreeMap<_, _> = PAGES.into_iter().map(|page| (page, read(page))).collect();
    let figures = experiments();
    let names = figures.iter().map(|figure| figure.name).chain(studies().map(|study| study.name));
    for name in names {
        let page = &pages[name.split('-').next().unwrap()];
        assert!(page.contains(&format!("### {name}: ")), "{name} has no heading");
        let chart = format!("experiments/results/{name}.svg");
        let has_chart = fs::exists(format!("{}/{chart}", env!("INART_ROOT"))).unwrap();
        assert_eq!(page.contains(&format!("](../../{chart})")), has_chart, "{name}");
    }
}

#[test]
fn long_lines_are_wrapped_and_rows_of_tables_are_not() {
    let words = vec!["word"; 60].join(" ");
    let wrapped = wrapped(&format!("{words}\n| {words} |"));
    let lines: Vec<_> = wrapped.lines().collect();
    assert_eq!(lines.iter().map(|line| line.len()).collect::<Vec<_>>(), [149, 149, 303]);
}
