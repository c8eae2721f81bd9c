//! `$PORT_HDL_INFO`: which port of the chip a front port's lane is.

use std::collections::BTreeMap;

use inart_bfruntime::{Entry, Match};
use tonic::Status;

use super::status::invalid;

/// Bits of a port's number within its pipe.
const PORT_BITS: u32 = 7;
/// Ports of a pipe that lead out, and pipes.
const PORTS_OF_PIPE: u32 = 64;
const PIPES: u32 = 4;
/// Lanes of a front port.
const LANES: u32 = 4;

/// A front port and one of its lanes: `$CONN_ID` and `$CHNL_ID`.
pub type Lane = (u32, u32);

/// The front ports of a switch, by the chip's number of each lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontPorts(BTreeMap<u32, Lane>);

/// No board: front ports are counted from 1 through the pipes, in the order of the chip's numbers.
impl Default for FrontPorts {
    fn default() -> Self {
        let ports = (0..PIPES).flat_map(|pipe| (0..PORTS_OF_PIPE).map(move |port| (pipe, port)));
        ports
            .map(|(pipe, port)| {
                let front = (pipe * PORTS_OF_PIPE + port) / LANES + 1;
                ((pipe << PORT_BITS) + port, (front, port % LANES))
            })
            .collect()
    }
}

impl FromIterator<(u32, Lane)> for FrontPorts {
    fn from_iter<I: IntoIterator<Item = (u32, Lane)>>(ports: I) -> Self {
        Self(ports.into_iter().collect())
    }
}

impl FrontPorts {
    /// Returns the front port of that number; `None` if it leads elsewhere.
    pub fn lane(&self, number: u32) -> Option<Lane> {
        self.0.get(&number).copied()
    }

    /// Reads all front ports, or the one of a key.
    pub(super) fn read(&self, filter: &Entry) -> Result<Vec<Entry>, Status> {
        let entry = |number: u32, (front, lane): Lane| {
            Entry::new("$PORT_HDL_INFO")
                .exact("$CONN_ID", front)
                .exact("$CHNL_ID", lane)
                .with("$DEV_PORT", number)
        };
        if filter.key.is_empty() {
            return Ok(self.0.iter().map(|(number, lane)| entry(*number, *lane)).collect());
        }
        let part = |name| match filter.key.get(name) {
            Some(Match::Exact(number)) => Ok(*number),
            _ => Err(invalid(format!("$PORT_HDL_INFO: the entry has no {name}"))),
        };
        let wanted = (part("$CONN_ID")?, part("$CHNL_ID")?);
        let found =
            self.0.iter().find(|(_, (front, lane))| (u128::from(*front), u128::from(*lane)) == wanted);
        let (number, lane) = found.ok_or_else(|| {
            Status::not_found(format!("$PORT_HDL_INFO: there is no front port {}/{}", wanted.0, wanted.1))
        })?;
        Ok(vec![entry(*number, *lane)])
    }
}
