//! Options of an emulation.

use std::path::PathBuf;
use std::time::Duration;

use inart_planner_aggregation::{Levels, Plan, Results, Scheme, schemes};
use inart_targets::Target;
use inart_topologies::faults::{Capabilities, Faults, LinkFaults, Schedule};
use inart_topologies::switched::{DEFAULT_MTU, Job, Topology};
use inart_wire::{ETHERNET_BYTES, ValuesPerFrame};

use crate::aggregation::external::ExternalTestbed;
use crate::aggregation::own::OWN;
use crate::error::Error;
use crate::machine::fault::DropRate;
use crate::machine::scale::Scale;

/// Schemes of a comparison by default: the default scheme, two published ones, and R-InArt of the InArt
/// paper.
pub const DEFAULT_SCHEMES: [&dyn Scheme; 4] =
    [schemes::DEFAULT, schemes::ATP, schemes::LBMM, schemes::R_INART];

/// Options of an emulation.
#[derive(Clone)]
pub struct Options {
    /// The network and its jobs.
    pub topology: Topology,
    /// The schemes, in the order in which they run.
    pub schemes: Vec<&'static dyn Scheme>,
    /// The plans of the scheme [`OWN`], which hold on the topology: of different jobs, which are those that
    /// run. Empty if that scheme is not among the schemes.
    pub plans: Vec<Plan>,
    /// Aggregation depth of the plans of schemes that promise so much; the other schemes have depth 1.
    pub levels: Levels,
    /// Whether plans count results on the links.
    pub results: Results,
    /// Jobs at the same time: the topology's first ones, and copies of them if it has fewer.
    pub jobs: usize,
    /// Kind of the switches.
    pub target: &'static dyn Target,
    /// Values per frame, for which the target has a program.
    pub values: ValuesPerFrame,
    /// Chunks in flight per worker and shard: a power of two.
    pub window_chunks: u32,
    /// Factor on the topology's rates; `None` chooses one that this machine can carry.
    pub scale: Option<Scale>,
    /// Share of frames that every link drops.
    pub drop: DropRate,
    /// The fault schedule, and background traffic.
    pub faults: Faults,
    /// Peer timeout of hosts.
    pub peer_timeout: Duration,
    /// An existing folder for what `inart doctor` needs: the controller's records (`state`), its socket
    /// (`controller.sock`) and the hosts' status sockets (`hosts`).
    pub expose: Option<PathBuf>,
    /// Whether the controller watches the network and migrates jobs to other plans.
    pub follow: bool,
    /// Number of plan changes while jobs run, between routes and aggregators that alternate; for one scheme.
    pub changes: Option<u32>,
    /// Decides plans, training and faults.
    pub seed: u64,
    /// The `inart` command, of which switches, workers and servers are started.
    pub program: PathBuf,
    /// Another switch with the command line of bmv2's `simple_switch_grpc`, instead of the embedded one.
    pub switch: Option<PathBuf>,
    /// A testbed that exists already, instead of one to be built.
    pub external: Option<ExternalTestbed>,
}

/// Returns the faults that an emulation can inject: faults of processes, and of frames without reading them.
/// The longest frame is the longest that all links carry.
pub fn capabilities(topology: &Topology) -> Capabilities {
    let mtu = topology.links().iter().map(|link| link.mtu).min().unwrap_or(DEFAULT_MTU);
    let frame_bytes = 64..=mtu + ETHERNET_BYTES as u16;
    Capabilities {
        controller: true,
        scheduler: false,
        frames: true,
        lasting: false,
        worker_restart: true,
        injection: false,
        rates: false,
        connections: false,
        tcp: true,
        frame_bytes,
    }
}

/// The most jobs at the same time.
const MAX_JOBS: usize = 16;

