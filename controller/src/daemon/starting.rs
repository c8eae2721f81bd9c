//! How a daemon begins: it finds out which switches answer, fixes its precedence, and installs the plans on
//! the switches that are there. A switch that is away is left to its reconciler.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use inart_targets::{Access, Precedence, Running, Session, SwitchError};
use inart_wire::{JobId, PlanVersion};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::config::{Config, DaemonError};
use super::departed;
use super::reconcile::Reconciled;
use super::reconciler::Backoff;
use super::resumed::{attend, moved_since};
use super::state::State;
use crate::error::InstallError;
use crate::fabric::Fabric;
use crate::install::{Controller, InstallReport};
use crate::intent::Network;
use crate::peers::{self, Peers};
use crate::records::Records;

/// How often the log repeats for which switch a start waits.
const REMIND: Duration = Duration::from_secs(10);
/// How long a session may take to report that another controller writes.
const VERDICT: Duration = Duration::from_secs(1);
/// A precedence above all that was seen is above it by up to this much, by chance: two controllers that start
/// at the same time must not have the same.
const SPREAD: u64 = 1_000_000;
/// The shortest and the longest pause before switches without precedences are taken once more.
const PAUSE: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(600)];

/// Switches that answer, each with the greatest precedence that it reported.
type There = BTreeMap<String, Option<Precedence>>;

/// Plan versions by job.
type Own = BTreeMap<JobId, BTreeSet<PlanVersion>>;

pub(super) type Sessions = BTreeMap<String, Box<dyn Session>>;

/// A network whose plans are in force.
pub(super) struct Started {
    /// With the switches that are there.
    pub sessions: Sessions,
    /// The precedence of this process, for good.
    pub precedence: Precedence,
    /// Tables that each switch is to hold, also those that are away.
    pub desired: Network,
    /// The jobs, each with the plan versions that are its own affair: the one in force, and those that no
    /// host uses.
    pub own: Own,
    pub fabric: Fabric,
}

/// Installs the plans on the switches that are there.
///
/// # Errors
/// Plans that cannot be installed, or another controller that writes with a greater precedence.
pub(super) async fn start(config: &Config, state: &State) -> Result<Started, DaemonError> {
    let (values, limits) = (config.program.values(), config.program.limits());
    let fabric = Fabric::new(config.topology.clone(), values, limits)?;
    let names = config.switches.keys().map(String::as_str);
    fabric.ports.check_names(fabric.topology.name(), names).map_err(InstallError::from)?;
    let starting = Starting { config, state, fabric };
    let mut there = starting.answering().await;
    // From here on the precedence stays, so that this controller never takes back what a later one has.
    let precedence = starting.precedence(&there).await;
    let mut sessions = starting.open(&there, precedence).await?;
    let mut records = config.records.clone();
    let mut backoff = Backoff::new();
    // Switches on which an attempt could not be undone. Those that are there in a later one are put in order.
    let mut remains = BTreeMap::new();
    loop {
        if sessions.is_empty() && !config.switches.is_empty() {
            backoff.wait().await;
            there = starting.answering().await;
            sessions = starting.open(&there, precedence).await?;
            continue;
        }
        let mut controller = Controller::on(starting.fabric.clone(), sessions, records);
        match starting.install(&mut controller).await {
            Ok((desired, own)) => {
                let fabric = controller.fabric().clone();
                return Ok(Started { sessions: controller.into_parts().0, precedence, desired, own, fabric });
            }
            Err(error) => {
                (sessions, records) = controller.into_parts();
                if let Some((switch, why)) = error.superseded() {
                    return Err(DaemonError::superseded(switch, why.clone()));
                }
                let lost = match error.unreachable() {
                    Some(lost) => lost,
                    None => match superseded(&mut sessions).await {
                        Some(ended) => return Err(ended),
                        // Another controller, or a push, was at the records: it may be the one that ends.
                        None if error.is_race() => Vec::new(),
                        None => {
                            remains.retain(|switch, _| !sessions.contains_key(switch));
                            return Err(error.with_remains(remains.into_iter().collect()).into());
                        }
                    },
                };
                remains.extend(error.not_undone().iter().cloned());
                tracing::warn!("cannot install yet: {error}");
                for (switch, why) in lost {
                    state.lost(&switch, why);
                    sessions.remove(&switch);
                }
            }
        }
    }
}

