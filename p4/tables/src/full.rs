//! Tables that are too full.

use std::fmt;

/// More entries than a table holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TableFull {
    /// The table.
    pub table: &'static str,
    /// Entries wanted.
    pub needed: usize,
    /// Entries there is room for.
    pub size: usize,
}

impl fmt::Display for TableFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TableFull { table, needed, size } = self;
        match size {
            0 => write!(
                f,
                "table {table} would hold {needed} entries, the program of these switches has no such table"
            ),
            _ => write!(f, "table {table} would hold {needed} entries, the program has room for {size}"),
        }
    }
}

impl TableFull {
    pub(crate) fn check(table: &'static str, needed: usize, size: usize) -> Result<(), TableFull> {
        if needed > size { Err(TableFull { table, needed, size }) } else { Ok(()) }
    }
}
