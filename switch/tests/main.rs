//! Runs the tests of this crate but `read_memory` as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod aggregation;
mod bf_rt;
mod bfrt_ports;
mod bfruntime;
mod clients;
mod conformance;
mod expressions;
mod limits;
mod loads;
mod p4runtime_basics;
mod p4runtime_entities;
mod p4runtime_tables;
mod ports;
mod programs;
mod rig;
mod robustness;
mod support;
mod tna;
mod tna_aggregation;
mod tna_externs;
mod tna_multicast;
mod tna_servers;
mod tna_traffic;
