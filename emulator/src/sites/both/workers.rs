//! Inside of sites: namespaces, switches with their tables, and workers.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use inart_controller::JobPlan;
use inart_host_agent::report::{Report, Role, RoundReport};
use inart_planner_aggregation::{Levels, Results, schemes};
use inart_protocol_aggregation::Assignment;
use inart_report::Trained;
use inart_topologies::faults::Faults;
use inart_wire::{JobId, Rank};

use super::super::refusal::system;
use super::setting::{BothSetting, argument};
use crate::aggregation::agents::Agents;
use crate::aggregation::options::Options;
use crate::aggregation::testbed::Testbed;
use crate::error::Error;
use crate::machine::namespace::Namespace;

/// Longest time without a report of a worker.
const LONGEST_SILENCE: Duration = Duration::from_secs(300);
/// Greatest number of looks until all workers have started.
const LOOKS: usize = 3000;

/// The inside of one site.
struct Inside {
    site: String,
    testbed: Testbed,
    assignment: Assignment,
    agents: Agents,
    done: BTreeSet<Rank>,
    trained: Option<Trained>,
}

/// The insides of all sites that have one.
pub struct Insides(Vec<Inside>);

fn options(setting: &BothSetting, at: usize) -> Options {
    Options {
        topology: setting.hierarchy.insides[at].topology.clone(),
        schemes: vec![schemes::DEFAULT],
        plans: Vec::new(),
        levels: Levels::One,
        results: Results::Counted,
        jobs: 1,
        target: inart_targets::DEFAULT,
        values: setting.values,
        window_chunks: setting.window_chunks,
        scale: None,
        drop: Default::default(),
        faults: Faults::default(),
        peer_timeout: setting.peer_timeout,
        expose: None,
        follow: false,
        changes: None,
        seed: setting.between.seed,
        program: setting.between.program.clone(),
        switch: None,
        external: None,
    }
}

impl Insides {
    /// Builds them and installs their plans.
    pub fn build(setting: &BothSetting) -> Result<Self, Error> {
        let build = |at: usize| {
            let options = options(setting, at);
            options.validate()?;
            let topology = &setting.hierarchy.insides[at].topology;
            let mut testbed = Testbed::start(topology, &options, 1.0)?;
            let plan = JobPlan {
                job: JobId::from(1),
                plan: setting.plans[at].clone(),
                window_chunks: setting.window_chunks,
                rate_scale: 1.0,
                new_plan_version: true,
            };
            let assignment = testbed.install(schemes::DEFAULT.name(), &[plan])?.remove(0);
            let agents = Agents::new(&testbed.scratch_path("reports.sock"), LONGEST_SILENCE)?;
            let site = setting.hierarchy.insides[at].site.clone();
            Ok(Inside { site, testbed, assignment, agents, done: BTreeSet::new(), trained: None })
        };
        (0..setting.hierarchy.insides.len()).map(build).collect::<Result<_, Error>>().map(Self)
    }

    fn of(&self, site: &str) -> Option<&Inside> {
        self.0.iter().find(|inside| inside.site == site)
    }

    /// The namespace of a site that has an inside.
    pub fn namespace_of(&self, site: &str) -> Result<Option<Namespace>, Error> {
        let duplicate = |inside: &Inside| inside.testbed.host(site).namespace.duplicate();
        self.of(site).map(duplicate).transpose().map_err(system("open namespaces"))
    }

    /// Returns the arguments of a site's process about its inside.
    pub fn arguments(&self, setting: &BothSetting, site: &str) -> Option<Vec<OsString>> {
        let inside = self.of(site)?;
        let mut all = vec![argument("--interface"), argument(inside.testbed.host(site).interface)];
        all.extend(["--controller", inside.testbed.controller_address()?].map(argument));
        all.extend([
            argument("--peer-timeout"),
            argument(format!("{}s", setting.peer_timeout.as_secs_f64())),
        ]);
        Some(all)
    }

    /// Starts all workers, and starts the training when all are connected.
    pub fn start_workers(&mut self, setting: &BothSetting) -> Result<(), Error> {
        let all = setting.contributors();
        let (rounds, seed) = (setting.rounds.to_string(), setting.between.seed.to_string());
        for Inside { site, testbed, assignment, agents, .. } in &mut self.0 {
            for (rank, worker) in assignment.workers.iter().enumerate() {
                let role = role(assignment, rank);
                let place = testbed.host(&worker.name);
                let mut command = place.namespace.command(&setting.between.program);
                command.args(["worker", "--interface", place.interface, "--rank", &rank.to_string()]);
                command.args(["--rounds", &rounds, "--seed", &seed, "--job", &assignment.name]);
                command.args(["--controller", testbed.controller_address().unwrap_or_default()]);
                command.arg("--report").arg(testbed.scratch_path("reports.sock"));
                command.args(["--peer-timeout", &format!("{}s", setting.peer_timeout.as_secs_f64())]);
                match setting.batch() {
                    Some(batch) => command.args(["--train", "digits", "--batch", &batch.to_string()]),
                    None => command.args(["--all-reduce", &setting.gradient_values().to_string()]),
                };
                let name = Some(&worker.name);
                let part = all.iter().position(|one| one.site == *site && one.worker.as_ref() == name);
                command.args(["--data-shard", &format!("{}/{}", part.unwrap_or(0), all.len())]);
                agents.start(role, format!("worker {} of site {site}", worker.name), command)?;
            }
        }
        for Inside { assignment, agents, .. } in &mut self.0 {
            let mut here = 0;
            for _ in 0..LOOKS {
                match agents.next()? {
                    Some((_, Report::Hello(_))) => here += 1,
                    _ => agents.check()?,
                }
                if here == assignment.workers.len() {
                    break;
                }
            }
        }
        self.0.iter().for_each(|inside| inside.agents.begin(inside.assignment.job));
        Ok(())
    }

    /// Receives the reports of workers, by inside and rank, until all are silent for a moment.
    pub fn listen(
        &mut self,
        take: &mut dyn FnMut(usize, Rank, RoundReport) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (at, inside) in self.0.iter_mut().enumerate() {
            while let Some((role, report)) = inside.agents.next()? {
                let Some(Role::Worker(_, rank)) = role else { continue };
                match report {
                    Report::Round(report) => take(at, rank, report)?,
                    Report::Done { trained } => {
                        inside.done.insert(rank);
                        inside.trained = inside.trained.take().or(trained);
                    }
                    Report::Failed { error } => {
                        let who = format!(
                            "worker {} of site {}",
                            inside.assignment.workers[rank.index()].name,
                            inside.site
                        );
                        return Err(Error::Failed { who, why: error });
                    }
                    _ => {}
                }
            }
            if inside.done.len() < inside.assignment.workers.len() {
                inside.agents.check()?;
            }
        }
        Ok(())
    }

    /// Returns whether all workers have ended their last round.
    pub fn are_done(&self) -> bool {
        self.0.iter().all(|inside| inside.done.len() == inside.assignment.workers.len())
    }

    /// Gradients that switches have summed.
    pub fn summed_in_switches(&mut self) -> Result<u64, Error> {
        let counted = self.0.iter_mut().map(|inside| Ok(inside.testbed.counters()?.aggregated));
        counted.sum()
    }

    /// Returns the test accuracy after the training, as a worker reports it; `None` without training.
    pub fn accuracy(&self) -> Option<f64> {
        self.0.iter().find_map(|inside| Some(inside.trained.as_ref()?.accuracy))
    }
}

fn role(assignment: &Assignment, rank: usize) -> Role {
    Role::Worker(assignment.job, Rank::try_from(rank).expect("assigned"))
}
