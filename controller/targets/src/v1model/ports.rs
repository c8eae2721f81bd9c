//! Port numbers of v1model: the numbers on the switch are ours.

use inart_tables::PortNo;

/// Largest port: ports have 9 bits, 511 means *drop*, and 0 is for the processor.
pub const PORTS: u16 = 510;

/// Returns the number of a port on the switch; `None` if the switch lacks the port.
pub fn number(port: PortNo) -> Option<u64> {
    (port.get() <= PORTS).then(|| port.get().into())
}

/// Returns the port with a number; `None` if we do not use it.
pub fn port_of(number: u64) -> Option<PortNo> {
    PortNo::try_from(number).ok().filter(|port| port.get() <= PORTS)
}
