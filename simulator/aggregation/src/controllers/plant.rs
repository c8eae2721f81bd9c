//! Switches of a trial and their handling of controller requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use inart_tables::{Limits, SwitchTables, Update};
use inart_targets::{Failpoint, Memory, Running, Session, SwitchError};
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::ledger::Entry;
use crate::Tally;

/// The longest time that a message between a controller and a switch takes, in milliseconds.
const LATENCY_MS: u64 = 8;

/// All switches. Clones are the same switches.
#[derive(Clone)]
pub(super) struct Plant {
    pub values: ValuesPerFrame,
    pub limits: Limits,
    /// Whether switches serve the first client only.
    pub first_come: bool,
    inner: Arc<Mutex<Inner>>,
    /// Signals a change that sessions depend on. (Receivers of `watch` are woken in a random order.)
    pub changed: Arc<Notify>,
}

/// State that changes while a trial runs.
pub(super) struct Inner {
    pub switches: BTreeMap<String, Switch>,
    pub ledger: Vec<Entry>,
    pub tally: Tally,
    /// The first thing that no controller may do and one did.
    pub wrong: Option<String>,
    draws: ChaCha8Rng,
    sessions: u64,
}

/// A switch.
pub(super) struct Switch {
    pub memory: Memory,
    /// Greatest precedence seen since its start, and the controller that has it.
    pub greatest: Option<(u128, usize)>,
    /// The controller that it serves, and by which session, where it serves the first one.
    pub owner: Option<(usize, u64)>,
    /// Controllers that wrote the first rows of a plan version of a job, first and last. Removals by
    /// controllers delete an entry; row loss does not, since controllers rewrite lost rows.
    pub written: BTreeMap<(JobId, PlanVersion), (usize, usize)>,
    /// Controllers that the switch was set to obey, in order of time, with their precedences.
    pub obeyed: Vec<(u128, usize)>,
    /// Faults that keep it out of reach: of all, and by machine.
    away: u32,
    away_of: BTreeMap<usize, u32>,
    /// Number of broken connections, by machine.
    breaks: BTreeMap<usize, u32>,
    stands_until: Instant,
    /// Whether it ignores the rest of a batch after an update that it refuses.
    stops: bool,
    /// Time of its last fault.
    pub disturbed: Instant,
    /// Time of its last row loss, including those before a restart.
    pub lost_rows: Option<Instant>,
}

impl Switch {
    fn new(limits: Limits) -> Self {
        let now = Instant::now();
        Switch {
            memory: Memory::new(limits),
            greatest: None,
            owner: None,
            written: BTreeMap::new(),
            obeyed: Vec::new(),
            away: 0,
            away_of: BTreeMap::new(),
            breaks: BTreeMap::new(),
            stands_until: now,
            stops: false,
            disturbed: now,
            lost_rows: None,
        }
    }

    /// Returns whether controllers of a machine can reach it.
    pub fn is_reached(&self, machine: usize) -> bool {
        self.away == 0 && self.away_of.get(&machine).is_none_or(|faults| *faults == 0)
    }

    fn breaks(&self, machine: usize) -> u32 {
        self.breaks.get(&machine).copied().unwrap_or_default()
    }
}

/// Connection, or connection attempt, of a controller to a switch.
#[derive(Clone)]
pub(super) struct Line {
    pub controller: usize,
    pub machine: usize,
    pub switch: String,
    /// Number of broken connections when it started.
    pub breaks: u32,
}

fn out_of_reach() -> SwitchError {
    SwitchError::Unreachable("no server answers; is the switch running?".to_owned())
}

impl Inner {
    /// The switch at the end of a line.
    pub fn at(&mut self, line: &Line) -> Result<&mut Switch, SwitchError> {
        let switch = self.switches.get_mut(&line.switch).ok_or_else(out_of_reach)?;
        match switch.is_reached(line.machine) && switch.breaks(line.machine) == line.breaks {
            true => Ok(switch),
            false => Err(out_of_reach()),
        }
    }

    /// Records a violation by a controller.
    pub fn blame(&mut self, what: impl FnOnce() -> String) {
        if self.wrong.is_none() {
            self.wrong = Some(what());
        }
    }

