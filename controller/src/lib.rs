//! The controller: from plans to table entries, and those into switches through P4Runtime.
//!
//! - [`PortMap`] numbers ports and addresses hosts, from the topology alone.
//! - [`wishes`] says what a plan asks of every switch, [`tables`] turns that into entries under an epoch, with slots
//!   from [`SlotMap`] and multicast groups; [`target()`] decides the epoch and where a push goes from what is there.
//!   All of it is pure.
//! - [`Controller`] reads the switches, computes the target, writes the difference and reads it back, over a
//!   [`SwitchDriver`]; [`Records`] remember what was pushed, [`Names`] put updates into words.
//! - [`daemon`] does so for good: it keeps a session with every switch and mends what differs. [`api`] is what hosts and
//!   people ask it.

pub mod api;
pub mod assignment;
mod changes;
mod counters;
pub mod daemon;
pub mod diff;
pub mod doctor;
pub mod driver;
pub mod entries;
mod error;
mod held;
mod install;
mod names;
mod plan_error;
mod ports;
mod program;
mod records;
mod routes;
mod seats;
mod slots;
pub mod tables;
mod target;
pub mod wishes;

pub use assignment::{JobPlan, job_number};
pub use counters::SwitchCounters;
pub use driver::{DriverError, P4Runtime, Running, SwitchDriver, SwitchErrors};
pub use error::{Cause, InstallError};
pub use held::{HeldJob, NotHeld, find as find_held};
pub use install::{Controller, InstallReport, SwitchChange};
pub use names::Names;
pub use ports::{PortMap, PortNo, PortsError};
pub use program::{Limits, Program, ProgramError, TableFull};
pub use records::{Claim, Claims, JobRecord, NoEarlierPush, Push, Records, RecordsError, file_name};
pub use slots::{SlotMap, SlotRange};
pub use target::{Known, Network, Target, TargetError, Wanted, target};
