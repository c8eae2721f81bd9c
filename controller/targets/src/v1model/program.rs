//! What p4c prints for v1model: bmv2 JSON and P4Info.

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

/// A compiled program, ready to be loaded into switches. Cheap to clone.
#[derive(Clone)]
pub struct Compiled(Arc<Inner>);

struct Inner {
    values: ValuesPerFrame,
    limits: Limits,
    specs: Vec<&'static TableSpec>,
    schema: Arc<Schema>,
    /// The mark by which a switch that runs it is known: the first bytes of the hash of all of it.
    cookie: u64,
    device_config: Vec<u8>,
}

impl Compiled {
    /// Takes what p4c printed: bmv2 JSON and P4Info in text form.
    ///
    /// # Errors
    /// The P4Info cannot be read, tells no number of slots, or has other tables than those that are declared.
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

    /// Its names.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.0.schema
    }

    /// The mark by which a switch that runs it is known.
    pub fn cookie(&self) -> u64 {
        self.0.cookie
    }

    /// Values per frame that it is compiled for.
    pub fn values(&self) -> ValuesPerFrame {
        self.0.values
    }

    /// How much fits.
    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    /// The declared tables that it has.
    pub(super) fn specs(&self) -> &[&'static TableSpec] {
        &self.0.specs
    }

    /// What a switch is sent.
    pub fn pipeline(&self) -> Pipeline {
        Pipeline {
            p4info: self.0.schema.info().clone(),
            device_config: self.0.device_config.clone(),
            cookie: Some(self.0.cookie),
        }
    }
}

/// A table in the words of the declaration.
fn of_table(schema: &Schema, table: &Table) -> Result<ProgramTable, SchemaError> {
    let field = |field: &inart_p4runtime::p4::config::v1::MatchField| ProgramField {
        name: field.name.clone(),
        bits: field.bitwidth.max(0) as u32,
        exact: field.kind() == Some(MatchType::Exact),
    };
    // What is only the program's own default is none of ours.
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
