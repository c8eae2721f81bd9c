use std::fmt;

use inart_wire::ValuesPerPacket;

/// A chip that the program for Tofino is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chip {
    /// Twelve stages.
    Tofino1,
    /// Twenty stages.
    Tofino2,
}

/// What the program for Tofino is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant {
    /// The chip.
    pub chip: Chip,
    /// Values per frame.
    pub values: ValuesPerPacket,
}

impl Variant {
    /// As many values as fit one pass of each chip.
    pub const ALL: [Self; 2] = [
        Self { chip: Chip::Tofino1, values: ValuesPerPacket::N32 },
        Self { chip: Chip::Tofino2, values: ValuesPerPacket::N64 },
    ];

    /// Its intermediate form, relative to the P4 folder.
    pub(super) fn file(self) -> String {
        format!("tofino/build/inart-{self}.json")
    }
}

impl Chip {
    /// What the compiler calls it: `__TARGET_TOFINO__`.
    pub(super) const fn generation(self) -> u8 {
        match self {
            Self::Tofino1 => 1,
            Self::Tofino2 => 2,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-n{}", self.chip, self.values)
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tofino1 => "tofino1",
            Self::Tofino2 => "tofino2",
        })
    }
}
