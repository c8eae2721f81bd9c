//! The processes of servers and workers, and their output.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use inart_host_agent::report::{Report, Role, RoundReport};
use inart_planner_ps::Racks;
use inart_protocol_aggregation::Assignment;
use inart_report::{Line, Trained};
use inart_wire::Rank;

use super::setting::RackSetting;
use crate::aggregation::agents::Agents;
use crate::aggregation::testbed::Testbed;
use crate::error::Error;
use crate::machine::crew::{Crew, LONGEST_END, LOOK, PrintedLine};

/// Longest time without a report of a host.
const LONGEST_SILENCE: Duration = Duration::from_secs(120);
/// Longest time until all servers can be reached, and then until all workers are there.
const LONGEST_START: Duration = Duration::from_secs(60);

/// Reports of all processes.
#[derive(Debug, Default)]
pub struct Records {
    /// By server.
    pub servers: Vec<Vec<Line>>,
    /// Results of the training, as a worker reports them.
    pub trained: Option<Trained>,
}

/// Running processes; killed when dropped.
pub struct Processes {
    agents: Agents,
    /// Ranks that have ended, by group.
    done: Vec<BTreeSet<Rank>>,
    /// Number of workers, by group.
    workers: Vec<usize>,
    names: Vec<Vec<String>>,
    /// Servers, by shard.
    crew: Crew<usize>,
    records: Records,
}

impl Processes {
    /// Starts all processes, and starts the training when all workers are connected.
    pub fn start(
        setting: &RackSetting,
        racks: &Racks,
        testbed: &Testbed,
        assignments: &[Assignment],
    ) -> Result<Self, Error> {
        let agents = Agents::new(&testbed.scratch_path("reports.sock"), LONGEST_SILENCE)?;
        let names =
            |assignment: &Assignment| assignment.workers.iter().map(|worker| worker.name.clone()).collect();
        let mut processes = Processes {
            agents,
            done: vec![BTreeSet::new(); assignments.len()],
            workers: assignments.iter().map(|assignment| assignment.workers.len()).collect(),
            names: assignments.iter().map(names).collect(),
            crew: Crew::new(),
            records: Records::default(),
        };
        let shards = assignments.first().map_or(0, |assignment| assignment.shards.len());
        for shard in 0..shards {
            processes.start_server(setting, racks, testbed, assignments, shard)?;
        }
        let Processes { crew, records, .. } = &mut processes;
        crew.until(LONGEST_START, "a server that can be reached", &mut |crew| {
            crew.listen(LOOK, &mut |line| records.take(line))?;
            Ok(records.servers.iter().all(|lines| !lines.is_empty()))
        })?;
        for (group, assignment) in assignments.iter().enumerate() {
            for rank in 0..assignment.workers.len() {
                let place = (rank, racks.groups[group].members[rank]);
                processes.start_worker(setting, testbed, assignment, place, assignments.len())?;
            }
        }
        processes.meet()?;
        assignments.iter().for_each(|assignment| processes.agents.begin(assignment.job));
        Ok(processes)
    }

    /// Waits until all workers are there.
    fn meet(&mut self) -> Result<(), Error> {
        let all: usize = self.workers.iter().sum();
        let (mut here, began) = (0, Instant::now());
        while here < all {
            match self.agents.next()? {
                Some((_, Report::Hello(_))) => here += 1,
                Some((_, Report::Failed { error })) => {
                    return Err(Error::Failed { who: "a worker".into(), why: error });
                }
                _ => {
                    self.agents.check()?;
                    let Self { crew, records, .. } = self;
                    crew.listen(Duration::ZERO, &mut |line| records.take(line))?;
                }
            }
            if began.elapsed() > LONGEST_START {
                let why = format!("{here} of {all} are connected after {} s", LONGEST_START.as_secs());
                return Err(Error::Failed { who: "the workers".into(), why });
            }
        }
        Ok(())
    }

