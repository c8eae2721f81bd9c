//! Ports of a switch: setup, status and counters.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use futures::future::BoxFuture;

use crate::error::SwitchError;

/// Numbers of ports on the switch, by front port and lane.
pub type FrontPorts = BTreeMap<(u32, u32), u64>;

/// Forward error correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fec {
    /// No error correction.
    None,
    /// Fire code (10 and 25 Gbit/s).
    FireCode,
    /// Reed-Solomon (25 Gbit/s and more).
    ReedSolomon,
}

impl Fec {
    const NAMES: [(Fec, &'static str); 3] =
        [(Fec::None, "none"), (Fec::FireCode, "fc"), (Fec::ReedSolomon, "rs")];

    /// Returns the short name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(fec, _)| *fec == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for Fec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Fec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(_, name)| *name == text);
        found.map(|(fec, _)| *fec).ok_or_else(|| "give none, fc or rs".to_owned())
    }
}

/// Setup of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortSetup {
    /// Speed in Gbit/s; 0 if none is set.
    pub gbps: u32,
    /// Error correction.
    pub fec: Fec,
    /// Whether the port is enabled.
    pub enabled: bool,
    /// Whether sent frames return to the port.
    pub loopback: bool,
}

/// Status of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortStatus {
    /// Setup of the port.
    pub setup: PortSetup,
    /// Whether the link is up.
    pub up: bool,
    /// Front port and lane, as the switch reports them.
    pub front: Option<(u32, u32)>,
    /// Received and sent frames.
    pub frames: [u64; 2],
    /// Received and sent bytes.
    pub bytes: [u64; 2],
}

/// Ports of one switch, by the numbers on the switch.
pub trait PortTable: Send {
    /// Returns the pipe of a port.
    fn pipe(&self, number: u64) -> u64;

    /// Reads the ports that were added.
    fn read(&mut self) -> BoxFuture<'_, Result<BTreeMap<u64, PortStatus>, SwitchError>>;

    /// Returns the number of each lane of each front port.
    fn front_ports(&mut self) -> BoxFuture<'_, Result<FrontPorts, SwitchError>>;

    /// Adds or changes ports. Their links go down for a while.
    fn set_up<'a>(
        &'a mut self,
        ports: &'a BTreeMap<u64, PortSetup>,
    ) -> BoxFuture<'a, Result<(), SwitchError>>;
}
