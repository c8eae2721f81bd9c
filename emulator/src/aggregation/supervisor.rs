//! The hosts of all jobs under one scheme. Starts them, executes the fault schedule, and collects reports
//! until all hosts have ended, with figures or with errors.

use std::time::{Duration, Instant};

use inart_host_agent::report::{Report, Role};
use inart_planner_aggregation::Plan;
use inart_protocol_aggregation::Assignment;
use inart_topologies::faults::quantity::Span;
use inart_topologies::faults::{Step, Victim};
use inart_wire::{JobId, Rank, ShardId};
use nix::sys::signal::Signal;

use crate::aggregation::abort::{AbortReport, HostEnd};
use crate::aggregation::agents::Agents;
use crate::aggregation::changing::{ChangeLog, Changing, ROUNDS_BEFORE};
use crate::aggregation::job::JobRun;
use crate::aggregation::options::Options;
use crate::aggregation::program::{Ranks, relayed};
use crate::aggregation::task::{HostStart, Task, write_assignment};
use crate::aggregation::testbed::Testbed;
use crate::aggregation::timeline::{Event, RoundPoint};
use crate::error::Error;

/// Longest time for the hosts of an aborted job to end: far more than the limit, so that the time is
/// measured.
const LONGEST_END: Duration = Duration::from_secs(30);

/// Longest time without a report: longer than the peer timeout. A round may take far longer than planned.
const LONGEST_SILENCE: Duration = Duration::from_secs(60);
const ROUNDS_OF_SILENCE: u32 = 5;

/// The controller is asked this often what has happened there.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// A process of a host.
struct Host {
    role: Role,
    /// Index of its job among the runs.
    job: usize,
    /// The node.
    node: String,
}

/// Observed events of the hosts.
pub struct Watched {
    /// Events of the fault schedule.
    pub happened: Vec<Event>,
    /// Events of the controller.
    pub news: Vec<Event>,
    /// From the moment all workers were there, or a user's program was started, to the end.
    pub seconds: f64,
    /// Whether any worker of each job sent a hello.
    pub audited: Vec<bool>,
    /// By job, when each round's sums were checked, and its goodput by the clock.
    pub rounds: Vec<Vec<RoundPoint>>,
    /// The changes of plans, if there were to be some.
    pub made: Option<ChangeLog>,
}

/// The hosts of all jobs.
pub struct Supervisor<'a> {
    options: &'a Options,
    task: Task<'a>,
    /// The ranks of a user's program.
    ranks: Option<Ranks>,
    testbed: &'a mut Testbed,
    agents: Agents,
    report: std::path::PathBuf,
    hosts: Vec<Host>,
    /// Steps of the fault schedule that are still to come.
    steps: std::vec::IntoIter<(Span, Step)>,
    next_step: Option<(Span, Step)>,
    happened: Vec<Event>,
    /// Events at the controller.
    news: Vec<Event>,
    /// Time of the last query to the controller.
    asked: Option<Instant>,
    /// Hosts that were killed or stopped, and when the first was.
    culprits: Vec<String>,
    since: Option<Instant>,
    ended: Vec<(Role, HostEnd)>,
    /// Plans that alternate, and the thread that changes them.
    turns: &'a [Vec<Plan>],
    changing: Option<Changing>,
}

