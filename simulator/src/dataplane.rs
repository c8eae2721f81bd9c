//! The real switch pipeline with the real controller's tables in it.

use std::collections::BTreeSet;
use std::sync::Arc;

use inart_softswitch::control::{Match, Replica};
use inart_softswitch::{ControlError, Port, Program, Switch};
use inart_tables::{Entity, Limits, Op, PortNo, Row, SwitchTables, Update};
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

    /// Changes an entry of a switch that runs the program.
    pub(crate) fn update(
        &self,
        switch: &mut Switch,
        Update { op, item }: &Update,
    ) -> Result<(), ControlError> {
        match (*op, item.entity()) {
            (Op::Delete, Entity::Group(group, _)) => switch.delete_multicast_group(group.0.into())?,
            (op, Entity::Group(group, ports)) => {
                switch.put_multicast_group(group.0.into(), replicas(ports), op == Op::Modify)?;
            }
            (Op::Delete, Entity::Row(row)) => self.delete(switch, &row)?,
            (op, Entity::Row(row)) => {
                if op == Op::Modify && row.key.is_some() {
                    self.delete(switch, &row)?;
                }
                let action = row.action.full_name;
                switch.put_numbers(row.table.full_name, row.key.as_deref(), action, &row.params)?;
            }
        }
        Ok(())
    }

    fn delete(&self, switch: &mut Switch, row: &Row) -> Result<(), ControlError> {
        let key = row.key.iter().flatten();
        let key: Vec<_> = key.map(|number| Match::Exact(number.to_be_bytes().to_vec())).collect();
        switch.delete_entry(row.table.full_name, &key, 0)
    }

    /// A switch that runs the program with these tables; its registers are empty.
    pub(crate) fn switch(&self, tables: &SwitchTables) -> Result<Switch, ControlError> {
        let mut switch = Switch::new(0);
        switch.load(Arc::clone(&self.program))?;
        for (group, ports) in &tables.groups {
            switch.put_multicast_group(group.0.into(), replicas(ports), false)?;
        }
        for row in tables.rows() {
            switch.put_numbers(row.table.full_name, row.key.as_deref(), row.action.full_name, &row.params)?;
        }
        Ok(switch)
    }
}

fn replicas(ports: &BTreeSet<PortNo>) -> Vec<Replica> {
    ports.iter().map(|port| Replica { port: Port(port.get().into()), instance: 1 }).collect()
}
