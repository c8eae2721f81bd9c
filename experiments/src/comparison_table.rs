//! A comparison as tables: plain text for terminals, Markdown for documents.

use std::fmt::{self, Write as _};

use crate::comparison::{Compared, Comparison, Study};
use crate::table::over;

fn heading(panel: &Compared) -> String {
    let unit = if panel.unit.is_empty() { String::new() } else { format!(", {}", panel.unit) };
    format!("{}{unit}, by {}: {}", panel.quantity, panel.axis, panel.title)
}

/// What is said below the tables, a paragraph each.
fn sentences(comparison: &Comparison) -> Vec<String> {
    let mut all = vec![comparison.study.differs.to_owned()];
    all.extend(comparison.study.unreached.map(|text| format!("Not reproduced: {text}")));
    all
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Study { name, title, place, paper, .. } = self.study;
        writeln!(f, "{name}: {title} ({place} of {paper})")?;
        if self.seeds > 0 {
            writeln!(f, "{}.", over(self.seeds))?;
        }
        for panel in &self.panels {
            writeln!(f, "\n{}", heading(panel))?;
            let head = ["paper", "here", "optimized"].map(str::to_owned);
            let mut lines = vec![(panel.axis.to_owned(), head)];
            lines.extend(panel.rows.iter().map(|row| (row.x.clone(), row.cells())));
            let first = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            let width =
                |at: usize| lines.iter().map(|(_, cells)| cells[at].chars().count()).max().unwrap_or(0);
            let widths = [0, 1, 2].map(width);
            for (name, cells) in &lines {
                let mut text = format!("{name:first$}");
                for (cell, width) in cells.iter().zip(widths) {
                    let _ = match panel.unit.is_empty() {
                        true => write!(text, "  {cell:width$}"),
                        false => write!(text, "  {cell:>width$}"),
                    };
                }
                writeln!(f, "{}", text.trim_end())?;
            }
        }
        for sentence in sentences(self) {
            writeln!(f, "\n{sentence}")?;
        }
        Ok(())
    }
}

/// The same tables in Markdown.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text = String::new();
    for panel in &comparison.panels {
        let align = if panel.unit.is_empty() { "---|" } else { "--:|" };
        let _ = writeln!(text, "{}\n", heading(panel));
        let _ = writeln!(text, "| {} | paper | here | `optimized` |\n|---|{}", panel.axis, align.repeat(3));
        for row in &panel.rows {
            let _ = writeln!(text, "| {} | {} |", row.x, row.cells().join(" | "));
        }
        text.push('\n');
    }
    for sentence in sentences(comparison) {
        let _ = writeln!(text, "{sentence}\n");
    }
    let over = if comparison.seeds > 0 { format!("{}. ", over(comparison.seeds)) } else { String::new() };
    let _ = writeln!(text, "{over}`{}`", comparison.command);
    text
}
