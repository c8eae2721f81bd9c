//! Kinds of frames.

use core::fmt;

/// Kind of a frame; codes of newer peers survive as [`Kind::Unknown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A worker's values of one chunk.
    Gradient,
    /// The sum a switch made of several workers' values.
    Partial,
    /// The sum over all workers, from the parameter server.
    Result,
    /// Keep-alive query to a peer.
    Probe,
    /// A [`ControlMessage`](crate::ControlMessage), or one between peers.
    Control,
    /// A peer's values for the peers in its bitmap; switches copy it to them.
    Update,
    /// A code this crate has no name for: 0 or 7 to 15.
    Unknown(u8),
}

impl Kind {
    /// The kind with the low four bits of `code`.
    pub const fn from_code(code: u8) -> Self {
        match code & 0x0f {
            1 => Self::Gradient,
            2 => Self::Partial,
            3 => Self::Result,
            4 => Self::Probe,
            5 => Self::Control,
            6 => Self::Update,
            other => Self::Unknown(other),
        }
    }

    /// The four-bit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Gradient => 1,
            Self::Partial => 2,
            Self::Result => 3,
            Self::Probe => 4,
            Self::Control => 5,
            Self::Update => 6,
            Self::Unknown(code) => code & 0x0f,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gradient => f.write_str("gradient"),
            Self::Partial => f.write_str("partial"),
            Self::Result => f.write_str("result"),
            Self::Probe => f.write_str("probe"),
            Self::Control => f.write_str("control"),
            Self::Update => f.write_str("update"),
            Self::Unknown(code) => write!(f, "kind-{code}"),
        }
    }
}
