//! Running hosts migrate to other plans of their job in the middle of rounds; every sum is checked.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use inart_host_agent::{InProcess, MigrationError, Migrator, Options, Server, Stopper, Worker};
use inart_protocol_aggregation::{Assignment, RerouteError, ShardAssignment, WorkerAddress};
use inart_wire::{BitmapIndex, MacAddr, PlanVersion, ValuesPerFrame};

const WORKERS: u16 = 3;
const LEN: usize = 3000;

fn mac(host: u16) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, host as u8])
}

/// Returns the assignment of three workers and two servers, with other bitmap indices and rates per plan
/// version.
fn assignment(plan_version: u16) -> Assignment {
    let shard = |shard: u16| ShardAssignment {
        server: format!("s{shard}"),
        mac: mac(100 + shard),
        share: 0.5,
        rate_bps: 1e9 / f64::from(1 + plan_version % 3),
        bitmap_indices: match plan_version % 2 {
            0 => (0..WORKERS).map(|rank| BitmapIndex::try_from(70 + plan_version + rank).unwrap()).collect(),
            _ => vec![],
        },
    };
    Assignment {
        job: 1.into(),
        name: "moved".into(),
        plan_version: plan_version.into(),
        values_per_frame: ValuesPerFrame::N32,
        window_chunks: 8,
        exact_sums: false,
        workers: (0..WORKERS)
            .map(|rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) })
            .collect(),
        shards: (0..2).map(shard).collect(),
    }
}

fn options() -> Options {
    Options { peer_timeout: Duration::from_secs(20), ..Options::default() }
}

/// Starts a server; returns handles that migrate and stop it.
fn serve(network: &InProcess, shard: u16) -> (Migrator, Stopper, thread::JoinHandle<()>) {
    let port = network.port(mac(100 + shard));
    let mut server = Server::with_transport(assignment(1), shard.into(), port, options()).unwrap();
    let (migrator, stopper) = (server.migrator(), server.stopper());
    (migrator, stopper, thread::spawn(move || server.run().unwrap()))
}

fn worker(network: &InProcess, rank: u16) -> Worker {
    Worker::with_options(assignment(1), rank.try_into().unwrap(), network.port(mac(rank)), options()).unwrap()
}

#[test]
fn plans_change_in_the_middle_of_rounds_and_no_sum_differs() {
    let network = InProcess::new();
    let servers = [0, 1].map(|shard| serve(&network, shard));
    let workers: Vec<_> = (0..WORKERS).map(|rank| worker(&network, rank)).collect();
    let migrators: Vec<_> =
        workers.iter().map(Worker::migrator).chain(servers.iter().map(|server| server.0.clone())).collect();
    let is_done = AtomicBool::new(false);
    let rounds = thread::scope(|scope| {
        let (workers, is_done) = (&workers, &is_done);
        let mut rounds = Vec::new();
        for worker in workers {
            rounds.push(scope.spawn(move || sums_until(worker, is_done)));
        }
        // Hosts migrate at any time, one after the other, in another order each time.
        for plan_version in 2..40u16 {
            let mut order = migrators.clone();
            order.rotate_left(usize::from(plan_version) % migrators.len());
            for migrator in &order {
                migrator
                    .move_to(assignment(plan_version), Some(PlanVersion::from(plan_version - 1)))
                    .unwrap();
            }
            order.rotate_left(2);
            for migrator in &order {
                migrator.move_to(assignment(plan_version), None).unwrap();
            }
        }
        is_done.store(true, Ordering::Release);
        rounds.into_iter().map(|rounds| rounds.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(rounds.iter().all(|done| *done == rounds[0] && *done > 1), "{rounds:?}");
    drop(workers);
    for (migrator, stopper, thread) in servers {
        stopper.stop();
        thread.join().unwrap();
        assert_eq!(migrator.move_to(assignment(41), None), Err(MigrationError::Ended));
    }
    assert_eq!(migrators[0].move_to(assignment(41), None), Err(MigrationError::Ended));
}

/// Runs rounds until all workers see the end in the same one, and checks each sum. Returns the number of
/// rounds. The sum of the last value says whether any worker was asked to end: all workers read the same.
fn sums_until(worker: &Worker, is_done: &AtomicBool) -> u32 {
    for round in 0u16.. {
        let mut tensor = vec![f32::from(round % 512) + 0.5; LEN];
        tensor[LEN - 1] = f32::from(u8::from(is_done.load(Ordering::Acquire)));
        let (sum, _) = worker.wait(worker.start(tensor).unwrap()).unwrap();
        let right = f32::from(WORKERS) * (f32::from(round % 512) + 0.5);
        assert!(sum[..LEN - 1].iter().all(|value| *value == right), "round {round}");
        if sum[LEN - 1] > 0.0 {
            return u32::from(round) + 1;
        }
    }
    panic!("no worker was asked to end")
}

#[test]
fn a_host_that_has_missed_orders_does_the_last_one() {
    let network = InProcess::new();
    let (migrator, stopper, thread) = serve(&network, 0);
    let worker = worker(&network, 0);
    for migrator in [&migrator, &worker.migrator()] {
        let plan_version = |plan_version: u16| Some(PlanVersion::from(plan_version));
        // Repeated, then back, then on from a plan version whose closing it never received.
        for (to, previous) in [
            (1, None),
            (2, plan_version(1)),
            (2, plan_version(1)),
            (1, plan_version(2)),
            (1, None),
            (2, plan_version(1)),
        ] {
            migrator.move_to(assignment(to), previous).unwrap();
        }
        migrator.move_to(assignment(3), plan_version(2)).unwrap();
        migrator.move_to(assignment(3), None).unwrap();
        // A refused order changes nothing.
        let mut other = assignment(4);
        other.window_chunks = 16;
        let refused = migrator.move_to(other, plan_version(3)).unwrap_err();
        assert!(matches!(refused, MigrationError::Refused(RerouteError::Differs { .. })), "{refused}");
        assert!(refused.to_string().contains("window_chunks"), "{refused}");
        migrator.move_to(assignment(4), plan_version(3)).unwrap();
    }
    stopper.stop();
    thread.join().unwrap();
}
