//! Agents without faults compared with the prediction, and with values computed by hand.
#![allow(clippy::unwrap_used)]

use inart_protocol_ps::{Applied, Blocking, SyncModel};
use inart_simulator_ps::{
    AgentError, AgentOptions, AgentRun, CAPABILITIES, Sync, WorkerOptions, run_agents, run_workers,
};
use inart_topologies::faults::{Faults, Schedule};
use inart_topologies::ps::{Cluster, Job};
use inart_topologies::switched::Topology;

/// Returns four workers whose links are as fast as the server's: 100 Mbit/s, on which 1 MB alone takes 80 ms.
fn document(delay_ms: u32, cv: f64) -> String {
    let node = |worker: u32| format!("{{name: w{worker}, kind: worker}}");
    let link = |worker: u32| format!("{{ends: [w{worker}, v1], rate: 100 Mbps, delay: {delay_ms} ms}}");
    let nodes: Vec<_> = (1..=4).map(node).collect();
    let links: Vec<_> = (1..=4).map(link).collect();
    format!(
        "{{name: four, nodes: [{{name: v1, kind: switch}}, {{name: s1, kind: server}}, {}], \
         links: [{{ends: [v1, s1], rate: 100 Mbps}}, {}], jobs: [{{name: j, gradient: 1 MB, \
         workers: [w1, w2, w3, w4], servers: [s1], compute: {{mean: 1 s, cv: {cv}}}}}]}}",
        nodes.join(", "),
        links.join(", ")
    )
}

fn run(text: &str, sync: Sync, iterations: u32, faults: &str) -> Result<AgentRun, AgentError> {
    let (topology, cluster) = (Topology::from_yaml(text).unwrap(), Cluster::from_yaml(text).unwrap());
    let faults = Faults::from_yaml(faults).unwrap();
    let schedule = Schedule::new(&topology, &faults, &CAPABILITIES).unwrap();
    run_agents(&topology, &cluster.jobs[0], &AgentOptions::new(sync, iterations), &schedule)
}

fn predicted_s(text: &str, sync_model: SyncModel, iterations: u32) -> f64 {
    let job: Job = Cluster::from_yaml(text).unwrap().jobs[0].clone();
    run_workers(&job, &WorkerOptions::new(sync_model, iterations)).unwrap().iteration_s
}

#[test]
fn iterations_match_values_computed_by_hand() {
    // All pull at once and push at once: 4 models of 80 ms in each direction, and a second between.
    let run = run(&document(0, 0.0), Sync::Order(SyncModel::bsp()), 6, "").unwrap();
    assert!((run.iteration_s - 1.64).abs() < 1e-3, "{run:?}");
    assert_eq!((run.updates, run.versions, run.staleness_most), (24, 6, 0));
    assert_eq!((run.wasted_updates, run.lost_messages, run.disconnected), (0, 0, 0));
    // Each applied update, each pulled and each applied model: 32 chunks of 4 values.
    assert_eq!(run.values_compared, 128 * (24 + 24 + 6));
}

#[test]
fn without_faults_iterations_take_as_long_as_predicted() {
    // Without noise, workers of asp stay together or drift apart by the last digit of a time.
    for (delay_ms, cv) in [(0, 0.3), (5, 0.2)] {
        let text = document(delay_ms, cv);
        for sync_model in [
            SyncModel::bsp(),
            SyncModel::asp(),
            SyncModel::ssp(2, Blocking::AfterPush).unwrap(),
            SyncModel::safa(0.5, 3).unwrap(),
            SyncModel::r2sp(0.8, Applied::InTurn).unwrap(),
        ] {
            let (own, predicted_s) =
                (run(&text, Sync::Order(sync_model), 40, "").unwrap(), predicted_s(&text, sync_model, 40));
            let apart = own.iteration_s / predicted_s - 1.0;
            eprintln!(
                "{} {delay_ms} ms, cv {cv}: {} and {predicted_s}, {apart:+.4}",
                sync_model.name(),
                own.iteration_s
            );
            assert!(apart.abs() < 0.05, "{}: {} and {predicted_s} s", sync_model.name(), own.iteration_s);
        }
    }
}

#[test]
fn a_link_at_half_its_rate_takes_twice_as_long() {
    let alone = document(0, 0.0).replace("workers: [w1, w2, w3, w4]", "workers: [w1]");
    let sync = Sync::Order(SyncModel::bsp());
    let own = run(&alone, sync, 6, "").unwrap();
    assert!((own.iteration_s - 1.16).abs() < 1e-3, "{own:?}");
    for ends in ["[w1, v1]", "[s1, v1]"] {
        let slow =
            run(&alone, sync, 6, &format!("events: [{{at: 0 s, slow: {ends}, rate: 50 Mbps}}]")).unwrap();
        assert!((slow.iteration_s - 1.32).abs() < 1e-3, "{ends}: {slow:?}");
    }
}

#[test]
fn stopped_transfers_resume_where_they_were() {
    let alone = document(0, 0.0).replace("workers: [w1, w2, w3, w4]", "workers: [w1]");
    let sync = Sync::Order(SyncModel::bsp());
    let own = run(&alone, sync, 6, "").unwrap();
    // A link is down for less than a connection needs to end; the worker computes or transfers meanwhile.
    let down = run(&alone, sync, 6, "events: [{at: 1250 ms, link_down: [w1, v1], duration: 3 s}]").unwrap();
    assert_eq!(down.disconnected, 0);
    assert!((down.seconds - own.seconds - 3.0).abs() < 0.1, "{} and {}", down.seconds, own.seconds);
    // Longer: the connection ends, and arrived chunks are not sent again.
    let cut = run(&alone, sync, 6, "events: [{at: 1250 ms, link_down: [w1, v1], duration: 7 s}]").unwrap();
    assert_eq!((cut.disconnected, cut.given_up), (1, 0));
    assert!((cut.seconds - own.seconds - 7.0).abs() < 0.3, "{} and {}", cut.seconds, own.seconds);
}

#[test]
fn faults_that_are_not_simulated_are_refused_by_name() {
    let text = document(0, 0.0);
    let cases = [
        ("events: [{at: 1 s, crash: s1}]", "host s1 killed: the server does not restart"),
        (
            "events: [{at: 1 s, pause: w1, duration: 1 s}]",
            "host w1 stopped: processes do not stand still here",
        ),
        ("events: [{at: 1 s, restart: v1, duration: 1 s}]", "switch v1 killed: switches and frames"),
        ("links: [{duplicate: 1%}]", "links: duplicate: connections drop"),
        ("background: [{from: w1, to: s1, rate: 1 Mbps}]", "background: other traffic"),
    ];
    for (faults, named) in cases {
        let error = run(&text, Sync::Order(SyncModel::asp()), 3, faults).unwrap_err().to_string();
        assert!(error.starts_with(named), "{error}");
    }
    let groups = Sync::Groups { groups: 1, fraction: 1.0, relaxation: 0.0 };
    let error = run(&text, groups, 3, "").unwrap_err().to_string();
    assert!(error.contains("job j has workers, and fl-r2sp is for clients"), "{error}");
}

#[test]
fn a_stuck_training_names_the_awaited_workers() {
    let error =
        run(&document(0, 0.0), Sync::Order(SyncModel::bsp()), 3, "links: [{link: [w1, v1], drop: 100%}]");
    let error = error.unwrap_err().to_string();
    assert!(error.contains("w1 is connected and has sent nothing"), "{error}");
}
