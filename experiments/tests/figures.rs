//! Experiments on few seeds: known numbers, reproducible files, valid charts.
#![allow(clippy::unwrap_used)]

use inart_experiments::{Cell, Experiment, Limit, RunResult, Series, csv, experiment, experiments, run, svg};

/// Returns the experiment with only these places on its x axes.
fn only(name: &str, x: &[&str]) -> Experiment {
    let mut experiment = experiment(name).unwrap();
    for panel in &mut experiment.panels {
        panel.points.retain(|point| x.contains(&point.x.as_str()));
    }
    experiment
}

fn result(experiment: Experiment, seeds: u64) -> RunResult {
    let result = run(&[experiment], seeds, &|_, _| ()).unwrap().remove(0);
    RunResult { command: Some("the command".into()), ..result }
}

fn cell<'r>(result: &'r RunResult, panel: &str, x: &str, series: &str) -> &'r Cell {
    let panel = result.panels.iter().find(|p| p.key == panel).unwrap();
    let x = panel.x.iter().position(|place| place == x).unwrap();
    &panel.rows.iter().find(|row| row.series.name() == series).unwrap().cells[x]
}

#[test]
fn fifty_workers_come_out_as_computed_by_hand() {
    let figure = result(only("inart-fig9", &["50"]), 2);
    for (series, mbps) in
        [("optimized", 7.2), ("bound", 7.2), ("lp", 9.538), ("lbmm", 1.6), ("atp-unlimited", 80.0 / 18.0)]
    {
        let here = &cell(&figure, "hom", "50", series).here;
        assert!((here.mean - mbps).abs() < 1e-4 && here.is_constant(), "{series}: {here:?}");
    }
    let rounded = &cell(&figure, "hom", "50", "r-inart").here;
    assert!((2.9..4.5).contains(&rounded.least) && rounded.least <= rounded.mean, "{rounded:?}");
    // Published as measured, above what unsplit plans can reach; below the LP.
    let published = cell(&figure, "het", "50", "inart").paper.as_ref().unwrap();
    assert_eq!((published.value, published.source, published.beyond), (8.73, "text", Some(Limit::Bound)));
    assert_eq!(cell(&figure, "hom", "50", "lbmm").paper.as_ref().unwrap().beyond, None);
}

#[test]
fn times_are_sizes_over_rates() {
    let figure = result(only("inart-fig10", &["lstm"]), 1);
    let seconds = |series| cell(&figure, "hom", "lstm", series).here.mean;
    assert!(
        (seconds("optimized") - 1627e3 * 8.0 / 8e6).abs() < 1e-4 && (seconds("lbmm") - 6.508).abs() < 1e-4
    );
    assert!(seconds("lp") < seconds("bound") + 1e-9 && seconds("bound") < seconds("optimized") + 1e-4);
    let testbed = result(only("inart-fig5", &["6"]), 1);
    // Without aggregation six workers share two servers of 46.2 Gbps; twice 548 MB.
    let seconds = cell(&testbed, "vgg19", "6", "lbmm").here.mean;
    assert!((seconds - 2.0 * 548e6 * 8.0 / (2.0 * 46.2e9 / 6.0)).abs() < 1e-9, "{seconds}");
}

#[test]
fn traffic_into_servers_counts_flows_and_sums() {
    let figure = result(only("inart-fig13", &["vgg19"]), 1);
    let megabytes = |series| cell(&figure, "hom", "vgg19", series).here.mean;
    assert!((megabytes("lbmm") - 40.0 * 0.548).abs() < 1e-9);
    assert!(
        megabytes("optimized") < megabytes("atp-unlimited") && megabytes("atp-unlimited") < megabytes("lbmm")
    );
    assert!(figure.panels[0].rows.iter().all(|row| !matches!(row.series, Series::Lp | Series::Bound)));
}

#[test]
fn files_come_out_the_same_and_say_how() {
    let [first, second] = [(); 2].map(|()| csv(&result(only("inart-fig9", &["10"]), 3)));
    assert_eq!(first, second);
    let mut lines = first.lines();
    assert_eq!(lines.next().unwrap(), "# the command");
    let header = "panel,x_axis,x,series,quantity,unit,mean,least,greatest,deviation,seeds,paper,paper_source,beyond,reference,values";
    assert_eq!(lines.next().unwrap(), header);
    let lbmm = lines.find(|line| line.starts_with("hom,workers,10,lbmm,")).unwrap();
    assert!(lbmm.starts_with("hom,workers,10,lbmm,Sending rate,Mbps,8.0000,8.0000,8.0000,"), "{lbmm}");
    assert!(lbmm.ends_with(",3,7.99,plot,,8,8.0000 8.0000 8.0000"), "{lbmm}");
}

