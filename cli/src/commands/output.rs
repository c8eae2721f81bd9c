//! What commands print: documents on standard output, one line for an error.

use std::io::{self, Write};

use anyhow::Context;

use super::flags::with_flags;

/// Writes to standard output; a reader that has gone away is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("standard output"),
    }
}

/// An error and its causes in one line, with the flags for what it advises; a cause that the error before it
/// quotes already is left out.
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

/// The parser's message about wrong usage, less the usage itself: `inart COMMAND --help` has that.
pub fn usage_line(message: &str) -> String {
    let about = |paragraph: &&str| !paragraph.starts_with("Usage:") && !paragraph.starts_with("For more");
    let paragraphs = message.split("\n\n").map(str::trim).filter(about).map(flat);
    let line = paragraphs.filter(|paragraph| !paragraph.is_empty()).collect::<Vec<_>>().join("; ");
    format!("{line}; see --help")
}

/// Without line breaks.
fn flat(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let quoted = anyhow::anyhow!("no such file").context("net.yaml: no such file");
        assert_eq!(one_line(&quoted), "net.yaml: no such file");
        let told_apart = anyhow::anyhow!("no such\nfile").context("net.yaml");
        assert_eq!(one_line(&told_apart), "net.yaml: no such file");
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
