//! The real switch pipeline with the real controller's tables in it.

use std::sync::Arc;

use inart_softswitch::control::Replica;
use inart_softswitch::{ControlError, Port, Program, Switch};
use inart_tables::{Limits, SwitchTables};
use inart_wire::ValuesPerPacket;

use crate::Error;

/// Our P4 program as p4c compiled it, ready to be loaded into switches. Made once, used by many runs.
#[derive(Clone, Debug)]
pub struct Dataplane {
    pub(crate) values: ValuesPerPacket,
    pub(crate) limits: Limits,
    program: Arc<Program>,
}

impl Dataplane {
    /// The built-in program for that many values per frame.
    ///
    /// # Errors
    /// [`Error::Program`] if the switch cannot run the program.
    pub fn new(values: ValuesPerPacket) -> Result<Self, Error> {
        let artifact = inart_p4::artifact(values);
        let limits = inart_targets::DEFAULT.program(values, None)?.limits();
        let program = Program::compile(&artifact.json).map_err(|error| Error::Program(error.to_string()))?;
        Ok(Self { values, limits, program })
    }

    /// A switch that runs the program with these tables; its registers are empty.
    pub(crate) fn switch(&self, tables: &SwitchTables) -> Result<Switch, ControlError> {
        let mut switch = Switch::new(0);
        switch.load(Arc::clone(&self.program))?;
        for (group, ports) in &tables.groups {
            let replicas = ports.iter().map(|port| Replica { port: Port(port.get().into()), instance: 1 });
            switch.put_multicast_group(group.0.into(), replicas.collect(), false)?;
        }
        for row in tables.rows() {
            switch.put_numbers(row.table.full_name, row.key.as_deref(), row.action.full_name, &row.params)?;
        }
        Ok(switch)
    }
}
