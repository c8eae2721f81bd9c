//! Python programs in elastic jobs: one is killed, and rejoins.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use inart_emulator::Testbed;
use inart_tests::{turn, workspace};
use serde_json::{Value, json};

use super::network::{reports_of, same, start_rank};
use super::package::{has, package};
use super::testbed;

/// Three workers and two servers at a switch.
const STAR: &str = "{name: star, nodes: [{name: v, kind: switch, aggregation_capacity: 4 Gbps},
    {name: s1, kind: server}, {name: s2, kind: server},
    {name: w1, kind: worker}, {name: w2, kind: worker}, {name: w3, kind: worker}],
    links: [{ends: [w1, v], rate: 1 Gbps}, {ends: [w2, v], rate: 1 Gbps}, {ends: [w3, v], rate: 1 Gbps},
      {ends: [s1, v], rate: 1 Gbps}, {ends: [s2, v], rate: 1 Gbps}],
    jobs: [{name: digits, elastic: true}]}";

/// Runs three ranks of which one is killed and rejoins. Returns the ranks' reports, that of the rejoined rank
/// last.
fn train(testbed: &Testbed, kind: &str) -> Vec<Value> {
    let regrouped = testbed.scratch_path("regrouped");
    let start = |rank: u16, incarnation: &str| {
        let mut command = testbed::python(testbed, &format!("w{}", rank + 1));
        command.env("REGROUPED", &regrouped);
        start_rank(command, &["elastic.py", "1", incarnation, kind], rank, 3)
    };
    let mut ranks: Vec<_> = (0..3).map(|rank| start(rank, "first")).collect();
    let died = ranks.remove(1).wait_with_output().expect("ends");
    assert_eq!(died.status.signal(), Some(9), "{died:?}");
    // Not before the others have found that they are two.
    let begun = Instant::now();
    while !regrouped.exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "timed out");
        std::thread::sleep(Duration::from_millis(20));
    }
    ranks.push(start(1, "back"));
    reports_of(ranks)
}

#[test]
fn a_killed_rank_rejoins_and_all_end_with_the_same_state() {
    let Some(_turn) = turn() else { return };
    if !has(&["torch", "numpy"]) {
        return;
    }
    for kind in ["arrays", "tensors"] {
        let testbed = testbed::of(STAR, 0.05);
        let mut servers = [(0, "s1"), (1, "s2")].map(|(shard, host)| testbed::server(&testbed, shard, host));
        let reports = train(&testbed, kind);
        for server in &mut servers {
            server.kill().expect("alive");
            server.wait().expect("a child");
        }
        same(&reports, "digest");
        let rounds = same(&reports, "rounds").as_u64().expect("a count");
        assert!(rounds >= 15, "{rounds}");
        for (rank, report) in reports.iter().enumerate() {
            let is_back = rank == 2;
            let sizes = if is_back { json!([3]) } else { json!([3, 2, 3]) };
            assert_eq!(report["sizes"], sizes, "{report}");
            let regrouped = if is_back { json!([]) } else { json!([2, 3]) };
            assert_eq!(report["regrouped"], regrouped, "{report}");
            assert_eq!(report["after"], "the worker was shut down; join the job again", "{report}");
        }
    }
}

#[test]
fn the_example_trains_with_the_present_workers() {
    let Some(_turn) = turn() else { return };
    if !has(&["numpy"]) {
        return;
    }
    let testbed = testbed::of(STAR, 0.05);
    let mut servers = [(0, "s1"), (1, "s2")].map(|(shard, host)| testbed::server(&testbed, shard, host));
    let ranks = ["w1", "w2", "w3"].iter().enumerate().map(|(rank, host)| {
        let mut command = testbed::python(&testbed, host);
        command.arg(workspace().join("examples/elastic.py")).env("PYTHONPATH", package());
        command.env("RANK", rank.to_string()).env("ROUNDS", "60").stdout(std::process::Stdio::piped());
        command.spawn().expect("Python starts")
    });
    let ranks: Vec<_> = ranks.collect();
    let said: Vec<_> = ranks.into_iter().map(|rank| rank.wait_with_output().expect("ends")).collect();
    for server in &mut servers {
        server.kill().expect("alive");
        server.wait().expect("a child");
    }
    for output in said {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("60 rounds, 3 workers in the end"), "{output:?}");
    }
}

/// A join that was interrupted holds no name, and a sum that was interrupted is not written later.
#[test]
fn ctrl_c_ends_a_join_and_a_sum_and_the_rank_continues() {
    let Some(_turn) = turn() else { return };
    if !has(&["numpy"]) {
        return;
    }
    let testbed = testbed::of(STAR, 0.05);
    let (regrouped, interrupted) = (testbed.scratch_path("regrouped"), testbed.scratch_path("interrupted"));
    let start = |rank: u16| {
        let mut command = testbed::python(&testbed, &format!("w{}", rank + 1));
        command.env("REGROUPED", &regrouped).env("INTERRUPTED", &interrupted);
        start_rank(command, &["interrupted.py"], rank, 3)
    };
    let mut ranks = vec![start(0)];
    let begun = Instant::now();
    while !interrupted.exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "timed out");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut servers = [(0, "s1"), (1, "s2")].map(|(shard, host)| testbed::server(&testbed, shard, host));
    ranks.extend([start(1), start(2)]);
    let reports = reports_of(ranks);
    for server in &mut servers {
        server.kill().expect("alive");
        server.wait().expect("a child");
    }
    assert_eq!((&reports[0]["join"], &reports[0]["sum"]), (&json!(true), &json!(true)), "{reports:?}");
    let threads = reports[0]["threads"].to_string();
    assert!(!threads.contains("inart-elastic"), "{threads}");
    assert_eq!(reports[0]["first"], json!([1.0]), "the array is unchanged");
    same(&reports, "state");
    for report in &reports {
        assert_eq!(
            (&report["rounds"], &report["size"], &report["equal"]),
            (&json!(5), &json!(3), &json!(1)),
            "{report}"
        );
    }
}
