//! What is committed, experiments/results/ and docs/reproduction.md, is what the experiments print.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use inart_experiments::{
    LinkRates, MEASURED_SCHEMES, MEASURED_SEED, Network, csv, experiment, experiments, measured_markdown,
    read_measured, run,
};
use inart_planner_aggregation::{Options, Results, plan, schemes};

const SEEDS: u64 = 30;

fn committed(place: &str) -> String {
    let path = format!("{}/{place}", env!("INART_ROOT"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}; run make experiments"))
}

/// The rows of a CSV file by panel, series and place, without the comment above them.
fn rows(text: &str) -> BTreeMap<[String; 3], BTreeMap<String, String>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let rows = reader.deserialize().map(|row| {
        let row: BTreeMap<String, String> = row.unwrap();
        (["panel", "series", "x"].map(|name| row[name].clone()), row)
    });
    rows.collect()
}

/// What needs no planner at its best is the same to the last digit; what ours reaches, and what is proven of
/// it, may only have become better since.
#[test]
fn a_sweep_run_again_gives_the_committed_numbers() {
    let mut figure = experiment("inart-fig9").unwrap();
    for panel in &mut figure.panels {
        panel.points.retain(|point| point.x == "10");
    }
    let again = rows(&csv(&run(&[figure], SEEDS, &|_, _| ()).unwrap()[0]));
    let before = rows(&committed("experiments/results/inart-fig9.csv"));
    assert_eq!(again.len(), 3 * 8);
    for (key, row) in &again {
        let before = &before[key];
        let mean = |row: &BTreeMap<String, String>| row["mean"].parse::<f64>().unwrap();
        // Numbers are written with five digits.
        let (now, then, digit) = (mean(row), mean(before), 1e-4 * mean(row));
        match key[1].as_str() {
            "lbmm" | "atp" | "atp-unlimited" => assert_eq!(row, before),
            "lp" => assert!((now - then).abs() <= digit, "{key:?}: {now}, committed {then}"),
            "optimized" => assert!(now >= then - digit, "{key:?}: {now}, committed {then}"),
            "bound" => assert!(now <= then + digit, "{key:?}: {now}, committed {then}"),
            "inart" | "r-inart" => {
                assert!(now <= mean(&again[&[key[0].clone(), "optimized".into(), key[2].clone()]]))
            }
            other => panic!("{other} is not compared"),
        }
    }
}

#[test]
fn results_are_complete() {
    for experiment in experiments() {
        let text = committed(&format!("experiments/results/{}.csv", experiment.name));
        let command = format!("# inart experiment {} --seeds {SEEDS}", experiment.name);
        assert_eq!(text.lines().next().unwrap(), command);
        let rows = rows(&text);
        for panel in &experiment.panels {
            for series in panel.series.iter().filter(|series| series.is_reached()) {
                for point in &panel.points {
                    let key = [panel.key.to_owned(), series.to_string(), point.x.clone()];
                    assert!(rows.contains_key(&key), "{}: no {key:?}", experiment.name);
                }
            }
        }
        let chart = committed(&format!("experiments/results/{}.svg", experiment.name));
        assert!(
            chart.contains(experiment.title) && chart.contains(&format!("{SEEDS} seeds")),
            "{}",
            experiment.name
        );
    }
}

