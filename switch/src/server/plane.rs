//! The switch behind a pipeline: the one that packets run through, or one that is being made ready.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tonic::Status;

use super::limits;
use crate::control::{CounterValue, Match, MeterConfig};
use crate::switch::Kept;
use crate::{Program, Switch};

/// A switch shared with the thread that feeds it packets.
#[derive(Debug, Clone)]
pub(super) struct Plane(Arc<Mutex<Switch>>);

/// Key of a table entry, as the switch takes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub table: &'a str,
    pub key: &'a [Match],
    pub priority: i32,
}

impl Plane {
    pub fn new(switch: Arc<Mutex<Switch>>) -> Self {
        Self(switch)
    }

    /// Creates a switch of its own for a program, without packets.
    pub fn detached(program: Arc<Program>) -> Result<Self, Status> {
        let mut switch = Switch::new(0);
        switch.load(program)?;
        Ok(Self(Arc::new(Mutex::new(switch))))
    }

    /// Makes packets wait while the switch is changed or read. A panic elsewhere leaves the switch usable: it
    /// holds no lock over several steps.
    pub fn lock(&self) -> MutexGuard<'_, Switch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn program(&self) -> Option<Arc<Program>> {
        self.lock().program().cloned()
    }

    /// Changes cells of arrays, few under one lock.
    pub fn each_stride<E>(
        &self,
        cells: Range<usize>,
        mut change: impl FnMut(&mut Switch, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        for from in cells.clone().step_by(limits::STRIDE) {
            change(&mut self.lock(), from..cells.end.min(from + limits::STRIDE))?;
        }
        Ok(())
    }

    /// Puts the program and state of a detached switch in the place of this one's, between two packets.
    /// Arrays in `kept` (counters, meters and registers) stay as they are in this one, to the last frame.
    pub fn take_over(&self, ready: Self, kept: &Kept) {
        let mut fresh = std::mem::replace(&mut *ready.lock(), Switch::new(0));
        let mut switch = self.lock();
        fresh.take_arrays(&mut switch, kept);
        let old = switch.take_over(fresh);
        drop(switch);
        // Frames need not wait until its memory is given back.
        drop(old);
    }

    pub fn direct_counter(&self, row: Row<'_>) -> Result<CounterValue, Status> {
        Ok(self.lock().entry(row.table, row.key, row.priority)?.counter)
    }

    pub fn direct_meter(&self, row: Row<'_>) -> Result<Option<MeterConfig>, Status> {
        Ok(self.lock().entry(row.table, row.key, row.priority)?.meter)
    }
}
