//! Operation sequences on the hosts' state machines: workers and a server whose frames are delivered, lost,
//! duplicated, delayed, summed on the way and damaged while time passes and hosts restart. Every round that
//! ends, ends in the right sum or an error: no sum mixes two incarnations of a worker.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use inart_protocol_aggregation::{
    Assignment, Instant, ServerShard, ShardAssignment, StateMachine, WorkerAddress, WorkerFlow,
};
use inart_wire::{
    Contributors, Flags, Frame, FrameRepr, Group, HeaderRepr, Incarnation, Kind, MacAddr, Rank,
    ValuesPerFrame,
};

const VALUES: ValuesPerFrame = ValuesPerFrame::N32;
const FRAME_BYTES: usize = VALUES.frame_bytes();
const PEER_TIMEOUT: Duration = Duration::from_secs(2);
/// Most frames in flight: more are lost.
const MOST_FRAMES: usize = 64;

type FrameBytes = [u8; FRAME_BYTES];

/// Hosts of a job and frames in flight.
struct Job {
    now: Instant,
    workers: Vec<WorkerFlow>,
    server: ServerShard,
    /// Restarts of each worker: one at most.
    generations: Vec<u32>,
    server_generations: u32,
    assignment: Assignment,
    macs: Vec<MacAddr>,
    gradient_len: usize,
    under_way: Vec<FrameBytes>,
    /// A damaged frame was delivered. The check sequence of a real network keeps those out, so sums may be
    /// wrong now.
    damaged: bool,
}

/// Returns a value of the gradient of one incarnation of a worker: small whole numbers, so that sums are
/// exact as floats.
fn value(rank: usize, generation: u32, index: usize) -> f32 {
    ((rank + 1) * (index % 13 + 1 + 100 * generation as usize)) as f32
}

fn worker(assignment: &Assignment, rank: usize, generation: u32) -> WorkerFlow {
    let incarnation = Incarnation::new(1 + rank as u32 + 16 * generation);
    let rank = Rank::try_from(rank).expect("there are few workers");
    WorkerFlow::new(assignment.clone(), rank, incarnation, PEER_TIMEOUT).expect("the assignment is right")
}

fn server(assignment: &Assignment, generation: u32) -> ServerShard {
    let incarnation = Incarnation::new(0x100 + generation);
    ServerShard::new(assignment.clone(), 0.into(), incarnation, PEER_TIMEOUT)
        .expect("the assignment is right")
}

