//! Help texts as Markdown in the cell of a table.

/// Returns a help text in one line: `<br>` between paragraphs, signs of Markdown and HTML escaped, pages as
/// links.
pub fn cell(help: &str) -> String {
    let paragraphs = help.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>());
    let text = paragraphs.map(|words| words.join(" ")).collect::<Vec<_>>().join("<br>");
    let parts = text.split('`').enumerate();
    let escaped = parts.map(|(nth, part)| match nth % 2 {
        0 => linked(&part.replace('|', "\\|").replace('*', "\\*").replace('<', "\\<"))
            .replace("\\<br>", "<br>"),
        _ => part.replace('|', "\\|"),
    });
    escaped.collect::<Vec<_>>().join("`")
}

/// Returns a code span in a cell.
pub fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// Returns the text with links for `docs/….md`.
fn linked(text: &str) -> String {
    const DOCS: &str = "docs/";
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(DOCS) {
        out += before;
        match after.split_once(".md") {
            Some((page, behind)) if page.chars().all(|c| c.is_alphanumeric() || "-/_".contains(c)) => {
                out += &format!("[{page}.md](../../{page}.md)");
                rest = behind;
            }
            _ => {
                out += DOCS;
                rest = after;
            }
        }
    }
    out + rest
}

/// Splits a default in words off the end of a help text: `Rounds [default: all]`.
pub fn split_default(help: &str) -> (&str, Option<&str>) {
    let parts = help.trim_end().strip_suffix(']').and_then(|text| text.rsplit_once("[default: "));
    match parts {
        Some((text, default)) if !default.contains(['[', ']']) => (text.trim_end(), Some(default)),
        _ => (help, None),
    }
}

#[test]
fn help_is_a_cell_of_a_table() {
    assert_eq!(cell("One\nline\n\nand `a|b` | <c> *"), "One line<br>and `a\\|b` \\| \\<c> \\*");
    assert_eq!(
        cell("See (docs/how-to/tls.md), not docs/ alone"),
        "See ([how-to/tls.md](../../how-to/tls.md)), not docs/ alone"
    );
    assert_eq!(split_default("Rounds [default: all of them]"), ("Rounds", Some("all of them")));
    assert_eq!(split_default("Rates like [1, 2]"), ("Rates like [1, 2]", None));
}