    fn start_server(
        &mut self,
        setting: &RackSetting,
        racks: &Racks,
        testbed: &Testbed,
        assignments: &[Assignment],
        shard: usize,
    ) -> Result<(), Error> {
        let first = &assignments[0];
        let name = &first.shards[shard].server;
        let place = testbed.host(name);
        let mut command = place.namespace.command(&setting.program);
        command.args(["group-server", "--json", "--interface", place.interface]);
        command.args([
            "--shard",
            &shard.to_string(),
            "--concurrent-groups",
            &racks.concurrent_groups.to_string(),
        ]);
        command.args(["--iterations", &setting.iterations.to_string(), "--seed", &setting.seed.to_string()]);
        for assignment in assignments {
            command.args(["--job", &assignment.name]);
        }
        of_all(&mut command, setting, testbed);
        self.crew.start(shard, &format!("server {name}"), command)?;
        self.records.servers.push(Vec::new());
        Ok(())
    }

    fn start_worker(
        &mut self,
        setting: &RackSetting,
        testbed: &Testbed,
        assignment: &Assignment,
        (rank, place_in_job): (usize, usize),
        groups: usize,
    ) -> Result<(), Error> {
        let worker = &assignment.workers[rank];
        let place = testbed.host(&worker.name);
        let compute = &setting.job.participants[place_in_job].compute;
        let all = setting.job.participants.len();
        let mut command = place.namespace.command(&setting.program);
        command.args(["group-worker", "--interface", place.interface, "--job", &assignment.name]);
        command.args(["--rank", &rank.to_string(), "--groups", &groups.to_string()]);
        command.args([
            "--data-shard",
            &format!("{place_in_job}/{all}"),
            "--learning-rate",
            &setting.step.to_string(),
        ]);
        command.args(["--iterations", &setting.iterations.to_string(), "--seed", &setting.seed.to_string()]);
        command.args(["--batch", &setting.batch.to_string()]);
        command.args([
            "--compute",
            &format!("{:.9} s", compute.mean_s),
            "--compute-cv",
            &compute.cv.to_string(),
        ]);
        command.arg("--report").arg(testbed.scratch_path("reports.sock"));
        of_all(&mut command, setting, testbed);
        let rank = Rank::try_from(rank).unwrap_or(Rank::MAX);
        self.agents.start(Role::Worker(assignment.job, rank), format!("worker {}", worker.name), command)
    }

    /// Receives the reports of workers, by group and rank, until all are silent for a moment.
    pub fn listen(
        &mut self,
        take: &mut dyn FnMut(usize, Rank, RoundReport) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while let Some((role, report)) = self.agents.next()? {
            let Some(Role::Worker(job, rank)) = role else { continue };
            let group = usize::from(job.get()) - 1;
            match report {
                Report::Round(report) => take(group, rank, report)?,
                Report::Done { trained } => {
                    self.done[group].insert(rank);
                    self.records.trained = self.records.trained.take().or(trained);
                }
                Report::Failed { error } => {
                    // A process that died prints nothing; its end is known.
                    self.agents.check()?;
                    let who = format!("worker {}", self.names[group][rank.index()]);
                    return Err(Error::Failed { who, why: error });
                }
                _ => {}
            }
        }
        self.agents.check()?;
        let Self { crew, records, .. } = self;
        crew.listen(Duration::ZERO, &mut |line| records.take(line))
    }

    /// Returns whether all workers have done their iterations.
    pub fn are_done(&self) -> bool {
        self.done.iter().zip(&self.workers).all(|(done, workers)| done.len() == *workers)
    }

    /// Waits until all servers have ended; returns the records of all processes.
    pub fn end(self) -> Result<Records, Error> {
        let Self { crew, mut records, .. } = self;
        crew.end(LONGEST_END, |_| true, &mut |line| records.take(line))?;
        Ok(records)
    }
}

impl Records {
    fn take(&mut self, printed: PrintedLine<usize>) -> Result<(), Error> {
        match printed.line {
            Line::Listening
            | Line::Ready { .. }
            | Line::Begins { .. }
            | Line::Ends(_)
            | Line::Over { .. } => self.servers[printed.who].push(printed.line),
            _ => return Err(printed.place.unexpected(&printed.line)),
        }
        Ok(())
    }
}

fn of_all(command: &mut Command, setting: &RackSetting, testbed: &Testbed) {
    command.args(["--controller", testbed.controller_address().unwrap_or_default()]);
    command.args(["--peer-timeout", &format!("{}s", setting.peer_timeout.as_secs_f64())]);
}
