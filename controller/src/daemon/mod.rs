//! Daemon of the controller: installs plans, then keeps every switch configured, through failures of
//! switches, connections and the daemon itself. No frame passes through the daemon: while it is down the
//! network continues.

mod active_tables;
mod change_log;
mod config;
mod departed;
mod hosts;
mod instructions;
mod jobs;
mod kept_entries;
mod meeting;
mod moving;
mod pauses;
mod plan_updater;
mod reconcile;
mod reconciler;
mod rendezvous;
mod replan_loop;
mod resumed;
mod sampler;
mod starting;
mod state;
mod status;
mod steered;
mod view_builder;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinSet;

use crate::fabric::Fabric;
use crate::watching::Watching;
use kept_entries::KeptEntries;
use plan_updater::PlanUpdater;
use reconciler::Reconciler;
use replan_loop::ReplanLoop;
use sampler::Sampler;
use starting::{Started, start};
use steered::DecisionRequest;

pub(crate) use change_log::TooMany;
pub use config::{Chance, Config, DaemonError, by_chance, precedence_of_now};
pub(crate) use hosts::Answer;
pub(crate) use meeting::{Answered, EndingAnswer};
pub use reconcile::{ReconcileError, Reconciled, reconcile};

pub(crate) use state::NoInstructions;
pub use state::State;
pub use steered::Steer;

/// Runs a daemon until another controller takes over or the plans turn out not to be installable. Drop the
/// future to stop it; everything stays installed. The daemon keeps its status in `state`.
///
/// # Errors
/// Always, at the end: another controller took over, or something cannot be installed.
pub fn run(config: Config, state: Arc<State>) -> LocalBoxFuture<'static, Result<Infallible, DaemonError>> {
    // Boxed, so that it is compiled with this crate only, and not again with each crate that runs a daemon.
    async move { keep(config, &state).await.inspect_err(|error| state.ended(error.to_string())) }
        .boxed_local()
}

async fn keep(config: Config, state: &Arc<State>) -> Result<Infallible, DaemonError> {
    // Before the plans are active: from then on the API answers, and forwards requests for decisions.
    let steered = config.steer.clone().map(|steer| (steer, state.steered.listen()));
    let Started { mut sessions, precedence, desired, own, fabric } = start(&config, state).await?;
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
            kept_entries: match session {
                Some(_) => KeptEntries::Included,
                None => KeptEntries::Unread { own: own.clone() },
            },
            replace_program: config.replace_program,
            check_every: config.check_every,
            state: state.clone(),
            orders,
            name: name.clone(),
        };
        reconcilers.spawn(async move { (name, reconciler.run(session).await) });
    }
    let replan_loop = replan_loop(steered, &config, &fabric, state);
    let (limit, timing, next) = (config.change_within, config.timing, BTreeMap::new());
    let state_of = state.clone();
    let released = BTreeSet::new();
    let changer = PlanUpdater { fabric, desired, switches, state: state_of, limit, timing, next, released };
    let changer = changer.run();
    let watch = state.watch_rendezvous();
    tokio::pin!(changer, watch, replan_loop);
    loop {
        // In this order, as everywhere in the daemon: where time is simulated, runs are reproducible.
        let ended = tokio::select! {
            biased;
            never = &mut changer => match never {},
            never = &mut watch => match never {},
            never = &mut replan_loop => match never {},
            ended = reconcilers.join_next() => ended,
        };
        match ended {
            Some(Ok((switch, cause))) => {
                return Err(DaemonError::superseded(&switch, cause));
            }
            // The switch has no task any more: the process ends as it does for its other tasks.
            Some(Err(error)) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => tracing::error!("a task ended: {error}"),
            },
            // A network without switches: wait for the end.
            None => tokio::select! {
                biased;
                never = &mut changer => match never {},
                never = &mut watch => match never {},
                never = &mut replan_loop => match never {},
            },
        }
    }
}

/// Creates the task that watches the network and decides, if replanning is enabled.
fn replan_loop(
    steered: Option<(Steer, UnboundedReceiver<DecisionRequest>)>,
    config: &Config,
    fabric: &Fabric,
    state: &Arc<State>,
) -> LocalBoxFuture<'static, Infallible> {
    let Some((steer, requests)) = steered else { return std::future::pending().boxed_local() };
    let scale = config.jobs.first().map_or(1.0, |job| job.rate_scale);
    let watching = Watching::new(config.topology.clone(), fabric.ports.clone(), scale);
    let switches = config.switches.iter();
    let switches = switches.map(|(name, place)| (name.clone(), place.clone(), watching.ports(name)));
    let sampler = Sampler::new(config.program.clone(), switches, steer.every);
    let topology = config.topology.clone();
    ReplanLoop { topology, steer, watching, sampler, requests, state: state.clone() }.run().boxed_local()
}
