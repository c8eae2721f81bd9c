//! Objects of the switch behind the tables of `bf-rt.json`.

use inart_bfruntime::{DataField, Table, TableKind};

use crate::Program;

/// Object behind a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind<'p> {
    /// A match-action table of that name.
    Match(&'p str),
    /// A counter array.
    Counter(&'p str),
    /// A register array, or several of one length, each a field of the cells.
    Registers(Vec<&'p str>),
    /// `$pre.mgid`.
    Groups,
    /// `$pre.node`.
    Nodes,
    /// `$PORT`.
    Ports,
    /// `$PORT_STAT`.
    PortCounts,
    /// `$PORT_HDL_INFO`.
    FrontPorts,
    /// Something that this server does not serve.
    Unserved,
}

/// Returns the object behind a table of that program.
pub(super) fn kind<'p>(table: &Table, program: &'p Program) -> Kind<'p> {
    let found = match table.kind {
        TableKind::Match => {
            same(program.tables.iter().map(|found| found.name.as_str()), &table.name).map(Kind::Match)
        }
        TableKind::Counter => {
            same(program.counters.iter().map(|found| found.name.as_str()), &table.name).map(Kind::Counter)
        }
        TableKind::Register => registers(table, program).map(Kind::Registers),
        TableKind::Other(_) => match table.name.as_str() {
            "$pre.mgid" => Some(Kind::Groups),
            "$pre.node" => Some(Kind::Nodes),
            "$PORT" => Some(Kind::Ports),
            "$PORT_STAT" => Some(Kind::PortCounts),
            "$PORT_HDL_INFO" => Some(Kind::FrontPorts),
            _ => None,
        },
    };
    found.unwrap_or(Kind::Unserved)
}

/// Returns the program's name of one of `bf-rt.json`, in which tables start with the name of their pipe.
pub(super) fn same<'p>(mut names: impl Iterator<Item = &'p str>, wanted: &str) -> Option<&'p str> {
    let without_pipe = wanted.split_once('.').map(|(_, rest)| rest);
    names.find(|name| *name == wanted || Some(*name) == without_pipe)
}

/// Returns the array of a register table; for a register of a struct, the arrays of its fields, which are
/// called after them.
fn registers<'p>(table: &Table, program: &'p Program) -> Option<Vec<&'p str>> {
    let names = || program.registers.iter().map(|found| found.name.as_str());
    if let Some(whole) = same(names(), &table.name) {
        return Some(vec![whole]);
    }
    let of_field = |field: &DataField| {
        let member = field.name.rsplit('.').next().unwrap_or(&field.name);
        same(names(), &format!("{}.{member}", table.name))
    };
    table.data.iter().map(of_field).collect()
}
