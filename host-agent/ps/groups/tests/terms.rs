//! Settings that groups and servers must share are compared before the first turn, and differences are named.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use inart_host_agent::{InProcess, Options};
use inart_ps_groups::{Agreed, RackGroup, RackServer, RackWorker};
use support::{assignments, mac};

const VALUES: usize = 700;
/// Only ends a hang.
const LONG: Duration = Duration::from_secs(60);

fn options() -> Options {
    Options { peer_timeout: Duration::from_secs(6), ..Options::default() }
}

/// Returns the ends of two servers and of a worker of each of two groups, servers first. `orders`: each
/// server's groups; `first`: the first weights of servers and of the groups' workers; `steps`: learning rates
/// of the groups.
fn run(orders: [&[usize]; 2], first: [f32; 3], steps: [&str; 2]) -> Vec<Result<f32, String>> {
    let (network, jobs) = (InProcess::new(), assignments(&[1, 1]));
    let (sender, ended) = channel();
    for shard in 0..2u8 {
        let group = |&group: &usize| RackGroup {
            assignment: jobs[group].clone(),
            transport: Box::new(network.port(mac(100 + shard))),
            options: options(),
        };
        let groups = orders[usize::from(shard)].iter().map(group).collect();
        let server = RackServer::new(u16::from(shard).into(), groups, 1, &[first[0]; VALUES], 3).unwrap();
        let (server, sender) = (server.with_term("step", None), sender.clone());
        thread::spawn(move || {
            let ended = server.run(&mut |_, _| {}).map(|ending| ending.model[0]);
            sender.send((usize::from(shard), ended.map_err(|error| error.to_string())))
        });
    }
    for (group, job) in jobs.iter().enumerate() {
        let (port, job, sender) = (Box::new(network.port(mac(group as u8))), job.clone(), sender.clone());
        let (first, step) = (vec![first[1 + group]; VALUES], steps[group].to_owned());
        thread::spawn(move || {
            let worker = RackWorker::new(job, 0u16.try_into().unwrap(), 2, first, (port, options())).unwrap();
            let mut worker = worker.with_term("step", Some(step));
            let ended = (0..3).try_for_each(|_| worker.push(&mut [0.25; VALUES]).map(drop));
            let ended = ended.map(|()| worker.model()[0]).map_err(|error| error.to_string());
            sender.send((2 + group, ended))
        });
    }
    let mut all: Vec<_> = (0..4).map(|_| ended.recv_timeout(LONG).expect("each process ends")).collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, ended)| ended).collect()
}

const SAME: [&[usize]; 2] = [&[0, 1], &[0, 1]];

#[test]
fn processes_that_share_all_settings_train() {
    // Six updates of 0.25; the first group lacks the second one's last.
    assert_eq!(run(SAME, [1.0; 3], ["0.3"; 2]), [2.5, 2.5, 2.25, 2.5].map(Ok));
}

#[test]
fn other_first_weights_at_a_group_are_named_at_all() {
    for ended in run(SAME, [1.0, 1.0, 5.0], ["0.3"; 2]) {
        let error = ended.unwrap_err();
        assert!(error.contains("job-2") && error.contains("first weights"), "{error}");
    }
}

#[test]
fn another_learning_rate_of_a_group_is_named_though_servers_have_none() {
    for ended in run(SAME, [1.0; 3], ["0.3", "0.05"]) {
        let error = ended.unwrap_err();
        assert!(error.contains("same step"), "{error}");
    }
}

#[test]
fn groups_in_another_order_at_one_server_end_by_name() {
    let ended = run([&[0, 1], &[1, 0]], [1.0; 3], ["0.3"; 2]);
    for error in ended[2..].iter().map(|ended| ended.as_ref().unwrap_err()) {
        assert!(error.contains("servers s0 and s1") && error.contains("order of groups"), "{error}");
    }
    // Servers receive no more frames of their workers, which have ended.
    for error in ended[..2].iter().map(|ended| ended.as_ref().unwrap_err()) {
        assert!(error.contains("w0") || error.contains("w1"), "{error}");
    }
}

#[test]
fn one_different_worker_of_many_changes_the_mean() {
    let own = |step: &str| {
        let mut agreed = Agreed::new(2, &[0.0; 9], None);
        agreed.add("step", Some(step.to_owned()));
        agreed
    };
    let mean = |differing: usize| {
        let of = |at: usize| {
            let sum: f32 =
                (0..64).map(|worker| own(if worker < differing { "0.1" } else { "0.3" }).value(at)).sum();
            sum / 64.0
        };
        (0..256).map(of).collect::<Vec<_>>()
    };
    assert_eq!(own("0.3").compare(1, 0, (&mean(0), 64.0)), Ok(()));
    for differing in [1, 63, 64] {
        let error = own("0.3").compare(1, 0, (&mean(differing), 64.0)).unwrap_err().to_string();
        assert!(error.contains("step"), "{error}");
    }
}