/// Values of a line are those of its seeds, in their order: mean, least and greatest follow from them, and
/// fewer seeds give the first of them.
#[test]
fn the_value_of_every_seed_is_in_the_file() {
    let [few, more] = [2, 4].map(|seeds| csv(&result(only("inart-fig9", &["50"]), seeds)));
    let values = |text: &str| -> Vec<(String, Vec<f64>, [f64; 3])> {
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let rows = reader.deserialize().map(|row| {
            let row: std::collections::BTreeMap<String, String> = row.unwrap();
            let name = ["panel", "series", "x"].map(|column| row[column].clone()).join(" ");
            let values = row["values"].split(' ').map(|value| value.parse().unwrap()).collect();
            (name, values, ["mean", "least", "greatest"].map(|column| row[column].parse().unwrap()))
        });
        rows.collect()
    };
    let (few, more) = (values(&few), values(&more));
    assert_eq!((few.len(), few.len()), (3 * 8, more.len()));
    for ((name, values, [mean, least, greatest]), (_, first, _)) in more.iter().zip(&few) {
        assert_eq!((values.len(), &values[..2]), (4, &first[..]), "{name}");
        assert!((values.iter().sum::<f64>() / 4.0 - mean).abs() <= 1e-4 * mean, "{name}: {values:?}, {mean}");
        assert_eq!(values.iter().copied().fold(f64::INFINITY, f64::min), *least, "{name}");
        assert_eq!(values.iter().copied().fold(0.0, f64::max), *greatest, "{name}");
    }
    let even = more.iter().find(|(name, ..)| name == "hom r-inart 50").unwrap();
    assert!(even.1.iter().any(|value| *value != even.1[0]), "rounding draws: {even:?}");
}

#[test]
fn charts_and_tables_show_everything() {
    for name in ["inart-fig4", "inart-fig12"] {
        let figure = result(only(name, &["6", "10", "20"]), 2);
        let chart = svg(&figure);
        assert!(chart.starts_with("<svg") && chart.trim_end().ends_with("</svg>"));
        for row in figure.panels.iter().flat_map(|panel| &panel.rows).filter(|row| row.series.is_reached()) {
            assert!(chart.contains(row.series.name()), "{name} has no {}", row.series);
        }
        assert!(!chart.contains("NaN") && !chart.contains("inf"));
        let table = figure.to_string();
        for panel in &figure.panels {
            // Titles of charts begin with a capital letter.
            assert!(chart.contains(&panel.title[1..]) && table.contains(panel.title), "{}", panel.title);
        }
        for text in ["\ninart ", "InArt paper: InArt", "2 seeds"] {
            assert!(table.contains(text), "{name} has no {text}");
        }
    }
}

/// A chart without the published numbers loses one mark per number of a removed series, and one in the
/// legend.
#[test]
fn every_number_has_its_mark() {
    for name in ["inart-fig4", "inart-fig12"] {
        let mut figure = result(only(name, &["6", "10", "20"]), 2);
        let cells = figure.panels.iter_mut().flat_map(|panel| &mut panel.rows).flat_map(|row| &mut row.cells);
        cells.for_each(|cell| cell.paper = None);
        let marks = |figure: &RunResult| {
            let chart = svg(figure);
            chart.matches("<circle").count() + chart.matches("<rect").count()
        };
        let all = marks(&figure);
        let mut numbers = 0;
        for panel in &mut figure.panels {
            let at = panel.rows.iter().position(|row| row.series.name() == "lbmm").unwrap();
            numbers += panel.rows.remove(at).cells.len();
        }
        assert!(numbers > 1);
        assert_eq!(all - marks(&figure), numbers + 1, "{name}");
    }
}

/// The printed table and the file have the same numbers.
#[test]
fn the_table_has_every_number_of_the_file() {
    let figure = result(only("inart-fig9", &["10", "50"]), 2);
    let table = figure.to_string();
    let blocks = table.split("\n\n").filter(|block| block.starts_with("Sending rate"));
    let (mut shown, mut published) = (Vec::new(), Vec::new());
    for block in blocks {
        for line in block.lines().skip(2) {
            let line = line.replace(" ±", "±");
            let cells: Vec<String> = line.split_whitespace().rev().take(2).map(str::to_owned).collect();
            let target = match line.trim_start() {
                name if name.starts_with("reference") => continue,
                name if name.starts_with("InArt paper") => &mut published,
                _ => &mut shown,
            };
            target.extend(cells.into_iter().rev());
        }
    }
    let text = csv(&figure);
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let rows = reader.deserialize::<std::collections::BTreeMap<String, String>>().map(Result::unwrap);
    let (mut count, mut numbers) = (0, Vec::new());
    for (row, cell) in rows.zip(&shown) {
        let (mean, deviation) = cell.split_once('±').unwrap_or((cell, "0"));
        for (shown, exact) in [(mean, &row["mean"]), (deviation, &row["deviation"])] {
            let decimals = mean.split_once('.').map_or(0, |(_, part)| part.len() as i32);
            let [a, b] = [shown, exact].map(|text| text.parse::<f64>().unwrap());
            assert!((a - b).abs() <= 0.5001 * 10f64.powi(-decimals) + 1e-4 * b.abs(), "{cell} {row:?}");
        }
        let mark = match &*row["beyond"] {
            "bound" => "†",
            "lp" => "‡",
            _ => "",
        };
        numbers.extend((!row["paper"].is_empty()).then(|| format!("{}{mark}", row["paper"])));
        count += 1;
    }
    assert_eq!((count, shown.len()), (3 * 8 * 2, 3 * 8 * 2));
    assert_eq!(numbers.len(), published.len());
    assert_eq!(numbers, published);
}

#[test]
fn no_seeds_is_an_error() {
    let error = run(&experiments(), 0, &|_, _| ()).unwrap_err();
    assert_eq!(error.to_string(), "no seeds: ask for at least one");
}