impl<'a> Supervisor<'a> {
    /// Creates the supervisor of these runs' jobs, whose rounds take at most this time by the plans, or are
    /// unbounded; no process has started yet.
    pub fn new(
        options: &'a Options,
        task: Task<'a>,
        testbed: &'a mut Testbed,
        runs: &[JobRun],
        longest_round: Option<Duration>,
    ) -> Result<Self, Error> {
        let report = testbed.scratch_path("reports.sock");
        let _ = std::fs::remove_file(&report); // an earlier scheme's
        let mut hosts = Vec::new();
        for (job, run) in runs.iter().enumerate() {
            let Assignment { job: number, shards, workers, .. } = run.assignment();
            let servers = shards.iter().enumerate().map(|(shard, server)| {
                let role = Role::Server(*number, ShardId::try_from(shard).expect("assigned"));
                Host { role, job, node: server.server.clone() }
            });
            hosts.extend(servers);
            let workers = workers.iter().enumerate().map(|(rank, worker)| {
                let role = Role::Worker(*number, Rank::try_from(rank).expect("assigned"));
                Host { role, job, node: worker.name.clone() }
            });
            hosts.extend(workers);
        }
        let mut steps = testbed.schedule().steps.clone().into_iter();
        let next_step = steps.next();
        let silence =
            longest_round.map_or(Duration::MAX, |round| LONGEST_SILENCE + ROUNDS_OF_SILENCE * round);
        let agents = Agents::new(&report, silence)?;
        let ranks = matches!(task, Task::Program(_)).then(|| Ranks::new(runs));
        Ok(Self {
            options,
            task,
            ranks,
            testbed,
            agents,
            report,
            hosts,
            steps,
            next_step,
            happened: Vec::new(),
            news: Vec::new(),
            asked: None,
            culprits: Vec::new(),
            since: None,
            ended: Vec::new(),
            turns: &[],
            changing: None,
        })
    }

    /// Adds plans that alternate, if the options have a number of changes.
    pub fn changing(self, turns: &'a [Vec<Plan>]) -> Self {
        Self { turns, ..self }
    }

    /// Starts the hosts of all jobs, servers first, and collects reports until all have ended.
    pub fn run(mut self, runs: &mut [JobRun], tell: &mut dyn FnMut(u32)) -> Result<Watched, Error> {
        let is_server = |host: &Host| matches!(host.role, Role::Server(..));
        let servers: Vec<_> = (0..self.hosts.len()).filter(|&host| is_server(&self.hosts[host])).collect();
        let workers: Vec<_> = (0..self.hosts.len()).filter(|&host| !is_server(&self.hosts[host])).collect();
        for group in [servers, workers] {
            let start = Instant::now();
            for &host in &group {
                self.start(host, runs)?;
            }
            if self.ranks.is_some() && group.first().is_some_and(|&host| !is_server(&self.hosts[host])) {
                return self.watch(start, runs, tell); // ranks say hello when they like, or never
            }
            let mut hellos = 0;
            while hellos < group.len() {
                match self.agents.next()? {
                    Some((_, Report::Hello(_))) => hellos += 1,
                    Some(heard) => self.take(heard, runs)?,
                    None => self.agents.check()?,
                }
            }
        }
        runs.iter().for_each(|run| self.agents.begin(run.assignment().job));
        self.watch(Instant::now(), runs, tell)
    }

    /// Executes the fault schedule, whose times count from `start`, and collects reports until all jobs are
    /// over.
    fn watch(
        mut self,
        start: Instant,
        runs: &mut [JobRun],
        tell: &mut dyn FnMut(u32),
    ) -> Result<Watched, Error> {
        let mut rounds = vec![Vec::new(); runs.len()];
        while !self.is_over(runs) {
            self.inject_due_faults(start, runs)?;
            match self.agents.next()? {
                Some(heard) => self.take(heard, runs)?,
                None => self.look_after(runs)?,
            }
            self.monitor_ranks(runs)?;
            for (run, rounds) in runs.iter().zip(&mut rounds) {
                let seconds = start.elapsed().as_secs_f64();
                let point = |goodput_bps| RoundPoint { seconds, goodput_bps };
                rounds.extend(run.goodputs_from(rounds.len()).into_iter().map(point));
            }
            tell(runs.iter().map(JobRun::rounds_audited).sum());
        }
        let made =
            self.options.changes.map(|_| self.changing.take().map_or_else(ChangeLog::default, Changing::end));
        let end = self.ranks.as_ref().and_then(Ranks::ended_at).unwrap_or_else(Instant::now);
        let seconds = end.saturating_duration_since(start).as_secs_f64();
        let never_ran = self.testbed.stop_traffic();
        self.end_faults()?;
        let outcome = self.ranks.as_mut().map_or(Ok(()), Ranks::outcome);
        if matches!(outcome, Err(Error::Interrupted(_))) || self.ended.is_empty() {
            outcome?;
        } else {
            return Err(self.aborted(runs));
        }
        let step = self.next_step.map(|(at, step)| (at, step.describe(self.testbed.topology())));
        let flow = never_ran.map(|flow| format!("\"background {flow}\""));
        if let Some(late) = step.map(|(at, step)| format!("\"{step}\" at {at}")).or(flow) {
            let fix = if self.ranks.is_some() { "give an earlier time" } else { "give more rounds" };
            let problem = format!("{late} came after the training; {fix}");
            return Err(Error::Option { option: "faults", problem });
        }
        self.testbed.settle()?;
        let is_known = |job| self.ranks.as_ref().is_none_or(|ranks| ranks.is_any_known(job));
        let audited = (0..runs.len()).map(is_known).collect();
        Ok(Watched { happened: self.happened, news: self.news, seconds, audited, rounds, made })
    }

