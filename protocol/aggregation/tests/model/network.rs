//! Workers, servers and one switch on one virtual clock; the test decides the fate of every frame.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_protocol_aggregation::{
    Assignment, Failure, Instant, ServerShard, ShardAssignment, StateMachine, WorkerAddress, WorkerFlow,
};
use inart_virtual::Timeline;
use inart_wire::{
    ControlMessage, Frame, FrameRepr, HeaderRepr, Incarnation, Kind, MacAddr, Rank, ShardId, ValuesPerFrame,
};

use super::switch::Switch;

pub const PEER_TIMEOUT: Duration = Duration::from_secs(10);
/// The incarnation with which every server starts.
pub const SERVER: Incarnation = Incarnation::new(0x5000);

/// The incarnation with which a worker starts.
pub fn host(rank: usize) -> Incarnation {
    Incarnation::new(1 + rank as u32)
}

/// Time every frame takes on every link.
const LINK: Duration = Duration::from_micros(20);

/// Fate of a frame on a link: arrival times of its copies, after the link's own delay.
pub type Fate = Box<dyn FnMut(u64) -> Vec<Duration>>;

/// Returns a fate in which every frame arrives once.
pub fn kind_fate() -> Fate {
    Box::new(|_| vec![Duration::ZERO])
}

/// Values that a misbehaving host writes into a frame.
pub type Forge = Box<dyn FnMut(&HeaderRepr, &mut [i32])>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Worker(usize),
    Server(usize),
    Switch,
}

pub struct Network {
    pub now: Instant,
    pub workers: Vec<WorkerFlow>,
    pub servers: Vec<ServerShard>,
    pub switch: Switch,
    /// Tables and slots of other plan versions; frames of a plan version without tables are dropped.
    pub others: BTreeMap<u16, Switch>,
    /// Whether the tables of the first plan version are removed.
    pub first_removed: bool,
    pub fate: Fate,
    /// Frames put on links so far.
    pub frames: u64,
    /// Workers that are not running.
    pub dead_workers: Vec<usize>,
    pub dead_servers: Vec<usize>,
    /// Second servers of shards, at the addresses of the first ones.
    pub twins: Vec<(usize, ServerShard)>,
    /// A mutant: workers send no abort in that run.
    pub forgotten: Option<Incarnation>,
    /// A worker that starts each round later than the others.
    pub late_start: Option<(usize, Duration)>,
    /// A worker that is stopped right after it started a round.
    pub stopped: Option<usize>,
    /// The switch loses its slots after that many frames.
    pub switch_forgets_after: Option<u64>,
    /// Byte offsets: hosts also receive copies of every frame with one of these bytes changed.
    pub also_damaged: Vec<usize>,
    /// Changes the values of every frame that a host sends.
    pub forge: Option<Forge>,
    peer_timeout: Duration,
    assignment: Assignment,
    queue: Timeline<(Node, Vec<u8>), Instant>,
}

pub fn assignment(workers: usize, shares: &[f64], window_chunks: u32) -> Assignment {
    let mac = |kind: u8, index: usize| MacAddr([2, 0, 0, kind, 0, index as u8]);
    Assignment {
        job: 7.into(),
        name: "model".into(),
        plan_version: 3.into(),
        values_per_frame: ValuesPerFrame::N32,
        window_chunks,
        exact_sums: false,
        workers: (0..workers)
            .map(|rank| WorkerAddress { name: format!("w{}", rank + 1), mac: mac(1, rank) })
            .collect(),
        shards: (0..shares.len())
            .map(|shard| ShardAssignment {
                server: format!("s{}", shard + 1),
                mac: mac(2, shard),
                share: shares[shard],
                rate_bps: 100e6,
                bitmap_indices: Vec::new(),
            })
            .collect(),
    }
}

