//! Switches in memory as a target: found by address, shared by all sessions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use inart_tables::{Limits, PortNo, SwitchTables, Update};
use inart_wire::ValuesPerFrame;

use super::switch::Memory;
use crate::counters::{SwitchCounters, Traffic};
use crate::endpoint::{Access, Endpoint, Precedence};
use crate::error::{ProgramError, SwitchError};
use crate::target::{Program, Running, Session, Target};

/// Target with all its switches. Cheap to clone; clones share the switches. Ports keep our numbers.
#[derive(Debug, Clone)]
pub struct InMemory {
    values: ValuesPerFrame,
    limits: Limits,
    switches: Arc<Mutex<BTreeMap<String, Shared>>>,
}

/// One switch, and the greatest precedence that it has seen.
#[derive(Debug, Clone)]
struct Shared(Arc<Mutex<(Memory, Precedence)>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (Memory, Precedence)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InMemory {
    /// Creates a target whose switches have no program yet, and these limits.
    pub fn new(values: ValuesPerFrame, limits: Limits) -> Self {
        InMemory { values, limits, switches: Arc::default() }
    }

    /// Returns the current state of the switch at an address.
    pub fn switch(&self, address: &str) -> Memory {
        self.shared(address).lock().0.clone()
    }

    /// Changes the switch at an address without a session.
    pub fn change(&self, address: &str, change: impl FnOnce(&mut Memory)) {
        change(&mut self.shared(address).lock().0);
    }

    fn shared(&self, address: &str) -> Shared {
        let mut switches = self.switches.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Shared(Arc::new(Mutex::new((Memory::new(self.limits), Precedence(0)))));
        switches.entry(address.to_owned()).or_insert_with(fresh).clone()
    }
}

impl Target for InMemory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn ports(&self) -> u16 {
        self.limits.ports
    }

    fn port_number(&self, port: PortNo) -> Option<u64> {
        (port.get() <= self.limits.ports).then(|| port.get().into())
    }

    fn port_of(&self, number: u64) -> Option<PortNo> {
        PortNo::try_from(number).ok().filter(|port| port.get() <= self.limits.ports)
    }

    fn program(
        &self,
        values: ValuesPerFrame,
        _folder: Option<&Path>,
    ) -> Result<Arc<dyn Program>, ProgramError> {
        Ok(Arc::new(InMemory { values, ..self.clone() }))
    }
}

impl Program for InMemory {
    fn values(&self) -> ValuesPerFrame {
        self.values
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn open(&self, place: Endpoint, access: Access) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>> {
        let switch = self.shared(&place.address);
        let mut locked = switch.lock();
        let seen = locked.1;
        let precedence = match access {
            Access::Read => None,
            Access::Write(precedence) | Access::Resume(precedence) => Some(precedence),
        };
        if precedence.is_some_and(|precedence| precedence < seen) {
            return ready(Err(superseded(seen))).boxed();
        }
        locked.1 = precedence.unwrap_or(seen);
        drop(locked);
        ready(Ok(Box::new(Opened { switch, precedence }) as Box<dyn Session>)).boxed()
    }

    fn greatest(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Precedence>, SwitchError>> {
        let seen = self.shared(&place.address).lock().1;
        ready(Ok(Some(seen).filter(|seen| seen.0 > 0))).boxed()
    }
}

fn superseded(precedence: Precedence) -> SwitchError {
    SwitchError::Superseded(format!(
        "a controller of precedence {precedence} writes to this switch in memory"
    ))
}

/// Session with a switch that may have other sessions.
struct Opened {
    switch: Shared,
    precedence: Option<Precedence>,
}

impl Opened {
    /// Returns the switch's answer, which is immediate.
    fn ask<T>(
        &self,
        request: impl FnOnce(&mut Memory) -> BoxFuture<'_, Result<T, SwitchError>>,
    ) -> Result<T, SwitchError> {
        let answer = request(&mut self.switch.lock().0).now_or_never();
        answer.expect("a switch in memory waits for nothing")
    }

    /// Refuses writes without the greatest precedence.
    fn may_write(&self) -> Result<(), SwitchError> {
        let seen = self.switch.lock().1;
        if self.precedence == Some(seen) { Ok(()) } else { Err(superseded(seen)) }
    }
}

impl Session for Opened {
    fn precedence(&self) -> Option<Precedence> {
        self.precedence
    }

    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>> {
        ready(self.ask(Memory::running)).boxed()
    }

    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>> {
        ready(self.may_write().and_then(|()| self.ask(Memory::load_program))).boxed()
    }

    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>> {
        ready(self.ask(Memory::read)).boxed()
    }

    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>> {
        let written = self.may_write().and_then(|()| self.switch.lock().0.apply(updates));
        ready(written).boxed()
    }

    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>> {
        ready(self.ask(Memory::counters)).boxed()
    }

    fn traffic<'a>(&'a mut self, ports: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        let answer = self.switch.lock().0.traffic(ports).now_or_never();
        ready(answer.expect("a switch in memory waits for nothing")).boxed()
    }

    /// Checks once: a switch that fails later does not report it.
    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        match self.ask(Memory::running).err().or(self.may_write().err()) {
            Some(why) => ready(why).boxed(),
            None => std::future::pending().boxed(),
        }
    }
}