    fn start(&mut self, host: usize, runs: &[JobRun]) -> Result<(), Error> {
        let Host { role, job, node } = &self.hosts[host];
        let (role, assignment) = (*role, runs[*job].assignment());
        let start = HostStart {
            options: self.options,
            testbed: self.testbed,
            node,
            job: *job,
            assignment,
            report: &self.report,
        };
        let named = |what: &str| format!("{what} {node} of job {}", assignment.name);
        match (role, &self.task) {
            (Role::Server(_, shard), _) => self.agents.start(role, named("server"), start.server(shard)),
            (Role::Worker(_, rank), Task::Rounds(work)) => {
                self.agents.start(role, named("worker"), start.worker(rank, *work))
            }
            (Role::Worker(_, rank), Task::Program(program)) => {
                let command = start.rank(rank, program, &write_assignment(self.testbed, assignment)?)?;
                let prefix =
                    if runs.len() > 1 { format!("{}/{rank}", assignment.name) } else { rank.to_string() };
                let lines = relayed(&program.printer, &prefix);
                self.ranks.iter_mut().for_each(|ranks| ranks.started(role));
                self.agents.start_captured(role, named("worker"), command, lines)
            }
        }
    }

    /// Returns whether every job has its figures, or no host remains that could report them.
    fn is_over(&mut self, runs: &[JobRun]) -> bool {
        if let Some(ranks) = &self.ranks {
            let servers_ended = || self.since.is_some() || runs.iter().all(JobRun::is_ended);
            return ranks.have_ended()
                && (ranks.is_failing() || runs.iter().all(JobRun::is_done) && servers_ended());
        }
        let aborted: Vec<usize> = (0..runs.len()).filter(|job| !runs[*job].is_ended()).collect();
        if aborted.is_empty() {
            return true;
        }
        let of_job = self.hosts.iter().filter(|host| aborted.contains(&host.job));
        self.since.is_some()
            && of_job.clone().all(|host| {
                self.culprits.contains(&host.node) || self.ended.iter().any(|(role, _)| *role == host.role)
            })
    }

    fn take(&mut self, (speaker, report): (Option<Role>, Report), runs: &mut [JobRun]) -> Result<(), Error> {
        let role = match (speaker, &report) {
            (Some(role), _) => role,
            // A host that was killed and started again.
            (None, Report::Failed { .. }) if self.since.is_some() || self.ranks.is_some() => return Ok(()),
            (None, Report::Failed { error }) => {
                return Err(Error::Failed { who: "a host that could not start".into(), why: error.clone() });
            }
            (None, _) => return Ok(()),
        };
        let (Role::Worker(number, _) | Role::Server(number, _)) = role;
        let Some(run) = runs.iter_mut().find(|run| run.assignment().job == number) else { return Ok(()) };
        match report {
            Report::Failed { error } => return self.end(role, error),
            Report::Hello(role) => self.ranks.iter_mut().for_each(|ranks| ranks.hello(role)),
            Report::Done { .. } => {
                run.take(role, report)?;
                if run.is_done() {
                    self.stop_servers(number);
                }
            }
            report => run.take(role, report)?,
        }
        Ok(())
    }

    /// The job with this number needs its servers no more.
    fn stop_servers(&self, number: JobId) {
        let servers = self.hosts.iter().map(|host| host.role);
        let servers = servers.filter(|role| matches!(role, Role::Server(its, _) if *its == number));
        servers.for_each(|role| self.agents.stop(role));
    }

