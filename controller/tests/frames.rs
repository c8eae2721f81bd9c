//! Real frames through networks of embedded switches that run the P4 program with a plan's entries: every
//! server can complete every sum, and every worker gets every result once. Needs neither ports nor root:
//! the test moves the frames.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use inart_controller::{Controller, JobPlan, Records};
use inart_p4::{Outcome, Reason};
use inart_planner_aggregation::{Levels, Options, Plan, plan, schemes};
use inart_protocol_aggregation::Assignment;
use inart_switch::{Port, Sink};
use inart_targets::{Access, Precedence, Session};
use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, fat_tree, leaf_spine};
use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, Group, HeaderRepr, Kind, MacAddr,
    Rank, ShardId, ValuesPerFrame,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use support::embedded::{Embedded, embedded, place, program};
use support::{fig1, job, plans};

const VALUES: ValuesPerFrame = ValuesPerFrame::N32;

struct Net {
    switches: BTreeMap<String, Embedded>,
    controller: Controller<Box<dyn Session>>,
}

struct Frames(Vec<(u64, Vec<u8>)>);

impl Sink for Frames {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push((u64::from(port.0), frame.to_vec()));
    }
}

impl Net {
    async fn start(topology: &Topology) -> Self {
        let program = program(VALUES);
        let (mut switches, mut drivers) = (BTreeMap::new(), BTreeMap::new());
        for node in
            topology.nodes().iter().filter(|node| node.kind == inart_topologies::switched::NodeKind::Switch)
        {
            let switch = embedded().await;
            let session = program.open(place(&switch.address), Access::Write(Precedence(1))).await.unwrap();
            drivers.insert(node.name.clone(), session);
            switches.insert(node.name.clone(), switch);
        }
        let controller =
            Controller::new(topology.clone(), VALUES, program.limits(), drivers, Records::default()).unwrap();
        Net { switches, controller }
    }

    /// Sends a host's frame and everything that follows from it. Returns the frames that arrive at hosts,
    /// in order.
    fn send(&self, from: &str, frame: Vec<u8>) -> Vec<(String, Vec<u8>)> {
        let ports = self.controller.ports();
        let mut flying =
            VecDeque::from([(from.to_owned(), ports.attachment(from).unwrap().to_owned(), frame)]);
        let mut arrived = Vec::new();
        for _ in 0..10_000 {
            let Some((from, at, frame)) = flying.pop_front() else { return arrived };
            let Some(switch) = self.switches.get(&at) else {
                arrived.push((at, frame));
                continue;
            };
            let ingress = ports.port(&at, &from).unwrap();
            let mut out = Frames(Vec::new());
            switch.switch.lock().unwrap().process(Port(ingress.get().into()), &frame, 0, &mut out);
            for (port, frame) in out.0 {
                let port = port.try_into().unwrap();
                flying.push_back((at.clone(), ports.peer(&at, port).unwrap().to_owned(), frame));
            }
        }
        panic!("frames go in circles");
    }

    /// Runs a round of two chunks of every shard. Returns the number of frames that arrived at servers.
    /// Rounds count from 0 in a run.
    fn round(&self, assignment: &Assignment, round: u32) -> usize {
        self.round_of_run(1, assignment, round)
    }

    fn round_of_run(&self, run: u32, assignment: &Assignment, round: u32) -> usize {
        let mut arrived = 0;
        for (index, shard) in assignment.shards.iter().enumerate() {
            for sequence in 2 * round..2 * round + 2 {
                let mut sum = BTreeMap::<BitmapIndex, Vec<i32>>::new();
                for (rank, worker) in assignment.workers.iter().enumerate() {
                    let rank = Rank::try_from(rank).unwrap();
                    let frame = gradient(run, assignment, index, rank, sequence);
                    for (host, frame) in self.send(&worker.name, frame) {
                        assert_eq!(host, shard.server);
                        let frame = Frame::new_checked(&frame).unwrap();
                        let summed: Vec<_> = frame.contributors().bitmap_indices().collect();
                        for lane in 0..VALUES.get() {
                            let expected: i32 =
                                summed.iter().map(|rank| value(run, *rank, sequence, lane)).sum();
                            assert_eq!(
                                frame.values().nth(lane),
                                Some(expected),
                                "{:?}",
                                frame.contributors()
                            );
                        }
                        for rank in summed {
                            assert!(sum.insert(rank, Vec::new()).is_none(), "rank {rank} twice");
                        }
                        arrived += 1;
                    }
                }
                assert_eq!(sum.len(), assignment.workers.len());
                let mut got: Vec<_> = self.send(&shard.server, result(assignment, index, sequence));
                got.sort();
                let mut workers: Vec<_> =
                    assignment.workers.iter().map(|worker| worker.name.clone()).collect();
                workers.sort();
                assert_eq!(got.into_iter().map(|(host, _)| host).collect::<Vec<_>>(), workers);
            }
        }
        arrived
    }
}

