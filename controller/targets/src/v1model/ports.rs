//! Ports keep our numbers.

use inart_tables::PortNo;

/// Ports have 9 bits; 511 means *drop*, and 0 is left to the processor.
pub const PORTS: u16 = 510;

/// What the switch calls a port; `None` if it does not have it.
pub fn number(port: PortNo) -> Option<u64> {
    (port.get() <= PORTS).then(|| port.get().into())
}

/// The port of that number; `None` if it is none that we use.
pub fn port_of(number: u64) -> Option<PortNo> {
    PortNo::try_from(number).ok().filter(|port| port.get() <= PORTS)
}
