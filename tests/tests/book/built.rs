//! mdBook builds the book, and the links of the pages that it writes lead somewhere: its own anchors, not
//! ours.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use mdbook_driver::MDBook;

use super::root;

/// Path without `.` and `..`.
fn clean(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut clean, part| {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            part => clean.push(part),
        }
        clean
    })
}

/// HTML pages of a folder and the folders in it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|ending| ending == "html") {
            found.push(path);
        }
    }
    found
}

/// Values of an attribute in a page, with the entities that mdBook writes in them.
fn values(html: &str, attribute: &str) -> Vec<String> {
    let begin = format!(" {attribute}=\"");
    let found = html.split(&begin).skip(1).filter_map(|rest| rest.split('"').next());
    found.map(|value| value.replace("&amp;", "&").replace("%C2%B2", "²")).collect()
}

#[test]
fn mdbook_builds_it_and_every_link_leads_to_a_page_and_an_anchor() {
    let scratch = tempfile::tempdir().unwrap();
    let mut book = MDBook::load(root().join("docs")).unwrap();
    scratch.path().join("book").clone_into(&mut book.config.build.build_dir);
    book.build().unwrap();
    let built = scratch.path().join("book");
    let html: BTreeMap<_, _> = pages(&built)
        .into_iter()
        .map(|page| {
            let text = std::fs::read_to_string(&page).unwrap();
            (page, text)
        })
        .collect();
    assert!(html.len() > 100, "{} pages", html.len());
    let anchors: BTreeMap<_, BTreeSet<String>> =
        html.iter().map(|(page, text)| (page.clone(), values(text, "id").into_iter().collect())).collect();
    let mut broken = BTreeSet::new();
    // The page for printing has all others in it; the page of errors states its links from the root.
    let shown = html.iter().filter(|(page, _)| !page.ends_with("print.html") && !page.ends_with("404.html"));
    for (page, text) in shown {
        let main = text.split("<main>").nth(1).and_then(|rest| rest.split("</main>").next()).unwrap_or("");
        for link in values(main, "href").into_iter().chain(values(main, "src")) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target =
                if path.is_empty() { page.clone() } else { clean(&page.parent().unwrap().join(path)) };
            let Ok(inside) = target.strip_prefix(&built) else {
                // A file of the tree, from the folder of the book on; mdBook calls a Markdown file HTML.
                let from_book = page.strip_prefix(&built).unwrap().parent().unwrap();
                let file = clean(&root().join("docs").join(from_book).join(path));
                let is_there = file.exists() || file.with_extension("md").exists();
                if !is_there {
                    broken.insert(format!("{}: {link}", from_book.display()));
                }
                continue;
            };
            let is_there = target.exists();
            // The redirect of a folder's page.
            let target = match target.file_name() {
                Some(name) if name == "README.html" => target.with_file_name("index.html"),
                _ => target.clone(),
            };
            let has_anchor =
                anchor.is_empty() || anchors.get(&target).is_none_or(|known| known.contains(anchor));
            if !is_there || !has_anchor {
                let from = page.strip_prefix(&built).unwrap().display();
                broken.insert(format!("{from}: {} {anchor}", inside.display()));
            }
        }
    }
    let broken: Vec<_> = broken.into_iter().collect();
    assert!(broken.is_empty(), "in the built book these links lead nowhere:\n{}", broken.join("\n"));
}
