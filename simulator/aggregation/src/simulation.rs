//! One run: the event loop.

use std::collections::{HashSet, VecDeque};
use std::io;

use inart_protocol_aggregation::{Assignment, NonFinite};
use inart_switch::{Port, Switch};
use inart_tables::SwitchTables;
use inart_topologies::faults::quantity::{Share, Span};
use inart_topologies::faults::{Capabilities, FaultEvent, Faults, Schedule, Step};
use inart_topologies::switched::{NodeId, NodeKind};
use inart_wire::{Incarnation, Rank, ShardId};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::changing::Changing;
use crate::channel::Channel;
use crate::daemon::Daemon;
use crate::event_queue::{ChannelId, EventKind, EventQueue, ProcessId};
use crate::expected_aborts::ExpectedAborts;
use crate::gradients::{Gradients, Sizes};
use crate::host::{Host, LATE_FRAMES, OVERHEARD, Process, tensor_count};
use crate::larger::Larger;
use crate::log::Log;
use crate::observer::Observer;
use crate::options::{CAPABILITIES, Options};
use crate::pool::Pool;
use crate::report::Report;
use crate::resume::ForwardedSums;
use crate::rounds::Rounds;
use crate::tally::{Switched, Tally};
use crate::wire::Wire;
use crate::{Error, InstalledNetwork};

/// A switch and the channels out of its ports: port p is `ports[p - 1]`.
pub(crate) struct SwitchNode {
    pub switch: Switch,
    /// Tables written to it.
    pub tables: SwitchTables,
    pub ports: Vec<ChannelId>,
    /// Number of restarts.
    pub incarnation: u32,
}

pub(crate) enum Node {
    Switch(Box<SwitchNode>),
    Host(Host),
}

/// A running job.
pub(crate) struct Job {
    pub rounds: Rounds,
    /// Processes, by rank.
    pub workers: Vec<ProcessId>,
    pub ended_at: Option<u64>,
    /// Rounds of each run; unlimited while plan changes are pending.
    pub last_round: u32,
    /// Number of runs left.
    pub runs_left: u32,
    /// First wrong sum, if any.
    pub wrong: Option<String>,
    /// Failure of an earlier run, if any.
    pub failure: Option<String>,
}

/// State of a run.
pub(crate) struct Simulation<'a> {
    pub network: &'a InstalledNetwork,
    pub options: &'a Options,
    pub schedule: Schedule,
    /// Largest delay of hosts' timers.
    pub jitter: Span,
    pub expected_aborts: ExpectedAborts,
    pub wire: Wire<'a>,
    pub nodes: Vec<Node>,
    pub processes: Vec<Process>,
    pub jobs: Vec<Job>,
    /// Results that the slowest worker of each job had when the first job ended.
    pub shared: Option<(u64, Vec<u64>)>,
    /// Counters of switches before their restarts.
    pub switched_before: Switched,
    /// State of the plan changes.
    pub changing: Changing,
    /// Observations and replanning.
    pub observer: Observer,
    /// Results of forwarded sums, for jobs that are parts of a larger one.
    pub larger: Larger,
    /// Daemon's handling of job and host changes.
    pub daemon: Daemon,
    /// Assignment of each job's hosts, or its last one if the job ended.
    pub assignments: Vec<Assignment>,
    /// Whether rounds that only served a measurement may end.
    pub released: bool,
    /// Workers that have not ended.
    pub running: usize,
    /// Buffer for a gradient or a sum.
    pub floats: Vec<f32>,
    /// Separate random stream for forged frames, so that they change no other draw.
    pub forger: ChaCha8Rng,
    /// Values of forged frames, which no other host sends.
    pub forged: HashSet<Vec<u8>>,
    /// Separate random stream for the incarnations of hosts.
    incarnations: ChaCha8Rng,
}

/// Creates the random stream of incarnations.
fn incarnations(seed: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(2);
    rng
}

