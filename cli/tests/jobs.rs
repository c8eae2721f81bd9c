//! Several jobs through the command: planned, checked, refused.
#![allow(clippy::unwrap_used)]

use crate::support;

use inart_planner_aggregation::JobPlans;
use inart_topologies::switched::{Job, Topology};
use serde_json::Value;
use support::Workbench;

/// Fig. 1 with two jobs, of four and of two workers, each with a server of its own.
fn bench() -> Workbench {
    let bench = Workbench::new();
    let fig1 = Topology::from_yaml(&bench.read("fig1.yaml")).unwrap();
    let job = |name: &str, workers: &[&str], server: &str| Job {
        name: name.to_owned(),
        workers: workers.iter().map(|name| fig1.node_named(name).unwrap()).collect(),
        servers: vec![fig1.node_named(server).unwrap()],
        gradient_bytes: None,
        exact: false,
        elastic: false,
    };
    let jobs = vec![job("four", &["w1", "w2", "w5", "w6"], "s1"), job("two", &["w3", "w4"], "s2")];
    bench.write("net.yaml", fig1.with_jobs(jobs).to_yaml());
    bench
}

fn printed(bench: &Workbench, arguments: &[&str]) -> String {
    let output = bench.inart(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn both_orders_are_planned_and_hold() {
    let bench = bench();
    for order in ["together", "in-turn"] {
        let text = printed(&bench, &["plan", "net.yaml", "--job-planning", order, "--json"]);
        let plans = JobPlans::from_json(&text).unwrap();
        let names: Vec<&str> = plans.plans.iter().map(|plan| plan.job.as_str()).collect();
        assert_eq!((names, plans.order.to_string()), (vec!["four", "two"], order.to_owned()));
        bench.write("set.json", text);
        let held = printed(&bench, &["plan", "--check", "set.json", "net.yaml"]);
        assert!(held.contains("they hold together on topology fig1"), "{held}");
        let table = printed(&bench, &["plan", "net.yaml", "--job-planning", order]);
        assert!(table.contains(&format!("2 jobs {order}")) && table.contains("fullest resources"), "{table}");
    }
    // The order of `--job` is the order in turn.
    let text = printed(
        &bench,
        &["plan", "net.yaml", "--job-planning", "in-turn", "--job", "two", "--job", "four", "--json"],
    );
    assert_eq!(JobPlans::from_json(&text).unwrap().plans[0].job, "two");
    // One job is one plan, as ever.
    let one: Value =
        serde_json::from_str(&printed(&bench, &["plan", "net.yaml", "--job", "two", "--json"])).unwrap();
    assert_eq!(one["job"], "two");
}

/// Results come back over v2->v0, of which 1 Mbps is left, whether or not a plan counts them.
#[test]
fn results_that_a_plan_does_not_count_are_named_with_the_link_that_they_fill() {
    let bench = Workbench::new();
    bench.write(
        "short.yaml",
        "{name: short, nodes: [{name: v0, kind: switch}, {name: v2, kind: switch}, {name: s0, kind: server},
           {name: w0, kind: worker}], links: [{ends: [w0, v0], rate: 10 Mbps},
           {ends: [s0, v2], rate: 10 Mbps}, {ends: [v0, v2], rate: 10 Mbps}], background: [{link: [v2, v0], rate: 9 Mbps}]}",
    );
    for (results, notes) in [("ignored", 1), ("counted", 0)] {
        let plan = printed(&bench, &["plan", "short.yaml", "--results", results, "--json"]);
        bench.write("plan.json", plan);
        let check = ["plan", "short.yaml", "--check", "plan.json"];
        let text = printed(&bench, &check);
        let note =
            "(job short: the plan does not count results; with them link v2->v0 lets it send at 1 Mbps;";
        assert_eq!(text.matches(note).count(), notes, "{text}");
        let document: Value =
            serde_json::from_str(&printed(&bench, &[&check[..], &["--json"]].concat())).unwrap();
        assert_eq!(document["valid"], true);
        assert_eq!(document["notes"].as_array().map_or(0, Vec::len), notes, "{document}");
    }
}

#[test]
fn plans_made_apart_do_not_pass_as_a_set() {
    let bench = bench();
    let mut set: Value = serde_json::from_str(&printed(&bench, &["plan", "net.yaml", "--json"])).unwrap();
    for (n, job) in ["four", "two"].into_iter().enumerate() {
        let alone = printed(&bench, &["plan", "net.yaml", "--job", job, "--json"]);
        set["plans"][n] = serde_json::from_str(&alone).unwrap();
    }
    bench.write("set.json", set.to_string());
    let output = bench.inart(&["plan", "--check", "set.json", "net.yaml"]);
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{found}");
    assert!(found.contains(" used of ") && found.contains("by the jobs four, two"), "{found}");
}

#[test]
fn what_several_jobs_cannot_have() {
    let bench = bench();
    bench.write("set.json", printed(&bench, &["plan", "net.yaml", "--json"]));
    bench.write("one.json", printed(&bench, &["plan", "net.yaml", "--job", "two", "--json"]));
    bench.refused(&["plan", "net.yaml", "--job", "two", "--job", "two"], &["--job two is given twice"]);
    bench.refused(&["plan", "net.yaml", "--job", "six"], &["job six", "four, two"]);
    bench.refused(&["plan", "net.yaml", "--aggregation-depth", "2"], &["one level", "in turn"]);
    bench.refused(&["plan", "net.yaml", "--scheme", "optimal"], &["optimal plans one job", "in turn"]);
    bench.refused(&["plan", "net.yaml", "--from", "set.json"], &["set.json", "2 plans", "without --from"]);
    let both = ["plan", "net.yaml", "--from", "one.json", "--job", "two", "--job", "four"];
    bench.refused(&both, &["--from", "give one --job"]);
    bench.refused(&["topology", "draw", "net.yaml", "--plan", "set.json"], &["set.json", "2 plans"]);
    let deal = ["topology", "leaf-spine", "--leaves", "2", "--spines", "1", "--jobs", "9"];
    bench.refused(&deal, &["9 jobs", "server per job"]);
    printed(&bench, &["plan", "net.yaml", "--aggregation-depth", "2", "--job-planning", "in-turn"]);
}