/// The worker of that rank in its incarnation of that number.
fn worker(assignment: &Assignment, rank: usize, generation: u32, peer_timeout: Duration) -> WorkerFlow {
    let incarnation = Incarnation::new(host(rank).get() + 0x100 * generation);
    WorkerFlow::new(assignment.clone(), Rank::try_from(rank).unwrap(), incarnation, peer_timeout).unwrap()
}

/// The server of that shard in its incarnation of that number.
fn server(assignment: &Assignment, shard: usize, generation: u32, peer_timeout: Duration) -> ServerShard {
    let incarnation = Incarnation::new(SERVER.get() + generation);
    ServerShard::new(assignment.clone(), ShardId::try_from(shard).unwrap(), incarnation, peer_timeout)
        .unwrap()
}

impl Network {
    /// Creates a network; `aggregated` is the bitmap of the ranks that the switch sums.
    pub fn new(assignment: Assignment, aggregated: u64, fate: Fate) -> Self {
        Self::with_peer_timeout(assignment, aggregated, fate, PEER_TIMEOUT)
    }

    /// Creates a network with a peer timeout.
    pub fn with_peer_timeout(
        assignment: Assignment,
        aggregated: u64,
        fate: Fate,
        peer_timeout: Duration,
    ) -> Self {
        Self {
            now: Instant::START,
            workers: (0..assignment.workers.len())
                .map(|rank| worker(&assignment, rank, 0, peer_timeout))
                .collect(),
            servers: (0..assignment.shards.len())
                .map(|shard| server(&assignment, shard, 0, peer_timeout))
                .collect(),
            switch: Switch::new(assignment.shards.len(), assignment.window_chunks, aggregated),
            others: BTreeMap::new(),
            first_removed: false,
            fate,
            frames: 0,
            dead_workers: Vec::new(),
            dead_servers: Vec::new(),
            twins: Vec::new(),
            forgotten: None,
            late_start: None,
            stopped: None,
            switch_forgets_after: None,
            also_damaged: Vec::new(),
            forge: None,
            peer_timeout,
            assignment,
            queue: Timeline::new(),
        }
    }

    /// Returns whether all sums of the job are exact.
    pub fn has_exact_sums(&self) -> bool {
        self.assignment.exact_sums
    }

    /// Restarts a worker without any state of its earlier run.
    pub fn restart_worker(&mut self, rank: usize, generation: u32) {
        self.workers[rank] = worker(&self.assignment, rank, generation, self.peer_timeout);
    }

    /// Restarts a server without any state of its earlier run.
    pub fn restart_server(&mut self, shard: usize, generation: u32) {
        self.servers[shard] = server(&self.assignment, shard, generation, self.peer_timeout);
    }

    /// Starts a second server of that shard next to the first one.
    pub fn start_twin(&mut self, shard: usize, generation: u32) {
        self.twins.push((shard, server(&self.assignment, shard, generation, self.peer_timeout)));
    }

    /// Restarts all hosts on the same network: frames in flight and the switch's state stay.
    pub fn run_again(&mut self, generation: u32) {
        (0..self.workers.len()).for_each(|rank| self.restart_worker(rank, generation));
        (0..self.servers.len()).for_each(|shard| self.restart_server(shard, generation));
    }

    /// Runs one round. Returns the result or failure of each live worker.
    pub fn all_reduce(&mut self, gradients: &[Vec<f32>]) -> Vec<Result<Vec<f32>, Failure>> {
        let failed_at_start = self.start_round(gradients);
        if let Some((rank, _)) = self.late_start {
            self.workers[rank].start_round(self.now, &gradients[rank]).unwrap();
        }
        if let Some(rank) = self.stopped {
            self.workers[rank].stop(self.now);
        }
        self.run_until_idle();
        let live = (0..self.workers.len()).filter(|rank| !self.dead_workers.contains(rank));
        live.map(|rank| {
            let mut sum = vec![0.0; gradients[rank].len()];
            let finished = self.workers[rank].finish_round(&mut sum);
            if let Some(failure) = &failed_at_start[rank] {
                // As text, since a NaN is unlike itself.
                assert_eq!(finished.as_ref().map_err(Failure::to_string), Err(failure.to_string()));
            }
            finished.map(|()| sum)
        })
        .collect()
    }