fn value(run: u32, worker: BitmapIndex, sequence: u32, lane: usize) -> i32 {
    (run % 1000) as i32 * 65_537 + (i32::from(worker.get()) + 1) * 1009 - (sequence as i32 + 1) * 7919
        + lane as i32
}

fn frame(
    assignment: &Assignment,
    destination: MacAddr,
    source: MacAddr,
    header: HeaderRepr,
    values: &[i32],
) -> Vec<u8> {
    let repr = FrameRepr { destination, source, values_per_frame: assignment.values_per_frame, header };
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(values, &mut bytes).unwrap();
    bytes
}

fn header(
    assignment: &Assignment,
    kind: Kind,
    shard: usize,
    worker: BitmapIndex,
    sequence: u32,
) -> HeaderRepr {
    HeaderRepr {
        kind,
        flags: Flags::default(),
        plan_version: assignment.plan_version,
        job: assignment.job,
        shard: ShardId::try_from(shard).unwrap(),
        worker,
        sequence: ChunkSeq::from(sequence),
        contributors: Contributors::one(worker),
        exponent: Exponent::from(-12),
        length: VALUES.get() as u16,
        incarnation: 1.into(),
    }
}

/// Returns the bitmap index of the worker of a rank in the shard's frames.
fn bitmap_index(assignment: &Assignment, shard: usize, rank: Rank) -> BitmapIndex {
    assignment.shards[shard].bitmap_indices.get(rank.index()).copied().unwrap_or(rank.bitmap_index())
}

fn gradient(run: u32, assignment: &Assignment, shard: usize, worker: Rank, sequence: u32) -> Vec<u8> {
    let bitmap_index = bitmap_index(assignment, shard, worker);
    let values: Vec<_> = (0..VALUES.get()).map(|lane| value(run, bitmap_index, sequence, lane)).collect();
    let incarnation = run.into();
    let header =
        HeaderRepr { incarnation, ..header(assignment, Kind::Gradient, shard, bitmap_index, sequence) };
    frame(assignment, assignment.shards[shard].mac, assignment.workers[worker.index()].mac, header, &values)
}

fn result(assignment: &Assignment, shard: usize, sequence: u32) -> Vec<u8> {
    let first = BitmapIndex::try_from(0usize).unwrap();
    let all = Contributors::all_of(Group(0), assignment.workers.len());
    let header = HeaderRepr { contributors: all, ..header(assignment, Kind::Result, shard, first, sequence) };
    frame(
        assignment,
        MacAddr::results_of(assignment.job),
        assignment.shards[shard].mac,
        header,
        &vec![0; VALUES.get()],
    )
}

/// Returns the number of frames that a round of two chunks brings to the servers: two per direct flow and
/// per trunk that ends there.
fn planned_arrivals(plan: &Plan) -> usize {
    let direct = plan.flows.iter().filter(|flow| flow.aggregator.is_none());
    let sums = plan.trunks.iter().filter(|trunk| trunk.path.last() == Some(&trunk.server));
    2 * (direct.count() + sums.count())
}

async fn install(net: &mut Net, jobs: &[JobPlan]) -> Vec<Assignment> {
    net.controller.install(jobs).await.unwrap().assignments
}

