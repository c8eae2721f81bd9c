//! The page of environment variables lists those that the sources read.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{read, root};

/// Calls that read a variable, up to its name's quotes.
const READS: [&str; 7] = [
    "env::var(\"",
    "env::var_os(\"",
    "try_from_env(\"",
    "environ.get(\"",
    "environ.pop(\"",
    "environ[\"",
    "get_env(\"",
];

/// Variables of examples and test programs, and of cargo's build scripts.
const OTHERS: [&str; 7] =
    ["ROUNDS", "REGROUPED", "INTERRUPTED", "SECOND_ASSIGNMENT", "OUT_DIR", "CARGO", "RUSTC_BOOTSTRAP"];

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Returns the names that a text reads from its environment, and all quoted names that start with `INART_`.
fn names(text: &str) -> BTreeSet<String> {
    let after = |mark: &'static str| text.split(mark).skip(1);
    let read = READS.iter().flat_map(|mark| after(mark)).filter_map(|rest| rest.split('"').next());
    let own = after("\"INART_").filter_map(|rest| rest.split('"').next());
    let shell = after("${INART_").filter_map(|rest| rest.split([':', '}']).next());
    let own = own.chain(shell).map(|name| format!("INART_{name}"));
    read.map(str::to_owned).chain(own).filter(|name| is_name(name)).collect()
}

fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_ours =
            !name.starts_with('.') && !matches!(&*name, "target" | "docs" | "build" | "venv" | "out");
        if path.is_dir() && is_ours {
            collect(&path, found);
        } else if path.ends_with("book/environment.rs") {
            // Its own test.
        } else if ["rs", "py", "sh"].iter().any(|end| path.extension().is_some_and(|of| of == *end)) {
            let text = fs::read(&path).unwrap();
            found.extend(names(&String::from_utf8_lossy(&text)));
        }
    }
}

#[test]
fn the_page_of_variables_lists_those_that_are_read() {
    let mut found = BTreeSet::new();
    collect(&root(), &mut found);
    for other in OTHERS {
        found.remove(other);
    }
    assert!(found.len() > 20, "{found:?}");
    let page = read(Path::new("docs/reference/environment.md"));
    let tables: String = page.lines().filter(|line| line.starts_with("| `")).collect::<Vec<_>>().join("\n");
    let first = tables.lines().flat_map(|line| line.split('|').nth(1));
    let listed: BTreeSet<_> =
        first.flat_map(|cell| cell.split('`')).filter(|name| is_name(name)).map(str::to_owned).collect();
    let missing: Vec<_> = found.difference(&listed).collect();
    assert!(missing.is_empty(), "docs/reference/environment.md lacks {missing:?}");
    let unread = |name: &&String| name.starts_with("INART_") && !found.contains(*name);
    // The script that starts fuzz targets writes it, and a linker reads it.
    let stale: Vec<_> = listed.iter().filter(unread).filter(|name| *name != "INART_LIBFUZZER").collect();
    assert!(stale.is_empty(), "docs/reference/environment.md lists {stale:?}, which no source reads");
}

#[test]
fn names_are_those_of_reads() {
    let text = "std::env::var_os(\"PATH\") env(\"INART_A\") os.environ.get(\"B\", \"C\") env::var(\"D\") [\"E\"] ${INART_F:-}";
    let expected = ["B", "D", "INART_A", "INART_F", "PATH"];
    assert_eq!(names(text).iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
