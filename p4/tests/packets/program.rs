//! The programs that the cases run on.

use std::borrow::Cow;
use std::fmt;

use inart_p4::{Chip, Variant};
use inart_wire::ValuesPerFrame;

/// Bytes of the headers before the values, and of the frame check sequence, which the chip counts.
const HEADER_BYTES: usize = 44;
const CHECK_BYTES: usize = 4;

/// One compiled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Built {
    V1model(ValuesPerFrame),
    Tofino(Variant),
}

impl Built {
    pub const N32: Self = Self::V1model(ValuesPerFrame::N32);

    pub fn on_v1model() -> impl Iterator<Item = Self> {
        ValuesPerFrame::ALL.into_iter().map(Self::V1model)
    }

    pub fn on_tofino() -> impl Iterator<Item = Self> {
        Variant::ALL.into_iter().map(Self::Tofino)
    }

    /// Returns whether a frame that a slot takes passes the chip twice.
    pub fn is_two_passes(self) -> bool {
        matches!(self, Self::Tofino(variant) if variant.passes() == 2)
    }

    pub fn values(self) -> ValuesPerFrame {
        match self {
            Self::V1model(values) => values,
            Self::Tofino(variant) => variant.values,
        }
    }

    pub fn is_tofino(self) -> bool {
        matches!(self, Self::Tofino(_))
    }

    /// Returns the program for the embedded switch.
    pub fn json(self) -> Cow<'static, [u8]> {
        match self {
            Self::V1model(values) => inart_p4::artifact(values).json,
            Self::Tofino(variant) => inart_p4::tofino_artifact(variant).expect("it is built in").json,
        }
    }

    /// Returns the cells of the chip's buffer that this number of INART frames takes.
    pub fn cells(self, frames: u32) -> u32 {
        let bytes = HEADER_BYTES + 4 * self.values().get() + CHECK_BYTES;
        let cell_bytes = match self {
            Self::Tofino(Variant { chip: Chip::Tofino2, .. }) => 176,
            _ => 80,
        };
        frames * bytes.div_ceil(cell_bytes) as u32
    }
}

impl fmt::Display for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V1model(values) => write!(f, "v1model-n{values}"),
            Self::Tofino(variant) => variant.fmt(f),
        }
    }
}