/// Runs the jobs of an installed network under a fault schedule. Writes a line to `log` for every hop, if
/// given.
///
/// # Errors
///
/// Unsupported options or faults. The failure of a run is in its [`Report`].
pub fn simulate<'a>(
    network: &'a InstalledNetwork,
    faults: &Faults,
    options: &'a Options,
    log: Option<&'a mut dyn io::Write>,
) -> Result<Report, Error> {
    let mut simulation = Simulation::new(network, faults, options, log)?;
    let ended = simulation.run()?;
    if let Some(error) = simulation.wire.log.error() {
        return Err(Error::Option { option: "log", problem: error.to_string() });
    }
    Ok(simulation.report(ended))
}

impl<'a> Simulation<'a> {
    fn new(
        network: &'a InstalledNetwork,
        faults: &Faults,
        options: &'a Options,
        log: Option<&'a mut dyn io::Write>,
    ) -> Result<Self, Error> {
        Self::check_onward(options, &network.assignments)?;
        let topology = &network.topology;
        let peer_timeout = Span(u64::try_from(options.peer_timeout.as_nanos()).unwrap_or(u64::MAX));
        let capabilities = Capabilities { worker_restart: options.live.is_some(), ..CAPABILITIES };
        let schedule = Schedule::new(topology, faults, &capabilities)?;
        let (mut channels, mut names) = (Vec::new(), Vec::new());
        for (link, link_faults) in topology.links().iter().zip(&schedule.links) {
            let [first, second] = link.ends;
            let ways = [[first, second], [second, first]].into_iter().zip(link.rates_bps);
            for (([from, to], rate_bps), faulty) in ways.zip(link_faults) {
                let [from, receiver] = [from, to].map(|id| topology.node(id).name.as_str());
                let port = network.ports.port(receiver, from);
                let port = port.map_or(Port(0), |port| network.dataplane.number(port));
                let channel = Channel::new(link, rate_bps, to.index(), port, faults.queue, faulty.clone());
                channels.push(match network.dataplane.kind().cell_bytes() {
                    Some(bytes) => channel.with_cells(bytes),
                    None => channel,
                });
                names.push(format!("{from}>{receiver}"));
            }
        }
        let count = |is_one: fn(&FaultEvent) -> bool| {
            faults.events.iter().filter(|event| is_one(event)).count() as u64
        };
        let wire = Wire {
            now: 0,
            events: EventQueue::new(),
            frames: Pool::default(),
            channels,
            rng: ChaCha8Rng::seed_from_u64(options.seed),
            hops: 0,
            single: options.single,
            tally: Tally {
                bounces: count(|event| event.interface_down.is_some()),
                partitions: count(|event| event.partition.is_some()),
                odd: options.odd_length.is_some().into(),
                skipped: options.skip.is_some().into(),
                sizes: (options.sizes != Sizes::default()).into(),
                tensors: (options.tensors > 1).into(),
                follows: options.watch.as_ref().is_some_and(|watch| watch.follow.is_some()).into(),
                ..Tally::default()
            },
            log: Log::new(log, names),
        };
        let daemon = Daemon::new(network.fabric()?, network.records.clone(), options.seed);
        let mut simulation = Self {
            network,
            options,
            schedule,
            jitter: faults.jitter,
            expected_aborts: ExpectedAborts::of(faults, peer_timeout),
            wire,
            nodes: Vec::new(),
            processes: Vec::new(),
            jobs: Vec::new(),
            shared: None,
            switched_before: Switched::default(),
            changing: Changing::new(network.tables.clone(), &network.assignments, options.seed),
            observer: Observer::new(
                options.watch.as_ref().and_then(|watch| watch.follow.as_ref()),
                topology,
                network.jobs.iter().map(|job| job.plan.clone()).collect(),
            ),
            larger: Larger::new(options.seed),
            daemon,
            assignments: Vec::new(),
            released: false,
            running: 0,
            floats: vec![0.0; options.gradient_values],
            forger: ChaCha8Rng::seed_from_u64(!options.seed),
            forged: HashSet::new(),
            incarnations: incarnations(options.seed),
        };
        for id in topology.node_ids() {
            let node = simulation.node(id)?;
            simulation.nodes.push(node);
        }
        simulation.start_processes()?;
        Ok(simulation)
    }

