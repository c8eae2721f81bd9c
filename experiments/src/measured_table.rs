//! Measurements as Markdown tables, beside what was planned for the same network and what the InArt paper
//! shows.

use std::fmt::Write as _;

use inart_planner_aggregation::Scheme;

use crate::catalogue::{Experiment, Panel, Point};
use crate::measured::{MEASURED_SCHEMES, Measured};
use crate::published;
use crate::series::Series;
use crate::statistics::significant;

/// The tables of an experiment: of every panel and scheme of which something was measured.
pub fn measured_markdown(experiment: &Experiment, rows: &[Measured]) -> String {
    let mut text = String::new();
    for panel in experiment.panels.iter().filter(|panel| panel.is_measurable()) {
        let schemes = MEASURED_SCHEMES.iter().flat_map(|&scheme| lines(experiment.name, panel, scheme, rows));
        let lines: Vec<(String, Vec<String>)> = schemes.collect();
        if lines.is_empty() {
            continue;
        }
        let places: Vec<&str> = panel.points.iter().map(|point| point.x.as_str()).collect();
        let (name, unit) = (panel.quantity.name(), panel.quantity.unit());
        let _ = writeln!(text, "{name}, {unit}, measured, by {}: {}\n", panel.axis.name(), panel.title);
        let _ = writeln!(text, "| | {} |\n|---|{}", places.join(" | "), "--:|".repeat(places.len()));
        for (name, cells) in lines {
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
        text.push('\n');
    }
    text
}

/// Planned, measured by each kind of switch, and the InArt paper's; nothing if nothing was measured.
fn lines(
    experiment: &str,
    panel: &Panel,
    scheme: &'static dyn Scheme,
    rows: &[Measured],
) -> Vec<(String, Vec<String>)> {
    let find = |point: &Point, switch: &str| {
        let place = point.place(switch, scheme)?;
        rows.iter().find(|row| row.place() == place)?.figures(panel.quantity)
    };
    let mut switches: Vec<&str> = rows.iter().map(|row| row.switch.as_str()).collect();
    switches.sort_unstable();
    switches.dedup();
    let cells = |figure: &dyn Fn(&Point) -> Option<String>| -> Vec<String> {
        panel.points.iter().map(|point| figure(point).unwrap_or_default()).collect()
    };
    let measured = |switch: &str| cells(&|point| find(point, switch).map(|[own, _]| significant(own, 3)));
    let by_switch: Vec<_> = switches
        .iter()
        .map(|switch| (*switch, measured(switch)))
        .filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()))
        .collect();
    if by_switch.is_empty() {
        return Vec::new();
    }
    let planned = cells(&|point| {
        let [_, planned] = switches.iter().find_map(|switch| find(point, switch))?;
        Some(significant(planned, 3))
    });
    let mut lines = vec![(format!("**{scheme}** planned"), planned)];
    lines.extend(by_switch.into_iter().map(|(switch, cells)| {
        let on = if switch == "inart" { String::new() } else { format!(" on {switch}") };
        (format!("&emsp;measured{on}"), cells)
    }));
    if let Some((key, name)) = panel.paper.zip(panel.called(Series::Scheme(scheme))) {
        let paper = cells(&|point| {
            let number = published::paper(experiment, key, &point.x, name, panel.quantity.unit())?;
            Some(number.value.to_string())
        });
        if paper.iter().any(|cell| !cell.is_empty()) {
            lines.push((format!("&emsp;paper: {name}"), paper));
        }
    }
    lines
}
