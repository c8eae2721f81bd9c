//! Runs compared with an independent computation of the same models (another language, another author): means
//! over three seeds. Without noise the pushes of both agree within a nanosecond; with noise a rounding may
//! swap two draws.
#![allow(clippy::unwrap_used)]

use inart_protocol_ps::{Applied, SyncModel};
use inart_simulator_ps::{ClientOptions, WorkerOptions, run_clients, run_workers};
use inart_topologies::ps::{Job, Kind, Nic, Participant, Time};

fn job(kind: Kind, count: usize, compute: Time, nic: Nic) -> Job {
    let participant =
        |at: usize| Participant { name: format!("p{at}"), nic, delay_s: 0.0, compute, batch: 1, speed: 1.0 };
    Job {
        name: "job".to_owned(),
        kind,
        participants: (0..count).map(participant).collect(),
        server: Nic { out_bps: 1.0, in_bps: 1.0 },
        bits: 1.0,
        pause: Time { mean_s: 0.0, cv: 0.0 },
    }
}

/// Model, coefficient of variation, synchronization model, r; iteration time, part of gaps that is zero, mean
/// staleness, blocking.
type Row = (&'static str, f64, &'static str, f64, [f64; 4]);

/// 16 workers, 200 iterations.
const WORKERS: [Row; 31] = [
    ("ResNet32", 0.0, "r2sp", 0.8, [0.1475, 0.0, 15.0, 0.0012]),
    ("ResNet32", 0.05, "bsp", 0.0, [0.2239, 0.6126, 0.0, 0.0083]),
    ("ResNet32", 0.05, "asp", 0.0, [0.1478, 0.0915, 14.999, 0.0]),
    ("ResNet32", 0.05, "safa", 0.0, [0.2592, 0.5630, 0.333, 0.0689]),
    ("ResNet32", 0.05, "r2sp", 0.8, [0.1532, 0.0644, 14.599, 0.0066]),
    ("ResNet32", 0.05, "r2sp", 1.0, [0.1566, 0.0510, 14.477, 0.0123]),
    ("ResNet32", 0.2, "bsp", 0.0, [0.2365, 0.2373, 0.0, 0.0451]),
    ("ResNet32", 0.2, "safa", 0.0, [0.2420, 0.1853, 0.333, 0.0663]),
    ("ResNet32", 0.2, "r2sp", 0.8, [0.1817, 0.0869, 12.835, 0.0345]),
    ("AlexNet", 0.0, "r2sp", 0.8, [1.4583, 0.0, 15.0, 0.0570]),
    ("AlexNet", 0.0, "r2sp", 1.0, [1.4460, 0.0, 15.0, 0.1147]),
    ("AlexNet", 0.05, "bsp", 0.0, [3.3644, 0.8262, 0.0, 0.0344]),
    ("AlexNet", 0.05, "safa", 0.0, [3.5111, 0.8076, 0.333, 0.8931]),
    ("AlexNet", 0.05, "r2sp", 0.8, [1.4959, 0.0152, 14.945, 0.0730]),
    ("AlexNet", 0.2, "r2sp", 0.8, [1.5965, 0.0799, 13.969, 0.1737]),
    ("AlexNet", 0.2, "r2sp", 1.0, [1.5403, 0.0756, 13.665, 0.2613]),
    ("VGG16", 0.0, "bsp", 0.0, [9.74, 0.9375, 0.0, 0.0]),
    ("VGG16", 0.0, "asp", 0.0, [9.74, 0.9375, 15.0, 0.0]),
    ("VGG16", 0.0, "r2sp", 1.0, [4.5288, 0.0, 15.0, 0.3460]),
    ("VGG16", 0.05, "bsp", 0.0, [9.7042, 0.8988, 0.0, 0.0481]),
    ("VGG16", 0.05, "safa", 0.0, [9.9082, 0.8839, 0.333, 2.4944]),
    ("VGG16", 0.05, "r2sp", 0.8, [4.5584, 0.0, 15.0, 0.1850]),
    ("VGG16", 0.05, "r2sp", 1.0, [4.5304, 0.0, 14.970, 0.3881]),
    ("VGG16", 0.2, "bsp", 0.0, [9.6120, 0.7419, 0.0, 0.1855]),
    ("VGG16", 0.2, "r2sp", 0.8, [4.6874, 0.0457, 14.598, 0.3226]),
    ("VGG16", 0.2, "r2sp", 1.0, [4.5572, 0.0401, 14.368, 0.5612]),
    ("Inception", 0.0, "r2sp", 1.0, [1.0176, 0.0, 15.0, 0.0529]),
    ("Inception", 0.05, "asp", 0.0, [1.0502, 0.0904, 15.0, 0.0]),
    ("Inception", 0.05, "r2sp", 0.8, [1.0505, 0.0552, 14.697, 0.0485]),
    ("Inception", 0.2, "asp", 0.0, [1.0470, 0.0936, 14.997, 0.0]),
    ("Inception", 0.2, "r2sp", 0.8, [1.2227, 0.0900, 13.051, 0.2055]),
];

