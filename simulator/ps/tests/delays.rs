//! Links with a delay: an update, a model and each message between them arrive that much later.
#![allow(clippy::unwrap_used)]

use inart_protocol_ps::{Applied, SyncModel};
use inart_simulator_ps::{Absence, ClientOptions, WorkerOptions, run_clients, run_workers};
use inart_topologies::ps::{Job, Kind, Nic, Participant, Time};

const COMPUTE_S: f64 = 0.7;
/// Time that a model takes to pass a worker's port.
const MODEL_S: f64 = 0.2;

fn job(kind: Kind, delays_s: &[f64]) -> Job {
    let nic = Nic { out_bps: 1.0, in_bps: 1.0 };
    let compute = Time { mean_s: COMPUTE_S, cv: 0.0 };
    let participant = |(at, &delay_s): (usize, &f64)| Participant {
        name: format!("w{at}"),
        nic,
        delay_s,
        compute,
        batch: 1,
        speed: 1.0,
    };
    Job {
        name: "job".to_owned(),
        kind,
        participants: delays_s.iter().enumerate().map(participant).collect(),
        server: Nic { out_bps: 4.0, in_bps: 4.0 },
        bits: MODEL_S,
        pause: Time { mean_s: 0.0, cv: 0.0 },
    }
}

/// The model, the update, the server's answer, the request, the permission and the pull request: six times
/// the delay. In bulk synchronous rounds all wait for the farthest worker.
#[test]
fn an_iteration_is_longer_by_six_delays() {
    for (sync_model, delays_s) in [
        (SyncModel::asp(), &[0.03][..]),
        (SyncModel::bsp(), &[0.03]),
        (SyncModel::bsp(), &[0.01, 0.03, 0.0]),
        (SyncModel::r2sp(0.8, Applied::InTurn).unwrap(), &[0.03]),
    ] {
        let run = run_workers(&job(Kind::Workers, delays_s), &WorkerOptions::new(sync_model, 9)).unwrap();
        let wanted = COMPUTE_S + 2.0 * MODEL_S + 6.0 * 0.03;
        assert!((run.iteration_s - wanted).abs() < 1e-6, "{delays_s:?}: {} {wanted}", run.iteration_s);
        assert!((run.push_s - MODEL_S).abs() <= 0.03 + 1e-6, "{}", run.push_s);
    }
}

/// A process that crashes with messages in flight restarts with its own.
#[test]
fn transfers_to_a_crashed_process_are_void() {
    for from_s in [3.0, 3.31, 3.34, 3.37, 3.41, 3.6, 4.3] {
        let absence = Absence { participant: 0, from_s, until_s: Some(from_s + 0.05), is_noticed: false };
        let options = WorkerOptions { absences: vec![absence], ..WorkerOptions::new(SyncModel::bsp(), 9) };
        let run = run_workers(&job(Kind::Workers, &[0.04, 0.04]), &options).unwrap();
        assert_eq!(run.staleness.counts.values().sum::<u64>(), 12, "{from_s}");
    }
}

/// The model, the update, the permission and the pull request: four times.
#[test]
fn a_round_is_longer_by_four_delays() {
    let options = ClientOptions {
        groups: 1,
        fraction: 1.0,
        relaxation: 1.0,
        rounds: 9,
        seed: 1,
        patience_s: None,
        absences: Vec::new(),
        usage_s: None,
    };
    let run = run_clients(&job(Kind::Clients, &[0.03, 0.01]), &options).unwrap();
    let wanted = COMPUTE_S + 2.0 * MODEL_S + 4.0 * 0.03;
    assert!((run.round_s - wanted).abs() < 1e-6, "{} {wanted}", run.round_s);
}
