//! The controller as a daemon: installs plans, then keeps every switch as they want it, whatever happens to
//! switches, to connections, or to itself. Nothing of it is on the frames' way: while it is gone the network
//! goes on.

mod change_log;
mod changer;
mod decider;
mod departed;
mod following;
mod former;
mod hosts;
mod jobs;
mod meeting;
mod moving;
mod pauses;
mod reconcile;
mod reconciler;
mod rendezvous;
mod sampler;
mod starting;
mod state;
mod steered;
mod strangers;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use inart_core::Assignment;
use inart_planner::Topology;
use inart_tables::SwitchTables;
use inart_targets::{Place, Precedence, Program, Session, SwitchError};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinSet;

pub(crate) use change_log::TooMany;
pub(crate) use hosts::Answer;
pub(crate) use meeting::{Answered, SaidOfEnd};
pub use reconcile::{ReconcileError, Reconciled, reconcile};

pub(crate) use state::NotFollowed;
pub use state::State;
pub use steered::Steer;

use crate::assignment::JobPlan;
use crate::error::InstallError;
use crate::fabric::Fabric;
use crate::install::Controller;
use crate::membership::{Roster, Timing};
use crate::records::{JobRecord, Push, Records};
use crate::watching::Watching;
use changer::Changer;
use decider::Decider;
use reconciler::Reconciler;
use sampler::Sampler;
use starting::{Started, start};
use steered::Asked;
use strangers::Strangers;

/// What a daemon does.
pub struct Config {
    /// The network.
    pub topology: Topology,
    /// The plans, as for [`Controller::install`].
    pub jobs: Vec<JobPlan>,
    /// What the switches run.
    pub program: Arc<dyn Program>,
    /// Where they are.
    pub switches: BTreeMap<String, Place>,
    /// The precedence of this controller: greater than those of earlier ones. At its first contact with the
    /// switches the daemon takes a greater one if they have seen such; later it keeps what it has.
    pub precedence: Precedence,
    /// How long a start waits for further switches once one has answered. What is away then is put in order
    /// when it answers.
    pub switches_within: Duration,
    /// What earlier controllers and pushes did.
    pub records: Records,
    /// Whether the program may be loaded into switches that run another one.
    pub replace_program: bool,
    /// How often a switch's tables are read and compared though nothing seems to be wrong.
    pub check_every: Duration,
    /// How long a change of a running job's plan may take the switches, and then the hosts, before it is
    /// undone.
    pub change_within: Duration,
    /// How long the rendezvous of elastic jobs wait.
    pub timing: Timing,
    /// How the network is watched and followed, if it is.
    pub steer: Option<Steer>,
    /// Whether jobs that left the topology are removed from the switches, if no frames of them are on the
    /// way.
    pub remove_departed: bool,
}

/// Why a daemon ends.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The plans cannot be installed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// Another controller has taken over.
    #[error("switch {switch}: another controller took over, so this one ends: {cause}")]
    Superseded {
        /// The first switch that said so.
        switch: String,
        /// In its words.
        cause: Box<SwitchError>,
    },
}

impl DaemonError {
    fn superseded(switch: &str, cause: SwitchError) -> Self {
        Self::Superseded { switch: switch.to_owned(), cause: Box::new(cause) }
    }
}

/// A precedence above that of every controller that started earlier, by any clock that does not go back:
/// microseconds since 1970. Where one did, the daemon takes more than the switches have seen.
pub fn precedence_of_now() -> Precedence {
    Precedence(SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_micros()))
}

/// Runs a daemon until another controller takes over or the plans turn out not to be installable; drop the
/// future to stop it, which leaves everything installed. `state` hears of everything.
///
/// # Errors
/// Always, when it ends: the controller that took over, or what cannot be installed.
pub fn run(config: Config, state: Arc<State>) -> LocalBoxFuture<'static, Result<Infallible, DaemonError>> {
    // Boxed, so that it is compiled with this crate, and not again with each that runs a daemon.
    async move { keep(config, &state).await.inspect_err(|error| state.ended(error.to_string())) }
        .boxed_local()
}

