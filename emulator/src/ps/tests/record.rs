//! Records of runs, as processes would print them: the machines of `ps-agent` with the real model, without a
//! network.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use inart_protocol_ps::WorkerNo;
use inart_ps_agent::{Checkpoint, Decision, Precision, Sequencer, as_received};
use inart_ps_host::CHUNK_VALUES;
use inart_report::{Applied, AppliedUpdate, PsServerEnd, Pushed, WorkerSent, digest};
use inart_topologies::ps::Cluster;

use super::super::faults::ProcessFaults;
use super::super::records::{Moment, OfIncarnation, Records, Restart};
use super::super::setting::{Clients, Setting, Transport, scaled};

/// The step of all workers together, or of each client.
pub const STEP: f64 = 0.5;
const BATCH: u32 = 4;

/// Returns a setting with this number of participants, w1 and so on.
pub fn setting(kind: &str, count: usize, clients: Option<Clients>) -> Setting {
    let names: Vec<_> = (1..=count).map(|at| format!("w{at}")).collect();
    let nodes: String = names.iter().map(|name| format!(", {{name: {name}, kind: worker}}")).collect();
    let links: String = names.iter().map(|name| format!(", {{ends: [v, {name}], rate: 2 Gbps}}")).collect();
    let text = format!(
        "{{name: n, nodes: [{{name: v, kind: switch}}, {{name: s1, kind: server}}{nodes}], \
         links: [{{ends: [v, s1], rate: 8 Gbps}}{links}], jobs: [{{name: j, {kind}: [{}], servers: [s1], \
         gradient: 100 MB, compute: {{mean: 2 s}}, batch: {BATCH}}}]}}",
        names.join(", ")
    );
    let cluster = Cluster::from_yaml(&text).unwrap();
    let bits = 32.0 * inart_training::PARAMETERS as f64;
    Setting {
        network: "n".into(),
        server: "s1".into(),
        job: scaled(&cluster.jobs[0], bits, None, 0.01).0,
        scale: crate::machine::scale::Scaling::NONE,
        schemes: Vec::new(),
        clients,
        tuning: None,
        precision: Precision::Half,
        iterations: 4,
        step: STEP,
        seed: 3,
        program: PathBuf::new(),
        transport: Transport::Quic,
        congestion: String::new(),
        drop: Default::default(),
        patience_s: None,
        faults: ProcessFaults::default(),
    }
}

/// Computes a participant's push: its number, the model as it has arrived, iteration, batch.
pub type Compute = Box<dyn FnMut(usize, &[f32], u64, usize) -> Vec<f32>>;

/// An update in flight.
struct InFlight {
    iteration: u64,
    base: u64,
    values: Vec<f32>,
}

/// A run in progress.
pub struct Run<S> {
    pub records: Records,
    server: S,
    compute: Compute,
    now_ms: u64,
    /// By arrival time and participant.
    in_flight: BTreeMap<(u64, usize), InFlight>,
    /// By participant: how often it was started again.
    processes: Vec<usize>,
    incarnation: usize,
    /// Whether pulls have ended.
    is_closing: bool,
}

fn name(who: usize) -> String {
    format!("w{}", who + 1)
}

impl<S: Sequencer> Run<S> {
    /// All join and ask.
    pub fn new(server: S, count: usize, compute: Compute) -> Self {
        let mut run = Run {
            records: Records::default(),
            server,
            compute,
            now_ms: 1,
            in_flight: BTreeMap::new(),
            processes: vec![0; count],
            incarnation: 0,
            is_closing: false,
        };
        run.all_ask();
        run
    }

    fn now(&self) -> Duration {
        Duration::from_millis(self.now_ms)
    }

    fn at_ns(&self) -> u64 {
        self.now_ms * 1_000_000
    }

    fn all_ask(&mut self) {
        let all = || (0..self.processes.len()).map(|who| WorkerNo(who as u32));
        all().for_each(|who| self.server.join(who, Duration::from_millis(self.now_ms)));
        all().for_each(|who| self.server.request(who, Duration::from_millis(self.now_ms)));
        self.decide();
    }

    /// Continues until the model has that version.
    pub fn until(&mut self, version: u64) -> &mut Self {
        while self.server.version() < version {
            self.step();
        }
        self
    }

    /// Continues until this number of updates have arrived.
    pub fn until_pushed(&mut self, count: usize) -> &mut Self {
        while self.records.pushed.len() < count {
            self.step();
        }
        self
    }

    /// Continues until an update of this participant is in flight.
    pub fn until_computing(&mut self, who: usize) -> &mut Self {
        while !self.in_flight.keys().any(|key| key.1 == who) {
            self.step();
        }
        self
    }

    /// Applies the updates in flight, and lets the server count.
    pub fn end(mut self) -> Records {
        self.is_closing = true;
        while !self.in_flight.is_empty() {
            self.step();
        }
        let all = (0..self.processes.len()).map(|who| WorkerNo(who as u32));
        all.for_each(|who| self.server.leave(who, Duration::from_millis(self.now_ms)));
        self.decide();
        self.records.counted = Some(PsServerEnd::default());
        self.records
    }

