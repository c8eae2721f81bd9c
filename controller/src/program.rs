//! The compiled P4 program: what a switch is told to run, and how much fits.

use std::sync::Arc;

use inart_p4runtime::{Pipeline, Schema, SchemaError};
use inart_wire::ValuesPerPacket;
use sha2::{Digest, Sha256};

use crate::entries::SwitchTables;

/// A compiled program, ready to be loaded into switches.
pub struct Program {
    /// Values per frame that it is compiled for.
    pub values: ValuesPerPacket,
    /// How much fits.
    pub limits: Limits,
    /// Its names.
    pub schema: Arc<Schema>,
    /// The mark by which a switch that runs it is known: the first bytes of the hash of all of it.
    pub cookie: u64,
    device_config: Vec<u8>,
}

/// Why a program cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ProgramError {
    /// The P4Info does not parse, or lacks one of our tables.
    #[error("P4Info of the program for {values} values per packet: {reason}; compile it again")]
    Info {
        /// Values per frame.
        values: ValuesPerPacket,
        /// What is wrong.
        reason: SchemaError,
    },
    /// No register tells the number of slots.
    #[error(
        "P4Info of the program for {values} values per packet lists no registers, so no slots; compile it again"
    )]
    NoSlots {
        /// Values per frame.
        values: ValuesPerPacket,
    },
}

impl Program {
    /// Takes what p4c printed: bmv2 JSON and P4Info in text form.
    pub fn new(values: ValuesPerPacket, json: &[u8], p4info: &str) -> Result<Self, ProgramError> {
        let info_error = |reason| ProgramError::Info { values, reason };
        let schema = Schema::from_text(p4info).map_err(info_error)?;
        let size = |table: &str| {
            let table = schema.table(table).map_err(info_error)?;
            Ok::<_, ProgramError>(usize::try_from(table.size).unwrap_or(0))
        };
        // Every slot has a cell in every register of the program.
        let slots = schema.info().registers.iter().map(|register| register.size).min();
        let limits = Limits {
            slots: slots.and_then(|size| u32::try_from(size).ok()).ok_or(ProgramError::NoSlots { values })?,
            steer: size("steer")?,
            results: size("results")?,
            mac: size("mac")?,
            trunks: size("trunks")?,
        };
        let hash = Sha256::new().chain_update(json).chain_update(p4info).finalize();
        let cookie = hash.iter().take(8).fold(0, |cookie, byte| cookie << 8 | u64::from(*byte));
        Ok(Program { values, limits, schema: Arc::new(schema), cookie, device_config: json.to_vec() })
    }

    /// What a switch is sent.
    pub fn pipeline(&self) -> Pipeline {
        Pipeline {
            p4info: self.schema.info().clone(),
            device_config: self.device_config.clone(),
            cookie: Some(self.cookie),
        }
    }
}

/// Sizes of a compiled program, from its P4Info.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Aggregation slots.
    pub slots: u32,
    /// Entries of `steer`.
    pub steer: usize,
    /// Entries of `results`.
    pub results: usize,
    /// Entries of `mac`.
    pub mac: usize,
    /// Entries of `trunks`.
    pub trunks: usize,
}

/// More entries than a table holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("table {table} would hold {needed} entries, the program has room for {size}")]
pub struct TableFull {
    /// The table.
    pub table: &'static str,
    /// Entries wanted.
    pub needed: usize,
    /// Entries there is room for.
    pub size: usize,
}

impl Limits {
    /// Refuses tables with more entries than there is room for.
    pub fn check(&self, tables: &SwitchTables) -> Result<(), TableFull> {
        let sizes = [
            ("steer", tables.steer.len(), self.steer),
            ("results", tables.results.len(), self.results),
            ("mac", tables.mac.len(), self.mac),
            ("trunks", tables.trunks.len(), self.trunks),
        ];
        match sizes.into_iter().find(|(_, needed, size)| needed > size) {
            Some((table, needed, size)) => Err(TableFull { table, needed, size }),
            None => Ok(()),
        }
    }
}
