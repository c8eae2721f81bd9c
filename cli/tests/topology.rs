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
        let source = root().join("topologies/tests/data").join(file);
        let topology =
            said(&bench, &["topology", "import", source.to_str().unwrap(), "--aggregation", "1Gbps"]);
        bench.write("imported.yaml", topology);
        said(&bench, &["topology", "check", "imported.yaml"]);
        bench.write("imported.json", said(&bench, &["plan", "imported.yaml", "--json"]));
        said(&bench, &["plan", "--check", "imported.json", "imported.yaml"]);
    }
    let zoo = root().join("topologies/tests/data/zoo.graphml");
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
    bench.refused(
        &["topology", "draw", "fig1.yaml", "--plan", "fig1.yaml"],
        &["fig1.yaml", "this is a network of switches"],
    );
}

#[test]
fn a_running_plan_and_two_levels_do_not_go_together() {
    let bench = Workbench::new();
    bench.refused(
        &["plan", "fig1.yaml", "--from", "plan.json", "--aggregation-depth", "2"],
        &["two levels", "no running plan"],
    );
    bench.refused(
        &["plan", "fig1.yaml", "--scheme", "atp", "--aggregation-depth", "2"],
        &["two levels", "scheme optimized"],
    );
    bench.refused(&["plan", "fig1.yaml", "--aggregation-depth", "3"], &["--aggregation-depth", "1 or 2"]);
}

/// Counted by hand in the documents.
#[test]
fn networks_of_every_kind_are_checked_drawn_and_wired() {
    let bench = Workbench::new();
    for (file, counts, cable) in [
        ("fig1.yaml", "fig1: 2 switches, 2 servers, 6 workers, 9 links; jobs: digits", "v1 port 1"),
        ("geo9.yaml", "geo9: 9 sites, 13 links; jobs: ", "38 Mbps there, 54 Mbps back, 30 ms, loses 0.02 %"),
        ("mesh4.yaml", "4 peers, 1 switch, 4 links; jobs: ", "s1 port 1"),
        ("mesh8-two-switches.yaml", "8 peers, 2 switches, 9 links; jobs: ", "port 5"),
        ("two-levels.yaml", "3 sites, 3 switches, ", "100 Mbps there, 80 Mbps back, 30 ms"),
        ("ps16.yaml", "1 switch, 1 server, 16 workers, 17 links; jobs: vgg16", "port 17"),
    ] {
        let network = root().join("topologies").join(file);
        let network = network.to_str().unwrap();
        let checked = said(&bench, &["topology", "check", network]);
        assert!(checked.contains(counts), "{file}: {checked}");
        let wired = said(&bench, &["topology", "wiring", network]);
        assert!(wired.contains(cable), "{file}: {wired}");
        let drawn = said(&bench, &["topology", "draw", network]);
        let nodes = drawn.matches("<text").count();
        assert!(drawn.starts_with("<svg") && drawn.ends_with("</svg>\n") && nodes >= 4, "{file}: {drawn}");
        for command in ["check", "wiring"] {
            let document: Value =
                serde_json::from_str(&said(&bench, &["topology", command, network, "--json"])).unwrap();
            assert!(document["name"].is_string(), "{file} {command}");
        }
    }
    let geo9 = root().join("topologies/geo9.yaml");
    bench.refused(&["topology", "draw", geo9.to_str().unwrap(), "--plan", "plan.json"], &["--plan"]);
}

/// Fig. 1 with all gradients summed at v2 and sent to s1 only, worked out by hand: the link v1-v2 carries
/// four workers' gradients at most at 6 Gbps, so 1.5 Gbps each; v2 takes in six times that, more than its 6
/// Gbps, so 1 Gbps each.
#[test]
fn a_plan_of_ones_own_is_completed_checked_and_simulated() {
    let bench = Workbench::new();
    let flow = |worker: usize, path: &[&str]| serde_json::json!({"worker": format!("w{worker}"), "server": "s1", "path": path});
    let mut flows: Vec<Value> =
        (1..=4).map(|worker| flow(worker, &[&format!("w{worker}"), "v1", "v2"])).collect();
    flows.extend((5..=6).map(|worker| flow(worker, &[&format!("w{worker}"), "v2"])));
    let mut of_s2 = flows.clone();
    of_s2.iter_mut().for_each(|flow| flow["server"] = "s2".into());
    let flows = [flows, of_s2].concat();
    let routes = serde_json::json!({
        "flows": flows,
        "trunks": [{"aggregator": "v2", "server": "s1", "path": ["v2", "s1"]},
                   {"aggregator": "v2", "server": "s2", "path": ["v2", "s2"]}],
        "shards": [{"server": "s1", "share": 0.5}, {"server": "s2", "share": 0.5}],
    });
    bench.write("routes.json", routes.to_string());
    let plan =
        said(&bench, &["plan", "fig1.yaml", "--complete", "routes.json", "--results", "ignored", "--json"]);
    let document: Value = serde_json::from_str(&plan).unwrap();
    assert!((document["rate_bps"].as_f64().unwrap() - 1e9).abs() < 1.0, "{}", document["rate_bps"]);
    assert!(document["load"].as_array().is_some_and(|load| !load.is_empty()) && document["seed"].is_u64());
    bench.write("own.json", &plan);
    said(&bench, &["plan", "fig1.yaml", "--check", "own.json"]);
    said(&bench, &["simulate", "fig1.yaml", "--plan", "own.json", "--rounds", "1", "--gradient", "4KB"]);
    let mut other = routes.clone();
    other["flows"][0]["path"] = serde_json::json!(["w1", "v9"]);
    bench.write("bad.json", other.to_string());
    bench.refused(&["plan", "fig1.yaml", "--complete", "bad.json"], &["bad.json", "flow w1 to s1", "\"v9\""]);
    other["flows"][0]["path"] = serde_json::json!(["w1", "v2"]);
    bench.write("bad.json", other.to_string());
    bench.refused(&["plan", "fig1.yaml", "--complete", "bad.json"], &["bad.json", "w1"]);
    bench.write("bad.json", "{}");
    bench.refused(&["plan", "fig1.yaml", "--complete", "bad.json"], &["bad.json", "flows"]);
}