    /// A host ended with an error. That is expected if a host was killed or stopped before.
    fn end(&mut self, role: Role, error: String) -> Result<(), Error> {
        let Some(since) = self.since else {
            let failed = Error::Failed { who: self.agents.name(role), why: error };
            return match (&mut self.ranks, role) {
                // A rank may continue after an error; how its process ends counts.
                (Some(_), Role::Worker(..)) => Ok(()),
                (Some(ranks), Role::Server(..)) => {
                    ranks.server_failed(failed);
                    Ok(())
                }
                (None, _) => Err(failed),
            };
        };
        let node = self.hosts.iter().find(|host| host.role == role).map(|host| host.node.clone());
        let is_culprit = node.is_some_and(|node| self.culprits.contains(&node));
        if !is_culprit && !self.ended.iter().any(|(known, _)| *known == role) {
            let names_culprit = self.culprits.iter().any(|culprit| error.contains(culprit.as_str()));
            let host = self.agents.name(role);
            let worker = matches!(role, Role::Worker(..));
            let end = HostEnd { host, worker, seconds: since.elapsed().as_secs_f64(), error, names_culprit };
            self.ended.push((role, end));
        }
        Ok(())
    }

    /// No report came for a moment: looks for processes that ended without a report.
    fn look_after(&mut self, runs: &[JobRun]) -> Result<(), Error> {
        if self.ranks.is_some() {
            return self.monitor_servers(runs);
        }
        let Some(since) = self.since else { return self.agents.check() };
        for host in 0..self.hosts.len() {
            let Host { role, job, ref node } = self.hosts[host];
            let expected = self.culprits.contains(node) || runs[job].is_ended();
            // A server that ended well was signaled to; a worker reports its figures before it ends.
            let heard = self.ended.iter().any(|(known, _)| *known == role);
            if !expected
                && !heard
                && !runs[job].is_done()
                && let Some(words) = self.agents.last_output(role)
            {
                self.end(role, words)?;
            }
        }
        if !self.ended.is_empty() && since.elapsed() > LONGEST_END {
            let silent = self.hosts.iter().find(|host| {
                !self.culprits.contains(&host.node) && !self.ended.iter().any(|(role, _)| *role == host.role)
            });
            let who = silent.map_or("the hosts".to_owned(), |host| self.agents.name(host.role));
            let why = format!("hangs since {} was killed or stopped", self.culprits.join(", "));
            return Err(Error::Failed { who, why });
        }
        Ok(())
    }

    /// Looks for servers of a user's program that ended without a report.
    fn monitor_servers(&mut self, runs: &[JobRun]) -> Result<(), Error> {
        for host in 0..self.hosts.len() {
            let Host { role, job, ref node } = self.hosts[host];
            let expected = self.culprits.contains(node) || runs[job].is_ended();
            if matches!(role, Role::Server(..))
                && !expected
                && let Some(words) = self.agents.last_output(role)
            {
                self.end(role, words)?;
            }
        }
        let over = self.ranks.as_ref().and_then(Ranks::ended_at);
        if over.is_some_and(|over| over.elapsed() > LONGEST_END) {
            let who = "the parameter servers".into();
            return Err(Error::Failed { who, why: "they do not end after the last rank has ended".into() });
        }
        Ok(())
    }

    /// Looks after the ranks of a user's program.
    fn monitor_ranks(&mut self, runs: &mut [JobRun]) -> Result<(), Error> {
        let (Some(ranks), Task::Program(program)) = (&mut self.ranks, &mut self.task) else { return Ok(()) };
        let over: Vec<_> = runs.iter().map(JobRun::is_done).collect();
        let failed = ranks.look_after(&mut self.agents, runs, &mut program.stop, &self.culprits)?;
        for (run, _) in runs.iter().zip(over).filter(|(run, was_over)| run.is_done() && !was_over) {
            self.stop_servers(run.assignment().job);
        }
        for role in failed.into_iter().filter(|_| self.since.is_some()).collect::<Vec<_>>() {
            let words = self.agents.last_output(role).unwrap_or_default();
            self.end(role, words)?;
        }
        Ok(())
    }

