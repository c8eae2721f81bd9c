//! Output of p4c for Tofino: `bf-rt.json`, and the image.

use std::sync::Arc;

use inart_bfruntime::{Action, DataField, Info, MatchType, Profile, Table, TableKind};
use inart_tables::{
    Limits, ProgramAction, ProgramField, ProgramTable, Steer, Table as _, TableSpec, tables_of,
};
use inart_wire::ValuesPerFrame;

use super::ports::PORTS;
use crate::error::ProgramError;

/// Name of the only profile; p4c's default.
const PROFILE: &str = "pipe";

/// Image of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image {
    /// `tofino.bin`, or the program in the form that the embedded switch runs.
    pub binary: Vec<u8>,
    /// `context.json`, which the chip's driver needs.
    pub context: Vec<u8>,
}

/// Compiled program, ready to be loaded into switches. Cheap to clone.
#[derive(Clone)]
pub struct Compiled(Arc<Inner>);

struct Inner {
    values: ValuesPerFrame,
    limits: Limits,
    specs: Vec<&'static TableSpec>,
    info: Info,
    program: inart_bfruntime::Program,
}

impl Compiled {
    /// Creates a program from the output of p4c.
    ///
    /// # Errors
    /// An unreadable `bf-rt.json`, one without a number of slots, or tables that differ from the declared
    /// ones.
    pub fn new(values: ValuesPerFrame, bf_rt: &[u8], image: Image) -> Result<Self, ProgramError> {
        let wrong = |reason| ProgramError::Artifact { values, reason };
        let info = Info::from_json(bf_rt).map_err(|error| wrong(error.to_string()))?;
        let tables: Vec<_> = info.tables().iter().filter(|table| is_filled(table)).map(of_table).collect();
        let specs = tables_of(&tables).map_err(|reason| ProgramError::Tables { values, reason })?;
        // Every slot has a cell in every register of the program.
        let registers = info.tables().iter().filter(|table| table.kind == TableKind::Register);
        let slots = registers.map(|register| register.size).min().and_then(|size| u32::try_from(size).ok());
        // A program that does not sum has no registers.
        let sums = specs.contains(&Steer::SPEC);
        let slots = if sums { slots } else { slots.or(Some(0)) };
        let slots =
            slots.ok_or_else(|| wrong("its bf-rt.json lists no registers, so no slots".to_owned()))?;
        let profile = Profile {
            name: PROFILE.to_owned(),
            context: image.context,
            binary: image.binary,
            pipes: Vec::new(),
        };
        Ok(Compiled(Arc::new(Inner {
            values,
            limits: Limits::new(slots, PORTS, &tables),
            specs,
            info,
            program: inart_bfruntime::Program {
                name: format!("{}_n{values}", if sums { "inart" } else { "inart_protocol_peers" }),
                info: bf_rt.to_vec(),
                profiles: vec![profile],
            },
        })))
    }

    /// Returns the names of the program.
    pub fn info(&self) -> &Info {
        &self.0.info
    }

    /// Returns the number of values per frame.
    pub fn values(&self) -> ValuesPerFrame {
        self.0.values
    }

    /// Returns the limits of the program.
    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    /// Returns the declared tables that the program has.
    pub(super) fn specs(&self) -> &[&'static TableSpec] {
        &self.0.specs
    }

    /// Returns whether the program sums.
    pub(super) fn sums(&self) -> bool {
        self.0.specs.contains(&Steer::SPEC)
    }

    /// Returns the program to load into a switch.
    pub fn program(&self) -> &inart_bfruntime::Program {
        &self.0.program
    }
}

/// Returns whether a controller fills the table; tables with constant entries or without a key are ignored.
fn is_filled(table: &Table) -> bool {
    table.kind == TableKind::Match && !table.const_entries && !table.key.is_empty()
}

/// Converts a table to the terms of the declaration.
fn of_table(table: &Table) -> ProgramTable {
    let key = table.key.iter().map(|field| ProgramField {
        name: field.name.clone(),
        bits: field.kind.bits().unwrap_or(0),
        exact: field.match_type == MatchType::Exact,
    });
    ProgramTable {
        name: table.short_name().to_owned(),
        key: key.collect(),
        // Actions that only the program uses as a default are ignored.
        actions: table.actions.iter().filter(|action| !action.default_only).map(of_action).collect(),
        size: table.size,
    }
}

fn of_action(action: &Action) -> ProgramAction {
    let param = |param: &DataField| ProgramField {
        name: param.name.clone(),
        bits: param.kind.bits().unwrap_or(0),
        exact: true,
    };
    ProgramAction { name: action.short_name().to_owned(), params: action.params.iter().map(param).collect() }
}
