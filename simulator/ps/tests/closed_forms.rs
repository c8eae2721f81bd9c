//! Runs compared with values computed by hand: the R²SP paper's Table I, calibrated, and Table III.
#![allow(clippy::print_stdout, reason = "a test prints what it found")]
#![allow(clippy::unwrap_used)]

use inart_protocol_ps::{Applied, BatchRule, Blocking, SyncModel};
use inart_simulator_ps::{WorkerEvent, WorkerOptions, run_workers, run_workers_watched};
use inart_topologies::ps::{Job, Kind, Nic, Participant, Time};

/// By model: compute time, seconds to pass the servers' port, and closed forms for 16 workers: BSP's
/// iteration, and a lower bound for R²SP (`table1_calibration`).
const MODELS: [(&str, f64, f64, f64, f64); 4] = [
    ("ResNet32", 0.12, 0.0034375, 0.23, 0.1475),
    ("AlexNet", 0.5, 0.0903125, 3.39, 1.445),
    ("VGG16", 0.7, 0.2825, 9.74, 4.52),
    ("Inception", 0.7, 0.0396875, 1.97, 1.0175),
];

/// Returns workers whose port is a quarter of the server's, which takes one model per second.
fn job(workers: usize, compute: Time, size_s: f64) -> Job {
    let participant = |at: usize| Participant {
        name: format!("w{}", at + 1),
        nic: Nic { out_bps: 0.25, in_bps: 0.25 },
        delay_s: 0.0,
        compute,
        batch: 512,
        speed: 100.0,
    };
    Job {
        name: "job".to_owned(),
        kind: Kind::Workers,
        participants: (0..workers).map(participant).collect(),
        server: Nic { out_bps: 1.0, in_bps: 1.0 },
        bits: size_s,
        pause: Time { mean_s: 0.0, cv: 0.0 },
    }
}

fn exactly(mean_s: f64) -> Time {
    Time { mean_s, cv: 0.0 }
}

fn near(value: f64, wanted: f64, part: f64) -> bool {
    (value - wanted).abs() <= part * wanted
}

fn r2sp(relaxation: f64) -> SyncModel {
    SyncModel::r2sp(relaxation, Applied::InTurn).unwrap()
}

#[test]
fn bsp_is_its_closed_form() {
    for (model, compute_s, size_s, bsp_s, _) in MODELS {
        let run = run_workers(&job(16, exactly(compute_s), size_s), &WorkerOptions::new(SyncModel::bsp(), 9));
        let run = run.unwrap();
        assert!(near(run.iteration_s, bsp_s, 1e-6), "{model}: {}", run.iteration_s);
        assert_eq!(run.bunched_arrivals, 15.0 / 16.0, "{model}");
        assert_eq!((run.staleness.mean, run.staleness.max), (0.0, 0));
    }
}

/// Asynchronous workers that start together stay together, unless noise parts them.
#[test]
fn asp_stays_in_lockstep_without_noise() {
    let options = WorkerOptions::new(SyncModel::asp(), 30);
    let even = run_workers(&job(16, exactly(0.7), 0.2825), &options).unwrap();
    assert!(near(even.iteration_s, 9.74, 1e-6) && even.bunched_arrivals == 15.0 / 16.0);
    let noisy = run_workers(&job(16, Time { mean_s: 0.7, cv: 0.05 }, 0.2825), &options).unwrap();
    assert!(noisy.bunched_arrivals < 0.9 && noisy.iteration_s < 9.74, "{noisy:?}");
}

#[test]
fn r2sp_is_near_its_bound_and_not_below() {
    for (model, compute_s, size_s, bsp_s, bound_s) in MODELS {
        let job = job(16, exactly(compute_s), size_s);
        let run = run_workers(&job, &WorkerOptions::new(r2sp(1.0), 120)).unwrap();
        println!("{model}: {} s, BSP {bsp_s} s, bound {bound_s} s", run.iteration_s);
        // For a part of a run: the queue at its start may be empty at its end.
        assert!(run.iteration_s >= bound_s * (1.0 - 1e-3), "{model}: {}", run.iteration_s);
        assert!(near(run.iteration_s, bound_s, 0.05), "{model}: {}", run.iteration_s);
        assert!(run.staleness.max <= 15 && run.bunched_arrivals == 0.0, "{run:?}");
    }
}

