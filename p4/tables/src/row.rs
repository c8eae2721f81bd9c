//! An entry in names and numbers.

use std::fmt;

use crate::numbers::PortNo;
use crate::spec::{ActionSpec, Field, TableSpec};

/// An entry of a declared table, or its default action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The table.
    pub table: &'static TableSpec,
    /// The numbers of the key's fields, in their order; `None` for the default action.
    pub key: Option<Vec<u64>>,
    /// The action.
    pub action: &'static ActionSpec,
    /// The numbers of its parameters, in their order.
    pub params: Vec<u64>,
}

/// An entry that none of our programs writes: its place, and the problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Foreign {
    /// The table, or the whole entry.
    pub place: String,
    /// Problem.
    pub what: String,
}

impl Foreign {
    /// Something wrong at a place.
    pub fn new(place: impl fmt::Display, what: impl Into<String>) -> Self {
        Foreign { place: place.to_string(), what: what.into() }
    }
}

impl Row {
    /// Creates a row from a switch's names; `key` is `None` for a default action.
    ///
    /// # Errors
    /// Returns an error for a field, action or parameter that the table does not have, one that is missing,
    /// or a number that is too wide.
    pub fn from_names(
        table: &'static TableSpec,
        key: Option<&[(&str, u64)]>,
        action: &str,
        params: &[(&str, u64)],
    ) -> Result<Self, Foreign> {
        let place = || format!("table {}", table.name);
        let key = key.map(|key| in_order(table.key, key, "key field", &place)).transpose()?;
        let action = table
            .action(action)
            .ok_or_else(|| Foreign::new(place(), format!("action {action} is not one of its actions")))?;
        let place = || format!("table {}, action {}", table.name, action.name);
        let params = in_order(action.params, params, "parameter", &place)?;
        Ok(Row { table, key, action, params })
    }

    /// Returns the key's fields with their numbers; none for a default action.
    pub fn key_cells(&self) -> impl Iterator<Item = (&'static Field, u64)> + '_ {
        self.table.key.iter().zip(self.key.iter().flatten().copied())
    }

    /// Returns the action's parameters with their numbers.
    pub fn param_cells(&self) -> impl Iterator<Item = (&'static Field, u64)> + '_ {
        self.action.params.iter().zip(self.params.iter().copied())
    }

    /// Returns the row as a target with other port numbers holds it. `number` is `None` for a port that the
    /// target does not have.
    ///
    /// # Errors
    /// A port that the target does not have.
    pub fn with_target_ports(self, number: impl Fn(PortNo) -> Option<u64>) -> Result<Self, Foreign> {
        self.with_ports("this kind of switch does not have it", |port| {
            PortNo::try_from(port).ok().and_then(&number)
        })
    }

    /// Returns the row that a target with other port numbers holds as `self`. `port` is `None` for a number
    /// that is no port.
    ///
    /// # Errors
    /// A number that is no port of the target.
    pub fn with_our_ports(self, port: impl Fn(u64) -> Option<PortNo>) -> Result<Self, Foreign> {
        self.with_ports("this kind of switch has no such port", |number| {
            port(number).map(|port| u64::from(port.get()))
        })
    }

    fn with_ports(mut self, problem: &str, map: impl Fn(u64) -> Option<u64>) -> Result<Self, Foreign> {
        let row = self.clone();
        let change = |fields: &'static [Field], cells: &mut [u64]| {
            for (field, cell) in fields.iter().zip(cells).filter(|(field, _)| field.port) {
                let wrong = || Foreign::new(&row, format!("{} is {cell}: {problem}", field.name));
                *cell = map(*cell).ok_or_else(wrong)?;
            }
            Ok(())
        };
        change(self.table.key, self.key.as_deref_mut().unwrap_or_default())?;
        change(self.action.params, &mut self.params)?;
        Ok(self)
    }
}

/// Returns the numbers in the order of `fields`.
fn in_order(
    fields: &[Field],
    named: &[(&str, u64)],
    what: &str,
    place: &dyn Fn() -> String,
) -> Result<Vec<u64>, Foreign> {
    let wrong = |why: String| Foreign::new(place(), why);
    if let Some((name, _)) = named.iter().find(|(name, _)| fields.iter().all(|field| field.name != *name)) {
        return Err(wrong(format!("{what} {name} is not declared")));
    }
    let one = |field: &Field| match named.iter().find(|(name, _)| field.name == *name) {
        None => Err(wrong(format!("{what} {} is missing", field.name))),
        Some((name, number)) if u64::BITS - number.leading_zeros() > field.bits => {
            Err(wrong(format!("{what} {name} is {number}, which {} bits do not hold", field.bits)))
        }
        Some((_, number)) => Ok(*number),
    };
    fields.iter().map(one).collect()
}

/// As in `steer[plan_version=1, job=1] -> forward(port=3)`.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |cells: &mut dyn Iterator<Item = (&'static Field, u64)>| {
            cells.map(|(field, number)| format!("{}={number}", field.name)).collect::<Vec<_>>().join(", ")
        };
        let key = if self.key.is_some() { list(&mut self.key_cells()) } else { "default".to_owned() };
        write!(f, "{}[{key}] -> {}({})", self.table.name, self.action.name, list(&mut self.param_cells()))
    }
}
