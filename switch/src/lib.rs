//! The embedded switch: runs any bmv2 JSON that p4c generates for v1model, as simple_switch does, and TNA
//! programs in p4c's intermediate form.
//!
//! [`Program::compile`] lowers either once to a flat program; [`Switch`] runs it per packet and performs the
//! control plane's operations; `ports` receives frames from interfaces, files or memory.

pub mod bfrt;
mod compile;
pub mod conformance;
pub mod control;
mod effort;
mod error;
mod exec;
mod fuse;
mod fused;
mod hash;
mod json;
mod op;
mod p4ir;
pub mod ports;
mod program;
mod random;
pub mod server;
mod state;
mod switch;
mod tables;
mod tna;
mod value;
mod wide;

pub use control::{ControlError, Port};
pub use error::CompileError;
pub use program::{
    ActionInfo, Architecture, ArrayInfo, DigestInfo, KeyInfo, MatchKind, MeterInfo, ParamInfo, ProfileInfo,
    Program, RegisterInfo, TableInfo, ValueSetInfo,
};
pub use switch::{DROP_PORT, Digest, EntryView, Sink, Statistics, Switch};
