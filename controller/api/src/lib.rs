//! API of the controller for hosts and operators: the messages of its gRPC service
//! (`proto/inart/v1/controller.proto`), a [`Client`], and [`Source`], where a host gets its assignment from
//! and, while it runs, each new one.
//!
//! The controller itself is `inart-controller`. Clients need neither planner nor solver.

#![forbid(unsafe_code)]

mod assignment_file;
mod client;
mod convert;
mod follow;
mod instruction;
mod join;
pub mod proto;
mod reporting;
mod source;
mod view_membership;

pub use assignment_file::{ASSIGNMENT_FORMAT, assignment_from_json, assignment_to_json};
pub use client::{Client, ClientError, Instructions};
pub use follow::Following;
pub use instruction::{Ending, HostProgress, Instruction, NotDone};
pub use join::{Answer, Joining};
pub use reporting::{Counted, HostReport, Reporting};
pub use source::{FileProblem, Source, SourceError};
pub use view_membership::{Role, ViewMembership};
