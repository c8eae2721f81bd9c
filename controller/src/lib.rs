//! The controller: from plans to table entries, and those into switches of any target.
//!
//! - [`PortMap`] numbers ports and addresses hosts, from the topology alone.
//! - [`requirements`] says what a plan asks of every switch, [`tables`] turns that into entries under an
//!   plan version, with slots from [`SlotMap`] and multicast groups; [`intent()`] decides the plan version
//! and where a push   goes from what is there. [`live_change`] says where another plan of a job that runs
//! goes. All of it is   pure.
//! - [`multicast`] says what copying updates between peers asks of every switch: one more of the
//!   requirements. [`Peers`] are a network of peers on the same switches. Pure.
//! - [`Controller`] reads the switches, computes the intent, writes the difference and reads it back, over a
//!   [`Session`](inart_targets::Session) with each; [`Records`] remember what was pushed, [`Names`] put
//!   updates into words.
//! - [`membership`] is the rendezvous of an elastic job's hosts: who takes part, when runs begin and end.
//!   Pure, too.
//! - [`ValuesChoice`] decides how many values frames carry, by the links' MTU.
//! - [`daemon`] does so for good: it keeps a session with every switch and repairs what differs. [`api`] is
//!   what hosts and people ask it.

mod admission;
pub mod api;
pub mod assignment;
mod beside;
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
pub use intent::{Intent, IntentError, Known, Network, Wanted, beside, intent};
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
