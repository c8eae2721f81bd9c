//! Output of p4c for v1model: bmv2 JSON and P4Info.

use std::sync::Arc;

use inart_p4runtime::p4::config::v1::action_ref::Scope;
use inart_p4runtime::p4::config::v1::match_field::MatchType;
use inart_p4runtime::p4::config::v1::{Action, Table};
use inart_p4runtime::{Pipeline, Schema, SchemaError};
use inart_tables::{Limits, ProgramAction, ProgramField, ProgramTable, TableSpec, tables_of};
use inart_wire::ValuesPerFrame;
use sha2::{Digest, Sha256};

use super::ports::PORTS;
use crate::error::ProgramError;

/// Compiled program, ready to be loaded into switches. Cheap to clone.
#[derive(Clone)]
pub struct Compiled(Arc<Inner>);

struct Inner {
    values: ValuesPerFrame,
    limits: Limits,
    specs: Vec<&'static TableSpec>,
    schema: Arc<Schema>,
    /// Cookie that identifies the program on a switch: the first bytes of the hash of the whole program.
    cookie: u64,
    device_config: Vec<u8>,
}

impl Compiled {
    /// Creates a program from the output of p4c: bmv2 JSON and P4Info in text form.
    ///
    /// # Errors
    /// An unreadable P4Info, one without a number of slots, or tables that differ from the declared ones.
    pub fn new(values: ValuesPerFrame, json: &[u8], p4info: &str) -> Result<Self, ProgramError> {
        let wrong = |reason| ProgramError::Artifact { values, reason };
        let unreadable = |error: SchemaError| wrong(format!("its P4Info: {error}"));
        let schema = Schema::from_text(p4info).map_err(unreadable)?;
        let tables = schema.info().tables.iter().map(|table| of_table(&schema, table));
        let tables = tables.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
        let specs = tables_of(&tables).map_err(|reason| ProgramError::Tables { values, reason })?;
        // Every slot has a cell in every register of the program.
        let slots = schema.info().registers.iter().map(|register| register.size).min();
        let slots = slots.and_then(|size| u32::try_from(size).ok());
        let slots = slots.ok_or_else(|| wrong("its P4Info lists no registers, so no slots".to_owned()))?;
        let hash = Sha256::new().chain_update(json).chain_update(p4info).finalize();
        let cookie = hash.iter().take(8).fold(0, |cookie, byte| cookie << 8 | u64::from(*byte));
        Ok(Compiled(Arc::new(Inner {
            values,
            limits: Limits::new(slots, PORTS, &tables),
            specs,
            schema: Arc::new(schema),
            cookie,
            device_config: json.to_vec(),
        })))
    }

    /// Returns the names of the program.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.0.schema
    }

    /// Returns the cookie that identifies the program on a switch.
    pub fn cookie(&self) -> u64 {
        self.0.cookie
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

    /// Returns the pipeline to load into a switch.
    pub fn pipeline(&self) -> Pipeline {
        Pipeline {
            p4info: self.0.schema.info().clone(),
            device_config: self.0.device_config.clone(),
            cookie: Some(self.0.cookie),
        }
    }
}

/// Converts a table to the terms of the declaration.
fn of_table(schema: &Schema, table: &Table) -> Result<ProgramTable, SchemaError> {
    let field = |field: &inart_p4runtime::p4::config::v1::MatchField| ProgramField {
        name: field.name.clone(),
        bits: field.bitwidth.max(0) as u32,
        exact: field.kind() == Some(MatchType::Exact),
    };
    // Actions that only the program uses as a default are ignored.
    let ours = table.action_refs.iter().filter(|action| action.scope() != Scope::DefaultOnly);
    let actions = ours.map(|action| Ok(of_action(schema.action_by_id(action.id)?)));
    Ok(ProgramTable {
        name: table.short_name().to_owned(),
        key: table.match_fields.iter().map(field).collect(),
        actions: actions.collect::<Result<_, SchemaError>>()?,
        size: usize::try_from(table.size).unwrap_or(0),
    })
}

fn of_action(action: &Action) -> ProgramAction {
    let params = action.params.iter().map(|param| ProgramField {
        name: param.name.clone(),
        bits: param.bitwidth.max(0) as u32,
        exact: true,
    });
    ProgramAction { name: action.short_name().to_owned(), params: params.collect() }
}
