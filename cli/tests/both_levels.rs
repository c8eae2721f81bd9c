//! `inart plan` and `inart simulate` on switches inside sites and trees between them, as people run them.
#![allow(clippy::unwrap_used)]

mod support;

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
    bench.refused(&["plan", &network(), "--job", "n1-inside"], &["--job n1-inside", "vgg"]);
    bench.refused(&["simulate", &network(), "--rounds", "0"], &["--rounds 0"]);
    bench.write("plan.json", "{}");
    bench.refused(&["plan", &network(), "--check", "plan.json"], &["--check", "sites without an inside"]);
}
