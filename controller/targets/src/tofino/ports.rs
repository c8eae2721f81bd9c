//! Port numbers of the chip: the upper bits are the number of the pipe. A topology may state which of the
//! chip's ports ours are. Without that, ours go through the pipes one by one, and keep their numbers in the
//! first pipe, the only one of a small switch.

use inart_tables::PortNo;

use crate::numbers::PortNumbers;

/// Bits of a port's number within its pipe.
const PORT_BITS: u32 = 7;
/// Front ports of a pipe; the others are for the processor and for recirculation.
const PORTS_OF_PIPE: u64 = 64;
/// Pipes of the largest chip.
const PIPES: u64 = 4;
/// One above the greatest number of a port.
const NUMBERS: u64 = PIPES << PORT_BITS;
/// First of our numbers for ports of the chip that we do not use: a switch may hold entries of another
/// topology, which must be read in order to be deleted.
const UNUSED: u64 = 1 << 15;

/// Largest port. We do not use the chip's port 0, since ours count from 1.
pub const PORTS: u16 = (PORTS_OF_PIPE * PIPES - 1) as u16;

/// Returns the number of a port on the switch without stated numbers; `None` if the switch lacks the port.
pub fn number(port: PortNo) -> Option<u64> {
    let port = u64::from(port.get());
    let number = ((port / PORTS_OF_PIPE) << PORT_BITS) + port % PORTS_OF_PIPE;
    (port <= u64::from(PORTS)).then_some(number)
}

/// Returns the port with a number on a switch without stated numbers; `None` if we do not use it.
pub fn port_of(number: u64) -> Option<PortNo> {
    let (pipe, port) = (number >> PORT_BITS, number & ((1 << PORT_BITS) - 1));
    let ours = pipe < PIPES && port < PORTS_OF_PIPE;
    ours.then(|| PortNo::try_from(pipe * PORTS_OF_PIPE + port).ok()).flatten()
}

/// Returns the pipe of a port by its number on the switch.
pub fn pipe_of(number: u64) -> u64 {
    number >> PORT_BITS
}

/// Port numbering of one switch.
#[derive(Debug, Clone, Default)]
pub struct Numbering(PortNumbers);

impl Numbering {
    /// Creates a numbering from stated numbers.
    pub fn new(stated: PortNumbers) -> Self {
        Self(stated)
    }

    /// Returns the number of a port on the switch; `None` if the switch lacks the port.
    pub fn number(&self, port: PortNo) -> Option<u64> {
        let unused = u64::from(port.get()).checked_sub(UNUSED).filter(|number| *number < NUMBERS);
        unused.or_else(|| match self.0.is_empty() {
            true => number(port),
            false => self.0.number(port).map(u64::from),
        })
    }

    /// Returns the port with a number; `None` if no chip has it.
    pub fn port_of(&self, number: u64) -> Option<PortNo> {
        if number >= NUMBERS {
            return None;
        }
        let ours = match self.0.is_empty() {
            true => port_of(number),
            false => u32::try_from(number).ok().and_then(|number| self.0.port_of(number)),
        };
        ours.or_else(|| PortNo::try_from(UNUSED + number).ok())
    }

    /// Returns the pipe of a port; each pipe has registers of its own. `None` if the switch lacks the port.
    pub fn pipe(&self, port: PortNo) -> Option<u64> {
        self.number(port).map(pipe_of)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn port(number: u64) -> PortNo {
        PortNo::try_from(number).unwrap()
    }

    #[test]
    fn ports_go_through_the_pipes_one_by_one() {
        let rule = Numbering::default();
        for (ours, theirs, in_pipe) in [(1, 1, 0), (63, 63, 0), (64, 128, 1), (127, 191, 1), (255, 447, 3)] {
            assert_eq!(number(port(ours)), Some(theirs), "port {ours}");
            assert_eq!(port_of(theirs), Some(port(ours)), "number {theirs}");
            assert_eq!(rule.pipe(port(ours)), Some(in_pipe), "port {ours}");
        }
        assert_eq!(number(port(256)), None);
        // Ports that we do not use: port 0, the processor's, recirculation, and a pipe beyond the last.
        for theirs in [0, 64, 68, 127, 192, 512] {
            assert_eq!(port_of(theirs), None, "number {theirs}");
        }
    }

    #[test]
    fn stated_ports_have_the_numbers_and_pipes_that_are_stated() {
        let stated = [(port(1), 56), (port(2), 132), (port(3), 0)];
        let stated = Numbering::new(stated.into_iter().collect());
        for (ours, theirs, in_pipe) in [(1, 56, 0), (2, 132, 1), (3, 0, 0)] {
            assert_eq!(stated.number(port(ours)), Some(theirs), "port {ours}");
            assert_eq!(stated.port_of(theirs), Some(port(ours)), "number {theirs}");
            assert_eq!(stated.pipe(port(ours)), Some(in_pipe), "port {ours}");
        }
        assert_eq!(stated.number(port(4)), None, "no rule where ports are stated");
    }

    #[test]
    fn every_port_of_the_chip_is_read_and_written_back() {
        let stated = Numbering::new([(port(1), 56), (port(2), 132)].into_iter().collect());
        for numbering in [Numbering::default(), stated] {
            let all: std::collections::BTreeSet<PortNo> =
                (0..NUMBERS).map(|number| numbering.port_of(number).unwrap()).collect();
            assert_eq!(all.len() as u64, NUMBERS, "no two are the same");
            for number in 0..NUMBERS {
                assert_eq!(numbering.number(numbering.port_of(number).unwrap()), Some(number));
            }
            assert_eq!(numbering.port_of(NUMBERS), None);
        }
    }
}
