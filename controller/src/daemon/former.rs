//! Forms runs of elastic jobs: plans the job for the hosts that are there, puts that plan in place of the one
//! before, and tells them.

use std::time::{Duration, Instant};

use inart_control::{Ending, Instruction};
use inart_core::MoveStep;
use inart_planner::{Job, Options, Plan, Topology, plan, schemes};
use inart_wire::{Epoch, Incarnation, JobId};

use super::changer::Changer;
use super::hosts::Told;
use crate::api::proto::ChangeStage;
use crate::membership::{Formation, Place};
use crate::runs::next_run;

/// How long planning may take.
const PLANNING: Duration = Duration::from_millis(500);

impl Changer {
    /// Forms a run, and tells the rendezvous what came of it.
    pub(super) async fn form(&mut self, job: JobId, formation: Formation) {
        let began = Instant::now();
        let outcome = self.run_of(job, &formation).await;
        let (workers, servers) = (formation.workers.len(), formation.servers.len());
        let ms = began.elapsed().as_secs_f64() * 1e3;
        match &outcome {
            Ok(run) => tracing::info!(job = job.get(), run = run.get(), workers, servers, ms, "a run begins"),
            Err(why) => tracing::warn!(job = job.get(), workers, servers, ms, "no run begins: {why}"),
        }
        self.state.formed(job, outcome);
    }

    async fn run_of(&mut self, job: JobId, formation: &Formation) -> Result<Epoch, String> {
        let record = self.state.record(job).ok_or("the plans are not installed")?;
        let live = record.live().ok_or("the job has no plan in force")?.clone();
        let claims = claims(formation);
        let was_paused = self.released.contains(&job);
        if record.claimed.is_empty() && is_for(&live.plan, formation) && !was_paused {
            // Nobody has run under the plan by which the controller began.
            self.note(move |records| records.begin_run(job, None, claims)).await?;
            return Ok(live.epoch);
        }
        let others: Vec<_> = self
            .running()
            .into_iter()
            .filter(|(other, _)| *other != job)
            .map(|(_, push)| push.plan)
            .collect();
        let (ordered, plan) = match self.ordered(job, formation) {
            Some((number, plan)) => (Some(number), plan),
            None if was_paused => (None, self.make_room(job, &record, &live.plan, formation).await?),
            None => {
                let (topology, running) = (self.fabric.topology.clone(), live.plan.clone());
                let names = formation.clone();
                let planned = move || planned(&topology, &others, &running, &names);
                let planned = tokio::task::spawn_blocking(planned).await;
                (None, planned.map_err(|error| error.to_string())??)
            }
        };
        let next =
            next_run(&self.fabric, &self.desired, &record, job, plan).map_err(|why| why.to_string())?;
        let epoch = next.to.epoch;
        self.note(move |records| records.begin(&[(job, epoch)].into())).await?;
        let written = self.hold(next.desired).await?;
        self.released.remove(&job);
        let push = next.to.clone();
        self.note(move |records| records.begin_run(job, Some(push), claims)).await?;
        tracing::info!(
            job = job.get(),
            written,
            "tables of epoch {epoch} in place of those of {}",
            live.epoch
        );
        let instruction = Instruction {
            assignment: next.assignment,
            beside: None,
            step: MoveStep::Move,
            ending: Ending::None,
        };
        self.state.begin_run(Told { instruction, rate_bps: next.to.plan.rate_bps });
        if let Some(number) = ordered {
            self.state.changes(|log| {
                log.leads(number, live.epoch, epoch);
                log.updates(number, written, 0);
                log.end(number, ChangeStage::Done, String::new());
            });
            self.state.change_has_ended();
        }
        Ok(epoch)
    }

    /// The plan that somebody has ordered for the next run, and the change's number, if it is for those
    /// hosts.
    fn ordered(&mut self, job: JobId, formation: &Formation) -> Option<(u32, Plan)> {
        let (number, plan) = self.next.remove(&job)?;
        if is_for(&plan, formation) {
            return Some((number, plan));
        }
        let problem = "the job's hosts are others by now: plan for those that are there".to_owned();
        self.state.changes(|log| log.end(number, ChangeStage::Refused, problem));
        self.state.change_has_ended();
        None
    }
}

/// The roles that a formation's hosts have.
fn claims(formation: &Formation) -> Vec<(String, Incarnation)> {
    let workers = formation.workers.iter().enumerate().map(|(rank, host)| (Place::Worker(rank), host.1));
    let servers = formation.servers.iter().enumerate().map(|(shard, host)| (Place::Server(shard), host.1));
    workers.chain(servers).map(|(place, life)| (place.to_string(), life)).collect()
}

/// Whether a plan is for exactly these hosts.
fn is_for(plan: &Plan, formation: &Formation) -> bool {
    let servers = plan.shards.iter().map(|shard| &shard.server);
    let workers = || formation.workers.iter().map(|(host, _)| host);
    servers.eq(formation.servers.iter().map(|(host, _)| host))
        && workers().all(|host| plan.flows.iter().any(|flow| flow.worker == *host))
        && plan.flows.iter().all(|flow| workers().any(|host| *host == flow.worker))
}

/// A job for those hosts of it that are there.
pub(super) fn job_of(topology: &Topology, name: &str, formation: &Formation) -> Result<Job, String> {
    let job = topology.job_named(name);
    let job = job.ok_or_else(|| format!("topology {} has no job {name}", topology.name()))?;
    let ids = |hosts: &[(String, Incarnation)]| {
        hosts.iter().filter_map(|(host, _)| topology.node_named(host)).collect::<Vec<_>>()
    };
    Ok(Job { workers: ids(&formation.workers), servers: ids(&formation.servers), ..job.clone() })
}

/// Plans a job for those hosts of it that are there, as its plan in force was planned, with what other jobs
/// use as background traffic.
fn planned(
    topology: &Topology,
    others: &[Plan],
    running: &Plan,
    formation: &Formation,
) -> Result<Plan, String> {
    let job = job_of(topology, &running.job, formation)?;
    let topology = topology.occupied_by(others).with_jobs(vec![job]);
    let begun = Instant::now();
    let time_left = || PLANNING.saturating_sub(begun.elapsed()).as_secs_f64();
    let scheme = schemes::named(&running.scheme).unwrap_or(schemes::DEFAULT);
    let results = match running.results_counted {
        true => inart_planner::Results::Counted,
        false => inart_planner::Results::Ignored,
    };
    let options = Options { seed: running.seed, results, time_left: &time_left, ..Options::new(scheme) };
    let planned = plan(&topology, &topology.jobs()[0], &options).map_err(|error| error.to_string())?;
    Ok(Plan { solve_ms: begun.elapsed().as_secs_f64() * 1e3, ..planned })
}
