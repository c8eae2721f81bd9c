//! Ports of the chip have the number of their pipe in the upper bits. A topology may say which of them ours
//! are. Where it does not, ours go through the pipes one by one, and keep their numbers in the first, which
//! is all that a small switch has.

use inart_tables::PortNo;

use crate::numbers::PortNumbers;

/// Bits of a port's number within its pipe.
const PORT_BITS: u32 = 7;
/// Ports of a pipe that lead out; the others are the processor's and those that recirculate.
const PORTS_OF_PIPE: u64 = 64;
/// Pipes of the largest chip.
const PIPES: u64 = 4;
/// One above the greatest number of a port.
const NUMBERS: u64 = PIPES << PORT_BITS;
/// Ports of the chip that are none of ours are ours from here on: a switch may hold entries of another
/// topology, which have to be read to be deleted.
const STRANGERS: u64 = 1 << 15;

/// The chip's port 0 is none of ours, as ours count from 1.
pub const PORTS: u16 = (PORTS_OF_PIPE * PIPES - 1) as u16;

/// What the switch calls a port where nobody says so; `None` if it does not have it.
pub fn number(port: PortNo) -> Option<u64> {
    let port = u64::from(port.get());
    let number = ((port / PORTS_OF_PIPE) << PORT_BITS) + port % PORTS_OF_PIPE;
    (port <= u64::from(PORTS)).then_some(number)
}

/// The port of that number where nobody says so; `None` if it is none that we use.
pub fn port_of(number: u64) -> Option<PortNo> {
    let (pipe, port) = (number >> PORT_BITS, number & ((1 << PORT_BITS) - 1));
    let ours = pipe < PIPES && port < PORTS_OF_PIPE;
    ours.then(|| PortNo::try_from(pipe * PORTS_OF_PIPE + port).ok()).flatten()
}

/// The pipe of the port that the switch calls so.
pub fn pipe_of(number: u64) -> u64 {
    number >> PORT_BITS
}

/// How the ports of one switch are numbered.
#[derive(Debug, Clone, Default)]
pub struct Numbering(PortNumbers);

impl Numbering {
    /// By what is stated of the switch.
    pub fn new(stated: PortNumbers) -> Self {
        Self(stated)
    }

    /// What the switch calls a port; `None` if it does not have it.
    pub fn number(&self, port: PortNo) -> Option<u64> {
        let stranger = u64::from(port.get()).checked_sub(STRANGERS).filter(|number| *number < NUMBERS);
        stranger.or_else(|| match self.0.is_empty() {
            true => number(port),
            false => self.0.number(port).map(u64::from),
        })
    }

    /// The port of that number; `None` if no chip has it.
    pub fn port_of(&self, number: u64) -> Option<PortNo> {
        if number >= NUMBERS {
            return None;
        }
        let ours = match self.0.is_empty() {
            true => port_of(number),
            false => u32::try_from(number).ok().and_then(|number| self.0.port_of(number)),
        };
        ours.or_else(|| PortNo::try_from(STRANGERS + number).ok())
    }

    /// The pipe that a port is in: each has registers of its own. `None` if the switch does not have the
    /// port.
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
        // No port of ours, of the processor, of recirculation, of a pipe too many.
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
