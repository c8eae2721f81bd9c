//! A result as tables: plain text for terminals, Markdown for documents.

use std::fmt::{self, Write as _};

use crate::result::{Beyond, Cell, PanelResult, RunResult};
use crate::statistics::significant;

/// A row of texts: a name, what of it, and one text per place on the x axis.
struct Line {
    name: String,
    cells: Vec<String>,
}

const FOOTNOTES: [(Beyond, &str, &str); 2] = [
    (Beyond::Bound, "†", "no unsplit plan reaches this on these networks (proven bound)"),
    (Beyond::Lp, "‡", "no plan reaches this on these networks, split or not (LP)"),
];

/// Ours (with the deviation over seeds where there is one), and below each series what others found for it.
fn lines(panel: &PanelResult) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in &panel.rows {
        let mut line = |name: String, cell: &dyn Fn(&Cell) -> String| {
            lines.push(Line { name, cells: row.cells.iter().map(cell).collect() });
        };
        line(row.series.to_string(), &|cell| cell.here.to_string());
        if row.cells.iter().any(|cell| cell.reference.is_some()) {
            line("  reference".to_owned(), &|cell| {
                cell.reference.map(|v| significant(v, 3)).unwrap_or_default()
            });
        }
        if row.cells.iter().any(|cell| cell.paper.is_some()) {
            line(format!("  paper: {}", row.in_the_paper.unwrap_or_default()), &paper);
        }
    }
    lines
}

fn paper(cell: &Cell) -> String {
    let Some(paper) = &cell.paper else { return String::new() };
    let mark = FOOTNOTES.iter().find(|(beyond, ..)| Some(*beyond) == paper.beyond);
    format!("{}{}", paper.value, mark.map_or("", |(_, mark, _)| mark))
}

fn heading(panel: &PanelResult) -> String {
    format!("{}, {}, by {}: {}", panel.name, panel.unit, panel.axis.name(), panel.title)
}

pub(crate) fn over(seeds: u64) -> String {
    if seeds == 1 { "One seed".to_owned() } else { format!("Mean ± standard deviation over {seeds} seeds") }
}

fn footnotes(result: &RunResult) -> String {
    let cells = || result.panels.iter().flat_map(|panel| &panel.rows).flat_map(|row| &row.cells);
    let mut text = String::new();
    for (beyond, mark, meaning) in FOOTNOTES {
        if cells().any(|cell| cell.paper.as_ref().is_some_and(|paper| paper.beyond == Some(beyond))) {
            let _ = writeln!(text, "{mark} {meaning}");
        }
    }
    text
}

impl fmt::Display for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = self.figure.map_or(String::new(), |figure| format!(" (Fig. {figure} of the paper)"));
        writeln!(f, "{}: {}{figure}", self.experiment, self.title)?;
        writeln!(f, "{}.", over(self.seeds))?;
        for panel in &self.panels {
            writeln!(f, "\n{}", heading(panel))?;
            let mut lines = lines(panel);
            lines.insert(0, Line { name: String::new(), cells: panel.x.clone() });
            let width = |texts: &mut dyn Iterator<Item = &String>| {
                texts.map(|text| text.chars().count()).max().unwrap_or(0)
            };
            let first = width(&mut lines.iter().map(|line| &line.name));
            let widths: Vec<usize> =
                (0..panel.x.len()).map(|i| width(&mut lines.iter().map(|line| &line.cells[i]))).collect();
            for line in lines {
                let mut text = format!("{:first$}", line.name);
                for (cell, width) in line.cells.iter().zip(&widths) {
                    let _ = write!(text, "  {cell:>width$}");
                }
                writeln!(f, "{}", text.trim_end())?;
            }
        }
        let footnotes = footnotes(self);
        if footnotes.is_empty() { Ok(()) } else { write!(f, "\n{footnotes}") }
    }
}

/// The same tables in Markdown.
pub fn markdown(result: &RunResult) -> String {
    let mut text = String::new();
    for panel in &result.panels {
        let _ = writeln!(text, "{}\n", heading(panel));
        let _ = writeln!(text, "| | {} |\n|---|{}", panel.x.join(" | "), "--:|".repeat(panel.x.len()));
        for line in lines(panel) {
            let name = match line.name.strip_prefix("  ") {
                Some(other) => format!("&emsp;{other}"),
                None => format!("**{}**", line.name),
            };
            let _ = writeln!(text, "| {name} | {} |", line.cells.join(" | "));
        }
        text.push('\n');
    }
    let notes = footnotes(result);
    if !notes.is_empty() {
        let _ = writeln!(text, "{}\n", notes.trim_end().replace('\n', ".<br>\n"));
    }
    let command = result.command.as_ref().map_or(String::new(), |command| format!(" `{command}`"));
    let _ = writeln!(text, "{}.{command}", over(result.seeds));
    text
}