    fn node(&self, id: NodeId) -> Result<Node, Error> {
        let (topology, ports) = (&self.network.topology, &self.network.ports);
        let name = &topology.node(id).name;
        let out = |peer: &str| {
            let peer = topology.node_named(peer).expect("ports lead to nodes of the topology");
            ChannelId::between(topology, id, peer).expect("ports are the ends of links")
        };
        if topology.node(id).kind == NodeKind::Switch {
            let ports = ports.ports(name).map(|(_, peer)| out(peer)).collect();
            return Ok(Node::Switch(Box::new(SwitchNode {
                switch: self.switch(name, &self.network.tables[name])?,
                tables: self.network.tables[name].clone(),
                ports,
                incarnation: 0,
            })));
        }
        let remembered = self.schedule.steps.iter().filter_map(|(_, step)| match step {
            Step::Stale(host, count) if *host == id => Some(*count as usize),
            Step::Forge(..) => Some(OVERHEARD),
            _ => None,
        });
        Ok(Node::Host(Host {
            channel: out(ports.attachment(name).ok_or_else(|| Error::NoLink { host: name.clone() })?),
            processes: Vec::new(),
            paused: 0,
            inbox: Vec::new(),
            sent: VecDeque::new(),
            remember: remembered.chain((self.options.runs > 1).then_some(LATE_FRAMES)).max().unwrap_or(0),
        }))
    }

    /// Creates a switch with empty registers, as the controller leaves it.
    pub(crate) fn switch(&self, name: &str, tables: &SwitchTables) -> Result<Switch, Error> {
        let switch = self.network.dataplane.switch(tables);
        switch.map_err(|error| Error::Switch { switch: name.to_owned(), reason: error.to_string() })
    }

    fn start_processes(&mut self) -> Result<(), Error> {
        for assignment in &self.network.assignments {
            self.add_job(assignment.clone())?;
        }
        Ok(())
    }

    /// The processes of a job, which it has from now on.
    fn add_job(&mut self, assignment: Assignment) -> Result<usize, Error> {
        let (job, network) = (self.jobs.len(), self.network);
        let mut workers = Vec::new();
        if !self.is_dynamic(&assignment) {
            let host = |name: &str| network.topology.node_named(name).expect("jobs run on hosts").index();
            let timeout = self.options.peer_timeout;
            for (shard, server) in assignment.shards.iter().enumerate() {
                let shard = ShardId::try_from(shard).expect("a valid assignment has numbers for its shards");
                let (host, incarnation) = (host(&server.server), self.new_incarnation());
                let patience = (timeout, self.forwards_sums(&assignment.name));
                let process = Process::server(&assignment, job, host, shard, incarnation, patience)?;
                self.add(process);
            }
            for (rank, worker) in assignment.workers.iter().enumerate() {
                let rank = Rank::try_from(rank).expect("a valid assignment has ranks for its workers");
                let (host, incarnation) = (host(&worker.name), self.new_incarnation());
                let how = (timeout, self.handling());
                let process = Process::worker(&assignment, job, host, rank, incarnation, how)?;
                workers.push(self.add(process));
            }
        }
        self.running += workers.len();
        let rounds = self.first_rounds(job, &assignment)?;
        let runs_left = self.options.runs.saturating_sub(1);
        // Rounds go on until the skipped one is found.
        let skips = job == 0 && self.options.skip.is_some();
        let last_round = if self.holds() || skips { u32::MAX } else { self.options.rounds };
        let state =
            Job { rounds, workers, ended_at: None, last_round, runs_left, wrong: None, failure: None };
        self.jobs.push(state);
        self.assignments.push(assignment.clone());
        if self.options.live.is_some() {
            self.attend(job, &assignment)?;
        }
        Ok(job)
    }

    /// Starts a job that was added.
    pub(crate) fn begin_job(&mut self, assignment: Assignment) -> Result<(), Error> {
        let job = self.add_job(assignment)?;
        for id in self.jobs[job].workers.clone() {
            self.start_round(id);
            self.pump(id);
        }
        Ok(())
    }