/// Every number of a table stands in the CSV file, and every number of the CSV file in a table.
#[test]
fn tables_of_the_document_are_the_csv_files() {
    let document = committed("docs/reproduction.md");
    for experiment in experiments() {
        let (name, mut left) =
            (experiment.name, rows(&committed(&format!("experiments/results/{}.csv", experiment.name))));
        let (_, table) = document.split_once(&format!("<!-- table {name} -->\n")).unwrap();
        let (table, _) = table.split_once("<!-- end -->").unwrap();
        let mut panels = experiment.panels.iter();
        let (mut panel, mut series, mut places) = ("", String::new(), Vec::new());
        for line in table.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---")) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let (head, cells) = (cells[0], &cells[1..]);
            if head.is_empty() {
                panel = panels.next().unwrap().key;
                places = cells.iter().map(|&x| x.to_owned()).collect();
                continue;
            }
            let other = head.strip_prefix("&emsp;");
            if other.is_none() {
                series = head.trim_matches('*').to_owned();
            }
            for (cell, x) in cells.iter().zip(&places) {
                let row = left.get_mut(&[panel.to_owned(), series.clone(), x.clone()]).unwrap();
                let shown = match other {
                    None => {
                        let (mean, deviation) = cell.split_once(" ±").unwrap_or((cell, "0"));
                        same(deviation, &row["deviation"], decimals(mean));
                        same(mean, &row["mean"], decimals(mean));
                        "mean"
                    }
                    Some("reference") => {
                        same(cell, &row["reference"], decimals(cell));
                        "reference"
                    }
                    Some(_) => {
                        assert_eq!(cell.trim_end_matches(['†', '‡']), row["paper"], "{name} {line}");
                        let beyond = match cell.chars().last() {
                            Some('†') => "bound",
                            Some('‡') => "lp",
                            _ => "",
                        };
                        assert_eq!(beyond, row["beyond"], "{name} {line}");
                        "paper"
                    }
                };
                row.insert(shown.to_owned(), String::new());
            }
        }
        for (key, row) in left {
            assert!(
                ["mean", "reference", "paper"].iter().all(|column| row[*column].is_empty()),
                "{name}: no {key:?}"
            );
        }
    }
}

/// What was measured is complete for the embedded switch in both scenarios, on the networks that it says, and
/// in the document.
#[test]
fn measurements_are_complete_and_in_the_document() {
    let rows = read_measured(&committed("experiments/results/measured.csv")).unwrap();
    let document = committed("docs/reproduction.md");
    for experiment in experiments() {
        for point in experiment.measurable_points() {
            for scheme in MEASURED_SCHEMES {
                let place = point.place("inart", scheme).unwrap();
                let count = rows.iter().filter(|row| row.place() == place).count();
                // The heterogeneous scenario by its words takes longest and is measured in part only.
                assert!(count == 1 || count == 0 && place.links == "het-all", "{place:?}: {count}");
            }
        }
        if experiment.measurable_points().count() > 0 {
            let (_, table) =
                document.split_once(&format!("<!-- table {}-measured -->\n", experiment.name)).unwrap();
            let (table, _) = table.split_once("<!-- end -->").unwrap();
            assert_eq!(table.trim(), measured_markdown(&experiment, &rows).trim(), "{}", experiment.name);
        }
    }
    for row in &rows {
        assert!(row.sums > 0 && row.rate_bps > 0.0 && row.seed == MEASURED_SEED, "{row:?}");
        // Measured with version 1 of the header: frames of 1064 bytes, 1024 of them values.
        assert!(row.ingress_bytes > row.planned_ingress_bytes, "{row:?}");
        let links = [LinkRates::Equal, LinkRates::DrawnInFabric, LinkRates::Drawn];
        let links = links.into_iter().find(|links| links.key() == row.links).unwrap();
        if row.scheme == "lbmm" && row.servers == 4 {
            let network = Network::FatTree { links, servers: row.servers, workers: row.workers };
            let topology = network.topology(row.seed);
            let options = Options { results: Results::Ignored, ..Options::new(schemes::LBMM) };
            let plan = plan(&topology, &topology.jobs()[0], &options).unwrap();
            assert!((plan.rate_bps - row.planned_rate_bps).abs() <= 1.0, "{row:?}");
        }
    }
}

fn decimals(number: &str) -> i32 {
    number.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32)
}

/// Equal up to the rounding to so many decimals; a cell without a number is one in both.
fn same(shown: &str, exact: &str, decimals: i32) {
    if shown.is_empty() || exact.is_empty() {
        assert_eq!(shown, exact);
        return;
    }
    let (a, b): (f64, f64) = (shown.parse().unwrap(), exact.parse().unwrap());
    assert!(
        (a - b).abs() <= 0.5001 * 10f64.powi(-decimals) + 1e-4 * b.abs(),
        "{shown} in the document, {exact} in the CSV file"
    );
}
