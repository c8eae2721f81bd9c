//! Messages that the pages on troubleshooting and errors quote: the code prints them.

use std::path::Path;

use super::{read, root};

/// Returns the sources of the users' programs, with multi-line strings joined.
pub fn sources() -> String {
    const FOLDERS: [&str; 14] = [
        "cli",
        "controller",
        "emulator",
        "experiments",
        "host-agent",
        "p4",
        "planner",
        "protocol",
        "python",
        "simulator",
        "switch",
        "topologies",
        "transport",
        "examples",
    ];
    let mut text = String::new();
    for folder in FOLDERS {
        collect(&root().join(folder), &mut text);
    }
    let mut lines = text.lines();
    let mut joined = String::with_capacity(text.len());
    while let Some(line) = lines.next() {
        let mut line = line;
        while let Some(begun) = line.strip_suffix('\\') {
            joined += begun;
            line = lines.next().unwrap_or("").trim_start();
        }
        joined += line;
        joined.push('\n');
    }
    joined
}

fn collect(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !matches!(name, "tests" | "target" | "venv") {
                collect(&path, text);
            }
        } else if name.ends_with(".rs") || name.ends_with(".py") {
            *text += &std::fs::read_to_string(&path).unwrap();
            text.push('\n');
        }
    }
}

/// Runs of words between punctuation, without names, numbers and quoted values, of 12 bytes or more.
fn fragments(message: &str) -> Vec<String> {
    let is_value = |word: &&str| word.contains(|c: char| c.is_ascii_digit() || matches!(c, '"' | '…' | '\''));
    let mut found = Vec::new();
    for clause in message.split([':', ';', ',', '(', ')']) {
        let words: Vec<&str> = clause.split_whitespace().collect();
        found.extend(words.split(|word| is_value(word)).map(|run| run.join(" ")));
    }
    found.retain(|run| run.len() >= 12);
    found
}

/// Returns the first message in each row of a page's tables.
fn messages(page: &str) -> Vec<String> {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let spans = rows.filter_map(|row| row.split('`').nth(1));
    let quoted = spans.filter(|span| span.contains(' ') && !span.starts_with("inart "));
    quoted.filter(|span| !fragments(span).is_empty()).map(str::to_owned).collect()
}

#[test]
fn quoted_messages_are_those_that_the_code_prints() {
    let sources = sources();
    let is_printed = |message: &&String| fragments(message).iter().any(|part| sources.contains(part));
    for page in ["docs/how-to/troubleshoot.md", "docs/reference/errors.md"] {
        let messages = messages(&read(Path::new(page)));
        assert!(messages.len() >= 40, "{page}: {} messages", messages.len());
        let unknown: Vec<_> = messages.iter().filter(|message| !is_printed(message)).collect();
        assert!(unknown.is_empty(), "{page} quotes messages that no program prints: {unknown:#?}");
    }
    assert!(!is_printed(&&"the cable is of another color than planned".to_owned()));
}

#[test]
fn errors_are_sorted_by_message() {
    let found = messages(&read(Path::new("docs/reference/errors.md")));
    let found: Vec<_> = found.iter().map(|message| message.to_lowercase()).collect();
    assert!(found.iter().is_sorted(), "out of order: {:?}", found.windows(2).find(|two| two[0] > two[1]));
}
