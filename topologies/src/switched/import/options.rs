//! Options and result of an import.

use std::str::FromStr;

use crate::switched::Topology;

/// Hosts in a role: a number of them, drawn by seed, or those named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hosts {
    /// This many.
    Count(usize),
    /// These nodes, by name; a switch that is named becomes a host.
    Named(Vec<String>),
}

impl FromStr for Hosts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(count) = text.trim().parse() {
            return Ok(Hosts::Count(count));
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if names.iter().any(String::is_empty) {
            return Err("give a number, or names with commas between".to_owned());
        }
        Ok(Hosts::Named(names))
    }
}

/// Values that an import uses where the file has none. Rates in bit/s, delays in seconds, sizes in bytes.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The topology's name.
    pub name: String,
    /// The servers; `None`: those that the file marks, else one drawn by seed.
    pub servers: Option<Hosts>,
    /// The workers; `None`: every other host.
    pub workers: Option<Hosts>,
    /// Hosts to attach to every switch; `None`: one, if the file has no hosts.
    pub hosts_per_switch: Option<usize>,
    /// Rate of links that state none, and of the links of attached hosts.
    pub rate_bps: f64,
    /// Unit of a number without a unit in the file's rates.
    pub unit_bps: f64,
    /// C(v) of switches that state none.
    pub aggregation_bps: f64,
    /// B(s) of servers that state none; `None`: as much as their links.
    pub ingress_bps: Option<f64>,
    /// Delay of links that state none.
    pub delay_seconds: f64,
    /// MTU of links that state none, in bytes.
    pub mtu: u16,
    /// Gradient of the one job.
    pub gradient_bytes: u64,
    /// Seed of the draws.
    pub seed: u64,
}

/// An imported network, with notes.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The network with one job.
    pub topology: Topology,
    /// One line for each part that was merged, assumed or left out.
    pub notes: Vec<String>,
}
