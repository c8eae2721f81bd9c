//! The workspace's programs print the words of docs' style, and libraries name settings, not flags of
//! `inart`. Texts are the string literals of all sources but tests: also error messages, log lines and
//! summaries.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::banned::PRINTED;
use crate::help::parsers;

const ROOT: &str = env!("INART_ROOT");
const FOLDERS: [&str; 11] = [
    "cli",
    "controller",
    "emulator",
    "host-agent",
    "p4",
    "planner",
    "protocol",
    "simulator",
    "switch",
    "topologies",
    "transport",
];

/// Adds the Rust sources below a folder, without tests.
fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_test = name.contains("test") || matches!(name, "target" | "examples" | "benches");
        if path.is_dir() && !is_test {
            sources(&path, all);
        } else if name.ends_with(".rs") && !is_test {
            all.push(path);
        }
    }
}

/// Returns the string literals of a source before its unit tests, without continuations of lines.
fn literals(source: &str) -> Vec<String> {
    let end = source.match_indices("#[cfg(test)]").map(|(at, _)| at).find(|&at| {
        let item = &source[at..];
        let head = item.find(['{', ';']).filter(|&end| item[end..].starts_with('{'));
        head.is_some_and(|end| item[..end].contains("mod "))
    });
    let plain = without_raw(&source[..end.unwrap_or(source.len())]);
    let mut rest = &*plain;
    let mut found = Vec::new();
    while let Some(at) = rest.find(['"', '/', '\'']) {
        rest = &rest[at..];
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with('"') {
            let end = closing(rest);
            found.push(joined(&rest[1..end.unwrap_or(rest.len())]));
            end.map(|end| end + 1)
        } else {
            // The character `"`, or none that matters.
            Some(["'\"'", "'\\\"'"].iter().find(|text| rest.starts_with(**text)).map_or(1, |text| text.len()))
        };
        rest = &rest[end.unwrap_or(rest.len())..];
    }
    found
}

/// Returns the text without raw string literals: programs and documents.
fn without_raw(text: &str) -> String {
    let Some((before, rest)) = text.split_once("r#\"") else { return text.to_owned() };
    let after = rest.split_once("\"#").map_or("", |(_, after)| after);
    format!("{before}{}", without_raw(after))
}

/// Returns the end of the string literal at the start of a text.
fn closing(text: &str) -> Option<usize> {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map(|(at, _)| at)
}

fn joined(literal: &str) -> String {
    let mut lines = literal.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start())
}

/// Returns a text as lower-case words with single spaces around each, without names in braces.
fn words(text: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0_i32;
    for c in text.chars() {
        depth += i32::from(c == '{');
        plain.push(if depth > 0 { ' ' } else { c });
        depth -= i32::from(c == '}');
    }
    let words = plain.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" ").to_lowercase())
}

/// Texts of the folders that are sentences: names and keys have no spaces.
fn texts(folders: &[&str]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in folders {
        sources(&Path::new(ROOT).join(folder), &mut files);
    }
    let mut all = Vec::new();
    for file in files {
        let place = file.strip_prefix(ROOT).unwrap().display().to_string();
        let source = std::fs::read_to_string(&file).unwrap();
        // Texts with line feeds of their own are programs.
        let is_sentence = |text: &String| text.contains(' ') && !text.contains('\n');
        let sentences = literals(&source).into_iter().filter(is_sentence);
        all.extend(sentences.map(|text| (place.clone(), text)));
    }
    all
}

/// Whether users read the texts of a file: not those of these tests, and not programs in Python.
fn is_read(place: &str) -> bool {
    const NOT_READ: [&str; 5] = [
        "cli/src/banned.rs",
        "cli/src/help.rs",
        "cli/src/words.rs",
        "cli/src/documented.rs",
        "emulator/src/sites/ready.rs",
    ];
    !NOT_READ.contains(&place)
}

#[test]
fn what_programs_print_has_no_banned_words() {
    let all = texts(&FOLDERS);
    assert!(all.len() > 3000, "{} texts", all.len());
    let banned = |text: &str| {
        let words = words(text);
        PRINTED.iter().find(|word| words.contains(&format!(" {word} "))).copied()
    };
    let wrong: Vec<_> = all
        .iter()
        .filter(|(place, _)| is_read(place))
        .filter_map(|(place, text)| banned(text).map(|word| format!("{place}: {word:?} in {text:?}")))
        .collect();
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn libraries_name_no_flags() {
    let flags: BTreeSet<String> = parsers()
        .iter()
        .flat_map(|(_, parser)| parser.get_arguments())
        .filter_map(|argument| argument.get_long().map(str::to_owned))
        .collect();
    assert!(flags.len() > 150, "{} flags", flags.len());
    let named = |text: &str| {
        let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        words.find(|word| word.strip_prefix("--").is_some_and(|flag| flags.contains(flag))).map(str::to_owned)
    };
    let wrong: Vec<_> = texts(&FOLDERS[1..])
        .iter()
        .filter_map(|(place, text)| named(text).map(|flag| format!("{place}: {flag} in {text:?}")))
        .collect();
    assert!(wrong.is_empty(), "name the setting; the command adds its flag:\n{}", wrong.join("\n"));
}

/// Places of a folder's sources that say "the paper", of four. The count of experiments may only fall.
#[test]
fn papers_have_names() {
    let count = |text: &str| text.to_lowercase().matches("the paper").count();
    for (folder, most) in FOLDERS.map(|folder| (folder, 0)).into_iter().chain([("experiments", 68)]) {
        let mut files = Vec::new();
        sources(&Path::new(ROOT).join(folder), &mut files);
        files.retain(|file| is_read(file.strip_prefix(ROOT).unwrap().to_str().unwrap()));
        let of = |file: &PathBuf| {
            // The title of a section is quoted as it is.
            count(&std::fs::read_to_string(file).unwrap().replace("How the paper is read", ""))
        };
        let here: usize = files.iter().map(of).sum();
        assert!(here <= most, "{folder}: {here} times \"the paper\", {most} before; name the paper");
    }
}

#[test]
fn strings_are_found_in_sources() {
    let source = "// \"not this\"\nlet c = '\"'; f(\"one \\\"two\\\"\", \"a \\\n    b\");\n#[cfg(test)]\nmod t {\"no\"}";
    assert_eq!(literals(source), ["one \\\"two\\\"", "a b"]);
    assert_eq!(words("the job {told} ended; is None"), " the job ended is none ");
}
