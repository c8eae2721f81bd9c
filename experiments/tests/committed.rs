//! Committed results, `experiments/results/`, are those that the experiments give.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use inart_experiments::{
    EMBEDDED_SWITCH, LinkRates, MEASURED_SCHEMES, MEASURED_SEED, Network, csv, experiment, experiments,
    measured_table, read_measured, run,
};
use inart_planner_aggregation::{Options, Results, plan, schemes};

const SEEDS: u64 = 30;

fn committed(place: &str) -> String {
    let path = format!("{}/{place}", env!("INART_ROOT"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}; run make experiments"))
}

/// Returns the rows of a CSV file by panel, series and place, without the comment above them.
fn rows(text: &str) -> BTreeMap<[String; 3], BTreeMap<String, String>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let rows = reader.deserialize().map(|row| {
        let row: BTreeMap<String, String> = row.unwrap();
        (["panel", "series", "x"].map(|name| row[name].clone()), row)
    });
    rows.collect()
}

/// Numbers that need no search are the same to the last digit. Rates of our scheme and its proven bounds
/// may only have improved.
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

/// Measurements are complete for the embedded switch in both scenarios, and on the networks that they name.
/// The printed tables have all of them.
#[test]
fn measurements_are_complete_and_printed() {
    let rows = read_measured(&committed("experiments/results/measured.csv")).unwrap();
    let mut shown = 0;
    for experiment in experiments() {
        for point in experiment.measurable_points() {
            for scheme in MEASURED_SCHEMES {
                let key = point.key(EMBEDDED_SWITCH, scheme).unwrap();
                let count = rows.iter().filter(|row| row.key() == key).count();
                // The heterogeneous scenario by its words takes longest and is measured in part only.
                assert!(count == 1 || count == 0 && key.links == "het-all", "{key:?}: {count}");
                shown += count;
            }
        }
        // Rows of the embedded switch: one number per point and scheme.
        let table = measured_table(&experiment, &rows);
        let lines = table.lines().filter_map(|line| line.strip_prefix("  measured "));
        let numbers = lines.filter(|line| !line.trim_start().starts_with("on "));
        shown -= numbers.map(|line| line.split_whitespace().count()).sum::<usize>();
        assert_eq!(shown, 0, "{}: {table}", experiment.name);
    }
    for row in &rows {
        assert!(row.sums > 0 && row.rate_bps > 0.0 && row.seed == MEASURED_SEED, "{row:?}");
        // Measurement with version 1 of the header: frames of 1064 bytes, 1024 of them values.
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
