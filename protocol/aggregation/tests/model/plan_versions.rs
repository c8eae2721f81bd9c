//! Hosts that migrate to another plan version while the job runs, each at a different moment.

use std::time::Duration;

use inart_protocol_aggregation::{Assignment, Instant, RerouteError};
use inart_wire::{BitmapIndex, MacAddr, PlanVersion};
use proptest::prelude::*;

use super::network::{Network, assignment, kind_fate};
use super::switch::Switch;
use super::trouble::{fate_in, faults};
use super::{check_sums, gradients, run_round};

/// Order to a host or switch.
#[derive(Clone, Debug)]
enum Order {
    /// Installation of a plan version's tables, for a switch that sums those bitmap indices of block 0.
    Install(PlanVersion, u64),
    Worker(usize, Assignment),
    Server(usize, Assignment),
    /// Preparation of a worker to follow the servers.
    Prepare(usize, Assignment),
    /// Coordinated cut-over by a server, since all workers are prepared.
    Lead(usize, Assignment),
    /// Closing of the old plan version, since all hosts have migrated.
    Close,
    /// Removal of a plan version's tables.
    Remove(PlanVersion),
}

fn execute(network: &mut Network, job: &Assignment, order: Order) {
    let now = network.now;
    match order {
        Order::Install(plan_version, sums) if plan_version != job.plan_version => {
            let switch = Switch::new(job.shards.len(), job.window_chunks, sums);
            network.others.insert(plan_version.get(), switch);
        }
        Order::Install(..) => network.first_removed = false,
        Order::Worker(rank, next) => network.workers[rank].reroute(now, next).unwrap(),
        Order::Server(shard, next) => network.servers[shard].reroute(next).unwrap(),
        Order::Prepare(rank, next) => network.workers[rank].prepare(next).unwrap(),
        Order::Lead(shard, next) => network.servers[shard].lead(next).unwrap(),
        Order::Close => {
            network
                .servers
                .iter_mut()
                .for_each(inart_protocol_aggregation::ServerShard::close_old_plan_version);
            network
                .workers
                .iter_mut()
                .for_each(inart_protocol_aggregation::WorkerFlow::close_old_plan_version);
        }
        Order::Remove(plan_version) if plan_version == job.plan_version => network.first_removed = true,
        Order::Remove(plan_version) => drop(network.others.remove(&plan_version.get())),
    }
    network.transmit();
}

/// Runs rounds of `len` values while these orders are carried out; another round after the last.
fn run(
    network: &mut Network,
    job: &Assignment,
    mut orders: Vec<(Instant, Order)>,
    rounds: usize,
    len: usize,
) {
    orders.sort_by_key(|(at, _)| *at);
    let mut orders = orders.into_iter().peekable();
    let mut round = 0;
    while round < rounds || orders.peek().is_some() {
        let gradients = gradients(job.workers.len(), round, len);
        network.start_round(&gradients);
        network.transmit();
        let deadline = network.now + Duration::from_secs(1000);
        while !network.is_idle() {
            let next = network.next_event();
            match orders.next_if(|(at, _)| next.is_none_or(|next| *at <= next)) {
                Some((at, order)) => {
                    network.now = network.now.max(at);
                    execute(network, job, order);
                }
                None => network.step_before(deadline),
            }
        }
        check_sums(network, &gradients);
        for (rank, worker) in network.workers.iter_mut().enumerate() {
            worker
                .finish_round(&mut vec![0.0; len])
                .unwrap_or_else(|failure| panic!("worker {rank}: {failure}"));
        }
        round += 1;
    }
}

/// Returns the same job under another plan version.
fn under(job: &Assignment, plan_version: u16) -> Assignment {
    Assignment { plan_version: plan_version.into(), ..job.clone() }
}

