//! Marks on a frame.

use core::fmt;
use core::ops::{BitOr, BitOrAssign};

/// Marks on a frame; bits this crate has no name for survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// Sent before; on a result: sent to one worker alone.
    pub const RESEND: Self = Self(0x01);
    /// Bypass: no switch may sum this frame.
    pub const BYPASS: Self = Self(0x02);
    /// Same bit on a result: the chunk after it at its window position uses the other open plan version.
    pub const OTHER_PLAN_VERSION: Self = Self(0x02);
    /// Sum that saturated on the way.
    pub const OVERFLOW: Self = Self(0x04);
    /// Long queue on the way.
    pub const CONGESTION: Self = Self(0x08);
    /// The last chunk of the shard in this round.
    pub const LAST: Self = Self(0x10);
    /// Every flag with a name.
    pub const NAMES: [(Self, &'static str); 5] = [
        (Self::RESEND, "resend"),
        (Self::BYPASS, "bypass"),
        (Self::OVERFLOW, "overflow"),
        (Self::CONGESTION, "congestion"),
        (Self::LAST, "last"),
    ];

    /// Returns whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns these flags with `other` set when `condition` holds.
    #[must_use]
    pub const fn with_if(self, other: Self, condition: bool) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Prints names joined by `|`; unnamed bits as a number; `-` when no bit is set.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("-");
        }
        let mut rest = self.0;
        let mut separator = "";
        for (flag, name) in Self::NAMES {
            if self.contains(flag) {
                write!(f, "{separator}{name}")?;
                rest &= !flag.0;
                separator = "|";
            }
        }
        if rest != 0 {
            write!(f, "{separator}0x{rest:02x}")?;
        }
        Ok(())
    }
}
