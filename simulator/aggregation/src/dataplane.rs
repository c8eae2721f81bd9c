//! The real switch pipeline with the real controller's tables in it.

use std::collections::BTreeSet;
use std::sync::Arc;

use inart_switch::control::{Match, Replica};
use inart_switch::{ControlError, Port, Program, Switch};
use inart_tables::{Entity, Limits, Op, PortNo, ProgramTable, Row, SPECS, SwitchTables, Update};
use inart_wire::ValuesPerFrame;

use crate::Error;
use crate::switch_kind::SwitchKind;

/// Compiled P4 program, ready to be loaded into the switches of many runs.
#[derive(Clone, Debug)]
pub struct Dataplane {
    kind: SwitchKind,
    pub(crate) values: ValuesPerFrame,
    pub(crate) limits: Limits,
    program: Arc<Program>,
}

impl Dataplane {
    /// The built-in program of a kind of switch for that many values per frame.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if no program exists for `values`, and [`Error::Program`] if the switch cannot run
    /// it.
    pub fn new(kind: SwitchKind, values: ValuesPerFrame) -> Result<Self, Error> {
        let document = kind.program(values).ok_or_else(|| {
            let all = ValuesPerFrame::ALL.into_iter().filter(|values| kind.has_program(*values));
            let all: Vec<_> = all.map(|values| values.to_string()).collect();
            let problem = format!("no program for {kind} has {values}; give {}", all.join(" or "));
            Error::Option { option: "values", problem }
        })?;
        let program = Program::compile(&document).map_err(|error| Error::Program(error.to_string()))?;
        let limits = Limits::new(inart_p4::SLOTS, kind.target().ports(), &sizes(&program));
        Ok(Self { kind, values, limits, program })
    }

    /// Returns the kind of the switches.
    pub fn kind(&self) -> SwitchKind {
        self.kind
    }

    /// Values per frame.
    pub fn values(&self) -> ValuesPerFrame {
        self.values
    }

    /// Returns the switch's number of a port, or 0 (not one of our ports) if the switch does not have it.
    pub(crate) fn number(&self, port: PortNo) -> Port {
        let number = self.kind.target().port_number(port).and_then(|number| u32::try_from(number).ok());
        Port(number.unwrap_or(0))
    }

    /// Returns the port of that number; `None` if it is not one of ours.
    pub(crate) fn port_of(&self, number: Port) -> Option<PortNo> {
        self.kind.target().port_of(number.0.into())
    }

    /// Returns whether frames sent to a port are received from it again.
    pub(crate) fn recirculates(&self, port: Port) -> bool {
        self.kind.recirculates(port)
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
                switch.put_multicast_group(group.0.into(), self.replicas(ports), op == Op::Modify)?;
            }
            (Op::Delete, Entity::Row(row)) => delete(switch, &self.numbered(row)?)?,
            (op, Entity::Row(row)) => {
                let row = self.numbered(row)?;
                if op == Op::Modify && row.key.is_some() {
                    delete(switch, &row)?;
                }
                put(switch, &row)?;
            }
        }
        Ok(())
    }

    /// A switch that runs the program with these tables; its registers are empty.
    pub(crate) fn switch(&self, tables: &SwitchTables) -> Result<Switch, ControlError> {
        self.check(tables)?;
        let mut switch = Switch::new(0);
        // Recirculated frames are in flight for a while: see `switching.rs`.
        switch.set_loopback([]);
        switch.load(Arc::clone(&self.program))?;
        for (group, ports) in &tables.groups {
            switch.put_multicast_group(group.0.into(), self.replicas(ports), false)?;
        }
        for row in tables.rows() {
            put(&mut switch, &self.numbered(row)?)?;
        }
        Ok(switch)
    }

    /// Refuses tables that this kind of switch would not handle correctly.
    pub(crate) fn check(&self, tables: &SwitchTables) -> Result<(), ControlError> {
        match self.kind {
            SwitchKind::V1model => Ok(()),
            SwitchKind::Tofino | SwitchKind::Tofino2 => {
                inart_targets::tofino::check_tables(tables).map_err(ControlError::InvalidArgument)
            }
        }
    }

    /// The row with the switch's numbers of ports.
    fn numbered(&self, row: Row) -> Result<Row, ControlError> {
        let target = self.kind.target();
        row.with_target_ports(|port| target.port_number(port))
            .map_err(|error| ControlError::InvalidArgument(error.to_string()))
    }

    fn replicas(&self, ports: &BTreeSet<PortNo>) -> Vec<Replica> {
        ports.iter().map(|port| Replica { port: self.number(*port), instance: 1 }).collect()
    }
}

/// Returns the sizes of the tables that the controller fills.
fn sizes(program: &Program) -> Vec<ProgramTable> {
    let size = |name| program.table(name).map_or(0, |table| table.max_entries);
    let of = |name: &str, full_name| ProgramTable {
        name: name.to_owned(),
        key: Vec::new(),
        actions: Vec::new(),
        size: size(full_name),
    };
    SPECS.iter().map(|spec| of(spec.name, spec.full_name)).collect()
}

fn put(switch: &mut Switch, row: &Row) -> Result<(), ControlError> {
    switch.put_numbers(row.table.full_name, row.key.as_deref(), row.action.full_name, &row.params)
}

fn delete(switch: &mut Switch, row: &Row) -> Result<(), ControlError> {
    let key = row.key.iter().flatten();
    let key: Vec<_> = key.map(|number| Match::Exact(number.to_be_bytes().to_vec())).collect();
    switch.delete_entry(row.table.full_name, &key, 0)
}
