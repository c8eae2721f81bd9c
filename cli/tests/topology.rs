//! `inart topology`: networks read from other tools' files, drawn from ranges, and drawn as pictures.
#![allow(clippy::unwrap_used)]

use crate::support;

use serde_json::Value;
use support::{Workbench, root};

/// The standard output of a command that succeeds.
fn said(bench: &Workbench, arguments: &[&str]) -> String {
    let output = bench.inart(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_format_is_guessed_imported_planned_and_checked() {
    let bench = Workbench::new();
    for file in ["zoo.graphml", "leafspine.dot", "ring.json", "lab.clab.yml", "mininet.txt"] {
        let source = root().join("planner/tests/data").join(file);
        let topology =
            said(&bench, &["topology", "import", source.to_str().unwrap(), "--aggregation", "1Gbps"]);
        bench.write("imported.yaml", topology);
        said(&bench, &["topology", "check", "imported.yaml"]);
        bench.write("imported.json", said(&bench, &["plan", "imported.yaml", "--json"]));
        said(&bench, &["plan", "--check", "imported.json", "imported.yaml"]);
    }
    let zoo = root().join("planner/tests/data/zoo.graphml");
    let zoo = zoo.to_str().unwrap();
    bench.refused(
        &["topology", "import", zoo, "--servers", "nowhere"],
        &["zoo.graphml", "--servers", "\"nowhere\""],
    );
    bench.refused(
        &["topology", "import", zoo, "--workers", "99"],
        &["--workers", "99", "more hosts to each switch"],
    );
    bench.refused(&["topology", "import", zoo, "--format", "dot"], &["zoo.graphml"]);
    bench.write("notes.txt", "nothing of the kind");
    bench.refused(&["topology", "import", "notes.txt"], &["notes.txt", "--format"]);
}

#[test]
fn rates_are_drawn_from_ranges_by_the_seed() {
    let bench = Workbench::new();
    let drawn = |seed: &str| {
        let ranges = ["--link-range", "10Mbps..30Mbps", "--aggregation-range", "4Mbps..14Mbps"];
        let sizes =
            ["topology", "fat-tree", "--k", "4", "--workers", "8", "--rate", "20Mbps", "--seed", seed];
        said(&bench, &[&sizes[..], &ranges, &["--json"]].concat())
    };
    let (one, again, other) = (drawn("1"), drawn("1"), drawn("2"));
    assert!(one == again && one != other);
    let document: Value = serde_json::from_str(&one).unwrap();
    bench.write("one.json", &one);
    said(&bench, &["topology", "check", "one.json"]);
    let is_switch = |name: &Value| !name.as_str().unwrap().starts_with(['w', 's']);
    let bps = |rate: &Value| -> f64 {
        let text = rate.as_str().map(str::to_owned).unwrap_or_else(|| rate.to_string());
        let number: f64 = text.split_whitespace().next().unwrap().parse().unwrap();
        if text.ends_with("Mbps") { number * 1e6 } else { number }
    };
    let mut rates = Vec::new();
    for link in document["links"].as_array().unwrap() {
        let rate = bps(&link["rate"]);
        let inside = link["ends"].as_array().unwrap().iter().all(is_switch);
        assert!(if inside { (10e6..=30e6).contains(&rate) } else { rate == 20e6 }, "{link}");
        rates.extend(inside.then_some(rate as u64));
    }
    rates.sort_unstable();
    rates.dedup();
    assert!(rates.len() > 20, "a rate of its own for each link: {rates:?}");
    for bad in ["10..5Mbps", "30Mbps..10Mbps", "10Mbps", "-1Mbps..3Mbps"] {
        bench.refused(&["topology", "fat-tree", &format!("--link-range={bad}")], &["--link-range", bad]);
    }
}

#[test]
fn a_picture_names_the_plan_and_explains_itself() {
    let bench = Workbench::new();
    let bare = said(&bench, &["topology", "draw", "fig1.yaml"]);
    let planned = said(&bench, &["topology", "draw", "fig1.yaml", "--plan", "plan.json"]);
    let texts = |svg: &str| -> Vec<String> {
        svg.split("<text").skip(1).map(|text| text.split(['>', '<']).nth(1).unwrap().to_owned()).collect()
    };
    for node in ["v1", "v2", "w1", "w6", "s1", "s2"] {
        assert!(texts(&bare).iter().any(|text| text == node), "{node}");
    }
    let title = format!("fig1: atp at {} Gbps per worker", 2);
    assert!(texts(&planned).iter().any(|text| text.starts_with(&title)), "{:?}", texts(&planned));
    for key in ["idle", "below 50 %", "full"] {
        assert!(texts(&planned).iter().any(|text| text == key), "{key}");
        assert!(!texts(&bare).iter().any(|text| text == key), "{key}");
    }
    bench.refused(&["topology", "draw", "fig1.yaml", "--plan", "fig1.yaml"], &["fig1.yaml", "not a plan"]);
}

#[test]
fn a_running_plan_and_two_levels_do_not_go_together() {
    let bench = Workbench::new();
    bench.refused(
        &["plan", "fig1.yaml", "--from", "plan.json", "--levels", "2"],
        &["two levels", "no running plan"],
    );
    bench
        .refused(&["plan", "fig1.yaml", "--scheme", "atp", "--levels", "2"], &["two levels", "scheme inart"]);
    bench.refused(&["plan", "fig1.yaml", "--levels", "3"], &["--levels", "1 or 2"]);
}
