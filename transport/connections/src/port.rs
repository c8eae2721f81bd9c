//! An interface in use.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use inart_ethernet::{BatchedPort, PortError, Transport, Watch};
use inart_wire::{MacAddr, ValuesPerFrame};

/// Frames that are due within this time leave together.
const LEAST_SLEEP: Duration = Duration::from_micros(50);

/// An interface in use.
pub struct Port {
    port: BatchedPort,
    watch: Watch,
}

fn refused(name: &str, source: io::Error) -> PortError {
    PortError::System { name: name.to_owned(), source }
}

/// Returns the most values of a frame that an MTU permits; the least supported number if it permits none.
fn most_values(mtu: usize) -> ValuesPerFrame {
    let fits = |values: &ValuesPerFrame| usize::from(values.mtu()) <= mtu;
    ValuesPerFrame::ALL.into_iter().rev().find(fits).unwrap_or(ValuesPerFrame::N32)
}

impl Port {
    /// Opens an interface for frames of `values` values, or of as many as its MTU permits. Returns the
    /// number, too. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The interface does not exist, is down, has too small an MTU, or may not be opened.
    pub fn open(name: &str, values: Option<ValuesPerFrame>) -> Result<(Self, ValuesPerFrame), PortError> {
        let port = BatchedPort::open(name)?;
        let values = match values {
            Some(values) => values,
            None => most_values(inart_ethernet::mtu(name).map_err(|source| refused(name, source))?),
        };
        Ok((Self::prepared(port, values.frame_bytes())?, values))
    }

    /// Opens an interface for frames of at most `frame_bytes` bytes. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn of_length(name: &str, frame_bytes: usize) -> Result<Self, PortError> {
        Self::prepared(BatchedPort::open(name)?, frame_bytes)
    }

    fn prepared(mut port: BatchedPort, frame_bytes: usize) -> Result<Self, PortError> {
        port.prepare(frame_bytes)?;
        let watch = Watch::new(port.as_fd()).map_err(|source| refused(port.name(), source))?;
        Ok(Self { port, watch })
    }

    /// Waits until frames have arrived.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub async fn readable(&self) -> Result<(), PortError> {
        self.watch.readable().await.map_err(|source| refused(self.port.name(), source))
    }

    /// Waits until a time.
    ///
    /// # Errors
    /// As for [`readable`](Self::readable).
    pub async fn sleep_until(&self, until: Instant) -> Result<(), PortError> {
        self.watch.sleep_until(until).await.map_err(|source| refused(self.port.name(), source))
    }

    /// Waits until frames have arrived, or until a time.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub async fn wait(&self, until: Instant) -> Result<(), PortError> {
        let until = until.max(Instant::now() + LEAST_SLEEP);
        tokio::select! {
            there = self.readable() => there,
            due = self.sleep_until(until) => due,
        }
    }

    /// Hands over arrived frames; a limited number of them, the others with the next call.
    ///
    /// # Errors
    /// The interface is not usable any more.
    pub fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<(), PortError> {
        self.watch.take(|| self.port.receive(take))
    }

    /// Sends the frames that `fill` writes, until it writes none.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive).
    pub fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        self.port.transmit(fill)
    }
}

/// Returns the Ethernet address of an interface in this thread's network namespace, if it has one.
pub fn own_address(name: &str) -> Option<MacAddr> {
    let all = nix::ifaddrs::getifaddrs().ok()?;
    let mut of_it = all.filter(|address| address.interface_name == name);
    let bytes = of_it.find_map(|address| address.address?.as_link_addr()?.addr())?;
    (bytes != [0; 6]).then_some(MacAddr(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_long_as_the_mtu_has_room_for() {
        let of = |mtu| most_values(mtu).get();
        assert_eq!(
            [of(9000), of(8222), of(8221), of(1500), of(1053), of(100)],
            [2048, 2048, 1024, 256, 64, 32]
        );
    }
}