    /// A number of a session.
    pub fn session(&mut self) -> u64 {
        self.sessions += 1;
        self.sessions
    }

    /// Refuses a controller that another one has replaced at a switch.
    fn obeys(&mut self, line: &Line, precedence: u128, first_come: bool) -> Result<(), SwitchError> {
        let switch = self.at(line)?;
        match first_come {
            true => match switch.owner {
                Some((owner, _)) if owner == line.controller => Ok(()),
                Some((owner, _)) => Err(SwitchError::Superseded(format!("it belongs to client {owner}"))),
                None => Err(SwitchError::Superseded("it belongs to no client".to_owned())),
            },
            false => match switch.greatest {
                Some((greatest, _)) if greatest > precedence => Err(superseded(greatest)),
                _ => Ok(()),
            },
        }
    }

    /// Applies updates; those that the switch refuses, in words.
    fn apply(&mut self, line: &Line, updates: &[Update]) -> Result<(), SwitchError> {
        let switch = self.at(line)?;
        let plan_versions = |tables: &SwitchTables| -> BTreeSet<(JobId, PlanVersion)> {
            let jobs = tables.jobs().into_iter();
            jobs.flat_map(|job| {
                tables.plan_versions(job).into_iter().map(move |plan_version| (job, plan_version))
            })
            .collect()
        };
        let before = plan_versions(&switch.memory.tables);
        let mut refused = Vec::new();
        for update in updates {
            let one = std::slice::from_ref(update);
            let applied = switch.memory.write(one).now_or_never();
            if let Err(error) = applied.expect("a switch in memory never blocks") {
                refused.push(error.to_string());
                if switch.stops {
                    break;
                }
            }
        }
        let after = plan_versions(&switch.memory.tables);
        for plan_version in after.difference(&before) {
            switch.written.entry(*plan_version).or_insert((line.controller, line.controller)).1 =
                line.controller;
        }
        switch
            .written
            .retain(|plan_version, _| after.contains(plan_version) || !before.contains(plan_version));
        let entry = &mut self.ledger[line.controller];
        if refused.is_empty() {
            return Ok(());
        }
        entry.was_hindered = true;
        self.tally.updates_refused += u64::from(updates.len() > 1);
        Err(SwitchError::Refused(refused.join("; ")))
    }
}

pub(super) fn superseded(greatest: u128) -> SwitchError {
    SwitchError::Superseded(format!("a controller with election id {greatest} writes to it"))
}