    /// The process is killed, and started again at once.
    pub fn kill(&mut self, who: usize) -> &mut Self {
        self.records.killed.insert((who, self.processes[who]));
        self.processes[who] += 1;
        self.again(who)
    }

    /// Lets the server time out a participant, which rejoins at once.
    pub fn give_up(&mut self, who: usize) -> &mut Self {
        self.now_ms += 1;
        self.records.gone.push(Moment { worker: name(who), at_ns: self.at_ns() });
        self.server.leave(WorkerNo(who as u32), self.now());
        self.again(who)
    }

    fn again(&mut self, who: usize) -> &mut Self {
        self.in_flight.retain(|key, _| key.1 != who);
        self.now_ms += 1;
        self.server.join(WorkerNo(who as u32), self.now());
        self.server.request(WorkerNo(who as u32), self.now());
        self.decide();
        self
    }

    /// Kills the server, which resumes from its checkpoint; it had not reported its last `unreported`
    /// versions (no worker has pulled one of them).
    pub fn kill_server(&mut self, unreported: usize, restored: impl FnOnce(Checkpoint) -> S) -> &mut Self {
        let kept = self.server.kept();
        let reported = self.records.applied.len() - unreported;
        self.records.applied.truncate(reported);
        self.in_flight.clear();
        self.now_ms += 100;
        self.records.restarts.push(Restart { at_ns: self.at_ns(), kept: Some(kept.clone()) });
        self.incarnation += 1;
        self.server = restored(kept);
        self.all_ask();
        self
    }

    fn step(&mut self) {
        let arrives_ms = self.in_flight.keys().next().map(|key| key.0);
        let wakes_ms = self.server.wake_at().map(|at| at.as_micros().div_ceil(1000) as u64);
        let next_ms = [arrives_ms, wakes_ms].into_iter().flatten().min().expect("something is under way");
        self.now_ms = next_ms.max(self.now_ms + 1);
        if arrives_ms.is_some_and(|at_ms| at_ms <= self.now_ms) {
            self.arrives();
        } else {
            self.server.tick(self.now());
        }
        self.decide();
    }

    fn arrives(&mut self) {
        let Some(((_, who), under)) = self.in_flight.pop_first() else { return };
        let InFlight { iteration, base, values } = under;
        let pushed = digest(&values);
        let verdict = self.server.push(WorkerNo(who as u32), iteration, values, self.now());
        if verdict.is_taken {
            let (at_ns, incarnation) = (self.at_ns(), self.incarnation);
            let event = Pushed { pushed, worker: name(who), iteration, base, refusal: None, at_ns };
            self.records.pushed.push(OfIncarnation { incarnation, event });
        }
        self.server.request(WorkerNo(who as u32), self.now());
    }

    fn decide(&mut self) {
        while let Some(decision) = self.server.next_decision() {
            match decision {
                Decision::Permit { who, iteration, batch } if !self.is_closing => {
                    self.computes(who, iteration, batch as usize);
                }
                Decision::Applied(applied) => {
                    let update = |update: inart_protocol_ps::Update| AppliedUpdate {
                        worker: name(update.worker.index()),
                        iteration: update.iteration,
                        staleness: update.staleness,
                        scale: update.scale(),
                    };
                    let updates = applied.updates.into_iter().map(update).collect();
                    // As the host reports it: for the last of several updates that are applied together.
                    let is_last = self.server.version() == applied.version;
                    let model = is_last.then(|| digest(self.server.values()));
                    let (at_ns, incarnation) = (self.at_ns(), self.incarnation);
                    let event = Applied { applied: applied.version, model, updates, at_ns };
                    self.records.applied.push(OfIncarnation { incarnation, event });
                }
                _ => {}
            }
        }
    }

    /// Lets a worker pull and compute; some are slower than others.
    fn computes(&mut self, who: WorkerNo, iteration: u64, batch: usize) {
        let worker = who.index();
        if self.in_flight.keys().any(|key| key.1 == worker) {
            return;
        }
        let base = self.server.pull(who, self.now()).expect("it has the permission");
        let began_ns = self.at_ns();
        self.records.pulls.push(Moment { worker: name(worker), at_ns: began_ns });
        let arriving = |values: &[f32]| as_received(values, CHUNK_VALUES, Precision::Half);
        let from = arriving(self.server.values());
        let values = arriving(&(self.compute)(worker, &from, iteration, batch));
        let (sent, model, incarnation) = (digest(&values), digest(&from), self.processes[worker]);
        let event = WorkerSent { sent, iteration, batch, base, model, began_ns };
        self.records.sent.entry((worker, iteration)).or_default().push(OfIncarnation { incarnation, event });
        let arrives_ms = self.now_ms + 10 + 3 * worker as u64;
        self.in_flight.insert((arrives_ms, worker), InFlight { iteration, base, values });
    }
}
