//! Start of a daemon: finds the switches that answer, fixes its precedence, and installs the plans on these
//! switches. A missing switch is left to its reconciler.

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

/// Interval at which the log repeats which switch a start waits for.
const REMIND: Duration = Duration::from_secs(10);
/// Longest wait for a session's report that another controller writes.
const VERDICT: Duration = Duration::from_secs(1);
/// Random range of a precedence above all observed ones: two controllers that start at the same time must
/// differ.
const SPREAD: u64 = 1_000_000;
/// Shortest and longest pause before switches without precedences are tried again.
const PAUSE: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(600)];

/// Reachable switches, each with the greatest precedence that it reported.
type Reachable = BTreeMap<String, Option<Precedence>>;

/// Plan versions by job.
type Own = BTreeMap<JobId, BTreeSet<PlanVersion>>;

pub(super) type Sessions = BTreeMap<String, Box<dyn Session>>;

/// Network with active plans.
pub(super) struct Started {
    /// Sessions with the reachable switches.
    pub sessions: Sessions,
    /// Final precedence of this process.
    pub precedence: Precedence,
    /// Tables that each switch should hold, including missing ones.
    pub desired: Network,
    /// Jobs of this controller, each with the plan versions that it manages: the active one, and those that
    /// no host uses.
    pub own: Own,
    pub fabric: Fabric,
}

/// Installs the plans on the reachable switches.
///
/// # Errors
/// If plans cannot be installed, or another controller writes with a greater precedence.
pub(super) async fn start(config: &Config, state: &State) -> Result<Started, DaemonError> {
    let (values, limits) = (config.program.values(), config.program.limits());
    let fabric = Fabric::new(config.topology.clone(), values, limits)?;
    let names = config.switches.keys().map(String::as_str);
    fabric.ports.check_names(fabric.topology.name(), names).map_err(InstallError::from)?;
    let starting = Starting { config, state, fabric };
    let mut reachable = starting.answering().await;
    // The precedence is fixed here, so that this controller never takes switches back from a later one.
    let precedence = starting.precedence(&reachable).await;
    let mut sessions = starting.open(&reachable, precedence).await?;
    let mut records = config.records.clone();
    let mut backoff = Backoff::new();
    // Switches on which an attempt could not be undone. Those reachable in a later attempt are repaired.
    let mut remains = BTreeMap::new();
    loop {
        if sessions.is_empty() && !config.switches.is_empty() {
            backoff.wait().await;
            reachable = starting.answering().await;
            sessions = starting.open(&reachable, precedence).await?;
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
                        // Another controller, or an installation, has changed the records: that one may
                        // end.
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

/// Returns the first switch that reports another controller.
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
    async fn answering(&self) -> Reachable {
        let mut probes: FuturesUnordered<_> =
            self.config.switches.keys().map(|name| self.probe(name)).collect();
        let mut reachable = Reachable::new();
        let Some(first) = probes.next().await else { return reachable };
        reachable.extend([first]);
        let until = Instant::now() + self.config.switches_within;
        loop {
            tokio::select! {
                biased;
                found = probes.next() => match found {
                    Some(found) => reachable.extend([found]),
                    None => return reachable,
                },
                () = sleep_until(until) => break,
            }
        }
        for name in self.config.switches.keys().filter(|name| !reachable.contains_key(*name)) {
            tracing::warn!(switch = name, "starting without this switch; it is configured when it answers");
        }
        reachable
    }

    /// Waits until a switch answers, without a time limit.
    async fn probe(&self, name: &str) -> (String, Option<Precedence>) {
        let place = &self.config.switches[name];
        let (mut backoff, mut last, mut logged_at) = (Backoff::new(), String::new(), Instant::now());
        loop {
            match self.config.program.greatest(place.clone()).await {
                Ok(greatest) => {
                    self.state.answers(name);
                    return (name.to_owned(), greatest);
                }
                Err(error) => {
                    let error = error.to_string();
                    if error != last || logged_at.elapsed() > REMIND {
                        tracing::warn!(switch = name, "waiting for the switch: {error}");
                        self.state.lost(name, error.clone());
                        (last, logged_at) = (error, Instant::now());
                    }
                    backoff.wait().await;
                }
            }
        }
    }

    /// Returns the precedence of this process: the configured one, or one above all that the switches have
    /// seen. The switches are queried again, since the wait for the last one takes time, and some may be
    /// disconnected by now.
    async fn precedence(&self, reachable: &Reachable) -> Precedence {
        let again =
            reachable.keys().map(|name| self.config.program.greatest(self.config.switches[name].clone()));
        let again = join_all(again).await.into_iter().filter_map(|seen| seen.ok().flatten());
        let seen = reachable.values().copied().flatten().chain(again);
        let above = |seen: Precedence| {
            Precedence(seen.0.saturating_add(1 + u128::from((self.config.chance)() % SPREAD)))
        };
        let above = seen.max().filter(|seen| *seen >= self.config.precedence).map(above);
        above.unwrap_or(self.config.precedence)
    }

    /// Opens sessions with these switches; those that fail meanwhile count as missing.
    async fn open(&self, reachable: &Reachable, precedence: Precedence) -> Result<Sessions, DaemonError> {
        if !self.config.program.has_precedence() {
            return Ok(self.open_in_order(reachable, precedence).await);
        }
        let all = reachable.keys().map(async |name| (name, self.open_one(name, precedence).await));
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

    /// Acquires switches without precedences one after the other. If another client holds one, the acquired
    /// ones are released, so that two controllers cannot deadlock.
    async fn open_in_order(&self, reachable: &Reachable, precedence: Precedence) -> Sessions {
        let (mut last, mut logged_at) = (String::new(), Instant::now());
        loop {
            let mut sessions = Sessions::new();
            let mut held = None;
            for name in reachable.keys() {
                match self.acquire(name, precedence).await {
                    Ok(session) => drop(sessions.insert(name.clone(), session)),
                    Err(SwitchError::Superseded(why)) => {
                        held = Some((name, why));
                        break;
                    }
                    Err(error) => self.away(name, &error.to_string()),
                }
            }
            let Some((name, why)) = held else { return sessions };
            if why != last || logged_at.elapsed() > REMIND {
                tracing::warn!(switch = name, "waiting for the switch: {why}");
                (last, logged_at) = (why.clone(), Instant::now());
            }
            for released in sessions.keys() {
                self.state.lost(released, format!("released while another client holds switch {name}"));
            }
            self.state.lost(name, why);
            drop(sessions);
            sleep(self.random_pause()).await;
        }
    }

    /// Acquires one switch. A missing program is loaded at once: only a program can be acquired.
    async fn acquire(&self, name: &str, precedence: Precedence) -> Result<Box<dyn Session>, SwitchError> {
        let mut session = self.open_one(name, precedence).await?;
        if session.running().await? == Running::Nothing {
            session.load_program().await?;
        }
        Ok(session)
    }

    /// Returns a random time between the two values of [`PAUSE`].
    fn random_pause(&self) -> Duration {
        let [shortest, longest] = PAUSE;
        shortest + (longest - shortest).mul_f64((self.config.chance)() as f64 / u64::MAX as f64)
    }

    /// Installs the plans. Returns the tables of every switch, and the jobs with their plan versions.
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
        log_report(&report, state);
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
        // Before the assignments: with them, the status counts as installed.
        state.set_tables(&desired);
        state.set_peers(controller.fabric().peers.as_ref());
        state.installed(report.assignments.into_iter().zip(rates).collect(), records);
        Ok((desired, own))
    }
}

/// Logs what was installed.
fn log_report(report: &InstallReport, state: &State) {
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
