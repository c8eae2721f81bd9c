//! Tables of flags and of arguments without a flag.

use clap::Arg;

use super::text::{cell, code, split_default};

/// Returns the table of flags that help shows; empty without any.
pub fn flags<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let shown = arguments.filter(|one| is_shown(one) && !one.is_positional());
    let rows: Vec<_> = shown.map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("| Flag | Default | Meaning |\n|---|---|---|\n{}", rows.concat())
}

/// Returns the table of arguments without a flag; empty without any.
pub fn positionals<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let shown = arguments.filter(|one| is_shown(one) && one.is_positional());
    let row = |one: &Arg| format!("| {} | {} |\n", code(&one.to_string()), cell(&help(one)));
    let rows: Vec<_> = shown.map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("| Argument | Meaning |\n|---|---|\n{}", rows.concat())
}

/// Whether help shows the argument, and the index does not.
fn is_shown(one: &Arg) -> bool {
    !one.is_hide_set() && ["json", "help", "version"].iter().all(|name| one.get_id() != name)
}

fn row(one: &Arg) -> String {
    let help = help(one);
    let (text, default) = split_default(&help);
    let given = one.get_default_values();
    let default = match (given, default) {
        (given, None) if !given.is_empty() && !one.is_hide_default_value_set() && takes_values(one) => {
            let values: Vec<_> = given.iter().map(|value| value.to_string_lossy()).collect();
            code(&values.join(","))
        }
        (_, Some(words)) => cell(words),
        _ if one.is_required_set() => "required".to_owned(),
        _ => String::new(),
    };
    format!("| {} | {default} | {}{} |\n", code(&name(one)), cell(text), values(one))
}

/// Returns the flag with the names of its values, and its short name.
fn name(one: &Arg) -> String {
    let name = one.to_string();
    match one.get_short() {
        Some(short) if one.get_long().is_some() => format!("{name}, -{short}"),
        _ => name,
    }
}

fn takes_values(one: &Arg) -> bool {
    one.get_action().takes_values()
}

fn help(one: &Arg) -> String {
    one.get_long_help().or_else(|| one.get_help()).map(ToString::to_string).unwrap_or_default()
}

/// Returns the values that the flag may have, where those are listed.
fn values(one: &Arg) -> String {
    if !takes_values(one) {
        return String::new();
    }
    let possible = one.get_possible_values();
    let shown: Vec<_> = possible.iter().filter(|value| !value.is_hide_set()).collect();
    if shown.iter().any(|value| value.get_help().is_some()) {
        let line = |value: &&clap::builder::PossibleValue| {
            let help =
                value.get_help().map(|help| format!(": {}", cell(&help.to_string()))).unwrap_or_default();
            format!("<br>`{}`{help}", value.get_name())
        };
        return shown.iter().map(line).collect();
    }
    let names: Vec<_> = shown.iter().map(|value| format!("`{}`", value.get_name())).collect();
    if names.is_empty() { String::new() } else { format!("<br>One of {}", names.join(", ")) }
}
