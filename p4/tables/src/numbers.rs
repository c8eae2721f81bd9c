//! Ports, multicast groups and slot ranges of a switch.

use std::fmt;

/// Number of a port of a switch: from 1, in the order in which the topology lists the switch's links. Each
/// target maps these to numbers of its own, and knows how many it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortNo(u16);

impl PortNo {
    /// Returns the number.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Returns the `index`-th port, from 0.
    pub fn nth(index: usize) -> Option<Self> {
        u16::try_from(index.checked_add(1)?).ok().map(PortNo)
    }
}

impl TryFrom<u64> for PortNo {
    type Error = u64;

    fn try_from(number: u64) -> Result<Self, u64> {
        u16::try_from(number).ok().filter(|port| *port > 0).map(PortNo).ok_or(number)
    }
}

impl fmt::Display for PortNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of a multicast group, unique on its switch, never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u16);

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `len` slots from `base`; `len` is a window, a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotRange {
    /// First slot.
    pub base: u32,
    /// Number of slots.
    pub len: u32,
}

impl SlotRange {
    /// True if the two ranges share a slot.
    pub fn overlaps(&self, other: &SlotRange) -> bool {
        u64::from(self.base) < u64::from(other.base) + u64::from(other.len)
            && u64::from(other.base) < u64::from(self.base) + u64::from(self.len)
    }
}