impl Plant {
    pub fn new<'a>(
        values: ValuesPerFrame,
        limits: Limits,
        first_come: bool,
        switches: impl Iterator<Item = &'a str>,
        seed: u64,
    ) -> Self {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        draws.set_stream(41);
        let inner = Inner {
            switches: switches.map(|name| (name.to_owned(), Switch::new(limits))).collect(),
            ledger: Vec::new(),
            tally: Tally::default(),
            wrong: None,
            draws,
            sessions: 0,
        };
        Plant { values, limits, first_come, inner: Arc::new(Mutex::new(inner)), changed: Arc::default() }
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies sessions of a change.
    pub fn has_changed(&self) {
        self.changed.notify_waiters();
    }

    /// Waits for the latency of a message.
    pub async fn travel(&self) {
        let ms = self.lock().draws.random_range(0..=LATENCY_MS);
        if ms > 0 {
            sleep(Duration::from_millis(ms)).await;
        }
    }

    /// Waits while the switch hangs, for up to `patience`.
    async fn stands(&self, line: &Line, patience: Duration) -> Result<(), SwitchError> {
        let (now, until) = (Instant::now(), self.lock().at(line)?.stands_until);
        if until > now + patience {
            sleep(patience).await;
            return Err(SwitchError::Unreachable(format!("no answer within {patience:?}")));
        }
        if until > now {
            tokio::time::sleep_until(until).await;
        }
        Ok(())
    }

    /// Sends a request to the switch and returns its answer. A request in flight arrives even if its
    /// controller ends meanwhile.
    pub async fn ask<T: Send + 'static>(
        &self,
        line: &Line,
        patience: Duration,
        answer: impl FnOnce(&mut Inner) -> Result<T, SwitchError> + Send + 'static,
    ) -> Result<T, SwitchError> {
        let (plant, way) = (self.clone(), line.clone());
        let asked = tokio::spawn(async move {
            plant.travel().await;
            plant.stands(&way, patience).await?;
            let answer = {
                let mut inner = plant.lock();
                inner.at(&way)?;
                answer(&mut inner)
            };
            plant.travel().await;
            plant.lock().at(&way)?;
            answer
        });
        self.answered(line, asked.await)
    }

    /// Writes in two parts, so that other events can happen in between.
    pub async fn write(
        &self,
        line: &Line,
        precedence: u128,
        updates: Vec<Update>,
    ) -> Result<(), SwitchError> {
        self.begins_to_change(line);
        let (plant, way) = (self.clone(), line.clone());
        self.lock().ledger[line.controller].writing += 1;
        let written = tokio::spawn(async move {
            plant.travel().await;
            let written = plant.write_parts(&way, precedence, &updates).await;
            plant.travel().await;
            let mut inner = plant.lock();
            inner.ledger[way.controller].writing -= 1;
            inner.at(&way)?;
            written
        });
        self.answered(line, written.await)
    }

    async fn write_parts(
        &self,
        line: &Line,
        precedence: u128,
        updates: &[Update],
    ) -> Result<(), SwitchError> {
        self.stands(line, CALL).await?;
        let (first, second) = {
            let mut inner = self.lock();
            let middle = inner.draws.random_range(0..=updates.len());
            updates.split_at(middle)
        };
        let part = |updates: &[Update]| -> Result<(Result<(), SwitchError>, bool), SwitchError> {
            let mut inner = self.lock();
            inner.obeys(line, precedence, self.first_come)?;
            let applied = inner.apply(line, updates);
            let stops = inner.at(line)?.stops;
            Ok((applied, stops))
        };
        let (one, stops) = part(first)?;
        if one.is_err() && stops {
            return one;
        }
        self.travel().await;
        self.stands(line, CALL).await?;
        let (other, _) = part(second)?;
        one.and(other)
    }

    /// Loads the program.
    pub async fn load(&self, line: &Line, precedence: u128) -> Result<(), SwitchError> {
        self.begins_to_change(line);
        let (first_come, way) = (self.first_come, line.clone());
        self.ask(line, CALL, move |inner| {
            inner.obeys(&way, precedence, first_come)?;
            let memory = &mut inner.at(&way)?.memory;
            (memory.running, memory.tables) = (Running::Ours, SwitchTables::default());
            Ok(())
        })
        .await
    }

    /// Checks that a controller that was replaced changes nothing once its plans were active. Before that it
    /// may undo its own changes.
    fn begins_to_change(&self, line: &Line) {
        let mut inner = self.lock();
        let entry = &inner.ledger[line.controller];
        let deposed = entry.deposed.clone().filter(|(at, _)| *at < Instant::now());
        if let Some((_, by)) = deposed.filter(|_| entry.has_installed()) {
            inner.blame(|| {
                let Line { controller, switch, .. } = line;
                format!("controller {controller} wrote to {switch} although {by} had reported its successor")
            });
        }
    }

    /// Notes what the controller learns from an answer.
    fn answered<T>(
        &self,
        line: &Line,
        answer: Result<Result<T, SwitchError>, tokio::task::JoinError>,
    ) -> Result<T, SwitchError> {
        let answer = answer.unwrap_or_else(|error| Err(SwitchError::Unreachable(error.to_string())));
        if let Err(error) = &answer {
            self.knows(line, error);
        }
        answer
    }

    /// Notes that a controller learns of the end of its session.
    pub fn knows(&self, line: &Line, error: &SwitchError) {
        let entry = &mut self.lock().ledger[line.controller];
        let starts = self.first_come && !entry.has_installed();
        if matches!(error, SwitchError::Superseded(_)) && !starts {
            entry.deposed.get_or_insert((Instant::now(), line.switch.clone()));
        }
    }

    /// Returns why a session is over, if it is.
    pub fn is_over(&self, line: &Line, precedence: u128) -> Option<SwitchError> {
        let mut inner = self.lock();
        inner.obeys(line, precedence, self.first_come).err()
    }

    /// The line of a controller to a switch, as it is now.
    pub fn line(&self, controller: usize, switch: &str) -> Line {
        let inner = self.lock();
        let machine = inner.ledger[controller].machine;
        let breaks = inner.switches.get(switch).map_or(0, |switch| switch.breaks(machine));
        Line { controller, machine, switch: switch.to_owned(), breaks }
    }

    /// Applies a fault to a switch.
    fn disturb(&self, name: &str, fault: impl FnOnce(&mut Switch)) {
        if let Some(switch) = self.lock().switches.get_mut(name) {
            switch.disturbed = Instant::now();
            fault(switch);
        }
        self.has_changed();
    }

    /// A switch is out of reach of all controllers, or of those of a machine: connections break.
    pub fn leaves(&self, name: &str, of: Option<usize>, machines: &BTreeSet<usize>) {
        let broken: Vec<usize> = of.map_or_else(|| machines.iter().copied().collect(), |of| vec![of]);
        let inner = self.lock();
        let owners: Vec<usize> = inner.ledger.iter().map(|entry| entry.machine).collect();
        drop(inner);
        self.disturb(name, |switch| {
            match of {
                Some(machine) => *switch.away_of.entry(machine).or_default() += 1,
                None => switch.away += 1,
            }
            for machine in &broken {
                *switch.breaks.entry(*machine).or_default() += 1;
            }
            switch.owner = switch.owner.filter(|(owner, _)| !broken.contains(&owners[*owner]));
        });
    }

    /// A switch is in reach again.
    pub fn returns(&self, name: &str, of: Option<usize>) {
        self.disturb(name, |switch| match of {
            Some(machine) => {
                let faults = switch.away_of.entry(machine).or_default();
                *faults = faults.saturating_sub(1);
            }
            None => switch.away = switch.away.saturating_sub(1),
        });
    }

    /// Handles that a switch has lost all state.
    pub fn is_emptied(&self, name: &str) {
        self.lock().tally.restarted_empty += 1;
        let limits = self.limits;
        self.disturb(name, |switch| {
            (switch.memory, switch.greatest, switch.owner) = (Memory::new(limits), None, None);
            switch.lost_rows = Some(Instant::now());
        });
    }

    /// A switch refuses one of the next updates.
    pub fn refuses(&self, name: &str, after: usize, stops: bool) {
        self.disturb(name, |switch| {
            switch.memory.failpoint = Failpoint::Refuse(switch.memory.updates + after);
            switch.stops = stops;
        });
    }

    /// Lets a switch hang for a while.
    pub fn stands_still(&self, name: &str, lasts: Duration) {
        self.lock().tally.switches_hung += 1;
        self.disturb(name, |switch| switch.stands_until = Instant::now() + lasts);
    }

    /// A switch loses rows, each by chance.
    pub fn loses(&self, name: &str, percent: u8) {
        let mut inner = self.lock();
        let Inner { switches, draws, ledger, tally, .. } = &mut *inner;
        let Some(switch) = switches.get_mut(name) else { return };
        let mut keeps = || !draws.random_bool(f64::from(percent) / 100.0);
        let tables = &mut switch.memory.tables;
        let before = tables.len();
        tables.steer.retain(|_, _| keeps());
        tables.results.retain(|_, _| keeps());
        tables.mac.retain(|_, _| keeps());
        tally.rows_lost += u64::from(tables.len() < before);
        (switch.disturbed, switch.lost_rows) = (Instant::now(), Some(Instant::now()));
        ledger.iter_mut().for_each(|entry| entry.was_hindered = true);
    }

    /// All faults end.
    pub fn heals(&self) {
        for switch in self.lock().switches.values_mut() {
            (switch.away, switch.stands_until) = (0, Instant::now());
            switch.away_of.clear();
            switch.memory.failpoint = Failpoint::Never;
        }
        self.has_changed();
    }
}

/// Timeout of a call.
pub(super) const CALL: Duration = Duration::from_secs(30);