/// The first switch that says that another controller writes.
async fn superseded(sessions: &mut Sessions) -> Option<DaemonError> {
    let all = sessions.iter_mut().map(async |(switch, session)| {
        let cause = timeout(VERDICT, session.lost()).await.ok()?;
        matches!(cause, SwitchError::Superseded(_)).then(|| DaemonError::superseded(switch, cause))
    });
    join_all(all).await.into_iter().flatten().next()
}

struct Starting<'a> {
    config: &'a Config,
    state: &'a State,
    fabric: Fabric,
}

impl Starting<'_> {
    /// Waits for the first switch that answers, and then for the others for up to
    /// [`Config::switches_within`].
    async fn answering(&self) -> There {
        let mut probes: FuturesUnordered<_> =
            self.config.switches.keys().map(|name| self.probe(name)).collect();
        let mut there = There::new();
        let Some(first) = probes.next().await else { return there };
        there.extend([first]);
        let until = Instant::now() + self.config.switches_within;
        loop {
            tokio::select! {
                biased;
                found = probes.next() => match found {
                    Some(found) => there.extend([found]),
                    None => return there,
                },
                () = sleep_until(until) => break,
            }
        }
        for name in self.config.switches.keys().filter(|name| !there.contains_key(*name)) {
            tracing::warn!(switch = name, "starting without this switch; it is configured when it answers");
        }
        there
    }

    /// Waits until a switch answers, for as long as that takes.
    async fn probe(&self, name: &str) -> (String, Option<Precedence>) {
        let place = &self.config.switches[name];
        let (mut backoff, mut last, mut said) = (Backoff::new(), String::new(), Instant::now());
        loop {
            match self.config.program.greatest(place.clone()).await {
                Ok(greatest) => {
                    self.state.answers(name);
                    return (name.to_owned(), greatest);
                }
                Err(error) => {
                    let error = error.to_string();
                    if error != last || said.elapsed() > REMIND {
                        tracing::warn!(switch = name, "waiting for the switch: {error}");
                        self.state.lost(name, error.clone());
                        (last, said) = (error, Instant::now());
                    }
                    backoff.wait().await;
                }
            }
        }
    }

    /// Returns the precedence of this process: the configured one, or one above all that the switches have
    /// seen. They are asked again, since waiting for the last of them takes time, and some may be away now.
    async fn precedence(&self, there: &There) -> Precedence {
        let again = there.keys().map(|name| self.config.program.greatest(self.config.switches[name].clone()));
        let again = join_all(again).await.into_iter().filter_map(|seen| seen.ok().flatten());
        let seen = there.values().copied().flatten().chain(again);
        let above = |seen: Precedence| {
            Precedence(seen.0.saturating_add(1 + u128::from((self.config.chance)() % SPREAD)))
        };
        let above = seen.max().filter(|seen| *seen >= self.config.precedence).map(above);
        above.unwrap_or(self.config.precedence)
    }

    /// Opens sessions with these switches; those that fail meanwhile are away.
    async fn open(&self, there: &There, precedence: Precedence) -> Result<Sessions, DaemonError> {
        if !self.config.program.has_precedence() {
            return Ok(self.open_in_order(there, precedence).await);
        }
        let all = there.keys().map(async |name| (name, self.open_one(name, precedence).await));
        let mut sessions = Sessions::new();
        for (name, opened) in join_all(all).await {
            match opened {
                Ok(session) => drop(sessions.insert(name.clone(), session)),
                Err(cause @ SwitchError::Superseded(_)) => return Err(DaemonError::superseded(name, cause)),
                Err(error) => self.away(name, &error.to_string()),
            }
        }
        Ok(sessions)
    }

    async fn open_one(&self, name: &str, precedence: Precedence) -> Result<Box<dyn Session>, SwitchError> {
        let place = self.config.switches[name].clone();
        let session = self.config.program.open(place.clone(), Access::Resume(precedence)).await?;
        self.state.connected(name);
        tracing::info!(switch = name, address = place.address, election = precedence.0, "session open");
        Ok(session)
    }

    fn away(&self, name: &str, why: &str) {
        tracing::warn!(switch = name, "{why}");
        self.state.lost(name, why.to_owned());
    }

    /// Takes switches that serve who comes first, one after the other. If one is another client's, those
    /// taken are given back, so that two controllers cannot wait for each other.
    async fn open_in_order(&self, there: &There, precedence: Precedence) -> Sessions {
        let (mut last, mut said) = (String::new(), Instant::now());
        loop {
            let mut sessions = Sessions::new();
            let mut held = None;
            for name in there.keys() {
                match self.take(name, precedence).await {
                    Ok(session) => drop(sessions.insert(name.clone(), session)),
                    Err(SwitchError::Superseded(why)) => {
                        held = Some((name, why));
                        break;
                    }
                    Err(error) => self.away(name, &error.to_string()),
                }
            }
            let Some((name, why)) = held else { return sessions };
            if why != last || said.elapsed() > REMIND {
                tracing::warn!(switch = name, "waiting for the switch: {why}");
                (last, said) = (why.clone(), Instant::now());
            }
            for given_back in sessions.keys() {
                self.state.lost(given_back, format!("given back while switch {name} is another client's"));
            }
            self.state.lost(name, why);
            drop(sessions);
            sleep(self.random_pause()).await;
        }
    }

    /// Takes one switch. A program that is not there yet is loaded at once: only a program can be taken.
    async fn take(&self, name: &str, precedence: Precedence) -> Result<Box<dyn Session>, SwitchError> {
        let mut session = self.open_one(name, precedence).await?;
        if session.running().await? == Running::Nothing {
            session.load_program().await?;
        }
        Ok(session)
    }

    /// A time between the two of [`PAUSE`], another one at each call.
    fn random_pause(&self) -> Duration {
        let [shortest, longest] = PAUSE;
        shortest + (longest - shortest).mul_f64((self.config.chance)() as f64 / u64::MAX as f64)
    }

    /// Installs the plans, and returns what every switch is to hold, and the jobs with their plan versions.
    async fn install(
        &self,
        controller: &mut Controller<Box<dyn Session>>,
    ) -> Result<(Network, Own), InstallError> {
        let Self { config, state, .. } = self;
        controller.replace_program(config.replace_program);
        controller.own_plan_versions_only(true);
        if let Some(mesh) = &config.peers {
            controller.give_peers(mesh.clone())?;
        }
        let jobs = moved_since(controller, &config.jobs)?;
        let report = controller.install(&jobs).await?;
        tell(&report, state);
        let of_peers = controller.fabric().peers.iter().flat_map(Peers::jobs).map(|(job, _)| job);
        let installed = config.jobs.iter().map(|job| job.job).chain(of_peers).collect();
        let removed = departed::look(controller, &installed, config.remove_departed).await;
        let records: Records = controller.records().clone();
        let rates = jobs.iter().map(|job| job.plan.rate_bps);
        let mut own = report.dead.clone();
        for assignment in &report.assignments {
            own.entry(assignment.job).or_default().insert(assignment.plan_version);
        }
        for (job, _) in controller.fabric().peers.iter().flat_map(Peers::jobs) {
            own.entry(job).or_default().insert(peers::plan_version());
        }
        attend(config, state, &records, &report.assignments);
        let mut desired = report.desired;
        desired.extend(removed.unwrap_or_default());
        // Before the assignments, from which on the status is one of installed plans.
        state.holds(&desired);
        state.copies(controller.fabric().peers.as_ref());
        state.installed(report.assignments.into_iter().zip(rates).collect(), records);
        Ok((desired, own))
    }
}

/// Notes what was installed.
fn tell(report: &InstallReport, state: &State) {
    for (switch, change) in &report.switches {
        let updates = change.updates.len();
        tracing::info!(switch, updates, unchanged = change.unchanged, "installed and read back");
        state.reconciled(switch, Reconciled { loaded: false, updates: 0 });
    }
    for job in report.peers.values() {
        tracing::info!(job, "updates are copied");
    }
    for assignment in &report.assignments {
        tracing::info!(job = assignment.name, plan_version = assignment.plan_version.get(), "plan active");
    }
}
