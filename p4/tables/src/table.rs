//! A declared table.

use crate::row::{Foreign, Row};
use crate::spec::TableSpec;

/// A declared table: typed entries, and the rows that they become. [`crate::table!`] implements it.
pub trait Table {
    /// Names and widths.
    const SPEC: &'static TableSpec;
    /// Key of an entry.
    type Key;
    /// Action of an entry.
    type Action;

    /// Returns the row of an entry.
    fn row(key: &Self::Key, action: &Self::Action) -> Row;

    /// Returns the row of a default action.
    fn default_row(action: &Self::Action) -> Row;

    /// Returns the entry of a row.
    ///
    /// # Errors
    /// Returns an error if the row is of another table, is a default action, or holds a number that no entry
    /// of ours has.
    fn entry(row: &Row) -> Result<(Self::Key, Self::Action), Foreign>;

    /// Returns the default action of a row.
    ///
    /// # Errors
    /// Returns an error if the row is of another table, is not a default action, or holds a number that no
    /// entry of ours has.
    fn default_action(row: &Row) -> Result<Self::Action, Foreign>;
}
