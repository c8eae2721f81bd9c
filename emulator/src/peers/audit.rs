//! Checks that every update that a peer received is the update that was sent, and that every reported
//! receiver has it.

use inart_report::{digest, random_gradient};

use super::processes::Records;
use super::setting::{Setting, Workload};
use crate::error::Error;

/// Compares them; how many were received.
///
/// # Errors
/// What differs from what was sent, is there twice, or is lacking.
pub fn check(setting: &Setting, records: &Records) -> Result<u64, Error> {
    let names = setting.names();
    let failed = |who: usize, why: String| Error::Failed { who: names[who].clone(), why };
    if setting.workload == Workload::Random {
        for (&(from, round), sent) in &records.sent {
            let expected = digest(&random_gradient(setting.seed, from, round, setting.values()));
            if sent.sent != expected {
                return Err(failed(from, format!("its update of round {round} is not what the seed names")));
            }
        }
    }
    for (&(to, from, round), copies) in &records.received {
        let name = &names[from];
        if copies.len() > 1 {
            let times = copies.len();
            return Err(failed(
                to,
                format!("it was given the update of {name} of round {round} {times} times"),
            ));
        }
        let sent = records.sent.get(&(from, round)).map(|sent| &sent.sent);
        if sent != copies.first() {
            let why = format!("the update of {name} of round {round} is not the one that was sent");
            return Err(failed(to, why));
        }
    }
    for (&(from, round), ended) in &records.ended {
        for to in &ended.complete {
            let rank = names.iter().position(|name| name == to);
            if !rank.is_some_and(|to| records.received.contains_key(&(to, from, round))) {
                let why = format!(
                    "it reports that {to} has its update of round {round}, and {to} does not report the update"
                );
                return Err(failed(from, why));
            }
        }
    }
    for (&rank, counted) in &records.counted {
        if counted.misdelivered > 0 {
            return Err(failed(rank, format!("{} copies for others came to it", counted.misdelivered)));
        }
    }
    Ok(records.received.len() as u64)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use inart_planner_peers::{Multicast, Reading};
    use inart_topologies::peers::Mesh;
    use inart_wire::ValuesPerFrame;

    use inart_report::{MulticastEnd, PeerEnd, PeerSent};

    use super::super::setting::Sync;
    use super::*;

    const NETWORK: &str = "{name: m, nodes: [{name: s, kind: switch}, {name: p1, kind: peer}, \
        {name: p2, kind: peer}], links: [{ends: [p1, s], rate: 1 Gbps}, {ends: [p2, s], rate: 1 Gbps}], \
        jobs: [{name: j, receivers: 1, update: 16 B}]}";

    fn setting(workload: Workload) -> Setting {
        Setting {
            mesh: Arc::new(Mesh::from_yaml(NETWORK).expect("a network")),
            scale: crate::machine::scale::Scaling::NONE,
            schemes: Vec::new(),
            given: None,
            multicast: Multicast::Hosts,
            values_per_frame: ValuesPerFrame::N256,
            target: inart_targets::DEFAULT,
            sync: Sync::Bsp,
            force_after: None,
            reading: Reading::default(),
            workload,
            rounds: 1,
            seed: 7,
            program: PathBuf::new(),
            congestion: String::new(),
        }
    }

    /// p1 sends its update of round 1 to p2.
    fn records(digest: &str) -> Records {
        let mut records = Records::default();
        let sent = PeerSent { round: 1, sent: digest.to_owned(), began_ns: 0, computed_ns: 0 };
        let complete = vec!["p2".to_owned()];
        let ended = MulticastEnd {
            round: 1,
            complete,
            withdrawn: Vec::new(),
            given_up: Vec::new(),
            seconds: 0.1,
            ended_ns: 0,
            rounds_with_previous_receivers: false,
        };
        records.sent.insert((0, 1), sent);
        records.ended.insert((0, 1), ended);
        records.received.insert((1, 0, 1), vec![digest.to_owned()]);
        records
    }

    #[test]
    fn what_arrives_otherwise_twice_or_never_is_named() {
        let setting = setting(Workload::Training { batch: 1 });
        assert_eq!(check(&setting, &records("a")).expect("all is as it was sent"), 1);
        type Change = fn(&mut Records);
        let cases: [(Change, &str); 4] = [
            (
                |records| records.received.values_mut().for_each(|all| all[0] = "b".into()),
                "p2: the update of p1",
            ),
            (|records| records.received.values_mut().for_each(|all| all.push("a".into())), "2 times"),
            (|records| records.received.clear(), "p1: it reports that p2 has its update of round 1"),
            (|records| records.sent.clear(), "p2: the update of p1 of round 1 is not the one"),
        ];
        for (change, expected) in cases {
            let mut records = records("a");
            change(&mut records);
            let error = check(&setting, &records).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_copy_for_others_is_named() {
        let setting = setting(Workload::Training { batch: 1 });
        let mut records = records("a");
        records.counted.insert(1, PeerEnd { misdelivered: 3, ..PeerEnd::default() });
        let error = check(&setting, &records).expect_err("a copy for no receiver").to_string();
        assert!(error.contains("p2: 3 copies for others"), "{error}");
    }

    #[test]
    fn random_updates_are_those_of_the_seed() {
        let setting = setting(Workload::Random);
        assert!(check(&setting, &records("a")).is_err());
        assert!(check(&setting, &records(&digest(&random_gradient(7, 0, 1, 4)))).is_ok());
    }
}
