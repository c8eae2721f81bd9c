//! A Markdown page: its links, and the anchors of its headings as code hosts and mdBook make them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Lines of a page that are prose, with code spans blanked out.
fn prose(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// Returns the line without text between backquotes.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Targets of a page's links, as they are written.
pub fn links(text: &str) -> Vec<String> {
    let lines = prose(text);
    let targets = lines.iter().flat_map(|line| {
        let line = without_code(line);
        let parts: Vec<_> = line.split("](").skip(1).map(str::to_owned).collect();
        parts.into_iter().filter_map(|rest| rest.split(')').next().map(str::to_owned))
    });
    targets.filter(|target| !target.is_empty() && !target.contains("://")).collect()
}

/// Titles of a page's headings, with the number of `#`.
pub fn headings(text: &str) -> Vec<(usize, String)> {
    let titled = |line: &String| {
        let level = line.chars().take_while(|letter| *letter == '#').count();
        let title = line[level..].strip_prefix(' ')?;
        (1..=6).contains(&level).then(|| (level, title.trim().to_owned()))
    };
    prose(text).iter().filter_map(titled).collect()
}

/// Anchors of a page: of its headings, and those that it states with `<a id="…">`.
pub fn anchors(text: &str) -> BTreeSet<String> {
    let mut times = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (_, title) in headings(text) {
        let slug = slug(&title);
        let before: &mut usize = times.entry(slug.clone()).or_default();
        found.insert(if *before == 0 { slug } else { format!("{slug}-{before}") });
        *before += 1;
    }
    let stated = text.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    found.extend(stated.map(str::to_owned));
    found
}

/// Returns the anchor of a heading: lower case, blanks as hyphens, no other punctuation; of a link its text.
fn slug(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        text += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text += rest;
    let kept = text.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Returns the file that a link of a page leads to, from the tree's root, and its anchor.
pub fn target(page: &Path, link: &str) -> (PathBuf, Option<String>) {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() {
        page.to_owned()
    } else {
        let folder = page.parent().unwrap_or(Path::new(""));
        folder.join(file).components().fold(PathBuf::new(), |mut path, part| {
            match part {
                Component::ParentDir => {
                    path.pop();
                }
                Component::CurDir => {}
                part => path.push(part),
            }
            path
        })
    };
    (path, anchor.map(str::to_owned))
}

#[test]
fn a_page_has_these_links_and_anchors() {
    let text = "# A `b`, c!\n[x](../y.md#z) `[no](code.md)` [w](https://w)\n```\n# no\n[no](no.md)\n```\n\
                ## Twice\n## Twice\n<a id=\"own\"></a>[v](#twice-1)\n## [Linked](t.md) R²\n";
    assert_eq!(links(text), ["../y.md#z", "#twice-1", "t.md"]);
    let expected = ["a-b-c", "linked-r²", "own", "twice", "twice-1"];
    assert_eq!(anchors(text).iter().map(String::as_str).collect::<Vec<_>>(), expected);
    let page = Path::new("docs/a/b.md");
    assert_eq!(target(page, "../y.md#z"), (PathBuf::from("docs/y.md"), Some("z".to_owned())));
    assert_eq!(target(page, "#own"), (page.to_owned(), Some("own".to_owned())));
}
