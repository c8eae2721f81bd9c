//! Regions of pages that are printed from sources: a test compares them, `INART_WRITE=1` prints them again.
//!
//! A region starts with a line such as `<!-- printed: fields FILE TYPE -->` and ends with `<!-- end -->`.

mod decisions;
mod formats;
mod keys;
mod proto;
mod python;
mod source;

use std::fs;
use std::path::Path;

use super::{pages, root};

const BEGIN: &str = "<!-- printed: ";
const END: &str = "<!-- end -->";
const HOW: &str = "print them with INART_WRITE=1 cargo test --workspace --test tests book::printed";

/// Returns the contents of a region for its words, in Markdown.
fn print(words: &str) -> String {
    let read = |file: &str| {
        fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{words}: {file}: {error}"))
    };
    let all: Vec<_> = words.split(' ').collect();
    match all[..] {
        ["fields", file, name] => source::fields(&read(file), name),
        ["values", file, name] => source::values(&read(file), name),
        ["numbers", file, name] => source::numbers(&read(file), name),
        ["proto", file] => proto::reference(&read(file)),
        ["python", package] => python::reference(package),
        ["keys", section] => keys::table(section),
        ["decisions"] => decisions::table(),
        ["formats"] => formats::table(),
        _ => panic!("no such region: {words}"),
    }
}

/// Returns the page with its regions printed again.
fn printed(page: &str, print: impl Fn(&str) -> String) -> String {
    let (mut out, mut rest) = (String::new(), page);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (words, after) = after.split_once(" -->\n").expect("a region's first line is a comment");
        let (_, after) = after.split_once(END).unwrap_or_else(|| panic!("{words}: no {END}"));
        out += &format!("{before}{BEGIN}{words} -->\n\n{}\n\n{END}", print(words).trim());
        rest = after;
    }
    out + rest
}

#[test]
fn printed_regions_are_those_of_the_sources() {
    let (mut count, mut other) = (0, Vec::new());
    for page in pages("docs", true) {
        let text = super::read(&page);
        let wanted = printed(&text, print);
        count += text.matches(BEGIN).count();
        if text != wanted {
            other.push(page.display().to_string());
            if std::env::var_os("INART_WRITE").is_some() {
                fs::write(root().join(&page), wanted).unwrap();
            }
        }
    }
    assert!(count >= 20, "{count} regions");
    if std::env::var_os("INART_WRITE").is_none() {
        assert!(other.is_empty(), "differ from their sources: {other:#?}; {HOW}");
    }
}

#[test]
fn only_regions_are_printed() {
    let page = "a\n<!-- printed: x y -->\nold\n<!-- end -->\nb\n<!-- printed: z -->\n<!-- end -->";
    let new = printed(page, |words| format!("new {words}\n"));
    let expected = "a\n<!-- printed: x y -->\n\nnew x y\n\n<!-- end -->\nb\n<!-- printed: z -->\n\nnew z\n\n\
                    <!-- end -->";
    assert_eq!(new, expected);
    assert_eq!(printed(&new, |words| format!("new {words}")), expected);
}

/// Returns a text in a cell of a table.
fn cell(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let escaped = parts.map(|(nth, part)| match nth % 2 {
        0 => part.replace('|', "\\|").replace('<', "\\<").replace('*', "\\*"),
        _ => part.replace('|', "\\|"),
    });
    escaped.collect::<Vec<_>>().join("`")
}

/// Returns the text of a file's documentation comments without links to code.
fn without_links(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else { break };
        // A link has a target in parentheses where its name is not enough.
        let after = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
        out += &format!("{before}`{}`", name.rsplit("::").next().unwrap_or(name));
        rest = after;
    }
    out + rest
}

#[test]
fn links_to_code_become_names() {
    let text = "Rate of [`Plan::paths`], as in [`status`](crate::A::status); [up, back].";
    assert_eq!(without_links(text), "Rate of `paths`, as in `status`; [up, back].");
}

/// Path of a file, from the root.
fn at(file: &str) -> std::path::PathBuf {
    Path::new(&root()).join(file)
}
