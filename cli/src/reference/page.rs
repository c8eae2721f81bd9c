//! The page of a command, and the index.

use std::fmt::Write as _;

use super::flags::{flags, positionals};
use super::text::cell;
use crate::line::Entry;

/// The heading of flags that have none of their own.
const FLAGS: &str = "Flags";

/// Returns the page of a command, whose flags come from these entries, if its networks have kinds.
pub fn command(command: &clap::Command, entries: &[Entry]) -> String {
    let name = command.get_name();
    let mut out = format!("# inart {name}\n\nLook up here the flags of `inart {name}`. ");
    let is_one = commands(command).next().is_none();
    if !is_one {
        out += "Each subcommand has a section. ";
    }
    out += "The parser of `inart` prints this page.\n\n";
    if entries.is_empty() {
        body(&mut out, command, &format!("inart {name}"), 2);
    } else {
        start(&mut out, command, &format!("inart {name}"), 2);
        for entry in entries {
            let mut parser = entry.parser();
            parser.build();
            section(&mut out, 2, entry.section.heading, &flags(parser.get_arguments()));
        }
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// Commands that help lists, in its order.
pub fn commands(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help")
}

/// Writes a command's description, synopsis, arguments and flags, and its subcommands below.
fn body(out: &mut String, command: &clap::Command, path: &str, level: usize) {
    start(out, command, path, level);
    let headings = command.get_arguments().map(|one| one.get_help_heading().unwrap_or(FLAGS));
    let mut seen = Vec::new();
    for heading in headings {
        if seen.contains(&heading) {
            continue;
        }
        let own = command.get_arguments().filter(|one| one.get_help_heading().unwrap_or(FLAGS) == heading);
        section(out, level, heading, &flags(own));
        seen.push(heading);
    }
    for one in commands(command) {
        let path = format!("{path} {}", one.get_name());
        let _ = write!(out, "## {path}\n\n");
        body(out, one, &path, 3);
    }
}

/// Writes description, synopsis and arguments.
fn start(out: &mut String, command: &clap::Command, path: &str, level: usize) {
    let about = command.get_long_about().or_else(|| command.get_about());
    if let Some(about) = about {
        let _ = write!(out, "{}.\n\n", cell(&about.to_string()).trim_end_matches('.'));
    }
    let usage = command.clone().bin_name(path).render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).trim();
    let _ = write!(out, "```text\n{usage}\n```\n\n");
    section(out, level, "Arguments", &positionals(command.get_arguments()));
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        let _ = write!(out, "{}\n\n", cell(&after.to_string()));
    }
}

fn section(out: &mut String, level: usize, heading: &str, table: &str) {
    if !table.is_empty() {
        let _ = write!(out, "{} {heading}\n\n{table}\n", "#".repeat(level));
    }
}

/// Returns the list of commands.
pub fn index(root: &clap::Command) -> String {
    let mut out =
        "# Command line\n\nLook up here which commands `inart` has. Each command has a page with its \
                   synopsis, arguments and flags.\nThe parser of `inart` prints these pages.\n\n\
                   | Command | Meaning |\n|---|---|\n"
            .to_owned();
    for command in commands(root) {
        let (name, about) = (command.get_name(), command.get_about().map(ToString::to_string));
        let about = cell(&about.unwrap_or_default());
        let _ = writeln!(out, "| [inart {name}]({name}.md) | {about} |");
    }
    out += "\n## Flags of every command\n\n| Flag | Meaning |\n|---|---|\n";
    for one in root.get_arguments().filter(|one| !one.is_hide_set()) {
        let help = one.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "| `{one}` | {} |", cell(&help));
    }
    out
}
