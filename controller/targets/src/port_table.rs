//! The ports of a switch: how they are set up, whether they are up, what passes through them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use futures::future::BoxFuture;

use crate::error::SwitchError;

/// The switch's own numbers of its ports, by front port and lane.
pub type FrontPorts = BTreeMap<(u32, u32), u64>;

/// Forward error correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fec {
    /// None.
    None,
    /// Fire code (10 and 25 Gbit/s).
    FireCode,
    /// Reed-Solomon (25 Gbit/s and more).
    ReedSolomon,
}

impl Fec {
    const NAMES: [(Fec, &'static str); 3] =
        [(Fec::None, "none"), (Fec::FireCode, "fc"), (Fec::ReedSolomon, "rs")];

    /// Its short name.
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

/// How a port is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortSetup {
    /// Gbit/s; 0 if none is set.
    pub gbps: u32,
    /// Error correction.
    pub fec: Fec,
    /// Whether it shall be up.
    pub enabled: bool,
    /// Whether what is sent to it comes in again.
    pub loopback: bool,
}

/// A port that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortStatus {
    /// How it is set up.
    pub setup: PortSetup,
    /// Whether it is up.
    pub up: bool,
    /// The front port and its lane, as the switch says.
    pub front: Option<(u32, u32)>,
    /// Frames that came in, and went out.
    pub frames: [u64; 2],
    /// Their bytes.
    pub bytes: [u64; 2],
}

/// The ports of one switch, by the switch's own numbers.
pub trait PortTable: Send {
    /// The pipe of the chip that a port is in.
    fn pipe(&self, number: u64) -> u64;

    /// The ports that were added.
    fn read(&mut self) -> BoxFuture<'_, Result<BTreeMap<u64, PortStatus>, SwitchError>>;

    /// The number of each lane of each front port.
    fn front_ports(&mut self) -> BoxFuture<'_, Result<FrontPorts, SwitchError>>;

    /// Adds ports, and changes those that are there. Their links go down for a while.
    fn set_up<'a>(
        &'a mut self,
        ports: &'a BTreeMap<u64, PortSetup>,
    ) -> BoxFuture<'a, Result<(), SwitchError>>;
}
