//! Controller: converts plans to table entries, and installs these on switches of any target.
//!
//! - [`PortMap`] numbers ports and addresses hosts, from the topology alone.
//! - [`requirements`] are what a plan needs on every switch; [`tables`] converts them to entries under a
//!   plan version, with slots from [`SlotMap`] and multicast groups. [`intent()`] chooses the plan version
//!   and the target tables of an installation; [`live_change`] does so for another plan of a running job.
//!   Pure.
//! - [`multicast`] adds the requirements of copying updates between peers. [`Peers`] are a network of peers
//!   on the same switches. Pure.
//! - [`Controller`] reads the switches, computes the intent, writes the difference and reads it back, over
//!   a [`Session`](inart_targets::Session) with each. [`Records`] list installations, and [`Names`]
//!   describe table updates in words.
//! - [`membership`] is the rendezvous of an elastic job's hosts: members, and start and end of views. Pure.
//! - [`ValuesChoice`] chooses the number of values per frame, by the MTU of the links.
//! - [`daemon`] runs all of this continuously: keeps a session with every switch and repairs its tables.
//!   [`api`] is its gRPC server.

mod admission;
pub mod api;
pub mod assignment;
mod bitmap_indices;
mod changes;
mod choice;
mod counters;
pub mod daemon;
pub mod doctor;
mod error;
mod fabric;
mod held;
mod install;
mod intent;
mod kind;
pub mod link_ports;
mod live;
mod members;
pub mod membership;
mod merge;
pub mod multicast;
mod names;
mod peers;
mod pipes;
mod plan_error;
mod ports;
mod records;
pub mod requirements;
mod results;
mod routes;
mod slots;
pub mod tables;
mod views;
pub mod watching;

pub use admission::{AdmissionError, admit};
pub use assignment::{JobPlan, job_number};
pub use choice::{FrameTooLong, ValuesChoice, frames_fit};
pub use counters::LISTEN;
pub use error::{Cause, InstallError};
pub use fabric::Fabric;
pub use held::{HeldJob, NotHeld, find as find_held};
pub use install::{Controller, InstallReport, SwitchChange};
pub use intent::{Intent, IntentError, Known, Network, Wanted, intent, live_intent};
pub use kind::JobKind;
pub use live::{LiveChange, LiveChangeError, live_change, without};
pub use names::Names;
pub use peers::{Peers, PeersError, is_of_peers};
pub use ports::{PortMap, PortsError};
pub use records::{
    Change, Claim, Claims, JobRecord, NoEarlierPush, PeersPush, PeersRecord, Push, RECORDS_FORMAT, Records,
    RecordsError, Stage, Success, file_name,
};
pub use slots::SlotMap;
pub use views::{NextView, first_view, is_for, next_view, plan_view};
