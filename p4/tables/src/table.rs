//! A declared table.

use crate::row::{Foreign, Row};
use crate::spec::TableSpec;

/// A declared table: typed entries, and the rows that they become. [`crate::table!`] implements it.
pub trait Table {
    /// Names and widths.
    const SPEC: &'static TableSpec;
    /// What an entry matches.
    type Key;
    /// What an entry does.
    type Action;

    /// The row of an entry.
    fn row(key: &Self::Key, action: &Self::Action) -> Row;

    /// The row of a default action.
    fn default_row(action: &Self::Action) -> Row;

    /// The entry that a row says.
    ///
    /// # Errors
    /// The row is of another table, is a default action, or holds a number that no entry of ours has.
    fn entry(row: &Row) -> Result<(Self::Key, Self::Action), Foreign>;

    /// The default action that a row says.
    ///
    /// # Errors
    /// The row is of another table, is no default action, or holds a number that no entry of ours has.
    fn default_action(row: &Row) -> Result<Self::Action, Foreign>;
}