    fn inject_due_faults(&mut self, start: Instant, runs: &mut [JobRun]) -> Result<(), Error> {
        while let Some((_, step)) = self.next_step.take_if(|(at, _)| start.elapsed() >= at.duration()) {
            self.act(step, runs)?;
            self.note(start, runs, step.describe(self.testbed.topology()));
            self.next_step = self.steps.next();
        }
        for what in self.testbed.tend_traffic(start.elapsed())? {
            self.note(start, runs, what);
        }
        if let (Some(count), None) = (self.options.changes, &self.changing)
            && runs.iter().all(|run| run.rounds_audited() >= ROUNDS_BEFORE)
            && let Some(address) = self.testbed.controller_address()
        {
            self.changing = Some(Changing::begin(address, self.turns, count, start)?);
        }
        if self.asked.is_none_or(|asked| asked.elapsed() >= ASK_EVERY) && self.hears_news(runs) {
            self.asked = Some(Instant::now());
            let rounds_audited = runs.iter().map(JobRun::rounds_audited).sum();
            let seconds = start.elapsed().as_secs_f64();
            let event = |what| Event { seconds, rounds_audited, what };
            self.news.extend(self.testbed.news().into_iter().map(event));
        }
        Ok(())
    }

    /// Returns whether the controller may act by itself.
    fn hears_news(&self, runs: &[JobRun]) -> bool {
        self.options.follow || runs.iter().any(JobRun::is_elastic)
    }

    fn note(&mut self, start: Instant, runs: &[JobRun], what: String) {
        let rounds_audited = runs.iter().map(JobRun::rounds_audited).sum();
        self.happened.push(Event { seconds: start.elapsed().as_secs_f64(), rounds_audited, what });
    }

    fn act(&mut self, step: Step, runs: &mut [JobRun]) -> Result<(), Error> {
        let signaled = match step {
            Step::Kill(Victim::Host(node)) => Some((node, Signal::SIGKILL)),
            Step::Pause(node) => Some((node, Signal::SIGSTOP)),
            Step::Resume(node) => Some((node, Signal::SIGCONT)),
            _ => None,
        };
        if let Some((node, signal)) = signaled {
            let node = &self.testbed.topology().node(node).name;
            let mut is_missed = false;
            for host in self.hosts.iter().filter(|host| host.node == *node) {
                let run = &mut runs[host.job];
                // The others of an elastic job continue.
                is_missed |= !run.is_elastic();
                if run.is_elastic() && signal == Signal::SIGKILL {
                    self.agents.kill(host.role);
                    run.set_gone(host.role, true);
                } else {
                    self.agents.signal(host.role, signal);
                }
            }
            if signal != Signal::SIGCONT && is_missed {
                self.since.get_or_insert_with(Instant::now);
                self.culprits.push(node.clone());
            }
        }
        if let Step::Start(Victim::Host(node)) = step {
            let node = self.testbed.topology().node(node).name.clone();
            for host in
                (0..self.hosts.len()).filter(|&host| self.hosts[host].node == node).collect::<Vec<_>>()
            {
                runs[self.hosts[host].job].set_gone(self.hosts[host].role, false);
                self.start(host, runs)?;
            }
        }
        self.testbed.act(step)
    }

    /// Ends the faults that are still active, before the next scheme starts.
    fn end_faults(&mut self) -> Result<(), Error> {
        let left: Vec<_> = self.next_step.take_if(|(_, step)| step.ends_fault()).into_iter().collect();
        let mut later = Vec::new();
        for (at, step) in left.into_iter().chain(self.steps.by_ref()) {
            match step.ends_fault() {
                true => self.testbed.act(step)?,
                false => later.push((at, step)),
            }
        }
        self.next_step = self.next_step.take().or(later.into_iter().next());
        Ok(())
    }

    fn aborted(self, runs: &[JobRun]) -> Error {
        Error::Aborted(Box::new(AbortReport {
            culprits: self.culprits,
            rounds_audited: runs.iter().map(JobRun::rounds_audited).sum(),
            ended: self.ended.into_iter().map(|(_, end)| end).collect(),
        }))
    }
}
