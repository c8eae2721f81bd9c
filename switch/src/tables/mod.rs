//! The state of a loaded pipeline that control and packets change: entries, profiles, counters,
//! meters, registers.

mod arrays;
mod index;
mod key;
mod meter;
mod profile;
mod sizes;
mod table;
mod weights;

pub(crate) use arrays::{Cells, Registers};

pub(crate) use meter::MeterCell;
pub(crate) use profile::{Group, Profile};
pub(crate) use sizes::{
    COUNTER_BYTES, MAX_ARRAY_BYTES, MAX_ENTRIES, METER_BYTES, array_bytes, register_bytes,
};
pub(crate) use table::{Bound, Call, Row, Table, resolve};

use rustc_hash::FxHashSet;

use crate::control::{CounterValue, Result};
use crate::program::Program;

/// Everything of a loaded pipeline that changes.
#[derive(Debug)]
pub(crate) struct Tables {
    pub tables: Vec<Table>,
    /// Entries of all tables.
    pub entries: usize,
    pub profiles: Vec<Profile>,
    pub counters: Vec<Vec<CounterValue>>,
    pub meters: Vec<Vec<MeterCell>>,
    pub registers: Registers,
    /// Members of each value set: one word per key field.
    pub value_sets: Vec<FxHashSet<Vec<u64>>>,
}

impl Tables {
    /// Returns the state a pipeline starts with: the program's own entries and defaults, zeros elsewhere.
    pub fn new(program: &Program) -> Result<Tables> {
        let tables: Vec<_> =
            program.tables.iter().map(|info| Table::new(program, info)).collect::<Result<_>>()?;
        Ok(Tables {
            entries: tables.iter().map(Table::len).sum(),
            tables,
            profiles: program.profiles.iter().map(|_| Profile::default()).collect(),
            counters: program.counters.iter().map(|info| vec![CounterValue::default(); info.size]).collect(),
            meters: program.meters.iter().map(|info| vec![MeterCell::default(); info.size]).collect(),
            registers: Registers::new(program),
            value_sets: program.value_sets.iter().map(|_| FxHashSet::default()).collect(),
        })
    }
}
