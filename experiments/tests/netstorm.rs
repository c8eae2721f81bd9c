//! Committed results of the NETSTORM, SELMCAST and R²SP papers' studies are complete; the forms of a
//! comparison.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use inart_experiments::{
    Comparison, ComparisonPanel, ComparisonRow, Entry, PublishedEntry, PublishedValue, Statistics, Study,
    comparison_csv, comparison_svg, stated, studies, study,
};

const SEEDS: u64 = 5;

fn committed(place: &str) -> String {
    let path = format!("{}/{place}", env!("INART_ROOT"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}; run make experiments"))
}

/// Reports whether a study is run: all but the tables of the NETSTORM paper, which are words.
fn is_run(study: &Study) -> bool {
    study.paper != "NETSTORM" || study.place.starts_with("Fig.")
}

/// Returns rows by panel, row and series, which words do not have.
fn rows(text: &str) -> BTreeMap<[String; 3], BTreeMap<String, String>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let rows = reader.deserialize().map(|row| {
        let row: BTreeMap<String, String> = row.unwrap();
        let name = |column: &str| row.get(column).cloned().unwrap_or_default();
        (["panel", "x", "series"].map(name), row)
    });
    rows.collect()
}

#[test]
fn results_are_complete_and_have_every_published_number() {
    let mut printed = 0;
    for study in studies() {
        let text = committed(&format!("experiments/results/{}.csv", study.name));
        let flags = if is_run(study) { format!(" --seeds {SEEDS}") } else { String::new() };
        assert_eq!(text.lines().next().unwrap(), format!("# inart experiment {}{flags}", study.name));
        if !is_run(study) {
            continue;
        }
        let chart = committed(&format!("experiments/results/{}.svg", study.name));
        let title = study.title.replace('\'', "&apos;");
        assert!(chart.contains(&title) && chart.contains("5 seeds"), "{}", study.name);
        for ([panel, x, series], row) in rows(&text).iter().filter(|(_, row)| !row["unit"].is_empty()) {
            let number = stated(study.name, panel, x, &row["unit"]).filter(|_| series == "here");
            let value = number.map(|printed| match printed.entry {
                PublishedValue::Value(value) => value.to_string(),
                PublishedValue::Words(words) => words,
            });
            printed += usize::from(value.is_some());
            assert_eq!(value.unwrap_or_default(), row["paper"], "{} {panel} {x}", study.name);
        }
    }
    let papers = ["netstorm", "selmcast", "r2sp"];
    let data = papers.map(|paper| committed(&format!("experiments/data/{paper}.csv"))).concat();
    let is_number = |line: &&str| papers.iter().any(|paper| line.starts_with(&format!("{paper}-")));
    assert_eq!(printed, data.lines().filter(is_number).count());
}

fn some() -> Comparison {
    let number = |value: f64| Some(Entry::Number(Statistics::of(&[value, value + 1.0])));
    let printed = PublishedEntry { entry: PublishedValue::Value(2.5), source: "text" };
    let rows = vec![
        ComparisonRow { x: "one".into(), paper: Some(printed), here: number(3.0), optimized: number(5.0) },
        ComparisonRow { x: "two".into(), paper: None, here: number(4.0), optimized: None },
    ];
    let panel = ComparisonPanel {
        key: "key",
        title: "a title".into(),
        quantity: "Throughput",
        unit: "times",
        axis: "what",
        rows,
    };
    let study = *study("netstorm-fig13").unwrap();
    Comparison { study, seeds: 2, command: Some("the command".into()), panels: vec![panel] }
}

#[test]
fn a_comparison_is_written_in_three_columns() {
    let text = some().to_string();
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("what")).take(2).collect();
    assert_eq!(lines[1], "one              2.5  3.50 ±0.71  5.50 ±0.71", "{text}");
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["what", "NETSTORM", "paper", "here", "optimized"]
    );
    assert_eq!(lines[0].chars().count(), lines[1].chars().count(), "{text}");
    assert!(
        text.contains("\ntwo                   4.50 ±0.71\n") && text.contains("over 2 seeds."),
        "{text}"
    );
    assert!(text.contains(some().study.differs), "{text}");
    let csv = comparison_csv(&some());
    assert!(csv.starts_with("# the command\npanel,x_axis,x,series,quantity,unit,mean,"), "{csv}");
    let line = "key,what,one,here,Throughput,times,3.5000,3.0000,4.0000,0.70711,2,2.5,text,,,3.0000 4.0000\n";
    assert!(csv.contains(line) && csv.lines().count() == 5, "{csv}");
    let chart = comparison_svg(&some());
    assert!(chart.starts_with("<svg") && chart.trim_end().ends_with("</svg>") && !chart.contains("NaN"));
    // The legend distinguishes the published scheme from the default one.
    assert!(chart.contains("\nnetstorm\n") && chart.contains("\noptimized (the default;"), "{chart}");
    assert_eq!(chart.matches("the default").count(), 1, "{chart}");
    // Two circles of the published number; two squares of the legend, three bars and the ground.
    assert_eq!((chart.matches("<circle").count(), chart.matches("<rect").count()), (2, 6), "{chart}");
}
