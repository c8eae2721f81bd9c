//! Sessions of one controller with the switches of a trial.

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use inart_tables::{Limits, PortNo, SwitchTables, Update};
use inart_targets::{
    Access, Endpoint, Precedence, Program, Running, Session, SwitchCounters, SwitchError, Traffic,
};
use inart_wire::ValuesPerFrame;
use tokio::time::Instant;

use super::plant::{CALL, Inner, Line, Plant, superseded};

/// Connection timeout.
const CONNECT: Duration = Duration::from_secs(5);

/// One controller's view of the switches, by name.
#[derive(Clone)]
pub(super) struct Client {
    pub plant: Plant,
    /// Number of the controller.
    pub controller: usize,
}

impl Program for Client {
    fn values(&self) -> ValuesPerFrame {
        self.plant.values
    }

    fn limits(&self) -> Limits {
        self.plant.limits
    }

    fn open(&self, place: Endpoint, access: Access) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>> {
        async move {
            let line = self.plant.line(self.controller, &place.address);
            begins_to_open(&mut self.plant.lock(), self.controller);
            let precedence = match access {
                Access::Read => None,
                Access::Write(precedence) | Access::Resume(precedence) => Some(precedence),
            };
            let (plant, way) = (self.plant.clone(), line.clone());
            let session = self
                .plant
                .ask(&line, CONNECT, move |inner| {
                    let number = inner.session();
                    if let Some(precedence) = precedence {
                        let taken = match plant.first_come {
                            true => take(inner, &way, number),
                            false => obey(inner, &way, precedence.0),
                        };
                        note(inner, &way, precedence.0, taken)?;
                    }
                    Ok(Opened { plant, line: way, precedence, number })
                })
                .await
                .inspect_err(|error| is_refused(&mut self.plant.lock(), self.controller, error))?;
            // The other sessions are notified that they are not active any more.
            self.plant.has_changed();
            Ok(Box::new(session) as Box<dyn Session>)
        }
        .boxed()
    }

