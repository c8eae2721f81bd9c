//! Kinds of simulated switches: their programs and differences.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use inart_p4::{Chip, Variant, tofino_artifact};
use inart_switch::Port;
use inart_targets::Target;
use inart_targets::tofino::{TOFINO, TOFINO2};
use inart_targets::v1model::V1Model;
use inart_wire::ValuesPerFrame;

/// A kind of switch. As text: its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SwitchKind {
    /// P4's v1model architecture, as in bmv2.
    #[default]
    V1model,
    /// Tofino 1.
    Tofino,
    /// Tofino 2.
    Tofino2,
}

impl SwitchKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::V1model, Self::Tofino, Self::Tofino2];

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1model => "v1model",
            Self::Tofino => "tofino",
            Self::Tofino2 => "tofino2",
        }
    }

    /// Returns whether a program exists for that number of values per frame.
    pub fn has_program(self, values: ValuesPerFrame) -> bool {
        self.chip().is_none_or(|chip| Variant::ALL.contains(&Variant { chip, values }))
    }

    /// Returns the smallest number of values per frame with a program.
    pub fn least_values(self) -> ValuesPerFrame {
        let all = ValuesPerFrame::ALL.into_iter();
        all.filter(|values| self.has_program(*values)).min().unwrap_or(ValuesPerFrame::N32)
    }

    /// Returns the compiled program; `None` if none exists for that number of values per frame.
    pub(crate) fn program(self, values: ValuesPerFrame) -> Option<Cow<'static, [u8]>> {
        match self.chip() {
            None => Some(inart_p4::artifact(values).json),
            Some(chip) => Some(tofino_artifact(Variant { chip, values })?.json),
        }
    }

    /// Returns the target that numbers its ports.
    pub(crate) fn target(self) -> &'static dyn Target {
        match self {
            Self::V1model => &V1Model,
            Self::Tofino => &TOFINO,
            Self::Tofino2 => &TOFINO2,
        }
    }

    /// Bytes of a cell of its packet buffer; v1model counts frames.
    pub(crate) const fn cell_bytes(self) -> Option<u32> {
        match self {
            Self::V1model => None,
            Self::Tofino => Some(80),
            Self::Tofino2 => Some(176),
        }
    }

    /// Returns whether frames sent to a port are received from it again: port 68 of each of the chip's pipes.
    pub(crate) const fn recirculates(self, port: Port) -> bool {
        self.chip().is_some() && port.0 & 127 == 68
    }

    const fn chip(self) -> Option<Chip> {
        match self {
            Self::V1model => None,
            Self::Tofino => Some(Chip::Tofino1),
            Self::Tofino2 => Some(Chip::Tofino2),
        }
    }
}

impl fmt::Display for SwitchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SwitchKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| format!("give one of {}", names()))
    }
}
