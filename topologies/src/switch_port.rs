//! A port of a switch as topologies name it.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A port of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SwitchPort {
    /// A lane of a front port of the board, written `9/0`.
    Front {
        /// Number on the board, from 1.
        front: u16,
        /// From 0.
        lane: u8,
    },
    /// The chip's own number (`dev_port`), written `132`.
    Device(u32),
}

const EXAMPLES: &str = "9/0 (front port and lane) or 132 (dev_port)";

impl FromStr for SwitchPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = match text.split_once('/') {
            Some((front, lane)) => {
                let front_and_lane = front.parse().ok().zip(lane.parse().ok());
                front_and_lane.map(|(front, lane)| SwitchPort::Front { front, lane })
            }
            None => text.parse().ok().map(SwitchPort::Device),
        };
        read.ok_or_else(|| format!("cannot read port \"{text}\"; write it like {EXAMPLES}"))
    }
}

impl fmt::Display for SwitchPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwitchPort::Front { front, lane } => write!(f, "{front}/{lane}"),
            SwitchPort::Device(number) => number.fmt(f),
        }
    }
}

struct AnyPort;

impl Visitor<'_> for AnyPort {
    type Value = SwitchPort;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a port; write it like {EXAMPLES}")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<SwitchPort, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<SwitchPort, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<SwitchPort, E> {
        text.parse().map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for SwitchPort {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyPort)
    }
}