    fn greatest(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Precedence>, SwitchError>> {
        async move {
            let line = self.plant.line(self.controller, &place.address);
            let way = line.clone();
            let greatest = self.plant.ask(&line, CONNECT, move |inner| Ok(inner.at(&way)?.greatest)).await?;
            let greatest = greatest.map(|(greatest, _)| greatest);
            let entry = &mut self.plant.lock().ledger[self.controller];
            if !entry.has_opened {
                entry.reported = entry.reported.max(greatest.unwrap_or_default());
            }
            Ok(greatest.map(Precedence))
        }
        .boxed()
    }

    fn has_precedence(&self) -> bool {
        !self.plant.first_come
    }
}

/// Checks that a controller that was refused by a switch has released all its switches before it retries.
/// Requests sent to other switches before the refusal arrived are in flight, and no violation.
fn begins_to_open(inner: &mut Inner, controller: usize) {
    let entry = &mut inner.ledger[controller];
    entry.has_opened = true;
    let Some((_, refused)) = entry.refused.filter(|(at, _)| *at < Instant::now()) else { return };
    let has_kept = |owner: (usize, u64)| owner.0 == controller && owner.1 < refused;
    let mut switches = inner.switches.iter();
    if let Some((kept, _)) = switches.find(|(_, switch)| switch.owner.is_some_and(has_kept)) {
        let kept = kept.clone();
        inner.blame(|| format!("controller {controller} kept {kept} although another switch refused it"));
    }
}

/// Notes that a controller was refused, because the switch serves another one.
fn is_refused(inner: &mut Inner, controller: usize, error: &SwitchError) {
    if matches!(error, SwitchError::Superseded(_)) {
        let before = inner.session();
        inner.ledger[controller].refused = Some((Instant::now(), before));
    }
}

/// Applies the rule that the switch serves the first client only.
fn take(inner: &mut Inner, line: &Line, number: u64) -> Result<(), SwitchError> {
    let switch = inner.at(line)?;
    match switch.owner {
        Some((owner, _)) if owner != line.controller => {
            inner.tally.controllers_waiting += 1;
            Err(SwitchError::Superseded(format!("it belongs to client {owner}")))
        }
        _ => {
            switch.owner = Some((line.controller, number));
            Ok(())
        }
    }
}

/// The switch obeys the controller of the greatest precedence.
fn obey(inner: &mut Inner, line: &Line, precedence: u128) -> Result<(), SwitchError> {
    let switch = inner.at(line)?;
    match switch.greatest {
        Some((greatest, _)) if greatest > precedence => {
            inner.tally.controllers_deposed += u64::from(inner.ledger[line.controller].has_installed());
            Err(superseded(greatest))
        }
        _ => {
            switch.greatest = Some((precedence, line.controller));
            Ok(())
        }
    }
}

/// Notes that a controller opens a session to write, and the outcome.
fn note(
    inner: &mut Inner,
    line: &Line,
    precedence: u128,
    taken: Result<(), SwitchError>,
) -> Result<(), SwitchError> {
    let (controller, name) = (line.controller, line.switch.clone());
    if taken.is_ok() {
        inner.at(line)?.obeyed.push((precedence, controller));
    }
    let entry = &mut inner.ledger[controller];
    entry.precedences.insert(precedence);
    let ids = entry.precedences.len();
    let reported = entry.reported;
    let is_late = taken.is_ok() && entry.opened.insert(name) && entry.has_installed();
    inner.tally.switches_late += u64::from(is_late);
    if ids > 1 {
        inner.blame(|| format!("controller {controller} opened sessions with {ids} precedences"));
    }
    if precedence <= reported {
        inner.blame(|| format!("controller {controller} took id {precedence} where {reported} was reported"));
    }
    taken
}

/// A session that is open.
struct Opened {
    plant: Plant,
    line: Line,
    precedence: Option<Precedence>,
    number: u64,
}

impl Opened {
    fn id(&self) -> u128 {
        self.precedence.map_or(0, |precedence| precedence.0)
    }
}

impl Session for Opened {
    fn precedence(&self) -> Option<Precedence> {
        self.precedence
    }

    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>> {
        let way = self.line.clone();
        self.plant.ask(&self.line, CALL, move |inner| Ok(inner.at(&way)?.memory.running)).boxed()
    }

    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>> {
        self.plant.load(&self.line, self.id()).boxed()
    }

    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>> {
        let way = self.line.clone();
        self.plant.ask(&self.line, CALL, move |inner| Ok(inner.at(&way)?.memory.tables.clone())).boxed()
    }

    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>> {
        self.plant.write(&self.line, self.id(), updates.to_vec()).boxed()
    }

    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>> {
        self.plant.ask(&self.line, CALL, |_| Ok(SwitchCounters::default())).boxed()
    }

    fn traffic<'a>(&'a mut self, _: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        self.plant.ask(&self.line, CALL, |_| Ok(Traffic::default())).boxed()
    }

    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        async move {
            loop {
                let changed = self.plant.changed.notified();
                if self.plant.is_over(&self.line, self.id()).is_some() {
                    // The message takes its time, too.
                    self.plant.travel().await;
                    if let Some(error) = self.plant.is_over(&self.line, self.id()) {
                        self.plant.knows(&self.line, &error);
                        return error;
                    }
                }
                changed.await;
            }
        }
        .boxed()
    }
}

/// A switch that serves its first client becomes free soon after that client disconnects.
impl Drop for Opened {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (plant, line, number) = (self.plant.clone(), self.line.clone(), self.number);
        if !plant.first_come {
            return;
        }
        let mut inner = plant.lock();
        let entry = &inner.ledger[line.controller];
        let gives_back = !entry.is_over && !entry.has_installed() && inner.at(&line).is_ok();
        inner.tally.switches_released += u64::from(gives_back);
        drop(inner);
        runtime.spawn(async move {
            plant.travel().await;
            if let Some(switch) = plant.lock().switches.get_mut(&line.switch) {
                switch.owner = switch.owner.filter(|owner| *owner != (line.controller, number));
            }
            plant.has_changed();
        });
    }
}
