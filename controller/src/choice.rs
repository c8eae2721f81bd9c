//! Number of values per frame of a network: one number for all jobs, since a switch runs one program.

use std::fmt;
use std::str::FromStr;

use inart_topologies::switched::{LinkId, Topology};
use inart_wire::{ParseError, ValuesPerFrame};

/// Values per frame, as configured. As text: `auto`, or the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValuesChoice {
    /// Number that the switches use already, else the largest that links and target support.
    #[default]
    Auto,
    /// Fixed number, or an error.
    Exactly(ValuesPerFrame),
}

impl fmt::Display for ValuesChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Exactly(values) => values.fmt(f),
        }
    }
}

impl FromStr for ValuesChoice {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "auto" => Ok(Self::Auto),
            number => number.parse().map(Self::Exactly).map_err(|error: ParseError| ParseError {
                expected: "auto, 32, 64, 256, 1024 or 2048",
                ..error
            }),
        }
    }
}

/// Link whose MTU is too small for the frames.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "link {link} has an MTU of {mtu}, frames of {values} values need {}: set its `mtu` in the topology, if the cable \
     supports it, or use {room} values",
    values.mtu()
)]
pub struct FrameTooLong {
    /// Configured number of values per frame.
    pub values: ValuesPerFrame,
    /// Ends of the link, with a `-` in between.
    pub link: String,
    /// MTU in bytes.
    pub mtu: u16,
    /// Largest number of values that fits.
    pub room: ValuesPerFrame,
}

impl ValuesChoice {
    /// Returns the number for this network. `running` is what its switches use, if they keep it;
    /// `has_program` returns whether the target has a program for a number.
    ///
    /// # Errors
    /// A link that a job may use, with an MTU too small for the configured number.
    pub fn of(
        self,
        topology: &Topology,
        running: Option<ValuesPerFrame>,
        has_program: impl Fn(ValuesPerFrame) -> bool,
    ) -> Result<ValuesPerFrame, FrameTooLong> {
        if let Self::Exactly(values) = self {
            return frames_fit(topology, values).map(|()| values);
        }
        let room = room(topology);
        if let Some(running) = running.filter(|values| *values <= room) {
            return Ok(running);
        }
        let fitting = || ValuesPerFrame::ALL.into_iter().rev().filter(|values| *values <= room);
        Ok(fitting().find(|values| has_program(*values)).unwrap_or(room))
    }
}

/// Checks that every link that a job of the topology may use carries frames of `values` values.
///
/// # Errors
/// The link with the smallest MTU, if it is too small.
pub fn frames_fit(topology: &Topology, values: ValuesPerFrame) -> Result<(), FrameTooLong> {
    match narrowest(topology) {
        Some(link) if topology.link(link).mtu < values.mtu() => {
            let [a, b] = topology.link(link).ends.map(|end| topology.node(end).name.as_str());
            let mtu = topology.link(link).mtu;
            Err(FrameTooLong { values, link: format!("{a}-{b}"), mtu, room: room(topology) })
        }
        _ => Ok(()),
    }
}

/// Returns the largest number of values that fits on all links that jobs may use.
fn room(topology: &Topology) -> ValuesPerFrame {
    let mtu = narrowest(topology).map_or(u16::MAX, |link| topology.link(link).mtu);
    let fitting = ValuesPerFrame::ALL.into_iter().rev().find(|values| values.mtu() <= mtu);
    fitting.unwrap_or(ValuesPerFrame::N32)
}

/// Returns the first link with the smallest MTU among the links that jobs may use.
fn narrowest(topology: &Topology) -> Option<LinkId> {
    topology.job_links().min_by_key(|link| topology.link(*link).mtu)
}