/// Two jobs at once, one plan after the other; the old plan version still works next to the new one.
#[tokio::test]
async fn every_scheme_sums_on_fig1() {
    let topology = fig1();
    let mut net = Net::start(&topology).await;
    let mut before: Option<(Assignment, usize)> = None;
    for &scheme in schemes::ALL {
        let plan = plan(&topology, &topology.jobs()[0], &Options::new(scheme)).unwrap();
        let assignments = install(&mut net, &[job(1, &plan), job(2, &plan)]).await;
        for assignment in &assignments {
            assert_eq!(net.round(assignment, 0), planned_arrivals(&plan), "{scheme}");
        }
        if let Some((assignment, arrivals)) = before {
            assert_eq!(net.round(&assignment, 1), arrivals, "before {scheme}");
        }
        before = Some((assignments[0].clone(), planned_arrivals(&plan)));
    }
    let counters = net.controller.counters().await.unwrap();
    assert!(
        counters.values().all(|switch| Reason::ALL.iter().all(|reason| switch.drops(*reason).packets == 0))
    );
    assert!(counters["v1"].summed() > 0 && counters["v1"].outcome(Outcome::Completed).packets > 0);
}

/// No slot is cleared in between, and each run restarts with sequence 0: the remains of an earlier run in a
/// slot are neither a sum that is requested again nor newer than arriving frames.
#[tokio::test]
async fn a_plan_version_that_runs_again_is_summed_again() {
    let topology = fig1();
    let mut net = Net::start(&topology).await;
    let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap();
    let assignment = install(&mut net, &[job(1, &plan)]).await.remove(0);
    for (run, rounds) in [(1, 0..3), (2, 0..3), (3, 0..1), (0x8000_0001, 0..2)] {
        for round in rounds {
            assert_eq!(net.round_of_run(run, &assignment, round), planned_arrivals(&plan), "run {run}");
        }
    }
}

/// Equipment of the InArt paper: switches can aggregate less than half of what their links carry.
fn equipment(workers: usize) -> Equipment {
    Equipment {
        servers: 2,
        workers,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 1000,
        seed: 1,
    }
}

/// Runs a plan of the first job and checks its sums. Returns the frames that arrived at servers, and the
/// switches' sums.
async fn one_round(topology: &Topology, plan: &Plan) -> (usize, i64) {
    let mut net = Net::start(topology).await;
    let assignments = install(&mut net, &[job(1, plan)]).await;
    let arrived = net.round(&assignments[0], 0);
    (arrived, net.controller.counters().await.unwrap().values().map(|switch| switch.summed()).sum())
}

/// Plans whose flows and sums avoid a slow link: without aggregation, and aggregated on the detour, where
/// the sum returns to the workers' switch.
#[tokio::test]
async fn detours() {
    let triangle = |workers: usize, adds: &str, ingress: &str| {
        let hosts: String = (0..workers).map(|w| format!("{{name: w{w}, kind: worker}}, ")).collect();
        let access: String = (0..workers).map(|w| format!("{{ends: [w{w}, v0], rate: 10 Mbps}}, ")).collect();
        let capacity = |v: &str| if v == adds { ", aggregation_capacity: 60 Mbps" } else { "" };
        let switches: String = ["v0", "v1", "v2", "v3"]
            .map(|v| format!("{{name: {v}, kind: switch{}}}, ", capacity(v)))
            .concat();
        Topology::from_yaml(&format!(
            "{{name: triangle, nodes: [{switches}{hosts}{{name: s0, kind: server{ingress}}}],
              links: [{access}{{ends: [v0, v2], rate: 1 Mbps}}, {{ends: [v0, v1], rate: 60 Mbps}},
                {{ends: [v1, v2], rate: 60 Mbps}}, {{ends: [v0, v3], rate: 60 Mbps}}, {{ends: [v2, s0], rate: 60 Mbps}}]}}"
        ))
        .unwrap()
    };
    for (topology, path) in [
        (triangle(2, "", ""), vec!["w0", "v0", "v1", "v2", "s0"]),
        (triangle(4, "v1", ", ingress_capacity: 10 Mbps"), vec!["w0", "v0", "v1"]),
        (triangle(4, "v3", ", ingress_capacity: 10 Mbps"), vec!["w0", "v0", "v3"]),
    ] {
        let made = plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap();
        assert_eq!(
            (made.rate_bps, &made.flows[0].path),
            (10e6, &path.iter().map(ToString::to_string).collect())
        );
        let (arrived, _) = one_round(&topology, &made).await;
        assert_eq!(arrived, planned_arrivals(&made));
    }
}

