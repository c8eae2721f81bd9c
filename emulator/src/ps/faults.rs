//! A fault schedule on the processes of a training.

use inart_simulator_ps::Absence;
use inart_topologies::faults::quantity::Span;
use inart_topologies::faults::{Capabilities, Error, Faults, Schedule, Step, Victim};
use inart_topologies::switched::{NodeId, Topology};

/// Faults of a schedule that emulations of a training support, besides those of [`ProcessFaults::new`].
const CAPABILITIES: Capabilities = Capabilities {
    controller: false,
    scheduler: false,
    frames: true,
    lasting: false,
    worker_restart: true,
    injection: false,
    rates: false,
    connections: false,
    tcp: false,
    frame_bytes: 64..=9000,
};

/// Owner of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProcessId {
    /// The server's.
    Server,
    /// A worker or a client, by its number.
    Worker(usize),
}

/// Processes that are killed and started again, at times from the first pull on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProcessFaults {
    /// By time: each kills or starts a host of these.
    steps: Vec<(Span, Step)>,
    participants: Vec<NodeId>,
    server: Option<NodeId>,
}

impl ProcessFaults {
    /// Resolves faults on a job of one server.
    ///
    /// # Errors
    /// Names that the network does not have; faults of other kinds than `crash` of the job's hosts; a server
    /// that does not start again.
    pub fn new(topology: &Topology, job: &str, faults: &Faults) -> Result<Self, Error> {
        let entry = |place: &str, problem: String| Error::Entry { place: place.to_owned(), problem };
        for (place, is_empty) in
            [("links", faults.links.is_empty()), ("background", faults.background.is_empty())]
        {
            if !is_empty {
                return Err(entry(place, "only processes fail here; leave it out".to_owned()));
            }
        }
        let planned = topology.jobs().iter().find(|planned| planned.name == job);
        let planned = planned.ok_or_else(|| entry("job", format!("the network has no job {job}")))?;
        let steps = Schedule::new(topology, faults, &CAPABILITIES)?.steps;
        let own = ProcessFaults {
            steps,
            participants: planned.workers.clone(),
            server: planned.servers.first().copied(),
        };
        for (_, step) in &own.steps {
            if own.change(*step).is_none() {
                let problem = "only crashes of the job's hosts are emulated; write `crash: w1`";
                return Err(entry(&step.describe(topology), problem.to_owned()));
            }
        }
        let mut of_server = own.steps.iter().filter_map(|(_, step)| own.change(*step)).rev();
        match of_server.find(|(who, _)| *who == ProcessId::Server) {
            Some((_, false)) => {
                let problem = "no worker trains without the server; give the time until its restart, like `duration: 2 s`";
                Err(entry("events", problem.to_owned()))
            }
            _ => Ok(own),
        }
    }

    /// Returns the process of a step, and whether it starts; otherwise it is killed.
    fn change(&self, step: Step) -> Option<(ProcessId, bool)> {
        let (host, starts) = match step {
            Step::Kill(Victim::Host(host)) => (host, false),
            Step::Start(Victim::Host(host)) => (host, true),
            _ => return None,
        };
        let worker = self.participants.iter().position(|own| *own == host).map(ProcessId::Worker);
        let who = worker.or_else(|| (self.server == Some(host)).then_some(ProcessId::Server))?;
        Some((who, starts))
    }

    /// Returns whether the server starts again.
    pub(super) fn server_restarts(&self) -> bool {
        self.steps.iter().any(|(_, step)| self.change(*step) == Some((ProcessId::Server, true)))
    }

    /// Returns the absences of participants, for predictions.
    pub(super) fn absences(&self, is_noticed: bool) -> Vec<Absence> {
        Absence::all(&self.steps, &self.participants, is_noticed)
    }
}

/// Steps of a schedule that are still to be done.
#[derive(Debug)]
pub struct PendingFaults<'f> {
    faults: &'f ProcessFaults,
    done: usize,
}

impl<'f> PendingFaults<'f> {
    /// Creates the steps of a run.
    pub fn new(faults: &'f ProcessFaults) -> Self {
        PendingFaults { faults, done: 0 }
    }

    /// Returns the next step that is due: its process, and whether it starts.
    pub fn take(&mut self, now_s: f64) -> Option<(ProcessId, bool)> {
        let (at, step) = self.faults.steps.get(self.done)?;
        if at.duration().as_secs_f64() > now_s {
            return None;
        }
        self.done += 1;
        self.faults.change(*step)
    }

    /// Returns whether all steps were taken.
    pub fn is_over(&self) -> bool {
        self.done == self.faults.steps.len()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NETWORK: &str = "{name: n, nodes: [{name: v, kind: switch}, {name: s, kind: server}, \
        {name: a, kind: worker}, {name: b, kind: worker}], links: [{ends: [v, s], rate: 1 Gbps}, \
        {ends: [v, a], rate: 1 Gbps}, {ends: [v, b], rate: 1 Gbps}], \
        jobs: [{name: j, servers: [s], workers: [a, b], gradient: 1 MB}]}";

    fn faults(text: &str) -> Result<ProcessFaults, Error> {
        let topology = Topology::from_yaml(NETWORK).unwrap();
        ProcessFaults::new(&topology, "j", &Faults::from_yaml(text).unwrap())
    }

    #[test]
    fn steps_come_when_they_are_due_and_in_order() {
        let faults = faults(
            "events: [{at: 2 s, crash: s, duration: 2 s}, {at: 1 s, crash: b, duration: 2 s}, {at: 2500 ms, crash: a}]",
        );
        let faults = faults.unwrap();
        let mut due = PendingFaults::new(&faults);
        assert_eq!(due.take(0.9), None);
        let done: Vec<_> = std::iter::from_fn(|| due.take(3.5)).collect();
        let (server, worker) = (ProcessId::Server, ProcessId::Worker);
        assert_eq!(done, [(worker(1), false), (server, false), (worker(0), false), (worker(1), true)]);
        assert!(!due.is_over() && due.take(4.0) == Some((server, true)) && due.is_over());
        let gone = |participant, from_s, until_s| Absence { participant, from_s, until_s, is_noticed: true };
        assert_eq!(faults.absences(true), [gone(1, 1.0, Some(3.0)), gone(0, 2.5, None)]);
    }

    #[test]
    fn faults_that_are_not_emulated_are_refused() {
        for (text, named) in [
            ("events: [{at: 1 s, crash: s}]", "time until its restart"),
            ("events: [{at: 1 s, crash: v}]", "v is a switch"),
            ("events: [{at: 1 s, pause: a, duration: 1 s}]", "host a stopped"),
            ("events: [{at: 1 s, link_down: [v, a], duration: 1 s}]", "only crashes"),
            ("events: [{at: 1 s, disconnect: a}]", "disconnect"),
            ("links: [{drop: 1%}]", "links"),
        ] {
            let problem = faults(text).unwrap_err().to_string();
            assert!(problem.contains(named), "{problem}");
        }
    }
}