impl Options {
    /// Refuses what cannot be emulated.
    ///
    /// # Errors
    /// [`Error::Option`] names the first setting that is refused, and why.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |option, problem: String| Err(Error::Option { option, problem });
        if self.schemes.is_empty() {
            return refuse("schemes", "name at least one scheme".into());
        }
        if let Some(twice) = self.schemes.iter().enumerate().find(|(i, s)| self.schemes[..*i].contains(s)) {
            return refuse("schemes", format!("{} is named twice; name it once", twice.1));
        }
        if self.schemes.contains(&OWN) == self.plans.is_empty() {
            return refuse("plan", "the scheme own runs plans that are given; give both or none".into());
        }
        if !self.plans.is_empty() && self.jobs != self.plans.len() {
            let problem = format!("{}; the plans are of {} jobs, which run", self.jobs, self.plans.len());
            return refuse("jobs", problem);
        }
        if !self.plans.is_empty() && self.follow {
            let problem = "the controller would move jobs off your plans; leave out one of both".into();
            return refuse("follow", problem);
        }
        if !(1..=MAX_JOBS).contains(&self.jobs) {
            return refuse("jobs", format!("{}; give a number from 1 to {MAX_JOBS}", self.jobs));
        }
        if !self.window_chunks.is_power_of_two() || self.window_chunks > inart_p4::SLOTS {
            let problem =
                format!("{}; give a power of two from 1 to {}", self.window_chunks, inart_p4::SLOTS);
            return refuse("window", problem);
        }
        if self.changes.is_some() && self.schemes.len() > 1 {
            return refuse("changes", "plans of one scheme are changed; name one".into());
        }
        if self.changes.is_some() && self.follow {
            let problem = "the controller would change plans, too; leave out one of both".into();
            return refuse("follow", problem);
        }
        if let Err(problem) = inart_controller::frames_fit(&self.topology, self.values) {
            return refuse("values", problem.to_string());
        }
        if let Err(problem) = self.target.program(self.values, None) {
            return refuse("values", problem.to_string());
        }
        if self.switch.is_some() && self.target.name() != inart_targets::DEFAULT.name() {
            let problem = format!(
                "{} switches are the embedded one, and another program was named to run as the switches; leave out one of both",
                self.target.name()
            );
            return refuse("target", problem);
        }
        if let Some(external) = &self.external {
            external.validate(&self.topology)?;
            let built = [
                ("switch", self.switch.is_some()),
                ("scale", self.scale.is_some()),
                ("drop", self.drop.share().get() > 0.0),
                ("faults", self.faults != Faults::default()),
            ];
            if let Some((option, _)) = built.into_iter().find(|(_, given)| *given) {
                let problem =
                    "is for a network that the emulator builds; leave it out on an external testbed".into();
                return refuse(option, problem);
            }
        }
        Ok(())
    }

    /// Returns the fault schedule on this topology; every link drops [`Options::drop`] unless the faults give
    /// it another share.
    ///
    /// # Errors
    /// Errors of [`Schedule::new`].
    pub fn schedule(&self, topology: &Topology) -> Result<Schedule, inart_topologies::faults::Error> {
        let every = LinkFaults { drop: self.drop.share(), ..LinkFaults::default() };
        Schedule::with_default(topology, &self.faults, &capabilities(topology), &every)
    }

    /// Each job has training data and weights of its own.
    pub(crate) fn job_seed(&self, job: usize) -> u64 {
        self.seed.wrapping_add(job as u64)
    }

    /// The jobs that run.
    pub fn running_jobs(&self) -> Vec<Job> {
        let given = self.topology.jobs();
        if !self.plans.is_empty() {
            let of = |plan: &Plan| self.topology.job_named(&plan.job).cloned();
            return self.plans.iter().filter_map(of).collect();
        }
        let mut jobs: Vec<Job> = given.iter().take(self.jobs).cloned().collect();
        while jobs.len() < self.jobs {
            let mut copy = given[jobs.len() % given.len()].clone();
            let mut number = jobs.len() / given.len() + 1;
            let name = loop {
                let name = format!("{}-{number}", copy.name);
                if jobs.iter().all(|job| job.name != name) {
                    break name;
                }
                number += 1;
            };
            copy.name = name;
            jobs.push(copy);
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use inart_targets::tofino::TOFINO2;

    use super::*;

    fn options() -> Options {
        let topology = Topology::from_yaml(
            "{name: pair, nodes: [{name: v, kind: switch}, {name: s, kind: server}, {name: w, kind: worker}],
              links: [{ends: [w, v], rate: 3 Gbps}, {ends: [s, v], rate: 3 Gbps}],
              jobs: [{name: a}, {name: a-2}]}",
        );
        Options {
            topology: topology.expect("valid"),
            schemes: vec![schemes::OPTIMIZED],
            plans: Vec::new(),
            levels: Levels::One,
            results: Results::Counted,
            jobs: 1,
            target: inart_targets::DEFAULT,
            values: ValuesPerFrame::N64,
            window_chunks: 64,
            scale: None,
            drop: "0".parse().expect("a rate"),
            faults: Faults::default(),
            peer_timeout: Duration::from_secs(10),
            expose: None,
            follow: false,
            changes: None,
            seed: 1,
            program: "inart".into(),
            switch: None,
            external: None,
        }
    }

    /// A plan of the topology's second job.
    fn plan() -> Plan {
        let topology = options().topology;
        let options = inart_planner_aggregation::Options::new(schemes::LBMM);
        inart_planner_aggregation::plan(&topology, &topology.jobs()[1], &options).expect("planned")
    }

    #[test]
    fn the_jobs_of_given_plans_run() {
        let given = Options { plans: vec![plan()], schemes: vec![OWN], ..options() };
        assert!(given.validate().is_ok());
        let names: Vec<_> = given.running_jobs().into_iter().map(|job| job.name).collect();
        assert_eq!(names, ["a-2"]);
    }

    #[test]
    fn copies_of_jobs_get_names_of_their_own() {
        let names = |jobs| -> Vec<String> {
            Options { jobs, ..options() }.running_jobs().into_iter().map(|job| job.name).collect()
        };
        assert_eq!(names(1), ["a"]);
        assert_eq!(names(2), ["a", "a-2"]);
        assert_eq!(names(5), ["a", "a-2", "a-3", "a-2-2", "a-4"]);
    }

    #[test]
    fn every_option_out_of_range_is_named() {
        assert!(options().validate().is_ok());
        for (wrong, named) in [
            (Options { schemes: vec![], ..options() }, "schemes"),
            (Options { schemes: vec![schemes::ATP, schemes::ATP], ..options() }, "schemes: atp"),
            (Options { jobs: 0, ..options() }, "jobs: 0;"),
            (Options { schemes: vec![OWN], ..options() }, "plan: the scheme own"),
            (Options { plans: vec![plan(), plan()], schemes: vec![OWN], ..options() }, "jobs: 1; the plans"),
            (Options { plans: vec![plan()], ..options() }, "plan: the scheme own"),
            (
                Options { plans: vec![plan()], schemes: vec![OWN], follow: true, ..options() },
                "follow: the controller would move",
            ),
            (Options { window_chunks: 48, ..options() }, "window: 48;"),
            (
                Options { changes: Some(1), schemes: vec![schemes::ATP, schemes::LBMM], ..options() },
                "changes: plans of one scheme",
            ),
            (Options { changes: Some(1), follow: true, ..options() }, "follow: the controller"),
            (
                Options { target: &TOFINO2, values: ValuesPerFrame::N256, ..options() },
                "values: no program for 256",
            ),
            (
                Options { target: &TOFINO2, switch: Some("bmv2".into()), ..options() },
                "target: tofino2 switches",
            ),
        ] {
            let message = wrong.validate().expect_err(named).to_string();
            assert!(message.starts_with(named), "{message}");
        }
    }
}
