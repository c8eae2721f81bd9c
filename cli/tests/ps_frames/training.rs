//! Training by frames.

use serde_json::Value;

use super::cluster::{Cluster, in_bare_namespace, in_namespace, trained};
use crate::support::processes::Running;

#[test]
fn workers_learn_by_frames_and_every_update_is_applied_once() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        let (server, worker) = trained(&cluster, "--sync r2sp --iterations 40", "");
        // Also at the end no process vanished without a message.
        let ended = |last: &Value| last["connections"]["ended"].as_u64().unwrap();
        assert_eq!((ended(&server), ended(&worker)), (0, 0), "{server}, {worker}");
        trained(&cluster, "--sync bsp --iterations 40 --dtype float16", "--pace");
        // As InArt switches need it: frames of one length.
        trained(&cluster, "--sync r2sp --iterations 40", "--frame-values 64");
        // Frames that are longer than the interface carries.
        let line = Cluster::line("s1", "--sync bsp --frame-values 1024");
        cluster.refused(&line, &["interface on-s1", "4140 bytes", "MTU of 1500"]);
    });
}

#[test]
fn frames_are_longer_where_the_mtu_allows_it() {
    in_namespace(9000, || {
        let cluster = Cluster::new();
        let carried = || {
            // Of this thread's namespace.
            let text = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
            let line = text.lines().find(|line| line.trim_start().starts_with("on-w1:")).unwrap();
            let numbers: Vec<u64> =
                line.split_whitespace().skip(1).map(|text| text.parse().unwrap()).collect();
            (numbers[8], numbers[9])
        };
        trained(&cluster, "--sync r2sp --iterations 40", "");
        let (bytes, frames) = carried();
        // A chunk is three frames of 8236 bytes or less, and hellos and acknowledgements are short.
        assert!(bytes / frames > 2000, "{bytes} bytes in {frames} frames");
    });
}

/// An InArt switch takes messages of those who are in a plan of its, in frames of one length.
#[test]
fn frames_cross_an_inart_switch_that_has_a_plan_of_the_job() {
    in_bare_namespace(1500, || {
        let cluster = Cluster::new();
        let bench = &cluster.0;
        let words =
            "switch --no-p4 -i 1@at-s1 -i 2@at-w1 -i 3@at-w2 -i 4@at-w3 -- --grpc-server-addr 127.0.0.1:0";
        let switch = Running::start(bench.command(&words.split(' ').collect::<Vec<_>>()));
        let at = format!("v={}", switch.line().strip_prefix("listening on ").unwrap());
        let plan = bench.inart(&["--json", "plan", "three.yaml"]);
        bench.write("plan.json", plan.stdout);
        let pushed = bench.inart(&["apply", "plan.json", "three.yaml", "--switch", &at, "--state", "state"]);
        assert!(pushed.status.success(), "{pushed:?}");
        let (_, worker) = trained(&cluster, "--sync r2sp --iterations 40", "--frame-values 256");
        assert_eq!(worker["connections"]["unknown_senders"], 0, "{worker}");
    });
}