impl Job {
    fn new(input: &mut Unstructured) -> Result<Self> {
        let shape: u8 = input.arbitrary()?;
        let workers = 2 + usize::from(shape & 1);
        // Exact sums of a frame, of several, and scaled ones, the last block of which is short.
        let gradient_len = [1, 5, 300, 513][usize::from(shape >> 3 & 3)];
        let mac = |number: usize| MacAddr([2, 0, 0, 0, 0, number as u8]);
        let assignment = Assignment {
            job: 7.into(),
            name: "fuzz".into(),
            plan_version: 3.into(),
            values_per_frame: VALUES,
            window_chunks: 1 << (shape >> 1 & 1),
            exact_sums: shape >> 5 & 1 == 1,
            workers: (0..workers)
                .map(|rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) })
                .collect(),
            shards: vec![ShardAssignment {
                server: "s".into(),
                mac: mac(workers),
                share: 1.0,
                rate_bps: 1e9,
                bitmap_indices: Vec::new(),
            }],
        };
        let mut job = Self {
            now: Instant::START,
            workers: (0..workers).map(|rank| worker(&assignment, rank, 0)).collect(),
            server: server(&assignment, 0),
            generations: vec![0; workers],
            server_generations: 0,
            assignment,
            macs: (0..workers).map(mac).collect(),
            gradient_len,
            under_way: Vec::new(),
            damaged: false,
        };
        for rank in 0..workers {
            job.start(rank);
        }
        Ok(job)
    }

    fn start(&mut self, rank: usize) {
        let gradient: Vec<f32> =
            (0..self.gradient_len).map(|index| value(rank, self.generations[rank], index)).collect();
        // A job that was aborted does not start again.
        let _ = self.workers[rank].start_round(self.now, &gradient);
    }

    /// Lets every host send its pending frames.
    fn poll(&mut self) {
        let mut sent = 0;
        let mut take = |state_machine: &mut dyn StateMachine| {
            let mut frame = [0; FRAME_BYTES];
            while state_machine.poll_transmit(self.now, &mut frame).is_some() {
                if self.under_way.len() < MOST_FRAMES {
                    self.under_way.push(frame);
                }
                sent += 1;
                assert!(sent < 1000, "a host sends without end");
            }
        };
        self.workers.iter_mut().for_each(|worker| take(worker));
        take(&mut self.server);
    }

    fn deliver(&mut self, bytes: &[u8]) {
        let to = &bytes[..6];
        match self.macs.iter().position(|mac| mac.0 == *to) {
            Some(rank) => self.workers[rank].handle_frame(self.now, bytes),
            None if to[0] & 1 == 1 => {
                self.workers.iter_mut().for_each(|worker| worker.handle_frame(self.now, bytes));
            }
            None => self.server.handle_frame(self.now, bytes),
        }
    }

    /// Performs one operation.
    fn step(&mut self, input: &mut Unstructured) -> Result<()> {
        let operation: u8 = input.arbitrary()?;
        match operation >> 5 {
            0..=2 => {
                // In order, or any.
                let place = usize::from(operation & 31);
                if !self.under_way.is_empty() {
                    let frame = self.under_way.remove(place % self.under_way.len());
                    self.deliver(&frame);
                }
            }
            3 => {
                let place = usize::from(operation & 31);
                if let Some(frame) = self.under_way.get(place).copied() {
                    self.deliver(&frame);
                }
            }
            4 => {
                let place = usize::from(operation & 31);
                if place < self.under_way.len() {
                    self.under_way.swap_remove(place);
                }
            }
            5 => self.sum(usize::from(operation & 3), usize::from(operation >> 2 & 7)),
            6 if operation & 16 == 0 => {
                self.now = self.now + Duration::from_millis(20 << (operation & 7));
            }
            6 if operation & 15 == 0 => self.restart_server(),
            6 if usize::from(operation & 15) <= self.workers.len() => {
                self.restart(usize::from(operation & 15) - 1)
            }
            6 => self.end_rounds(),
            _ => {
                let damage: [u8; 2] = input.arbitrary()?;
                let place = usize::from(operation & 31);
                if let Some(mut frame) = self.under_way.get(place).copied() {
                    frame[usize::from(damage[0]) % FRAME_BYTES] ^= damage[1];
                    self.damaged |= damage[1] != 0;
                    let length = FRAME_BYTES - if damage[0] == 0xff { 1 } else { 0 };
                    self.deliver(&frame[..length]);
                }
            }
        }
        self.poll();
        Ok(())
    }

    /// Restarts the worker, on the first request.
    fn restart(&mut self, rank: usize) {
        if self.generations[rank] == 0 {
            self.generations[rank] = 1;
            self.workers[rank] = worker(&self.assignment, rank, 1);
            self.start(rank);
        }
    }

    fn restart_server(&mut self) {
        self.server_generations += 1;
        self.server = server(&self.assignment, self.server_generations);
    }

    /// Adds one frame into another, as a switch might.
    fn sum(&mut self, first: usize, second: usize) {
        let parse = |bytes: &FrameBytes| {
            let frame = Frame::new_checked(&bytes[..]).ok()?;
            let repr = FrameRepr::parse(&frame).ok()?;
            let values: Vec<i32> = frame.values().collect();
            matches!(repr.header.kind, Kind::Gradient | Kind::Partial).then_some((repr, values))
        };
        let [Some(a), Some(b)] = [first, second].map(|place| self.under_way.get(place).and_then(parse))
        else {
            return;
        };
        let key = |repr: &FrameRepr| {
            let HeaderRepr { incarnation, sequence, exponent, length, flags, .. } = repr.header;
            (incarnation, sequence, exponent, length, flags.contains(Flags::LAST))
        };
        let (one, other) = (a.0.header.contributors.bitmap, b.0.header.contributors.bitmap);
        let alone = [&a.0, &b.0].iter().any(|repr| repr.header.flags.contains(Flags::BYPASS));
        if key(&a.0) != key(&b.0) || one & other != 0 || alone {
            return;
        }
        let header = HeaderRepr {
            kind: Kind::Partial,
            contributors: Contributors { bitmap: one | other, group: Group(0) },
            ..a.0.header
        };
        let values: Vec<i32> = a.1.iter().zip(&b.1).map(|(a, b)| a.saturating_add(*b)).collect();
        let mut frame = [0; FRAME_BYTES];
        let sum = FrameRepr { header, ..a.0 };
        if sum.emit(&values[..header.length.into()], &mut frame).is_ok() {
            self.under_way[first] = frame;
        }
    }

    /// Checks the workers that have ended their rounds, and starts their next ones.
    fn end_rounds(&mut self) {
        for rank in 0..self.workers.len() {
            if !self.workers[rank].is_idle() {
                continue;
            }
            let mut sum = vec![0.0; self.gradient_len];
            if self.workers[rank].finish_round(&mut sum).is_err() {
                continue;
            }
            let generation = |generations: u32, rank: usize| generations >> rank & 1;
            let is_right = |generations: u32| {
                let ranks = 0..self.workers.len();
                let total = |index| -> f32 {
                    ranks.clone().map(|rank| value(rank, generation(generations, rank), index)).sum()
                };
                generation(generations, rank) == self.generations[rank]
                    && sum.iter().copied().eq((0..self.gradient_len).map(total))
            };
            let right = (0..1 << self.workers.len()).any(is_right);
            assert!(self.damaged || right, "worker {rank} has a wrong sum: {sum:?}");
            self.start(rank);
        }
    }
}

/// See the module.
pub fn run(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Ok(mut job) = Job::new(&mut input) else { return };
    job.poll();
    while !input.is_empty() && job.step(&mut input).is_ok() {}
    job.end_rounds();
}
