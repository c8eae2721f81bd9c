//! Tables of our P4 program, declared once.
//!
//! - [`tables`](declared) declares every table: its key and its actions as Rust types, with the names and
//!   widths of the P4 program. [`table!`] declares one table alone.
//! - A [`Row`] is an entry in names and numbers. Every typed entry converts to a row and back ([`Table`]);
//!   each target encodes rows in its own way.
//! - [`check()`] compares the declaration with a compiled program, when that is loaded; [`tables_of`] returns
//!   the tables of a program.
//! - [`SwitchTables`] is everything that the controller writes on one switch; [`diff`] returns the
//!   [`Update`]s from one to another; [`Limits`] has the capacities.
//!
//! No I/O, and no target: ports are numbered as the topology lists them ([`PortNo`]).

mod cells;
mod check;
pub mod declared;
mod full;
mod macros;
mod numbers;
mod row;
mod spec;
mod switch;
mod table;
mod update;

pub use cells::{Cells, KeyCells};
pub use check::{Mismatch, ProgramAction, ProgramField, ProgramTable, check};
pub use declared::{
    DEFAULTS, Item, Limits, Mac, MacAction, MacKey, OPTIONAL, Receivers, ReceiversAction, ReceiversKey,
    Results, ResultsAction, ResultsKey, SPECS, SUMS, Steer, SteerAction, SteerKey, SwitchPorts,
    SwitchPortsAction, SwitchPortsKey, SwitchTables, Update, Updates, UpdatesAction, UpdatesKey, diff,
    tables_of,
};
pub use full::TableFull;
pub use numbers::{GroupId, PortNo, SlotRange};
pub use row::{Foreign, Row};
pub use spec::{ActionSpec, CONTROL, Field, TableSpec};
pub use table::Table;
pub use update::{ApplyError, Entity, Op};
