//! The documents form a book: each page is in `docs/SUMMARY.md`, each link leads somewhere, and the questions
//! of a newcomer are answered within two clicks from README.md.

mod built;
mod environment;
mod messages;
mod page;
mod printed;
mod protocol;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use page::{anchors, headings, links, target};

fn root() -> PathBuf {
    Path::new(env!("INART_ROOT")).to_owned()
}

fn read(page: &Path) -> String {
    std::fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

/// Returns the Markdown files of a folder and, if `deep`, of the folders in it, relative to the tree's root.
fn pages(folder: &str, deep: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = Path::new(folder).join(entry.file_name());
        if deep && entry.path().is_dir() {
            found.extend(pages(path.to_str().unwrap(), deep));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns all documents whose links are checked.
fn documents() -> Vec<PathBuf> {
    let others = ["python/README.md", "mininet/README.md"].map(PathBuf::from);
    [pages("", false), pages("docs", true), others.into()].concat()
}

/// Pages that a page links to, from the tree's root.
fn linked(page: &Path) -> BTreeSet<PathBuf> {
    let all = links(&read(page)).into_iter().map(|link| target(page, &link).0);
    all.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

#[test]
fn every_link_leads_to_a_file_and_an_anchor() {
    let mut broken = Vec::new();
    for document in documents() {
        for link in links(&read(&document)) {
            let (path, anchor) = target(&document, &link);
            let is_page = path.extension().is_some_and(|ending| ending == "md");
            let found = root().join(&path).exists()
                && anchor.is_none_or(|anchor| !is_page || anchors(&read(&path)).contains(&anchor));
            if !found {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "these links lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_or_in_an_index_page() {
    let summary = Path::new("docs/SUMMARY.md");
    let mut listed = linked(summary);
    for index in ["docs/decisions/README.md", "docs/evidence/README.md"].map(Path::new) {
        assert!(listed.contains(index), "docs/SUMMARY.md does not list {}", index.display());
        listed.extend(linked(index));
    }
    let all = pages("docs", true).into_iter().filter(|page| page != summary);
    let missing: Vec<_> = all.filter(|page| !listed.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list {missing:?}");
    // mdBook takes a page once.
    let times = links(&read(summary));
    assert_eq!(times.len(), times.iter().collect::<BTreeSet<_>>().len(), "a page is listed twice");
}

#[test]
fn the_readme_is_short() {
    let lines = read(Path::new("README.md")).lines().count();
    assert!(lines <= 150, "README.md has {lines} lines; move details to docs/");
}

/// Returns the terms of an entry of the glossary: those in bold before its explanation, without text in
/// parentheses.
fn terms(entry: &str) -> Vec<String> {
    let names = entry.split(": ").next().unwrap();
    names.split("**").skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_glossary_has_one_entry_per_term() {
    let text = read(Path::new("docs/glossary.md"));
    let entries: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("- ")).map(terms).collect();
    assert!(
        (1..=60).contains(&entries.len()),
        "{} entries; remove entries that a page explains",
        entries.len()
    );
    assert!(entries.iter().all(|terms| !terms.is_empty()), "an entry has no term in bold");
    let first: Vec<_> = entries.iter().map(|terms| terms[0].to_lowercase()).collect();
    let unsorted = first.windows(2).find(|pair| pair[0] > pair[1]);
    assert!(unsorted.is_none(), "docs/glossary.md is not in alphabetic order: {unsorted:?}");
    let mut seen = BTreeSet::new();
    for term in entries.into_iter().flatten() {
        assert!(seen.insert(term.clone()), "docs/glossary.md has two entries for {term}");
    }
}

/// Questions of issue trackers of similar projects, which the page of questions has to have.
const ASKED: [&str; 6] =
    ["nothing is sent", "which rank is late", "need root", "GPU", "switch dies", "own model"];

#[test]
fn each_question_of_a_newcomer_is_two_clicks_from_the_readme() {
    let readme = Path::new("README.md");
    let faq = Path::new("docs/explanation/faq.md");
    let near = linked(readme);
    assert!(near.contains(faq), "README.md does not link {}", faq.display());
    let text = read(faq);
    let questions: Vec<_> = headings(&text).into_iter().filter(|(_, title)| title.ends_with('?')).collect();
    assert!(questions.len() >= 20, "{} questions", questions.len());
    for words in ASKED {
        let asked = questions.iter().any(|(_, title)| title.to_lowercase().contains(&words.to_lowercase()));
        assert!(asked, "{}: no question about: {words}", faq.display());
    }
    for (level, title) in questions {
        let heading = format!("{} {title}\n", "#".repeat(level));
        let (_, rest) = text.split_once(&heading).unwrap();
        let answer = rest.split("\n#").next().unwrap();
        let pages = links(answer).into_iter().map(|link| target(faq, &link).0);
        let answered = pages.filter(|page| page != faq).any(|page| root().join(page).exists());
        assert!(answered, "{}: the answer to {title:?} links no page", faq.display());
    }
}
