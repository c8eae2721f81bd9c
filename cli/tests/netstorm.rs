//! `inart experiment netstorm-…` as people run it.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Workbench, root};

/// Rows of a CSV file: panel, row and series; mean, least and greatest.
fn rows(text: &str) -> BTreeMap<[String; 3], [f64; 3]> {
    let lines = text.lines().skip(2).filter_map(|line| {
        let cells = cells(line);
        let number = |at: usize| cells[at].parse::<f64>().ok();
        let numbers = [number(6)?, number(7)?, number(8)?];
        Some(([cells[0].clone(), cells[2].clone(), cells[3].clone()], numbers))
    });
    lines.collect()
}

/// The cells of a line, quoted where they have a comma.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            letter => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

fn committed(name: &str) -> BTreeMap<[String; 3], [f64; 3]> {
    rows(&std::fs::read_to_string(root().join(format!("experiments/results/{name}.csv"))).unwrap())
}

/// All seeds of one figure: the NETSTORM paper's schemes come out the same, ours as its solver has it.
#[test]
fn a_figure_run_again_gives_the_committed_numbers() {
    let bench = Workbench::new();
    let output = bench.inart(&["experiment", "netstorm-fig15"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let again = rows(&bench.read("out/netstorm-fig15.csv"));
    let before = committed("netstorm-fig15");
    assert_eq!((again.len(), before.len()), (36, 36));
    for (key, now) in &again {
        for (now, then) in now.iter().zip(before[key]) {
            // Numbers are written with five digits.
            let near = if key[2] == "optimized" { 0.02 } else { 1e-4 };
            assert!((now - then).abs() <= near * then.abs(), "{key:?}: {now}, committed {then}");
        }
    }
}

/// Seed 1 is one of the five: it lies between the least and the greatest.
#[test]
fn one_seed_lies_within_the_committed_ones() {
    let bench = Workbench::new();
    let output = bench.inart(&["experiment", "netstorm-fig13", "--seeds", "1"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let printed: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(printed.contains(&vec!["system", "NETSTORM", "paper", "here", "optimized"]), "{text}");
    assert!(printed.iter().any(|row| row.starts_with(&["NETSTORM", "(pro)", "9.2"])), "{text}");
    assert!(text.contains("Not reproduced: seconds of training"), "{text}");
    let before = committed("netstorm-fig13");
    for (key, [mean, ..]) in rows(&bench.read("out/netstorm-fig13.csv")) {
        let [_, least, greatest] = before[&key];
        let near = if key[2] == "optimized" { 0.02 } else { 1e-4 } * mean;
        assert!((least - near..=greatest + near).contains(&mean), "{key:?}: {mean}");
    }
    assert!(bench.read("out/netstorm-fig13.svg").trim_end().ends_with("</svg>"));
}

#[test]
fn tables_of_words_are_listed_and_printed() {
    let bench = Workbench::new();
    let names = String::from_utf8(bench.inart(&["experiment", "list"]).stdout).unwrap();
    for figure in 13..=20 {
        assert!(names.contains(&format!("netstorm-fig{figure} ")), "{names}");
    }
    assert!(
        names.contains("netstorm-table-1 ") && names.contains("(Table II of the NETSTORM paper)"),
        "{names}"
    );
    let text = String::from_utf8(bench.inart(&["experiment", "netstorm-table-2"]).stdout).unwrap();
    assert!(text.contains("PRIMARY_BUSY_BOUND"), "{text}");
    assert_eq!(
        bench.read("out/netstorm-table-2.csv"),
        std::fs::read_to_string(root().join("experiments/results/netstorm-table-2.csv")).unwrap()
    );
    assert!(!bench.path("out/netstorm-table-2.svg").exists());
    let json = bench.inart(&["experiment", "netstorm-table-1", "--json"]);
    let document: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(document["experiment"], "netstorm-table-1");
    assert_eq!(document["panels"][0]["rows"][0]["x"], "ENABLE_AWARENESS");
}

#[test]
fn wrong_arguments_leave_nothing_behind() {
    let bench = Workbench::new();
    bench.refused(&["experiment", "netstorm-fig12"], &["\"netstorm-fig12\"", "netstorm-fig13", "list"]);
    bench.refused(&["experiment", "netstorm-fig13", "--seeds", "0"], &["--seeds", "0"]);
    bench.refused(&["experiment", "netstorm-fig13", "--roots", "3"], &["--roots"]);
    bench.refused(&["experiment", "netstorm-fig13", "--measure"], &["--measure", "simulated only"]);
}
