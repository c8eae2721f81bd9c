//! What the documents name is there.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::root;

fn documents() -> Vec<PathBuf> {
    let markdown = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect::<Vec<_>>()
    };
    ["", "docs", "docs/decisions"].iter().flat_map(|folder| markdown(&root().join(folder))).collect()
}

#[test]
fn every_linked_file_exists() {
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
            assert!(document.parent().unwrap().join(link).exists(), "{} links {link}", document.display());
        }
    }
}

#[test]
fn every_command_in_the_readme_exists() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    // What the shell is given, not what it prints.
    let shell = readme.split("```sh").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = shell.flat_map(str::lines).filter(|line| line.starts_with("inart "));
    let commands = lines.flat_map(|line| line.split("; "));
    let mut seen = 0;
    for words in commands.filter_map(|command| command.trim().strip_prefix("inart ")) {
        let words: Vec<_> = words.split('#').next().unwrap().split_whitespace().collect();
        // Flags hang on the kind of network, where a file names one.
        let names_network = words.get(1).is_some_and(|word| word.starts_with("topologies/"));
        let depth = if words[0] == "topology" || names_network { 2 } else { 1 };
        let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
        // And on the order at a server.
        let order = words.iter().position(|word| *word == "--sync").map_or(&[][..], |at| &words[at..at + 2]);
        let racks = words.iter().any(|word| word.starts_with("--racks")).then_some("--racks");
        let command = command.args(&words[..depth]).args(order).args(racks).arg("--help");
        let help = command.current_dir(root()).output().unwrap();
        assert!(help.status.success(), "inart {}", words.join(" "));
        let help = String::from_utf8(help.stdout).unwrap();
        let options = words.iter().take_while(|word| **word != "--").filter(|word| word.starts_with("--"));
        for option in options {
            let name = option.split('=').next().unwrap();
            assert!(help.contains(name), "inart {} has no {name}", words[0]);
        }
        seen += 1;
    }
    assert!(seen >= 8, "{seen} commands in README.md");
}
