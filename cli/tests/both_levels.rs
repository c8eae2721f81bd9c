//! `inart plan` and `inart simulate` on switches inside sites and trees between them, as people run them.
#![allow(clippy::unwrap_used)]

use crate::support;

use serde_json::Value;
use support::{Workbench, root};

fn network() -> String {
    root().join("topologies/two-levels.yaml").display().to_string()
}

fn json(bench: &Workbench, arguments: &[&str]) -> Value {
    let output = bench.inart(arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn one_command_plans_both_levels() {
    let bench = Workbench::new();
    let output = bench.inart(&["plan", &network()]);
    let text = String::from_utf8(output.stdout).unwrap();
    for words in
        ["switches that add", "500 Mbps", "3 sites, gradient 60 MB", "both levels: no schedule takes less"]
    {
        assert!(text.contains(words), "{text}");
    }
    let plan = json(&bench, &["plan", &network(), "--scheme", "mst", "--json"]);
    assert_eq!(plan["between"]["scheme"], "mst");
    assert_eq!(plan["insides"][1]["site"], "n2");
    assert_eq!(plan["insides"][1]["plan"]["rate_bps"], 200e6);
}

#[test]
fn a_simulation_says_where_the_time_goes() {
    let bench = Workbench::new();
    let report = json(&bench, &["simulate", &network(), "--rounds", "2", "--json"]);
    let number = |value: &Value| value.as_f64().unwrap();
    let round = &report["round"];
    let parts = ["inside_s", "between_s", "back_s"].map(|part| number(&round[part]));
    assert!((parts.iter().sum::<f64>() - number(&round["seconds"])).abs() < 1e-9, "{round}");
    assert!(number(&round["seconds"]) < number(&round["one_after_the_other_s"]), "{round}");
    assert!(number(&round["seconds"]) >= number(&report["bound_s"]), "{report}");
    for inside in report["insides"].as_array().unwrap() {
        let ratio = number(&inside["seconds"]) / number(&inside["planned_s"]);
        assert!((0.99..1.05).contains(&ratio), "{inside}");
        assert!(number(&inside["summed_in_switches"]) > 0.0 && number(&inside["sums_checked"]) > 0.0);
    }
    let text = String::from_utf8(bench.inart(&["simulate", &network(), "--rounds", "1"]).stdout).unwrap();
    assert!(text.contains("from then until every worker has it") && text.contains("all equal"), "{text}");
}

#[test]
fn what_is_wrong_or_not_there_is_said() {
    let bench = Workbench::new();
    let text = std::fs::read_to_string(network()).unwrap();
    bench.write("lost.yaml", text.replace("[w5, v3]", "[w5, v1]"));
    bench.refused(&["plan", "lost.yaml"], &["lost.yaml", "line 27", "leaves site n2"]);
    bench.refused(&["simulate", "lost.yaml"], &["lost.yaml", "line 27", "leaves site n2"]);
    bench.refused(&["emulate", &network(), "--schemes", "gloo"], &["--schemes gloo", "schemes of trees"]);
    bench.refused(&["emulate", &network(), "--chart", "c.svg"], &["--chart", "without insides"]);
    bench.refused(&["emulate", &network(), "--rounds", "0"], &["--rounds 0"]);
    bench.refused(&["plan", &network(), "--job", "n1-inside"], &["--job n1-inside", "vgg"]);
    bench.refused(&["simulate", &network(), "--rounds", "0"], &["--rounds 0"]);
    bench.write("plan.json", "{}");
    bench.refused(&["plan", &network(), "--check", "plan.json"], &["--check", "sites without an inside"]);
}

#[test]
fn what_is_inside_a_site_is_a_topology_to_plan_and_push() {
    let bench = Workbench::new();
    let output = bench.inart(&["topology", "inside", &network(), "n1"]);
    assert!(output.status.success(), "{output:?}");
    bench.write("n1.yaml", output.stdout);
    let plan = json(&bench, &["plan", "n1.yaml", "--json"]);
    let both = json(&bench, &["plan", &network(), "--json"]);
    assert_eq!(plan["rate_bps"], both["insides"][0]["plan"]["rate_bps"]);
    bench.refused(&["topology", "inside", &network(), "n3"], &["nothing is inside site n3", "n1, n2"]);
    let geo = root().join("topologies/geo9.yaml").display().to_string();
    bench.refused(&["topology", "inside", &geo, "n1"], &["geo9.yaml", "nothing in it is inside a site"]);
}

/// `inart site` of a site, with more flags. Certificates are read last.
fn site(bench: &Workbench, name: &str, more: &[&str], named: &[&str]) {
    let network = network();
    let others = ["n1", "n2", "n3"].into_iter().filter(|other| *other != name);
    let peers: Vec<String> = others.map(|other| format!("{other}=127.0.0.1:1")).collect();
    let mut arguments = vec!["site", &network, "--name", name, "--listen", "127.0.0.1:0"];
    arguments.extend(["--tls-ca", "ca.pem", "--tls-cert", "c.pem", "--tls-key", "c.key"]);
    peers.iter().for_each(|peer| arguments.extend(["--peer", peer]));
    arguments.extend(more);
    bench.refused(&arguments, named);
}

#[test]
fn a_site_with_workers_says_what_it_lacks_and_what_does_not_fit() {
    let bench = Workbench::new();
    site(&bench, "n1", &[], &["--interface", "site n1 has workers inside"]);
    site(
        &bench,
        "n1",
        &["--interface", "lo"],
        &["--assignment", "site n1 has workers inside", "--controller"],
    );
    site(&bench, "n3", &["--interface", "lo"], &["--interface", "nothing is inside site n3"]);
    let worker =
        |name: &str, last: u8| serde_json::json!({"name": name, "mac": format!("02:00:00:00:00:{last:02x}")});
    let assignment = |server: &str, workers: &[&str], values: u32, window: u32| {
        let workers: Vec<Value> = (1..).zip(workers).map(|(last, name)| worker(name, last)).collect();
        let mut document = serde_json::json!({
            "job": 1, "name": "n1-inside", "plan_version": 1, "values_per_frame": values, "window_chunks": window,
            "workers": workers,
        });
        document["shards"] = serde_json::json!([{
            "server": server, "mac": "02:00:00:00:00:ff", "share": 1.0, "rate_bps": 1e8,
        }]);
        document.to_string()
    };
    let four = ["w1", "w2", "w3", "w4"];
    let cases: [(String, &[&str]); 3] = [
        (assignment("s1", &four, 256, 64), &["the servers s1", "site n1", "inart topology inside"]),
        (
            assignment("n1", &four[..3], 256, 64),
            &["the workers w1, w2, w3", "inside site n1 are w1, w2, w3, w4"],
        ),
        // 64 KiB between sites are 64 frames of 256 values.
        (
            assignment("n1", &four, 256, 32),
            &["inside site n1", "window of 32 frames", "has 64", "with a window (--window) of 64"],
        ),
    ];
    for (document, named) in cases {
        bench.write("assignment.json", document);
        site(&bench, "n1", &["--interface", "lo", "--assignment", "assignment.json"], named);
    }
}
