//! Processes that are killed, and links that lose frames or are cut.

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::cluster::{Cluster, in_namespace, run, trained};
use crate::support::ps::{WORKERS, applied, sent, server_is_killed};

#[test]
fn a_worker_that_is_killed_comes_back() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        // Iterations take 20 ms at least: the training lasts far longer than w2 takes to start again.
        let server = cluster.start("s1", "--sync r2sp --iterations 300 --reconnect-grace 500ms");
        let start = |name: &str| cluster.start(name, "--simulate-compute");
        let (first, third) = (start("w1"), start("w3"));
        let killed = start("w2");
        let mut said = Vec::new();
        let until = |said: &mut Vec<Value>, is_it: &dyn Fn(&Value) -> bool| {
            while !said.last().is_some_and(is_it) {
                said.push(server.next());
            }
        };
        until(&mut said, &|line| line["applied"].as_u64() >= Some(15));
        let mut second = killed.killed();
        // The others go on without it.
        until(&mut said, &|line| line["gone"] == "w2");
        let version = said.iter().rev().find_map(|line| line["applied"].as_u64()).unwrap();
        until(&mut said, &|line| line["applied"].as_u64() >= Some(version + 6));
        let back = start("w2");
        until(&mut said, &|line| line["joined"] == "w2");
        until(&mut said, &|line| line["worker"] == "w2" && line.get("pushed").is_some());
        until(&mut said, &|line| line.get("accuracy").is_some());
        second.extend(back.until("iterations"));
        let printed = [("w1", first.until("iterations")), ("w2", second), ("w3", third.until("iterations"))];
        assert!(applied(&said, &sent(&printed)) > 300 * 2);
        let last = said.last().unwrap();
        assert!(last["given_up"].as_u64() >= Some(1) && last["accuracy"].as_f64() > Some(0.8), "{last}");
    });
}

#[test]
fn a_server_that_is_killed_goes_on_from_its_last_version() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        server_is_killed(&|name, flags| cluster.start(name, flags));
    });
}

/// Queues of four frames, which a window overruns: what is lost is sent again, and counts once.
#[test]
fn what_queues_lose_is_repaired() {
    in_namespace(1500, || {
        let shape = "root tbf rate 40mbit burst 5000 limit 5000";
        for link in ["at-w1", "at-w2", "at-w3", "at-s1"] {
            run("tc", &format!("qdisc add dev {link} {shape}"));
        }
        let (server, worker) = trained(&Cluster::new(), "--sync bsp --iterations 40", "");
        let again = |last: &Value| last["connections"]["sent_again"].as_u64().unwrap();
        assert!(again(&server) > 0, "{server}");
        assert!(again(&worker) > 0, "{worker}");
    });
}

/// Longer than a connection lives in silence, and shorter than the absence that is allowed.
#[test]
fn a_link_that_is_cut_for_a_while_ends_nothing() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        let server = cluster.start("s1", "--sync r2sp --iterations 40 --reconnect-grace 60s");
        let workers = WORKERS.map(|name| (name, cluster.start(name, "")));
        let mut said = vec![server.next()];
        while said.last().unwrap()["applied"].as_u64() < Some(20) {
            said.push(server.next());
        }
        run("ip", "link set at-w2 down");
        sleep(Duration::from_secs(4));
        run("ip", "link set at-w2 up");
        said.extend(server.until("accuracy"));
        let printed: Vec<_> =
            workers.iter().map(|(name, worker)| (*name, worker.until("iterations"))).collect();
        let last = said.last().unwrap();
        assert!(applied(&said, &sent(&printed)) >= 120, "{last}");
        assert_eq!(last["given_up"], 0, "{last}");
        // Both sides heard nothing for too long.
        let ended = |last: &Value| last["connections"]["ended"].as_u64().unwrap();
        assert!(ended(last) >= 1 && ended(printed[1].1.last().unwrap()) >= 1, "{printed:?}, {last}");
        assert_eq!(ended(printed[0].1.last().unwrap()), 0);
    });
}
