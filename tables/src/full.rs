//! Tables that are too full.

/// More entries than a table holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("table {table} would hold {needed} entries, the program has room for {size}")]
pub struct TableFull {
    /// The table.
    pub table: &'static str,
    /// Entries wanted.
    pub needed: usize,
    /// Entries there is room for.
    pub size: usize,
}

impl TableFull {
    pub(crate) fn check(table: &'static str, needed: usize, size: usize) -> Result<(), TableFull> {
        if needed > size { Err(TableFull { table, needed, size }) } else { Ok(()) }
    }
}
