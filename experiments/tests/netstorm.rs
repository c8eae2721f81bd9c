//! What is committed of other papers' evaluations, files and document, is complete and agrees; how it is
//! written.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use inart_experiments::{
    Beside, Compared, Comparison, Entry, Printed, PrintedEntry, Statistics, Study, comparison_csv,
    comparison_markdown, comparison_svg, stated, studies, study,
};

const SEEDS: u64 = 5;

fn committed(place: &str) -> String {
    let path = format!("{}/{place}", env!("INART_ROOT"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}; run make experiments"))
}

/// NETSTORM's tables are words; all else is run.
fn is_run(study: &Study) -> bool {
    study.paper != "NETSTORM" || study.place.starts_with("Fig.")
}

/// Rows by panel, row and series, which words do not have.
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
fn results_are_complete_and_have_every_number_that_the_paper_states() {
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
                PrintedEntry::Value(value) => value.to_string(),
                PrintedEntry::Words(words) => words,
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

/// Every cell of a table stands in the CSV file, the sentences below it.
#[test]
fn tables_of_the_document_are_the_csv_files() {
    let document = committed("docs/reproduction.md");
    for study in studies() {
        let rows = rows(&committed(&format!("experiments/results/{}.csv", study.name)));
        let (_, table) = document.split_once(&format!("<!-- table {} -->\n", study.name)).unwrap();
        let (table, _) = table.split_once("<!-- end -->").unwrap();
        for sentence in std::iter::once(study.differs).chain(study.unreached) {
            assert!(table.contains(sentence), "{}: {sentence}", study.name);
        }
        let mut keys: Vec<&String> = Vec::new();
        let text = committed(&format!("experiments/results/{}.csv", study.name));
        let order: Vec<String> =
            text.lines().skip(2).map(|line| line.split(',').next().unwrap().to_owned()).collect();
        order.iter().for_each(|key| {
            if keys.last() != Some(&key) {
                keys.push(key);
            }
        });
        let mut keys = keys.into_iter();
        let (mut panel, mut seen) = ("", 0);
        for line in table.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---")) {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            if cells[1..] == ["paper", "here", "`optimized`"] {
                panel = keys.next().unwrap();
                continue;
            }
            for (cell, series) in cells[2..].iter().zip(["here", "optimized"]) {
                let key = |series: &str| [panel.to_owned(), cells[0].to_owned(), series.to_owned()];
                let (row, column) = match rows.get(&key("")) {
                    Some(row) => (row, series),
                    None if cell.is_empty() => continue,
                    None => (&rows[&key(series)], "mean"),
                };
                seen += usize::from(row.contains_key("series")) + usize::from(column == "optimized");
                let (mean, deviation) = cell.split_once(" ±").unwrap_or((cell, "0"));
                match (row[column].parse::<f64>(), mean.parse::<f64>()) {
                    (Ok(exact), Ok(shown)) if column == "mean" && !row["unit"].is_empty() => {
                        let decimals = mean.split_once('.').map_or(0, |(_, part)| part.len() as i32);
                        let near = 0.5001 * 10f64.powi(-decimals) + 1e-4 * exact.abs();
                        let spread = row["deviation"].parse::<f64>().unwrap();
                        assert!((exact - shown).abs() <= near, "{}: {line}", study.name);
                        assert!((deviation.parse::<f64>().unwrap() - spread).abs() <= near, "{line}");
                    }
                    _ => assert_eq!(*cell, row[column], "{}: {line}", study.name),
                }
            }
        }
        assert_eq!((seen, keys.next()), (rows.len(), None), "{}", study.name);
    }
}

fn some() -> Comparison {
    let number = |value: f64| Some(Entry::Number(Statistics::of(&[value, value + 1.0])));
    let printed = Printed { entry: PrintedEntry::Value(2.5), source: "text" };
    let rows = vec![
        Beside { x: "one".into(), paper: Some(printed), here: number(3.0), optimized: number(5.0) },
        Beside { x: "two".into(), paper: None, here: number(4.0), optimized: None },
    ];
    let panel = Compared {
        key: "key",
        title: "a title".into(),
        quantity: "Throughput",
        unit: "times",
        axis: "what",
        rows,
    };
    let study = *study("netstorm-fig13").unwrap();
    Comparison { study, seeds: 2, command: "the command".into(), panels: vec![panel] }
}

#[test]
fn a_comparison_is_written_in_three_columns() {
    let text = some().to_string();
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("what")).take(2).collect();
    assert_eq!(lines[1], "one     2.5  3.50 ±0.71  5.50 ±0.71", "{text}");
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["what", "paper", "here", "optimized"]);
    assert_eq!(lines[0].chars().count(), lines[1].chars().count(), "{text}");
    let markdown = comparison_markdown(&some());
    assert!(markdown.contains("| one | 2.5 | 3.50 ±0.71 | 5.50 ±0.71 |\n| two |  | 4.50 ±0.71 |  |\n"));
    assert!(markdown.ends_with("over 2 seeds. `the command`\n"), "{markdown}");
    let csv = comparison_csv(&some());
    assert!(csv.starts_with("# the command\npanel,x_axis,x,series,quantity,unit,mean,"), "{csv}");
    let line = "key,what,one,here,Throughput,times,3.5000,3.0000,4.0000,0.70711,2,2.5,text,,,3.0000 4.0000\n";
    assert!(csv.contains(line) && csv.lines().count() == 5, "{csv}");
    let chart = comparison_svg(&some());
    assert!(chart.starts_with("<svg") && chart.trim_end().ends_with("</svg>") && !chart.contains("NaN"));
    // The legend tells the published scheme from the default one.
    assert!(chart.contains("\nnetstorm\n") && chart.contains("\noptimized (the default;"), "{chart}");
    assert_eq!(chart.matches("the default").count(), 1, "{chart}");
    // Of the NETSTORM paper's mark two circles; two squares of the legend, three bars and the ground.
    assert_eq!((chart.matches("<circle").count(), chart.matches("<rect").count()), (2, 6), "{chart}");
}
