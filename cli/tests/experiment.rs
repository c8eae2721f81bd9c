//! Runs `inart experiment` as users do.
#![allow(clippy::unwrap_used)]

use crate::support;

use inart_experiments::{LinkRates, Network};
use inart_topologies::switched::Topology;
use serde_json::Value;
use support::Workbench;

#[test]
fn a_figure_becomes_a_table_a_csv_file_a_chart_and_json() {
    let bench = Workbench::new();
    let arguments = ["experiment", "inart-fig5", "--seeds", "2", "--out", "made/here"];
    let output = bench.inart(&arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("Communication time, s, by workers: VGG19") && text.contains("InArt paper: R-InArt"),
        "{text}"
    );
    let csv = bench.read("made/here/inart-fig5.csv");
    assert!(csv.starts_with("# inart experiment inart-fig5 --seeds 2\npanel,"), "{csv}");
    let chart = bench.read("made/here/inart-fig5.svg");
    for text in ["VGG19", "Communication time (s)", "lbmm", "2 seeds"] {
        assert!(chart.contains(text), "{text} in {chart}");
    }
    assert!(chart.trim_end().ends_with("</svg>"), "{chart}");
    // A second run writes the same files.
    assert!(bench.inart(&arguments).status.success());
    assert_eq!(
        (csv, chart),
        (bench.read("made/here/inart-fig5.csv"), bench.read("made/here/inart-fig5.svg"))
    );

    let json = bench.inart(&["experiment", "inart-fig5", "--seeds", "1", "--json"]);
    let document: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(document["panels"][0]["rows"][0]["series"], "optimized");
}

#[test]
fn the_list_names_every_figure() {
    let bench = Workbench::new();
    let names = String::from_utf8(bench.inart(&["experiment", "list"]).stdout).unwrap();
    for figure in [2, 3, 4, 5, 8, 9, 10, 11, 12, 13] {
        assert!(names.contains(&format!("inart-fig{figure} ")), "{names}");
    }
    let list: Value = serde_json::from_slice(&bench.inart(&["experiment", "list", "--json"]).stdout).unwrap();
    assert_eq!(list.as_array().unwrap().len(), names.lines().count());
}

#[test]
fn wrong_arguments_leave_nothing_behind() {
    let bench = Workbench::new();
    bench.refused(&["experiment", "inart-fig6"], &["\"inart-fig6\"", "inart-fig8", "list"]);
    bench.refused(&["experiment", "inart-fig5", "--seeds", "0"], &["--seeds", "0"]);
    bench.refused(&["experiment", "inart-fig5", "--out", "plan.json"], &["--out plan.json"]);
}

/// The commands of docs/evidence/reproduction-inart.md for the networks of the emulation print these
/// networks.
#[test]
fn the_networks_are_those_of_inart_topology() {
    let bench = Workbench::new();
    let (fabric, access) = (["--link-range", "10Mbps..30Mbps"], ["--access-range", "10Mbps..30Mbps"]);
    let scenarios = [
        (LinkRates::Equal, vec![]),
        (LinkRates::DrawnInFabric, fabric.to_vec()),
        (LinkRates::Drawn, [fabric, access].concat()),
    ];
    for (links, ranges) in scenarios {
        let line = "topology fat-tree --k 6 --servers 4 --workers 50 --rate 20Mbps --aggregation 9Mbps --ingress 20Mbps --seed 7";
        let output = bench.inart(&[line.split(' ').collect(), ranges].concat());
        let printed = Topology::from_yaml(&String::from_utf8(output.stdout).unwrap()).unwrap();
        let planned = Network::FatTree { links, servers: 4, workers: 50 }.topology(7);
        assert_eq!((printed.nodes(), printed.links()), (planned.nodes(), planned.links()), "{links:?}");
    }
}
