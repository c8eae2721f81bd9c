//! The commands that pages show exist, with their flags. `tests/tests/book/` checks links.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::path::PathBuf;
use std::process::Command;

use support::root;

/// README.md, the tutorials and the how-to pages.
fn pages() -> Vec<PathBuf> {
    let folder = |name: &str| {
        let entries = std::fs::read_dir(root().join("docs").join(name)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    [vec![root().join("README.md")], folder("tutorials"), folder("how-to")].concat()
}

#[test]
fn every_command_in_readme_tutorials_and_how_to_exists() {
    let seen: usize = pages().iter().map(commands_exist).sum();
    assert!(seen >= 100, "{seen} commands");
}

/// Asks for the help of each command of a page; returns how many there are.
fn commands_exist(page: &PathBuf) -> usize {
    let text = std::fs::read_to_string(page).unwrap();
    // What the shell is given, not what it prints.
    let shell = text.split("```sh").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = shell.flat_map(str::lines).filter(|line| line.starts_with("inart "));
    let commands = lines.flat_map(|line| line.split("; "));
    let mut seen = 0;
    for words in commands.filter_map(|command| command.trim().strip_prefix("inart ")) {
        let words: Vec<_> = words.split('#').next().unwrap().split_whitespace().collect();
        // Such as --version, which takes no --help.
        if words[0].starts_with("--") {
            continue;
        }
        // Flags depend on the kind of network if a file names one.
        let names_network = words.get(1).is_some_and(|word| word.starts_with("topologies/"));
        let depth = if words[0] == "topology" || names_network { 2 } else { 1 };
        let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
        // And on the order at a server.
        let order = words.iter().position(|word| *word == "--sync").map_or(&[][..], |at| &words[at..at + 2]);
        let racks =
            words.iter().any(|word| word.starts_with("--aggregated-groups")).then_some("--aggregated-groups");
        let command = command.args(&words[..depth]).args(order).args(racks).arg("--help");
        let help = command.current_dir(root()).output().unwrap();
        assert!(help.status.success(), "{}: inart {}", page.display(), words.join(" "));
        let help = String::from_utf8(help.stdout).unwrap();
        let options = words.iter().take_while(|word| **word != "--").filter(|word| word.starts_with("--"));
        for option in options {
            let name = option.split('=').next().unwrap();
            assert!(help.contains(name), "{}: inart {} has no {name}", page.display(), words[0]);
        }
        seen += 1;
    }
    seen
}