#[test]
fn workers() {
    for (model, cv, sync, r, wanted) in WORKERS {
        let (mean_s, size_s) = match model {
            "ResNet32" => (0.12, 0.0034375),
            "AlexNet" => (0.5, 0.0903125),
            "VGG16" => (0.7, 0.2825),
            _ => (0.7, 0.0396875),
        };
        let sync_model = match sync {
            "bsp" => SyncModel::bsp(),
            "asp" => SyncModel::asp(),
            "safa" => SyncModel::safa(0.75, 5).unwrap(),
            _ => SyncModel::r2sp(r, Applied::InTurn).unwrap(),
        };
        let quarter = Nic { out_bps: 0.25, in_bps: 0.25 };
        let job = Job { bits: size_s, ..job(Kind::Workers, 16, Time { mean_s, cv }, quarter) };
        let mut ours = [0.0; 4];
        for seed in 1..=3 {
            let run =
                run_workers(&job, &WorkerOptions { seed, ..WorkerOptions::new(sync_model, 200) }).unwrap();
            let values = [run.iteration_s, run.bunched_arrivals, run.staleness.mean, run.blocking_s];
            ours.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / 3.0);
        }
        // About three times the variation over three seeds.
        let near = [0.015 * wanted[0], 0.012, 0.12, 0.01 + 0.03 * wanted[3]];
        let is_near = (0..4).all(|at| (ours[at] - wanted[at]).abs() <= near[at]);
        assert!(is_near, "{model}, cv {cv}, {sync} {r}: {ours:?}, the other computation has {wanted:?}");
    }
}

/// 128 clients, C = 0.75, 40 rounds: times of a round, a push, a pull and a wait, in one group and in eight.
#[test]
fn clients() {
    let rows = [(
        7.047978,
        [0.0090991, 0.0225204],
        [10.6967, 0.3754, 2.7346, 0.3226],
        [8.4149, 0.34, 0.3452, 0.4674],
    )];
    for (mean_s, [in_s, out_s], one, eight) in rows {
        let compute = Time { mean_s, cv: 0.05 };
        let alone = Nic { out_bps: 1.0 / 0.34, in_bps: 1.0 / 0.34 };
        let mut job = job(Kind::Clients, 128, compute, alone);
        job.server = Nic { out_bps: 1.0 / out_s, in_bps: 1.0 / in_s };
        // μ = -2, σ = 1.
        job.pause = Time { mean_s: (-1.5f64).exp(), cv: (1f64.exp() - 1.0).sqrt() };
        for (groups, wanted) in [(1, one), (8, eight)] {
            let mut ours = [0.0; 4];
            for seed in 1..=3 {
                let options = ClientOptions {
                    groups,
                    fraction: 0.75,
                    relaxation: 1.0,
                    rounds: 40,
                    seed,
                    patience_s: None,
                    absences: Vec::new(),
                    usage_s: None,
                };
                let run = run_clients(&job, &options).unwrap();
                let values = [run.round_s, run.push_s, run.pull_s, run.wait_s];
                ours.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / 3.0);
            }
            let is_near = (0..4).all(|at| (ours[at] - wanted[at]).abs() <= [0.05, 0.01, 0.01, 0.04][at]);
            assert!(is_near, "{groups} groups: {ours:?}, the other computation has {wanted:?}");
        }
    }
}
