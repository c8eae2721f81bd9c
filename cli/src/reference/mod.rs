//! The reference pages of the command line, `docs/reference/cli/`: a function of the parser alone.
//!
//! A test compares the pages with what the parser knows; `INART_WRITE=1` prints them again.
#![allow(clippy::unwrap_used, reason = "tests")]

mod flags;
mod page;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::CommandFactory;

use crate::commands::{
    apply::Apply, diff::Diff, emulate::Emulate, host::Host, plan::Plan, simulate::Simulate,
};
use crate::line::{ByNetwork, Entry};
use crate::parser::Cli;
use page::commands;

const ROOT: &str = env!("INART_ROOT");
const FOLDER: &str = "docs/reference/cli";
const HOW: &str = "print them with INART_WRITE=1 cargo test --workspace --bin inart reference";

/// Where `docs/SUMMARY.md` lists the pages.
const LISTED: &str = "- [Command line](reference/cli/README.md)\n";

/// Returns the entries of commands whose flags depend on the kind of network.
fn entries(command: &str) -> Vec<Entry> {
    match command {
        Plan::NAME => Plan::entries(),
        Apply::NAME => Apply::entries(),
        Diff::NAME => Diff::entries(),
        Host::NAME => Host::entries(),
        Emulate::NAME => Emulate::entries(),
        Simulate::NAME => Simulate::entries(),
        _ => Vec::new(),
    }
}

fn root() -> clap::Command {
    let mut root = Cli::command();
    root.build();
    root
}

/// Returns the pages of commands and the index, by file names.
fn pages(root: &clap::Command) -> BTreeMap<String, String> {
    let of = |command: &clap::Command| {
        let name = command.get_name();
        (format!("{name}.md"), page::command(command, &entries(name)))
    };
    let mut pages: BTreeMap<_, _> = commands(root).map(of).collect();
    pages.insert("README.md".to_owned(), page::index(root));
    pages
}

/// Returns the files of the folder with their texts.
fn printed(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    entries.map(read).collect()
}

/// Returns the summary with the commands below their index.
fn with_commands(summary: &str, root: &clap::Command) -> String {
    let (before, after) = summary.split_once(LISTED).expect("docs/SUMMARY.md lists the command line");
    let others = after.lines().skip_while(|line| line.starts_with("  ")).map(|line| format!("{line}\n"));
    let line = |command: &clap::Command| {
        let name = command.get_name();
        format!("  - [inart {name}](reference/cli/{name}.md)\n")
    };
    let listed = commands(root).map(line).collect::<String>();
    format!("{before}{LISTED}{listed}{}", others.collect::<String>())
}

#[test]
fn the_pages_of_commands_are_those_of_the_parser() {
    let (root, folder) = (root(), Path::new(ROOT).join(FOLDER));
    let (pages, path) = (pages(&root), Path::new(ROOT).join("docs/SUMMARY.md"));
    let summary = fs::read_to_string(&path).unwrap();
    let wanted = with_commands(&summary, &root);
    if std::env::var_os("INART_WRITE").is_some() {
        let _ = fs::remove_dir_all(&folder); // the first time, the folder does not exist
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in &pages {
            fs::write(folder.join(name), text).unwrap();
        }
        fs::write(&path, wanted).unwrap();
        return;
    }
    let printed = printed(&folder);
    let names = pages.keys().chain(printed.keys());
    let other: std::collections::BTreeSet<_> =
        names.filter(|name| pages.get(*name) != printed.get(*name)).collect();
    assert!(other.is_empty(), "{FOLDER}: {other:?} differ from the parser; {HOW}");
    assert!(summary == wanted, "docs/SUMMARY.md lists other commands than the parser has; {HOW}");
}

#[test]
fn a_page_has_every_flag_of_help() {
    let mut root = root();
    let pages = pages(&root);
    for command in root.get_subcommands_mut().filter(|command| !command.is_hide_set()) {
        let Some(page) = pages.get(&format!("{}.md", command.get_name())) else { continue };
        let help = command.render_long_help().to_string();
        // Lines of text have a deeper indent.
        let flags =
            help.lines().filter_map(|line| line.strip_prefix("      ")).filter(|line| line.starts_with("--"));
        for flag in flags.filter_map(|line| line.split(['[', '=', ' ', '<']).next()) {
            let is_listed = flag == "--json" || page.contains(&format!("| `{flag}"));
            assert!(is_listed, "{}.md: no {flag}", command.get_name());
        }
    }
}