    /// The rounds of the first run of a job.
    fn first_rounds(&self, job: usize, assignment: &Assignment) -> Result<Rounds, Error> {
        let Options { gradient_values, odd_length, spikes, sizes, adjust, seed, .. } = *self.options;
        let spoilt = self.options.spoilt.map_or(Share::default(), |spoilt| spoilt.share);
        let gradients = Gradients { seed, job, run: 0, spikes, sizes, spoilt, adjust };
        let mut lens = vec![gradient_values; assignment.workers.len()];
        if let Some(odd) = odd_length.filter(|_| job == 0) {
            let workers = lens.len();
            let problem =
                || format!("rank {}: job {} has ranks 0 to {}", odd.rank, assignment.name, workers - 1);
            let len = lens.get_mut(odd.rank);
            *len.ok_or_else(|| Error::Option { option: "odd length", problem: problem() })? =
                odd.gradient_values;
        }
        if let Some(skip) = self.options.skip.filter(|skip| job == 0 && skip.rank >= lens.len()) {
            let problem =
                format!("rank {}: job {} has ranks 0 to {}", skip.rank, assignment.name, lens.len() - 1);
            return Err(Error::Option { option: "skip", problem });
        }
        let tensors = tensor_count(gradient_values, self.options.tensors);
        let onward = self.options.onward.as_ref().filter(|_| self.forwards_sums(&assignment.name));
        let forwarded = onward.map(|onward| ForwardedSums::new(assignment, lens[0], tensors, onward.others));
        Ok(Rounds::new(assignment, gradients, lens, tensors, forwarded))
    }

    /// Returns the workers' handling of NaN and infinity.
    pub(crate) fn handling(&self) -> NonFinite {
        self.options.spoilt.map_or(NonFinite::default(), |spoilt| spoilt.handling)
    }

    /// The incarnation of a process that starts.
    pub(crate) fn new_incarnation(&mut self) -> Incarnation {
        Incarnation::new(self.incarnations.random_range(1..=u32::MAX))
    }

    pub(crate) fn add(&mut self, process: Process) -> ProcessId {
        let id = ProcessId(self.processes.len() as u32);
        if let Node::Host(host) = &mut self.nodes[process.host] {
            host.processes.push(id);
        }
        self.processes.push(process);
        id
    }

    /// Runs until every worker has ended; false if that does not happen.
    fn run(&mut self) -> Result<bool, Error> {
        for step in 0..self.schedule.steps.len() {
            self.wire.events.at(self.schedule.steps[step].0.0, EventKind::Step(step as u32));
        }
        for flow in 0..self.schedule.flows.len() {
            let begins = self.schedule.flows[flow].begins.0;
            self.wire.events.at(begins, EventKind::Background(flow as u32));
        }
        if let Some(changes) = self.options.changes.as_ref().filter(|changes| changes.count > 0) {
            self.wire.events.at(changes.first.0, EventKind::Change);
        }
        for (index, others) in self.options.others.iter().enumerate() {
            self.wire.events.at(others.at.0, EventKind::Inject(index as u32));
        }
        if let Some(watch) = &self.options.watch {
            self.wire.events.at(watch.every.0.max(1), EventKind::Watch);
        }
        self.plan_live();
        self.plan_end_elsewhere();
        for job in 0..self.jobs.len() {
            for id in self.jobs[job].workers.clone() {
                self.start_round(id);
                self.pump(id);
            }
        }
        while self.running > 0 || self.daemon.is_busy() {
            let Some((at, kind)) = self.wire.events.take().filter(|(at, _)| *at <= self.options.limit.0)
            else {
                return Ok(false);
            };
            self.wire.now = at;
            match kind {
                EventKind::Arrive(frame) => self.arrive(frame),
                EventKind::Recirculated(switch, port, frame) => self.reenter(switch, Port(port), frame),
                EventKind::Wake(id) => self.wake(id),
                EventKind::Background(flow) => self.background(flow),
                EventKind::Step(step) => self.step(step as usize)?,
                EventKind::Rerun(job) => self.rerun(job as usize)?,
                EventKind::Late(channel, frame) => self.wire.transmit(channel, frame),
                EventKind::Change => self.begin_change()?,
                EventKind::Notification(id, what) => self.notify(id, what)?,
                EventKind::Ask => self.ask()?,
                EventKind::Back(number) => self.deliver_result(number),
                EventKind::EndElsewhere(id) => self.end_elsewhere(id),
                EventKind::Live(number) => self.live(number)?,
                EventKind::Watch => self.watch()?,
                EventKind::Inject(index) => self.inject(index as usize),
            }
        }
        Ok(true)
    }
}
