//! Ports of the chip have the number of their pipe in the upper bits: ours go through the pipes one by one.
//! Ours keep their numbers in the first pipe, which is all that a small switch has.

use inart_tables::PortNo;

/// Bits of a port's number within its pipe.
const PORT_BITS: u32 = 7;
/// Ports of a pipe that lead out; the others are the processor's and those that recirculate.
const PORTS_OF_PIPE: u64 = 64;
/// Pipes of the largest chip.
const PIPES: u64 = 4;

/// The chip's port 0 is none of ours, as ours count from 1.
pub const PORTS: u16 = (PORTS_OF_PIPE * PIPES - 1) as u16;

/// What the switch calls a port; `None` if it does not have it.
pub fn number(port: PortNo) -> Option<u64> {
    let port = u64::from(port.get());
    let number = ((port / PORTS_OF_PIPE) << PORT_BITS) + port % PORTS_OF_PIPE;
    (port <= u64::from(PORTS)).then_some(number)
}

/// The port of that number; `None` if it is none that we use.
pub fn port_of(number: u64) -> Option<PortNo> {
    let (pipe, port) = (number >> PORT_BITS, number & ((1 << PORT_BITS) - 1));
    let ours = pipe < PIPES && port < PORTS_OF_PIPE;
    ours.then(|| PortNo::try_from(pipe * PORTS_OF_PIPE + port).ok()).flatten()
}

/// The pipe that a port is in: each has registers of its own.
pub fn pipe(port: PortNo) -> u64 {
    u64::from(port.get()) / PORTS_OF_PIPE
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ports_go_through_the_pipes_one_by_one() {
        let port = |number: u64| PortNo::try_from(number).unwrap();
        for (ours, theirs, in_pipe) in [(1, 1, 0), (63, 63, 0), (64, 128, 1), (127, 191, 1), (255, 447, 3)] {
            assert_eq!(number(port(ours)), Some(theirs), "port {ours}");
            assert_eq!(port_of(theirs), Some(port(ours)), "number {theirs}");
            assert_eq!(pipe(port(ours)), in_pipe, "port {ours}");
        }
        assert_eq!(number(port(256)), None);
        // No port of ours, of the processor, of recirculation, of a pipe too many.
        for theirs in [0, 64, 68, 127, 192, 512] {
            assert_eq!(port_of(theirs), None, "number {theirs}");
        }
    }
}
