//! Names of a `bf-rt.json`: lookups by name and number.

mod document;
mod error;
mod names;
mod table;

use std::collections::HashMap;

pub use error::InfoError;
use error::{no_id, no_name};
use names::ends;
pub use table::{Action, DataField, DataType, KeyField, MatchType, Table, TableKind};

/// A `bf-rt.json`, indexed. Tables are found by full name (`pipe.InArtIngress.steer`) or by its end
/// (`InArtIngress.steer`, `steer`) where no other table ends like that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    tables: Vec<Table>,
    by_id: HashMap<u32, usize>,
}

impl Info {
    /// Reads a `bf-rt.json`.
    ///
    /// # Errors
    /// [`InfoError`] for text that is not a `bf-rt.json`, or in which two tables have one name or number.
    pub fn from_json(json: &[u8]) -> Result<Self, InfoError> {
        let document: document::Document =
            serde_json::from_slice(json).map_err(|error| InfoError::Text(error.to_string()))?;
        Self::new(document.tables.into_iter().map(Table::from).collect())
    }

    fn new(tables: Vec<Table>) -> Result<Self, InfoError> {
        let mut by_id = HashMap::new();
        let mut names = std::collections::HashSet::new();
        for (position, table) in tables.iter().enumerate() {
            if by_id.insert(table.id, position).is_some() {
                return Err(InfoError::Inconsistent(format!(
                    "id {} of table {} belongs to another table as well",
                    table.id, table.name
                )));
            }
            if !names.insert(table.name.as_str()) {
                return Err(InfoError::Inconsistent(format!("two tables are called {}", table.name)));
            }
        }
        Ok(Self { tables, by_id })
    }

    /// These tables and those of another index: a program's and the device's own.
    ///
    /// # Errors
    /// [`InfoError`] if a table of the other has a name or number of one of these.
    pub fn with(&self, other: &Self) -> Result<Self, InfoError> {
        Self::new(self.tables.iter().chain(&other.tables).cloned().collect())
    }

    /// Returns all tables, in the order of the document.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Finds a table.
    ///
    /// # Errors
    /// [`InfoError`] if no table has that name, or several names end with it.
    pub fn table(&self, name: &str) -> Result<&Table, InfoError> {
        if let Some(table) = self.tables.iter().find(|table| table.name == name) {
            return Ok(table);
        }
        match self.ending(name).as_slice() {
            [table] => Ok(table),
            [one, other, ..] => Err(InfoError::Ambiguous {
                name: name.to_owned(),
                one: one.name.clone(),
                other: other.name.clone(),
            }),
            [] => {
                let all = self.tables.iter().map(Table::short_name);
                Err(no_name("the program", "table", name, all))
            }
        }
    }

    /// Returns all tables with this name, or with this suffix: one for each control that has one.
    pub fn ending(&self, name: &str) -> Vec<&Table> {
        self.tables.iter().filter(|table| ends(&table.name, name)).collect()
    }

    /// Finds a table by number.
    ///
    /// # Errors
    /// [`InfoError`] if no table has it.
    pub fn table_by_id(&self, id: u32) -> Result<&Table, InfoError> {
        self.by_id.get(&id).map(|&at| &self.tables[at]).ok_or_else(|| no_id("the program", "table", id))
    }
}