    /// Lets every live and punctual worker start a round, and runs until the late one starts. Returns the
    /// failures to start, by rank.
    pub fn start_round(&mut self, gradients: &[Vec<f32>]) -> Vec<Option<Failure>> {
        let mut failed = vec![None; self.workers.len()];
        for (rank, gradient) in gradients.iter().enumerate() {
            let late = self.late_start.is_some_and(|(late, _)| late == rank);
            if !self.dead_workers.contains(&rank) && !late {
                failed[rank] = self.workers[rank].start_round(self.now, gradient).err();
            }
        }
        if let Some((_, late)) = self.late_start {
            self.run_until(self.now + late);
        }
        failed
    }

    pub fn run_until_idle(&mut self) {
        let deadline = self.now + 2 * inart_protocol_aggregation::STARTING_PEER_TIMEOUTS * PEER_TIMEOUT;
        self.transmit();
        while !self.is_idle() {
            self.step_before(deadline);
        }
    }

    /// Returns whether every live worker has ended its round.
    pub fn is_idle(&self) -> bool {
        self.live_workers().all(|worker| worker.is_idle())
    }

    /// Runs the next event; panics if it is later than that.
    pub fn step_before(&mut self, deadline: Instant) {
        self.step();
        if self.now >= deadline {
            let workers: Vec<_> = self.live_workers().map(|worker| worker.status(self.now)).collect();
            let servers: Vec<_> = self.servers.iter().map(|server| server.status(self.now)).collect();
            panic!("the round does not end: {workers:#?} {servers:#?}");
        }
    }

    pub fn run_until(&mut self, end: Instant) {
        self.transmit();
        while self.next_event().is_some_and(|at| at < end) {
            self.step();
        }
        self.now = end;
    }

    pub fn next_event(&self) -> Option<Instant> {
        let deadlines = self.live_workers().filter_map(StateMachine::next_deadline);
        let twins = self.twins.iter().map(|(_, server)| server);
        let server_deadlines = self.servers.iter().chain(twins).filter_map(StateMachine::next_deadline);
        let arrival = self.queue.next_at();
        deadlines.chain(server_deadlines).chain(arrival).min()
    }

    /// Runs the next event.
    pub fn step(&mut self) {
        self.now = self.now.max(self.next_event().expect("a host waits, so an event is scheduled"));
        while self.queue.next_at().is_some_and(|at| at <= self.now)
            && let Some((_, (node, frame))) = self.queue.take()
        {
            self.deliver(node, &frame);
        }
        self.transmit();
    }

    fn live_workers(&self) -> impl Iterator<Item = &WorkerFlow> {
        let live = self.workers.iter().enumerate().filter(|(rank, _)| !self.dead_workers.contains(rank));
        live.map(|(_, worker)| worker)
    }

    pub fn transmit(&mut self) {
        let mut buffer = [0xa5; ValuesPerFrame::LONGEST_FRAME_BYTES];
        for rank in 0..self.workers.len() {
            while let Some(length) = self.workers[rank].poll_transmit(self.now, &mut buffer) {
                if !self.dead_workers.contains(&rank) && !self.forgets(&buffer[..length]) {
                    self.forge(&mut buffer[..length]);
                    self.put(Node::Switch, &buffer[..length]);
                }
            }
        }
        for shard in 0..self.servers.len() {
            while let Some(length) = self.servers[shard].poll_transmit(self.now, &mut buffer) {
                if !self.dead_servers.contains(&shard) {
                    self.forge(&mut buffer[..length]);
                    self.put(Node::Switch, &buffer[..length]);
                }
            }
        }
        for twin in 0..self.twins.len() {
            while let Some(length) = self.twins[twin].1.poll_transmit(self.now, &mut buffer) {
                self.put(Node::Switch, &buffer[..length]);
            }
        }
    }