async fn keep(config: Config, state: &Arc<State>) -> Result<Infallible, DaemonError> {
    // Before the plans are in force: from then on the API answers, and it passes questions on.
    let steered = config.steer.clone().map(|steer| (steer, state.steered.listen()));
    let Started { mut sessions, precedence, desired, fabric } = start(&config, state).await?;
    let own: BTreeSet<_> = config.jobs.iter().map(|job| job.job).collect();
    let (mut reconcilers, mut switches) = (JoinSet::new(), BTreeMap::new());
    for (name, place) in &config.switches {
        let (sender, orders) = mpsc::unbounded_channel();
        switches.insert(name.clone(), sender);
        let (session, name) = (sessions.remove(name), name.clone());
        let reconciler = Reconciler {
            place: place.clone(),
            precedence,
            program: config.program.clone(),
            desired: desired.get(&name).cloned().unwrap_or_default(),
            strangers: match session {
                Some(_) => Strangers::Known(SwitchTables::default()),
                None => Strangers::Unread { own: own.clone() },
            },
            replace_program: config.replace_program,
            check_every: config.check_every,
            state: state.clone(),
            orders,
            name: name.clone(),
        };
        reconcilers.spawn(async move { (name, reconciler.run(session).await) });
    }
    let decider = decider(steered, &config, &fabric, state);
    let (limit, timing, next) = (config.change_within, config.timing, BTreeMap::new());
    let state_of = state.clone();
    let released = BTreeSet::new();
    let changer = Changer { fabric, desired, switches, state: state_of, limit, timing, next, released };
    let changer = changer.run();
    let watch = state.watch_rendezvous();
    tokio::pin!(changer, watch, decider);
    loop {
        let ended = tokio::select! {
            never = &mut changer => match never {},
            never = &mut watch => match never {},
            never = &mut decider => match never {},
            ended = reconcilers.join_next() => ended,
        };
        match ended {
            Some(Ok((switch, cause))) => {
                return Err(DaemonError::superseded(&switch, cause));
            }
            // A task that panicked, or a network without switches: nothing to do but wait for the end.
            Some(Err(error)) => tracing::error!("a task ended: {error}"),
            None => tokio::select! {
                never = &mut changer => match never {},
                never = &mut watch => match never {},
                never = &mut decider => match never {},
            },
        }
    }
}

/// Watches the network and decides, if the daemon is to.
fn decider(
    steered: Option<(Steer, UnboundedReceiver<Asked>)>,
    config: &Config,
    fabric: &Fabric,
    state: &Arc<State>,
) -> LocalBoxFuture<'static, Infallible> {
    let Some((steer, asked)) = steered else { return std::future::pending().boxed_local() };
    let scale = config.jobs.first().map_or(1.0, |job| job.rate_scale);
    let watching = Watching::new(config.topology.clone(), fabric.ports.clone(), scale);
    let switches = config.switches.iter();
    let switches = switches.map(|(name, place)| (name.clone(), place.clone(), watching.ports(name)));
    let sampler = Sampler::new(config.program.clone(), switches, steer.every);
    let topology = config.topology.clone();
    Decider { topology, steer, watching, sampler, asked, state: state.clone() }.run().boxed_local()
}

/// Elastic jobs have a rendezvous each.
fn attend(config: &Config, state: &State, records: &Records, assignments: &[Assignment]) {
    for assignment in assignments {
        let job = config.topology.job_named(&assignment.name).filter(|job| job.elastic);
        if let Some(job) = job {
            let (roster, record) = (Roster::of(&config.topology, job), records.jobs.get(&assignment.job));
            state.attend(assignment.job, roster, config.timing, record, assignment);
        }
    }
}

/// The plans in force in place of those by which jobs began that were moved since: this controller was
/// started with the latter.
fn moved_since(
    controller: &mut Controller<Box<dyn Session>>,
    jobs: &[JobPlan],
) -> Result<Vec<JobPlan>, InstallError> {
    controller.refresh_records()?;
    let jobs = jobs.iter().map(|job| {
        let record = controller.records().jobs.get(&job.job).filter(|_| !job.new_epoch);
        let moved = record.and_then(|record| {
            if let Some(run) = record.live().filter(|live| goes_on(controller.fabric(), record, live, job)) {
                return Some(run);
            }
            let began = record.began.as_deref()?;
            (*began == controller.fabric().push(job, began.epoch)).then(|| record.live())?
        });
        moved.map_or_else(|| job.clone(), |live| live.job_plan(job.job))
    });
    Ok(jobs.collect())
}

/// Whether a plan is that of a run of an elastic job, which goes on.
fn goes_on(fabric: &Fabric, record: &JobRecord, live: &Push, job: &JobPlan) -> bool {
    let elastic = fabric.topology.job_named(&job.plan.job).is_some_and(|job| job.elastic);
    elastic
        && !record.claimed.is_empty()
        && live.plan.job == job.plan.job
        && live.is_on(&fabric.topology.to_yaml())
}
