//! Comparison as a text table.

use std::fmt;

use crate::comparison::{Comparison, ComparisonPanel, Study};
use crate::layout::{Align, aligned};
use crate::table::over;

fn heading(panel: &ComparisonPanel) -> String {
    let unit = if panel.unit.is_empty() { String::new() } else { format!(", {}", panel.unit) };
    format!("{}{unit}, by {}: {}", panel.quantity, panel.axis, panel.title)
}

fn rows(study: &Study, panel: &ComparisonPanel) -> Vec<Vec<String>> {
    let paper = format!("{} paper", study.paper);
    let head = vec![panel.axis.to_owned(), paper, "here".to_owned(), "optimized".to_owned()];
    let cells = panel.rows.iter().map(|row| [row.x.clone()].into_iter().chain(row.cells()).collect());
    [head].into_iter().chain(cells).collect()
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Study { name, title, differs, unreached, .. } = self.study;
        writeln!(f, "{name}: {title} ({})", self.study.source())?;
        if self.seeds > 0 {
            writeln!(f, "{}.", over(self.seeds))?;
        }
        for panel in &self.panels {
            let align = if panel.unit.is_empty() { Align::Left } else { Align::Right };
            write!(f, "\n{}\n{}", heading(panel), aligned(&rows(&self.study, panel), align))?;
        }
        writeln!(f, "\n{differs}")?;
        unreached.map_or(Ok(()), |text| writeln!(f, "\nNot reproduced: {text}"))
    }
}