#[test]
fn no_sync_model_is_faster_than_the_port_or_a_worker_alone() {
    let ssp = |blocking| SyncModel::ssp(3, blocking).unwrap();
    let sync_models = [
        SyncModel::bsp(),
        SyncModel::asp(),
        ssp(Blocking::AfterPush),
        ssp(Blocking::BeforeCommit),
        SyncModel::safa(0.75, 5).unwrap(),
        r2sp(0.0),
        r2sp(0.8),
        SyncModel::r2sp_tuned(Applied::InTurn),
    ];
    for sync_model in sync_models {
        for (model, compute_s, size_s, _, bound_s) in MODELS {
            let job = job(16, Time { mean_s: compute_s, cv: 0.05 }, size_s);
            let run = run_workers(&job, &WorkerOptions::new(sync_model, 40)).unwrap();
            let least = bound_s * 0.98; // the mean of what is drawn
            assert!(run.iteration_s >= least, "{model}, {sync_model:?}: {} < {bound_s}", run.iteration_s);
            assert!(run.utilization_in <= 1.0 + 1e-9 && run.utilization_out <= 1.0 + 1e-9);
        }
    }
}

/// Returns two, two and four workers; fast ones have shorter iterations by the time that they are blocked
/// (Table III).
fn table_iii() -> Job {
    let mut job = job(8, exactly(2.0), 0.0);
    job.bits = 1e-9;
    let kinds = [(429.0, 0.0), (628.0, 0.62), (917.0, 0.82)];
    for (at, participant) in job.participants.iter_mut().enumerate() {
        let (speed, less_s) = kinds[[0, 0, 1, 1, 2, 2, 2, 2][at]];
        participant.speed = speed;
        participant.compute = exactly(2.0 - less_s);
    }
    job
}

#[test]
fn batches_fill_what_fast_workers_are_blocked() {
    let fixed = run_workers(&table_iii(), &WorkerOptions::new(r2sp(1.0), 200)).unwrap();
    let blocked: Vec<f64> = fixed.blockings_s.values().copied().collect();
    for (blocked, wanted) in blocked.iter().zip([0.0, 0.0, 0.62, 0.62, 0.82, 0.82, 0.82, 0.82]) {
        assert!((blocked - wanted).abs() < 0.02, "{blocked} {wanted}");
    }
    let options = WorkerOptions { tuning: Some(BatchRule::FillIdle), ..WorkerOptions::new(r2sp(1.0), 60) };
    let tuned = run_workers(&table_iii(), &options).unwrap();
    let batches: Vec<u32> = tuned.batches.values().copied().collect();
    assert_eq!(batches, [512, 512, 901, 901, 1264, 1264, 1264, 1264]);
    // Samples of a round of cluster B, before and after.
    let samples = |batches: &[u32]| batches.iter().sum::<u32>();
    assert_eq!(samples(&fixed.batches.values().copied().collect::<Vec<_>>()), 4096);
    assert_eq!(samples(&batches), 7882);
    assert!(near(tuned.iteration_s, fixed.iteration_s, 0.01), "{} {}", tuned.iteration_s, fixed.iteration_s);
    let proportional = WorkerOptions { tuning: Some(BatchRule::Proportional), ..options };
    let proportional = run_workers(&table_iii(), &proportional).unwrap();
    assert_eq!(proportional.batches.values().copied().collect::<Vec<_>>()[..5], [512, 512, 750, 750, 1094]);
}

#[test]
fn learning_rates_are_scaled_by_the_batch() {
    let options = WorkerOptions { tuning: Some(BatchRule::FillIdle), ..WorkerOptions::new(r2sp(1.0), 60) };
    let mut scales = [0.0; 8];
    run_workers_watched(&table_iii(), &options, &mut |_, event| {
        if let WorkerEvent::Apply { updates, .. } = event {
            updates.iter().for_each(|update| scales[update.worker.index()] = update.scale());
        }
    })
    .unwrap();
    assert_eq!(scales[..5], [1.0, 1.0, 901.0 / 512.0, 901.0 / 512.0, 1264.0 / 512.0]);
}
