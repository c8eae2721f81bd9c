//! The committed charts are what the programs draw from the committed numbers. `UPDATE_CHARTS=1` redraws
//! them, for example after a change of the charts' layout.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use inart_experiments::{
    Cell, Comparison, ComparisonPanel, ComparisonRow, Entry, Experiment, PanelResult, PublishedEntry,
    PublishedNumber, PublishedValue, Row, RunResult, Statistics, comparison_svg, experiments, studies, svg,
};

type Record = BTreeMap<String, String>;

fn path(place: &str) -> String {
    format!("{}/{place}", env!("INART_ROOT"))
}

fn committed(place: &str) -> String {
    fs::read_to_string(path(place)).unwrap_or_else(|error| panic!("{place}: {error}; run make experiments"))
}

/// Returns the lines of a CSV file, in their order.
fn records(name: &str) -> Vec<Record> {
    let text = committed(&format!("experiments/results/{name}.csv"));
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// Names of results are constants of the library; those of a file live as long.
fn constant(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn statistics(record: &Record) -> Statistics {
    let values: Vec<f64> = record["values"].split(' ').map(|value| value.parse().unwrap()).collect();
    Statistics::of(&values)
}

fn figure(experiment: &Experiment) -> RunResult {
    let all = records(experiment.name);
    let panels = experiment.panels.iter().map(|panel| {
        let cell = |series: &str, x: &str| -> Option<Cell> {
            let is_it = |record: &&Record| {
                record["panel"] == panel.key && record["series"] == series && record["x"] == x
            };
            let record = all.iter().find(is_it)?;
            let paper = record["paper"].parse().ok();
            let source = constant(&record["paper_source"]);
            let paper = paper.map(|value| PublishedNumber { value, source, beyond: None });
            Some(Cell { here: statistics(record), paper, reference: None })
        };
        let row = |series: &inart_experiments::Series| {
            let cells = panel.points.iter().map(|point| cell(series.name(), &point.x));
            let cells = cells.collect::<Option<Vec<_>>>()?;
            Some(Row { series: *series, published_as: panel.published_name(*series), cells })
        };
        PanelResult {
            key: panel.key,
            title: panel.title,
            quantity: panel.quantity,
            name: panel.quantity.name(),
            unit: panel.quantity.unit(),
            axis: panel.axis,
            x: panel.points.iter().map(|point| point.x.clone()).collect(),
            rows: panel.series.iter().filter_map(row).collect(),
        }
    });
    RunResult {
        experiment: experiment.name,
        title: experiment.title,
        figure: experiment.figure,
        seeds: all[0]["seeds"].parse().unwrap(),
        command: None,
        panels: panels.collect(),
    }
}

/// Titles of panels are in no file of numbers. They are those of the committed chart: each stands below the
/// line "QUANTITY (UNIT)" of its panel.
fn compared(name: &str, all: &[Record]) -> Vec<ComparisonPanel> {
    let chart = committed(&format!("experiments/results/{name}.svg"));
    let drawn = texts(&chart);
    let mut from = 0;
    let mut panels: Vec<ComparisonPanel> = Vec::new();
    for record in all {
        let column = |name: &str| constant(&record[name]);
        if panels.last().is_none_or(|panel| panel.key != record["panel"]) {
            let heading = format!("{} ({})", record["quantity"], record["unit"]).to_lowercase();
            // A panel of words is not drawn, and a changed heading fails the comparison of texts.
            let place = drawn[from..].iter().position(|text| unescaped(text).to_lowercase() == heading);
            let title = place.and_then(|place| drawn.get(from + place + 1));
            from += place.map_or(0, |place| place + 2);
            panels.push(ComparisonPanel {
                key: column("panel"),
                title: title.map_or_else(String::new, |text| unescaped(text)),
                quantity: column("quantity"),
                unit: column("unit"),
                axis: column("x_axis"),
                rows: Vec::new(),
            });
        }
        let rows = &mut panels.last_mut().unwrap().rows;
        if rows.last().is_none_or(|row| row.x != record["x"]) {
            rows.push(ComparisonRow { x: record["x"].clone(), paper: None, here: None, optimized: None });
        }
        let row = rows.last_mut().unwrap();
        let entry = match record["values"].is_empty() {
            true => Entry::Words(record["mean"].clone()),
            false => Entry::Number(statistics(record)),
        };
        if record["series"] == "here" {
            row.here = Some(entry);
            let value = record["paper"].parse();
            row.paper = value.ok().map(|value| PublishedEntry {
                entry: PublishedValue::Value(value),
                source: column("paper_source"),
            });
        } else {
            row.optimized = Some(entry);
        }
    }
    panels
}

/// Returns a text of a chart without entities.
fn unescaped(text: &str) -> String {
    text.replace("&apos;", "'").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns the texts of a chart, in their order.
fn texts(svg: &str) -> Vec<&str> {
    let all = svg.split("<text").skip(1).filter_map(|text| text.split(['>', '<']).nth(1));
    all.map(str::trim).collect()
}

#[test]
fn charts_are_drawn_from_the_committed_numbers() {
    let figures = experiments().into_iter().map(|experiment| (experiment.name, svg(&figure(&experiment))));
    let comparisons = studies().filter_map(|study| {
        let all = records(study.name);
        let seeds = all[0].get("seeds")?.parse().unwrap();
        let panels = compared(study.name, &all);
        let comparison = Comparison { study: *study, seeds, command: None, panels };
        Some((study.name, comparison_svg(&comparison)))
    });
    let is_update = std::env::var_os("UPDATE_CHARTS").is_some();
    let mut count = 0;
    for (name, drawn) in figures.chain(comparisons) {
        count += 1;
        let place = format!("experiments/results/{name}.svg");
        if is_update {
            fs::write(path(&place), &drawn).unwrap();
        }
        assert_eq!(texts(&drawn), texts(&committed(&place)), "{place}: redraw it with UPDATE_CHARTS=1");
    }
    assert!(count > 50, "{count} charts");
}
