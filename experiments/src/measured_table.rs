//! Measurements as text tables, next to the plans of the same network and the numbers of the InArt paper.

use std::fmt::Write as _;

use inart_planner_aggregation::Scheme;

use crate::catalog::{Experiment, Panel, Point};
use crate::layout::{Align, aligned};
use crate::measured::{EMBEDDED_SWITCH, MEASURED_SCHEMES, Measurement};
use crate::published;
use crate::series::Series;
use crate::statistics::significant;

/// Returns the tables of an experiment, of all panels and schemes with measurements.
pub fn measured_table(experiment: &Experiment, rows: &[Measurement]) -> String {
    let mut text = String::new();
    for panel in experiment.panels.iter().filter(|panel| panel.is_measurable()) {
        let schemes = MEASURED_SCHEMES.iter().flat_map(|&scheme| lines(experiment.name, panel, scheme, rows));
        let lines: Vec<Vec<String>> = schemes.collect();
        if lines.is_empty() {
            continue;
        }
        let places = panel.points.iter().map(|point| point.x.clone());
        let head = [String::new()].into_iter().chain(places).collect();
        let all: Vec<Vec<String>> = [head].into_iter().chain(lines).collect();
        let (name, unit, axis) = (panel.quantity.name(), panel.quantity.unit(), panel.axis.name());
        let _ = writeln!(text, "{name}, {unit}, measured, by {axis}: {}", panel.title);
        let _ = writeln!(text, "{}", aligned(&all, Align::Right));
    }
    text
}

/// Returns rows of a scheme: planned, measured by each kind of switch, and the InArt paper's. No row without
/// measurements.
fn lines(
    experiment: &str,
    panel: &Panel,
    scheme: &'static dyn Scheme,
    rows: &[Measurement],
) -> Vec<Vec<String>> {
    let find = |point: &Point, switch: &str| {
        let key = point.key(switch, scheme)?;
        rows.iter().find(|row| row.key() == key)?.figures(panel.quantity)
    };
    let mut switches: Vec<&str> = rows.iter().map(|row| row.switch.as_str()).collect();
    switches.sort_unstable();
    switches.dedup();
    let line = |name: String, figure: &dyn Fn(&Point) -> Option<String>| -> Vec<String> {
        let cells = panel.points.iter().map(|point| figure(point).unwrap_or_default());
        [name].into_iter().chain(cells).collect()
    };
    let is_empty = |line: &Vec<String>| line[1..].iter().all(String::is_empty);
    let measured = |switch: &&str| {
        let on = if *switch == EMBEDDED_SWITCH { String::new() } else { format!(" on {switch}") };
        line(format!("  measured{on}"), &|point| find(point, switch).map(|[own, _]| significant(own, 3)))
    };
    let by_switch: Vec<_> = switches.iter().map(measured).filter(|line| !is_empty(line)).collect();
    if by_switch.is_empty() {
        return Vec::new();
    }
    let planned = line(format!("{scheme} planned"), &|point| {
        let [_, planned] = switches.iter().find_map(|switch| find(point, switch))?;
        Some(significant(planned, 3))
    });
    let paper = panel.paper.zip(panel.published_name(Series::Scheme(scheme))).map(|(key, name)| {
        line(format!("  InArt paper: {name}"), &|point| {
            let number = published::paper(experiment, key, &point.x, name, panel.quantity.unit())?;
            Some(number.value.to_string())
        })
    });
    [planned].into_iter().chain(by_switch).chain(paper.filter(|line| !is_empty(line))).collect()
}
