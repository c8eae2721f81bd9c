//! Output of commands: documents on standard output, one line for an error.

use std::io::{self, Write};

use anyhow::Context;
use inart_report::Line;

use crate::commands::flags::with_flags;
use crate::renamed;

/// Writes to standard output. A closed pipe is not an error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("standard output"),
    }
}

/// Prints a line and flushes it, as other processes may wait for the line.
pub fn print_line(line: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).context("standard output")
}

/// Prints an event of a host process at once.
pub fn print_event(event: &Line) -> anyhow::Result<()> {
    print_line(&event.to_json())
}

/// Returns an error and its causes in one line, with the flags that follow its advice. A cause that the
/// error before it quotes is left out.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    let mut before = String::new();
    for cause in error.chain().map(|cause| flat(&cause.to_string())) {
        if !before.contains(&cause) {
            line += if line.is_empty() { "" } else { ": " };
            line += &cause;
            before = cause;
        }
    }
    with_flags(&line)
}

/// Returns the parser's message about wrong usage, without the synopsis, which `inart COMMAND --help` prints.
pub fn usage_line(message: &str) -> String {
    if let Some(line) = renamed::explained(message) {
        return line;
    }
    let about = |paragraph: &&str| !paragraph.starts_with("Usage:") && !paragraph.starts_with("For more");
    // The advice to pass a flag as a value is never right.
    let advice = |line: &&str| !line.trim_start().starts_with("tip: to pass ");
    let lines = |paragraph: &str| flat(&paragraph.lines().filter(advice).collect::<Vec<_>>().join("\n"));
    let paragraphs = message.split("\n\n").map(str::trim).filter(about).map(lines);
    let line = paragraphs.filter(|paragraph| !paragraph.is_empty()).collect::<Vec<_>>().join("; ");
    format!("{}; see --help", with_fix(&line))
}

/// Messages of Rust's number parsers, and the fix that users read instead.
const NUMBERS: [(&str, &str); 6] = [
    (": invalid digit found in string", ": give a whole number"),
    (": cannot parse integer from empty string", ": give a whole number"),
    (": number too large to fit in target type", ": give a smaller number"),
    (": number too small to fit in target type", ": give a greater number"),
    (": invalid float literal", ": give a number"),
    (": cannot parse float from empty string", ": give a number"),
];

/// Returns the line with the fix for a wrong number.
fn with_fix(line: &str) -> String {
    let line = NUMBERS.iter().fold(line.to_owned(), |line, (problem, fix)| line.replace(problem, fix));
    let range = line.split_once(" is not in ").and_then(|(before, range)| {
        let (least, most) = range.split_once("..")?;
        let (before, _) = before.rsplit_once(": ")?;
        Some((before.to_owned(), least.to_owned(), most.trim_start_matches('=').to_owned()))
    });
    let Some((before, least, most)) = range else { return line };
    // The largest numbers are those of the type, and no limit of the flag.
    let is_open = most.is_empty() || most == u32::MAX.to_string() || most == u64::MAX.to_string();
    match is_open {
        true => format!("{before}: give a whole number of at least {least}"),
        false => format!("{before}: give a whole number from {least} to {most}"),
    }
}

/// Returns the text without line breaks.
fn flat(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_printed_once() {
        let quoted = anyhow::anyhow!("no such file").context("net.yaml: no such file");
        assert_eq!(one_line(&quoted), "net.yaml: no such file");
        let broken = anyhow::anyhow!("no such\nfile").context("net.yaml");
        assert_eq!(one_line(&broken), "net.yaml: no such file");
    }

    #[test]
    fn wrong_numbers_name_the_fix() {
        for (message, line) in [
            (
                "error: invalid value 'x' for '--n <N>': invalid digit found in string",
                "'--n <N>': give a whole number",
            ),
            (
                "error: invalid value '-1' for '--n <N>': -1 is not in 0..=4294967295",
                "give a whole number of at least 0",
            ),
            (
                "error: invalid value '0' for '--n <N>': 0 is not in 1..=1000",
                "give a whole number from 1 to 1000",
            ),
            ("error: invalid value '9' for '--n <N>': 9 is not in 1..", "give a whole number of at least 1"),
            ("error: invalid value '' for '--c <C>': cannot parse float from empty string", "give a number"),
        ] {
            let usage = usage_line(&format!("{message}\n\nFor more information, try '--help'.\n"));
            assert!(usage.ends_with(&format!("{line}; see --help")), "{usage}");
        }
        let tips = "error: unexpected argument '--job' found\n\n  tip: a similar argument exists: '--jobs'\n  tip: to \
                    pass '--job' as a value, use '-- --job'\n\nUsage: inart\n";
        let printed =
            "error: unexpected argument '--job' found; tip: a similar argument exists: '--jobs'; see --help";
        assert_eq!(usage_line(tips), printed);
    }

    #[test]
    fn usage_becomes_a_line() {
        let message = "error: unexpected argument '--chek' found\n\n  tip: a similar argument exists: '--check'\n\n\
                       Usage: inart plan\n\nFor more information, try '--help'.\n";
        assert_eq!(
            usage_line(message),
            "error: unexpected argument '--chek' found; tip: a similar argument exists: '--check'; see --help"
        );
    }
}
