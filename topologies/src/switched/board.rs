//! Boards: switches as they are sold, and which ports of the chip their front ports are.

use std::fmt;

/// Lanes of a front port; a breakout cable makes a port of each.
pub const LANES: u8 = 4;

/// Bits of a `dev_port` below those of its pipe.
const PORT_BITS: u32 = 7;

/// One above the greatest `dev_port` that any chip has: four pipes.
pub const DEVICE_PORTS: u32 = 4 << PORT_BITS;

/// Returns the pipe that a `dev_port` is in: each has registers of its own.
pub fn pipe(device_port: u32) -> u32 {
    device_port >> PORT_BITS
}

/// Returns whether a `dev_port` leads back into the chip: no link can be there.
pub fn recirculates(device_port: u32) -> bool {
    const IN_PIPE: u32 = 68;
    device_port < DEVICE_PORTS && device_port % (1 << PORT_BITS) == IN_PIPE
}

/// A kind of board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Board {
    /// Edgecore Wedge100BF-32X: two pipes.
    Wedge100Bf32X,
    /// Edgecore Wedge100BF-32QS: four pipes.
    Wedge100Bf32Qs,
    /// Edgecore Wedge100BF-65X: four pipes.
    Wedge100Bf65X,
}

/// The `dev_port`s of lane 0 of the front ports 1 to 32 (docs/how-to/deploy-tofino.md, *Ports and pipes*).
const WEDGE100BF_32X: [u32; 32] = [
    132, 140, 148, 156, 164, 172, 180, 188, // 1 to 8
    56, 48, 40, 32, 24, 16, 8, 0, // 9 to 16
    4, 12, 20, 28, 36, 44, 52, 60, // 17 to 24
    184, 176, 168, 160, 144, 152, 128, 136, // 25 to 32
];

impl Board {
    /// All that are known.
    pub const ALL: [Board; 3] = [Board::Wedge100Bf32X, Board::Wedge100Bf32Qs, Board::Wedge100Bf65X];

    /// Returns the name in topologies.
    pub fn name(self) -> &'static str {
        match self {
            Board::Wedge100Bf32X => "wedge100bf-32x",
            Board::Wedge100Bf32Qs => "wedge100bf-32qs",
            Board::Wedge100Bf65X => "wedge100bf-65x",
        }
    }

    /// Returns the board of that name.
    pub fn named(name: &str) -> Option<Board> {
        Board::ALL.into_iter().find(|board| board.name() == name)
    }

    /// Returns how many front ports it has, where their `dev_port`s are known.
    pub fn front_ports(self) -> Option<u16> {
        self.map().and_then(|map| u16::try_from(map.len()).ok())
    }

    /// Returns the `dev_port` of a lane of a front port; `None` if it lacks that port, or the map is not
    /// known.
    pub fn device_port(self, front: u16, lane: u8) -> Option<u32> {
        let first = self.map()?.get(usize::from(front).checked_sub(1)?)?;
        (lane < LANES).then(|| first + u32::from(lane))
    }

    /// Returns the front port and lane of a `dev_port`; `None` if it is not one of the map's, or the map is
    /// not known.
    pub fn front_port(self, device_port: u32) -> Option<(u16, u8)> {
        let lane = device_port % u32::from(LANES);
        let at = self.map()?.iter().position(|first| *first == device_port - lane)?;
        Some((u16::try_from(at + 1).ok()?, u8::try_from(lane).ok()?))
    }

    /// Returns whether it may have that `dev_port` at its front: it has none that is known to be elsewhere.
    pub fn has(self, device_port: u32) -> bool {
        match self.map() {
            Some(_) => self.front_port(device_port).is_some(),
            None => device_port < DEVICE_PORTS,
        }
    }

    fn map(self) -> Option<&'static [u32]> {
        match self {
            Board::Wedge100Bf32X => Some(&WEDGE100BF_32X),
            Board::Wedge100Bf32Qs | Board::Wedge100Bf65X => None,
        }
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn front_ports_of_the_32x_are_all_lanes_of_two_pipes() {
        let board = Board::Wedge100Bf32X;
        let ports = (1..=32).flat_map(|front| (0..LANES).map(move |lane| (front, lane)));
        let numbers: BTreeSet<u32> =
            ports.map(|(front, lane)| board.device_port(front, lane).unwrap()).collect();
        assert!(numbers.iter().copied().eq((0..64).chain(128..192)));
        for number in numbers {
            let (front, lane) = board.front_port(number).unwrap();
            assert_eq!(board.device_port(front, lane), Some(number));
        }
        for (front, lane) in [(0, 0), (33, 0), (1, 4)] {
            assert_eq!(board.device_port(front, lane), None, "{front}/{lane}");
        }
        assert!(!board.has(64) && !board.has(192) && !board.has(512) && board.has(191));
        // As tools print the ports of boards: docs/how-to/deploy-tofino.md.
        assert_eq!([1, 3, 9, 17].map(|front| board.device_port(front, 0)), [132, 148, 56, 4].map(Some));
    }
}
