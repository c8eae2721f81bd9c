//! The controller as a daemon: installs plans, then keeps every switch as they want it, whatever happens to
//! switches, to connections, or to itself. Nothing of it is on the frames' way: while it is gone the network
//! goes on.

mod change_log;
mod config;
mod departed;
mod following;
mod hosts;
mod in_force;
mod jobs;
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
mod strangers;
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
use plan_updater::Changer;
use reconciler::Reconciler;
use replan_loop::Decider;
use sampler::Sampler;
use starting::{Started, start};
use steered::Asked;
use strangers::Strangers;

pub(crate) use change_log::TooMany;
pub use config::{Chance, Config, DaemonError, by_chance, precedence_of_now};
pub(crate) use hosts::Answer;
pub(crate) use meeting::{Answered, SaidOfEnd};
pub use reconcile::{ReconcileError, Reconciled, reconcile};

pub(crate) use state::NotFollowed;
pub use state::State;
pub use steered::Steer;

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
            strangers: match session {
                Some(_) => Strangers::Included,
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
        // In this order, as everywhere in the daemon: where time is simulated, a run can be repeated.
        let ended = tokio::select! {
            biased;
            never = &mut changer => match never {},
            never = &mut watch => match never {},
            never = &mut decider => match never {},
            ended = reconcilers.join_next() => ended,
        };
        match ended {
            Some(Ok((switch, cause))) => {
                return Err(DaemonError::superseded(&switch, cause));
            }
            // No task looks after that switch any more: the process ends as it does for its other tasks.
            Some(Err(error)) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => tracing::error!("a task ended: {error}"),
            },
            // A network without switches: nothing to do but wait for the end.
            None => tokio::select! {
                biased;
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