#[tokio::test]
async fn sums_of_sums() {
    let topology = fat_tree(4, &equipment(12)).unwrap();
    let options = Options { levels: Levels::Two, ..Options::new(schemes::OPTIMIZED) };
    let plan = plan(&topology, &topology.jobs()[0], &options).unwrap();
    let second: Vec<_> =
        plan.trunks.iter().filter(|trunk| trunk.path.last() != Some(&trunk.server)).collect();
    assert!(!second.is_empty(), "no trunk ends at another switch");
    let aggregated = plan.flows.iter().filter(|flow| flow.aggregator.is_some()).count() + second.len();
    assert_eq!(one_round(&topology, &plan).await, (planned_arrivals(&plan), 2 * aggregated as i64));
}

/// Groups have workers from all over the network; with ranks as indices, most would be spread over several
/// bitmaps.
#[tokio::test]
async fn more_workers_than_a_bitmap_has_bits() {
    let topology = leaf_spine(8, 4, 20, &equipment(150)).unwrap();
    let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap();
    let block = |name: &str| name[1..].parse::<usize>().unwrap() / 64;
    let spread = plan.trunks.iter().filter(|trunk| {
        let blocks: BTreeSet<_> = trunk.workers.iter().map(|worker| block(worker)).collect();
        blocks.len() > 1
    });
    assert!(spread.count() > 0, "no group needs bitmap indices");
    assert_eq!(one_round(&topology, &plan).await.0, planned_arrivals(&plan));
}

#[tokio::test]
async fn random_plans_sum_on_random_networks() {
    for seed in 0..8 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let topology = plans::network(&mut rng);
        let plan = plans::checked(&topology, &mut rng);
        let mut net = Net::start(&topology).await;
        let assignments = install(&mut net, &[job(1, &plan)]).await;
        assert_eq!(net.round(&assignments[0], 0), planned_arrivals(&plan), "seed {seed}");
        let counters = net.controller.counters().await.unwrap();
        let summed: i64 = counters.values().map(|switch| switch.summed()).sum();
        let offered: i64 = counters.values().map(|switch| switch.offered(assignments[0].job)).sum();
        let aggregated = plan.flows.iter().filter(|flow| flow.aggregator.is_some()).count() as i64;
        assert_eq!((summed, offered), (2 * aggregated, 2 * aggregated), "seed {seed}");
    }
}

/// The criterion of `inart remove`: a job is in use while its frames arrive at a switch, whatever other
/// traffic there is.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_whose_frames_move_are_found() {
    let topology = fig1();
    let mut net = Net::start(&topology).await;
    let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap();
    let assignments = install(&mut net, &[job(1, &plan), job(2, &plan)]).await;
    let watch = Duration::from_millis(300);
    assert_eq!(net.controller.moving(watch).await.unwrap(), BTreeSet::new());
    // As a waiting worker sends, repeatedly.
    let sent = gradient(1, &assignments[0], 0, Rank::try_from(1usize).unwrap(), 0);
    let from = |host: &str| {
        let ports = net.controller.ports();
        let at = ports.attachment(host).unwrap().to_owned();
        (net.switches[&at].switch.clone(), Port(ports.port(&at, host).unwrap().get().into()))
    };
    // At another host's port the same frame hits no entry, and does not count for the job.
    let tries = [(from("w2"), BTreeSet::from([assignments[0].job])), (from("w5"), BTreeSet::new())];
    for ((switch, port), moving) in tries {
        let sent = sent.clone();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let count = Arc::new(AtomicU64::new(0));
        let counted = count.clone();
        let sender = std::thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_millis(20)).is_err() {
                switch.lock().unwrap().process(port, &sent, 0, &mut Frames(Vec::new()));
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        // A busy machine may delay the sender for the controller's whole observation.
        let begun = Instant::now();
        loop {
            let before = count.load(Ordering::SeqCst);
            let found = net.controller.moving(watch).await.unwrap();
            assert!(found.is_subset(&moving), "{found:?} instead of {moving:?}");
            if found == moving && count.load(Ordering::SeqCst) > before + 1 {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{found:?} instead of {moving:?}");
        }
        stop.send(()).unwrap();
        sender.join().unwrap();
        assert_eq!(net.controller.moving(watch).await.unwrap(), BTreeSet::new());
    }
}