    /// Returns whether the mutant holds a worker's frame back.
    fn forgets(&self, bytes: &[u8]) -> bool {
        let frame = Frame::new_checked(bytes).expect("hosts send well-formed frames");
        let is_abort = || matches!(ControlMessage::parse(&frame), Ok((ControlMessage::Abort { .. }, _)));
        self.forgotten == Some(frame.incarnation()) && frame.kind() == Kind::Control && is_abort()
    }

    /// Writes other values into a frame of a misbehaving host.
    fn forge(&mut self, bytes: &mut [u8]) {
        let Some(forge) = &mut self.forge else { return };
        let frame = Frame::new_checked(&*bytes).expect("hosts send well-formed frames");
        let repr = FrameRepr::parse(&frame).expect("hosts send well-formed headers");
        let mut values: Vec<i32> = frame.values().take(repr.header.length.into()).collect();
        forge(&repr.header, &mut values);
        repr.emit(&values, bytes).expect("the frame still has room");
    }

    fn put(&mut self, to: Node, frame: &[u8]) {
        for late in (self.fate)(self.frames) {
            self.queue.at(self.now + LINK + late, (to, frame.to_vec()));
        }
        self.frames += 1;
    }

    fn deliver(&mut self, node: Node, bytes: &[u8]) {
        if node == Node::Switch {
            return self.switch_frame(bytes);
        }
        for damaged in &self.also_damaged {
            let mut copy = bytes.to_vec();
            copy[*damaged] ^= 0x55;
            Self::deliver_to_host(&mut self.workers, &mut self.servers, self.now, node, &copy);
        }
        if let Node::Server(shard) = node {
            let twins = self.twins.iter_mut().filter(|(twin, _)| *twin == shard);
            twins.for_each(|(_, server)| server.handle_frame(self.now, bytes));
        }
        let dead = match node {
            Node::Worker(rank) => self.dead_workers.contains(&rank),
            Node::Server(shard) => self.dead_servers.contains(&shard),
            Node::Switch => false,
        };
        if !dead {
            Self::deliver_to_host(&mut self.workers, &mut self.servers, self.now, node, bytes);
        }
    }

    fn deliver_to_host(
        workers: &mut [WorkerFlow],
        servers: &mut [ServerShard],
        now: Instant,
        node: Node,
        bytes: &[u8],
    ) {
        match node {
            Node::Worker(rank) => workers[rank].handle_frame(now, bytes),
            Node::Server(shard) => servers[shard].handle_frame(now, bytes),
            Node::Switch => {}
        }
    }

    fn switch_frame(&mut self, bytes: &[u8]) {
        if self.switch_forgets_after.is_some_and(|at| at < self.frames) {
            self.switch_forgets_after = None;
            self.switch.forget();
        }
        let frame = Frame::new_checked(bytes).expect("hosts send well-formed frames");
        let tables = match frame.plan_version() {
            plan_version if plan_version == self.assignment.plan_version => {
                (!self.first_removed).then_some(&mut self.switch)
            }
            plan_version => self.others.get_mut(&plan_version.get()),
        };
        let Some(tables) = tables else { return };
        match frame.kind() {
            Kind::Gradient => {
                let server = Node::Server(frame.shard().index());
                if let Some(out) = tables.handle(bytes) {
                    self.put(server, &out);
                }
            }
            Kind::Result if frame.destination().is_multicast() => {
                for rank in 0..self.workers.len() {
                    self.put(Node::Worker(rank), bytes);
                }
            }
            _ => {
                let to = frame.destination();
                if let Some(rank) = self.assignment.workers.iter().position(|worker| worker.mac == to) {
                    self.put(Node::Worker(rank), bytes);
                }
                if let Some(shard) = self.assignment.shards.iter().position(|shard| shard.mac == to) {
                    self.put(Node::Server(shard), bytes);
                }
            }
        }
    }
}