fn micros(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

/// Change to another plan version.
#[derive(Clone, Debug)]
struct Change {
    /// The bitmap indices of block 0 that the switch sums then.
    sums: u64,
    /// Notification time of each host after the installation, in microseconds: workers, then servers.
    delays: Vec<u64>,
    /// Whether the change is undone: half of the hosts are notified, then ordered back.
    undone: bool,
    /// Whether the workers follow the servers.
    coordinated: bool,
}

/// Returns the orders of consecutive changes.
fn orders(
    job: &Assignment,
    first_sums: u64,
    changes: &[Change],
    bitmap_indices: impl Fn(usize) -> Vec<BitmapIndex>,
) -> Vec<(Instant, Order)> {
    let workers = job.workers.len();
    let (mut now, mut at, mut orders) = ((job.clone(), first_sums), 1000, Vec::new());
    for (number, change) in changes.iter().enumerate() {
        let mut next = under(job, 10 + number as u16);
        next.shards.iter_mut().for_each(|shard| shard.bitmap_indices = bitmap_indices(number));
        orders.push((micros(at), Order::Install(next.plan_version, change.sums)));
        let hosts = workers + job.shards.len();
        let first = |host: usize, assignment: &Assignment| match host.checked_sub(workers) {
            None if change.coordinated => Order::Prepare(host, assignment.clone()),
            None => Order::Worker(host, assignment.clone()),
            Some(shard) if change.coordinated => Order::Lead(shard, assignment.clone()),
            Some(shard) => Order::Server(shard, assignment.clone()),
        };
        let migrate = |host: usize, assignment: &Assignment| match host.checked_sub(workers) {
            None => Order::Worker(host, assignment.clone()),
            Some(shard) => Order::Server(shard, assignment.clone()),
        };
        let delay = |host: usize| change.delays[host % change.delays.len()];
        let longest = change.delays.iter().max().unwrap();
        // Servers start the cut-over only after all workers are prepared.
        let is_notified = |host: &usize| {
            !change.undone || if change.coordinated { *host < workers } else { host.is_multiple_of(2) }
        };
        for host in (0..hosts).filter(is_notified) {
            let after = if change.coordinated && host >= workers { longest + 1 } else { 0 };
            orders.push((micros(at + after + delay(host)), first(host, &next)));
            if change.undone {
                let back = at + longest + delay(hosts - host);
                orders.push((micros(back + 1), migrate(host, &now.0)));
            } else if change.coordinated {
                // Workers that have not followed by then are ordered to migrate.
                orders.push((micros(at + 3 * longest + 2), migrate(host, &next)));
            }
        }
        let end = at + 3 * longest + 3;
        orders.push((micros(end), Order::Close));
        let gone = if change.undone { next.plan_version } else { now.0.plan_version };
        orders.push((micros(end + 1), Order::Remove(gone)));
        if !change.undone {
            now = (next, change.sums);
        }
        at = end + 2;
    }
    orders
}

fn no_bitmap_indices(_: usize) -> Vec<BitmapIndex> {
    Vec::new()
}

#[test]
fn a_move_of_all_hosts_changes_no_bit_and_takes_the_switchs_new_tables() {
    let job = assignment(4, &[0.6, 0.4], 4);
    let mut network = Network::new(job.clone(), 0b0111, kind_fate());
    let change =
        Change { sums: 0b1111, delays: vec![0, 300, 100, 900, 500], undone: false, coordinated: false };
    run(&mut network, &job, orders(&job, 0b0111, &[change], no_bitmap_indices), 40, 1000);
    let in_new = &network.others[&10];
    assert!(in_new.added > 1000, "{} frames were summed under the new plan version", in_new.added);
    assert!(network.workers.iter().all(|worker| worker.open_plan_versions().eq([PlanVersion::from(10)])));
    assert!(network.servers.iter().all(|server| server.open_plan_versions().eq([PlanVersion::from(10)])));
}

/// Starts a migration after each frame of a run, with any host first.
#[test]
fn at_every_moment_hosts_may_begin_to_move() {
    let job = assignment(3, &[0.5, 0.5], 2);
    let mut kind = Network::new(job.clone(), 0b011, kind_fate());
    (0..3).for_each(|round| drop(run_round(&mut kind, &gradients(3, round, 300))));
    for (begin, first) in (0..kind.frames).flat_map(|begin| (0..5).map(move |first| (begin, first))) {
        let mut network = Network::new(job.clone(), 0b011, kind_fate());
        network.others.insert(10, Switch::new(2, 2, 0b111));
        let next = under(&job, 10);
        let mut notified = 0;
        for round in 0..3 {
            network.start_round(&gradients(3, round, 300));
            network.transmit();
            while !network.is_idle() {
                network.step();
                while notified < 5 && network.frames >= begin + 7 * notified {
                    match (notified as usize + first) % 5 {
                        host @ 0..3 => network.workers[host].reroute(network.now, next.clone()).unwrap(),
                        host => network.servers[host - 3].reroute(next.clone()).unwrap(),
                    }
                    notified += 1;
                    network.transmit();
                }
            }
            check_sums(&network, &gradients(3, round, 300));
            for (worker, kind) in network.workers.iter_mut().zip(&kind.workers) {
                worker.finish_round(&mut [0.0; 300]).unwrap();
                assert!(
                    round < 2 || worker.record() == kind.record(),
                    "equal bits to a run without a migration"
                );
            }
        }
    }
}

fn change(hosts: usize) -> impl Strategy<Value = Change> {
    let delays = proptest::collection::vec(0..5000u64, hosts);
    (any::<u64>(), delays, proptest::bool::weighted(0.3), any::<bool>())
        .prop_map(|(sums, delays, undone, coordinated)| Change { sums, delays, undone, coordinated })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn hosts_migrate_at_any_time_under_faults(
        faults in faults(),
        seed in any::<u64>(),
        workers in 1..7usize,
        first_sums in any::<u64>(),
        window_log in 0..5u32,
        len in 1..700usize,
        changes in proptest::collection::vec(change(8), 1..4),
    ) {
        let job = assignment(workers, &[0.3, 0.7], 1 << window_log);
        let everybody = (1 << workers) - 1;
        let mut changes = changes;
        changes.iter_mut().for_each(|change| change.sums &= everybody);
        let first_sums = first_sums & everybody;
        let peer_timeout = Duration::from_secs(250);
        let mut network =
            Network::with_peer_timeout(job.clone(), first_sums, fate_in(faults, seed), peer_timeout);
        run(&mut network, &job, orders(&job, first_sums, &changes, no_bitmap_indices), 3, len);
    }

    /// Jobs of more workers than a block has bitmap indices: workers that are summed together share a block,
    /// another set in every plan version.
    #[test]
    fn bitmap_indices_differ_between_plan_versions(
        faults in faults(),
        seed in any::<u64>(),
        workers in 65..80usize,
        blocks in proptest::collection::vec(1..7usize, 3),
        changes in proptest::collection::vec(change(90), 1..3),
    ) {
        // In each plan version the workers whose rank is a multiple of `number` have bitmap indices in block
        // 0, the others from bitmap index 64 on.
        let bitmap_indices = |number: usize| -> Vec<BitmapIndex> {
            let (mut first, mut others) = (0..64u16, 64u16..);
            let together = 2 + blocks[number % blocks.len()];
            let mut bitmap_index = |rank: usize| match rank % together {
                0 => first.next(),
                _ => others.next(),
            };
            (0..workers).map(|rank| bitmap_index(rank).unwrap().try_into().unwrap()).collect()
        };
        let sums = |number: usize| (1u64 << workers.div_ceil(2 + blocks[number % blocks.len()])) - 1;
        let mut changes = changes;
        for (number, change) in changes.iter_mut().enumerate() {
            change.sums = sums(number);
        }
        let mut faults = faults;
        faults.lost_percent %= 5;
        let job = assignment(workers, &[1.0], 4);
        let peer_timeout = Duration::from_secs(250);
        let mut network = Network::with_peer_timeout(job.clone(), 0xff, fate_in(faults, seed), peer_timeout);
        run(&mut network, &job, orders(&job, 0xff, &changes, bitmap_indices), 2, 300);
    }
}

/// A worker migrates, and all others lose their path: contributions of the old plan version still count.
#[test]
fn a_chunk_may_be_summed_of_contributions_of_both_plan_versions() {
    let job = assignment(3, &[1.0], 4);
    let mut network = Network::new(job.clone(), 0b000, kind_fate());
    network.others.insert(10, Switch::new(1, 4, 0b000));
    let next = under(&job, 10);
    network.servers[0].reroute(next.clone()).unwrap();
    network.workers[1].reroute(network.now, next).unwrap();
    run_round(&mut network, &gradients(3, 0, 500));
    let server = network.servers[0].counters();
    assert_eq!(server.gradients, 3 * server.chunks);
    assert!(network.workers.iter().all(|worker| worker.counters().retransmissions == 0));
    let to_all = server.results_sent;
    assert_eq!(to_all, 2 * server.chunks, "in both plan versions, since two workers know one of them only");
}

#[test]
fn a_worker_that_moves_before_the_server_waits_for_it() {
    let job = assignment(2, &[1.0], 4);
    let mut network = Network::new(job.clone(), 0b11, kind_fate());
    network.others.insert(10, Switch::new(1, 4, 0b11));
    run_round(&mut network, &gradients(2, 0, 500));
    let next = under(&job, 10);
    network.start_round(&gradients(2, 1, 500));
    for worker in 0..2 {
        network.workers[worker].reroute(network.now, next.clone()).unwrap();
    }
    network.run_until(network.now + Duration::from_millis(40));
    assert!(!network.is_idle());
    assert!(network.servers[0].counters().foreign > 0, "frames of a plan version that it does not know");
    network.servers[0].reroute(next).unwrap();
    network.run_until_idle();
    check_sums(&network, &gradients(2, 1, 500));
}

/// The worker whose result was lost repeats it alone in the new plan version.
#[test]
fn a_result_that_one_worker_lacks_is_sent_again_after_the_move() {
    let job = assignment(3, &[1.0], 4);
    // Any frame of the round; then all hosts migrate.
    for len in [8, 300] {
        let mut kind = Network::new(job.clone(), 0b111, kind_fate());
        run_round(&mut kind, &gradients(3, 0, len));
        for victim in 0..kind.frames {
            let fate = move |frame| if frame == victim { vec![] } else { vec![Duration::ZERO] };
            let mut network = Network::new(job.clone(), 0b111, Box::new(fate));
            network.others.insert(10, Switch::new(1, 4, 0b111));
            network.start_round(&gradients(3, 0, len));
            while network.frames <= victim {
                network.transmit();
                network.step();
            }
            let next = under(&job, 10);
            network.servers[0].reroute(next.clone()).unwrap();
            for worker in &mut network.workers {
                worker.reroute(network.now, next.clone()).unwrap();
            }
            let moved = network.now;
            network.run_until_idle();
            check_sums(&network, &gradients(3, 0, len));
            let took = network.now.since(moved);
            assert!(took < Duration::from_millis(60), "{len} values, frame {victim}: {took:?}");
        }
    }
}

#[test]
fn fields_that_a_migration_may_not_change_are_named() {
    let job = assignment(2, &[0.5, 0.5], 4);
    let network = Network::new(job.clone(), 0b11, kind_fate());
    type Change = fn(&mut Assignment);
    let changes: [(&str, Change); 9] = [
        ("job", |job| job.job = 8.into()),
        ("name", |job| job.name = "other".into()),
        ("window_chunks", |job| job.window_chunks = 8),
        ("exact", |job| job.exact_sums = true),
        ("workers", |job| drop(job.workers.pop())),
        ("workers[1].mac", |job| job.workers[1].mac = MacAddr([2, 0, 0, 9, 9, 9])),
        ("shards", |job| {
            job.shards.pop();
            job.shards[0].share = 1.0;
        }),
        ("shards[0].server", |job| job.shards[0].server = "s9".into()),
        ("shards[0].share", |job| {
            job.shards[0].share = 0.25;
            job.shards[1].share = 0.75;
        }),
    ];
    for (name, change) in changes {
        let mut next = under(&job, 10);
        change(&mut next);
        let (mut worker, mut server) = (network.workers[0].clone(), network.servers[0].clone());
        for refused in [worker.reroute(network.now, next.clone()), server.reroute(next)] {
            match refused.unwrap_err() {
                RerouteError::Differs { field, .. } => assert_eq!(field, name),
                other => panic!("{other}"),
            }
        }
        assert!(
            worker.open_plan_versions().eq([job.plan_version])
                && server.open_plan_versions().eq([job.plan_version])
        );
    }
    let mut next = under(&job, 10);
    next.shards[0].rate_bps = -1.0;
    let refused = network.workers[0].clone().reroute(network.now, next).unwrap_err();
    assert!(matches!(&refused, RerouteError::Assignment(_)), "{refused}");
}

#[test]
fn a_third_plan_version_waits_until_the_first_is_closed() {
    let job = assignment(2, &[1.0], 4);
    let mut network = Network::new(job.clone(), 0b11, kind_fate());
    let now = network.now;
    let (worker, server) = (&mut network.workers[0], &mut network.servers[0]);
    let (second, third) = (under(&job, 10), under(&job, 11));
    worker.reroute(now, second.clone()).unwrap();
    server.reroute(second.clone()).unwrap();
    let two_open = RerouteError::TwoOpen { wanted: 11.into(), old: job.plan_version, current: 10.into() };
    assert_eq!(worker.reroute(now, third.clone()), Err(two_open.clone()));
    assert_eq!(server.reroute(third.clone()), Err(two_open.clone()));
    assert_eq!(
        two_open.to_string(),
        "plan version 11: plan versions 3 and 10 are open; close plan version 3 first"
    );
    // Repeated orders, and back and forth.
    for next in [&second, &job, &job, &second] {
        worker.reroute(now, next.clone()).unwrap();
        server.reroute(next.clone()).unwrap();
    }
    let mut bitmap_indices = second.clone();
    bitmap_indices.shards[0].bitmap_indices =
        vec![BitmapIndex::try_from(5u16).unwrap(), BitmapIndex::try_from(6u16).unwrap()];
    let refused = worker.reroute(now, bitmap_indices).unwrap_err();
    assert!(matches!(refused, RerouteError::OtherBitmapIndices { shard: 0, .. }), "{refused}");
    worker.close_old_plan_version();
    server.close_old_plan_version();
    worker.reroute(now, third.clone()).unwrap();
    server.reroute(third).unwrap();
    assert!(worker.open_plan_versions().eq([PlanVersion::from(11), PlanVersion::from(10)]));
}

/// Nothing is sent twice, and sums of switches are still used.
#[test]
fn workers_that_follow_their_servers_all_move_at_one_chunk() {
    for moment in 0..40 {
        let job = assignment(4, &[0.6, 0.4], 4);
        let mut network = Network::new(job.clone(), 0b1111, kind_fate());
        network.others.insert(10, Switch::new(2, 4, 0b1111));
        run_round(&mut network, &gradients(4, 0, 3000));
        network.start_round(&gradients(4, 1, 3000));
        let next = under(&job, 10);
        for worker in 0..4 {
            network.run_until(network.now + Duration::from_micros(17 * moment + 11));
            network.workers[worker].prepare(next.clone()).unwrap();
            assert!(!network.workers[worker].has_moved());
        }
        for server in &mut network.servers {
            server.lead(next.clone()).unwrap();
        }
        network.run_until_idle();
        check_sums(&network, &gradients(4, 1, 3000));
        run_round(&mut network, &gradients(4, 2, 3000));
        assert!(network.workers.iter().all(|worker| worker.has_moved()));
        assert!(network.workers.iter().all(|worker| worker.counters().retransmissions == 0), "{moment}");
        let gradients: u64 = network.servers.iter().map(|server| server.counters().gradients).sum();
        assert_eq!(gradients, 0, "the switch summed all frames, in one plan version or the other");
    }
}

/// At one bit per second, the frame after the first one would be due in hours.
#[test]
fn workers_that_had_next_to_no_rate_go_on_at_the_rate_that_they_move_to() {
    let mut job = assignment(3, &[1.0], 4);
    job.shards[0].rate_bps = 1.0;
    let mut network = Network::new(job.clone(), 0b011, kind_fate());
    network.others.insert(10, Switch::new(1, 4, 0b011));
    network.start_round(&gradients(3, 0, 500));
    network.run_until(network.now + Duration::from_millis(10));
    assert!(!network.is_idle());
    let mut next = under(&job, 10);
    next.shards[0].rate_bps = 100e6;
    network.servers[0].reroute(next.clone()).unwrap();
    for worker in &mut network.workers {
        worker.reroute(network.now, next.clone()).unwrap();
    }
    network.run_until_idle();
    check_sums(&network, &gradients(3, 0, 500));
    assert!(network.now < Instant::START + Duration::from_millis(100), "{:?}", network.now);
}

/// The path to a server may be longer by another plan, without a queue on it.
#[test]
fn the_shortest_round_trip_is_that_of_the_current_path() {
    let seen =
        |network: &Network| network.workers[0].status(network.now).shards[0].least_rtt_seconds.unwrap();
    for coordinated in [false, true] {
        let job = assignment(2, &[1.0], 4);
        let mut network = Network::new(job.clone(), 0b11, kind_fate());
        network.others.insert(10, Switch::new(1, 4, 0b11));
        run_round(&mut network, &gradients(2, 0, 500));
        assert!(seen(&network) < 0.001);
        network.fate = Box::new(|_| vec![Duration::from_millis(2)]);
        let next = under(&job, 10);
        for worker in &mut network.workers {
            match coordinated {
                true => worker.prepare(next.clone()).unwrap(),
                false => worker.reroute(network.now, next.clone()).unwrap(),
            }
        }
        match coordinated {
            true => network.servers[0].lead(next).unwrap(),
            false => network.servers[0].reroute(next).unwrap(),
        }
        for round in 1..4 {
            run_round(&mut network, &gradients(2, round, 500));
        }
        assert!(seen(&network) > 0.008, "four links: {}", seen(&network));
    }
}
