use std::fmt;

use inart_wire::ValuesPerFrame;

/// A chip that the program for Tofino is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chip {
    /// Twelve stages.
    Tofino1,
    /// Twenty stages.
    Tofino2,
}

/// Variant of the program for Tofino.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant {
    /// The chip.
    pub chip: Chip,
    /// Values per frame.
    pub values: ValuesPerFrame,
}

impl Variant {
    /// As many values as fit one pass of each chip, and as many as fit two of Tofino 1.
    pub const ALL: [Self; 3] = [
        Self { chip: Chip::Tofino1, values: ValuesPerFrame::N32 },
        Self { chip: Chip::Tofino1, values: ValuesPerFrame::N64 },
        Self { chip: Chip::Tofino2, values: ValuesPerFrame::N64 },
    ];

    /// Returns how often a frame that a slot takes passes the chip: Tofino 1 adds 32 values in a pass.
    pub fn passes(self) -> usize {
        match self.chip {
            Chip::Tofino1 => self.values.get().div_ceil(ValuesPerFrame::N32.get()),
            Chip::Tofino2 => 1,
        }
    }

    /// Returns the preprocessor definitions for p4c.
    pub(super) fn defines(self) -> [String; 4] {
        let defines = [
            format!("VALUES_PER_FRAME={}", self.values),
            format!("__TARGET_TOFINO__={}", self.chip.generation()),
        ];
        let [values, chip] = defines;
        ["-D".to_owned(), values, "-D".to_owned(), chip]
    }
}

impl Chip {
    /// Returns the compiler's number of the chip: `__TARGET_TOFINO__`.
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
