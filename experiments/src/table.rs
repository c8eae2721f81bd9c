//! Result as a text table.

use std::fmt::{self, Write as _};

use crate::layout::{Align, aligned};
use crate::result::{Cell, Limit, PanelResult, RunResult};
use crate::statistics::significant;

const FOOTNOTES: [(Limit, &str, &str); 2] = [
    (Limit::Bound, "†", "no unsplit plan reaches this on these networks (proven bound)"),
    (Limit::Lp, "‡", "no plan reaches this on these networks, split or not (LP)"),
];

/// Returns rows of cells: ours, with the deviation over seeds if there is one, and below each series the
/// numbers of others.
fn rows(panel: &PanelResult) -> Vec<Vec<String>> {
    let mut rows = vec![[String::new()].into_iter().chain(panel.x.iter().cloned()).collect()];
    for row in &panel.rows {
        let mut add = |name: String, cell: &dyn Fn(&Cell) -> String| {
            rows.push([name].into_iter().chain(row.cells.iter().map(cell)).collect());
        };
        add(row.series.to_string(), &|cell| cell.here.to_string());
        if row.cells.iter().any(|cell| cell.reference.is_some()) {
            add("  reference".to_owned(), &|cell| {
                cell.reference.map(|v| significant(v, 3)).unwrap_or_default()
            });
        }
        if row.cells.iter().any(|cell| cell.paper.is_some()) {
            add(format!("  InArt paper: {}", row.published_as.unwrap_or_default()), &published);
        }
    }
    rows
}

fn published(cell: &Cell) -> String {
    let Some(paper) = &cell.paper else { return String::new() };
    let mark = FOOTNOTES.iter().find(|(limit, ..)| Some(*limit) == paper.beyond);
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
    for (limit, mark, meaning) in FOOTNOTES {
        if cells().any(|cell| cell.paper.as_ref().is_some_and(|paper| paper.beyond == Some(limit))) {
            let _ = writeln!(text, "{mark} {meaning}");
        }
    }
    text
}

impl fmt::Display for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure =
            self.figure.map_or(String::new(), |figure| format!(" (Fig. {figure} of the InArt paper)"));
        writeln!(f, "{}: {}{figure}", self.experiment, self.title)?;
        writeln!(f, "{}.", over(self.seeds))?;
        for panel in &self.panels {
            write!(f, "\n{}\n{}", heading(panel), aligned(&rows(panel), Align::Right))?;
        }
        let footnotes = footnotes(self);
        if footnotes.is_empty() { Ok(()) } else { write!(f, "\n{footnotes}") }
    }
}
