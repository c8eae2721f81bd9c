//! How many values the frames of a network carry: one number for all jobs, since a switch runs one program.

use std::fmt;
use std::str::FromStr;

use inart_topologies::switched::{LinkId, Topology};
use inart_wire::{ParseError, ValuesPerFrame};

/// Values per frame, as a user asks for them. As text: `auto`, or the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValuesChoice {
    /// What the switches run already, else the most for which the links have room and the target has a
    /// program.
    #[default]
    Auto,
    /// So many, or an error.
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

/// A link has no room for the frames.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "link {link} has an MTU of {mtu}, frames of {values} values need {}: set its `mtu` in the topology, if the cable \
     carries so much, or take {room} values",
    values.mtu()
)]
pub struct FrameTooLong {
    /// Values per frame that were asked for.
    pub values: ValuesPerFrame,
    /// The ends of the link, with a `-` between.
    pub link: String,
    /// Its MTU, in bytes.
    pub mtu: u16,
    /// The most values for which it has room.
    pub room: ValuesPerFrame,
}

impl ValuesChoice {
    /// The number for this network. `running` is what its switches run, if they shall keep it; `has_program`
    /// tells whether the target has a program for so many.
    ///
    /// # Errors
    /// A link that a job may use has no room for the number asked for.
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

/// Whether every link that a job of the topology may use carries frames of so many values.
///
/// # Errors
/// The link with the least MTU, if it is too small.
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

/// The most values for which all links that jobs may use have room.
fn room(topology: &Topology) -> ValuesPerFrame {
    let mtu = narrowest(topology).map_or(u16::MAX, |link| topology.link(link).mtu);
    let fitting = ValuesPerFrame::ALL.into_iter().rev().find(|values| values.mtu() <= mtu);
    fitting.unwrap_or(ValuesPerFrame::N32)
}

/// The first link of the least MTU among those that jobs may use.
fn narrowest(topology: &Topology) -> Option<LinkId> {
    topology.job_links().min_by_key(|link| topology.link(*link).mtu)
}
