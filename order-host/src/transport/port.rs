//! An interface in use, and a timer that is as exact as the kernel's: tokio's own rounds up to milliseconds,
//! in which many frames would leave.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use inart_host_agent::{BatchedPort, Error, Transport};
use inart_wire::{MacAddr, ValuesPerPacket};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Batches that are received before something else gets its turn.
const MOST_BATCHES: usize = 8;
/// A timer that is set to no time at all never ends. Frames that are due within this time leave together.
const LEAST_SLEEP: Duration = Duration::from_micros(50);

/// An interface in use.
pub(super) struct Port {
    port: BatchedPort,
    arrivals: AsyncFd<OwnedFd>,
    /// What is there may be more than was taken.
    is_more: bool,
    timer: TimerFd,
    ended: AsyncFd<OwnedFd>,
}

/// Tells when that is readable. To be called within a tokio runtime.
fn watched(source: BorrowedFd<'_>) -> io::Result<AsyncFd<OwnedFd>> {
    let own = source.try_clone_to_owned()?;
    // SAFETY: the descriptor is owned by what is made of it, and stays open and the same until that is
    // dropped.
    Ok(unsafe { AsyncFd::register_with_interest(own, Interest::READABLE) }?)
}

/// The most values of a frame that an MTU has room for; the least that there are where it has room for none.
fn most_values(mtu: usize) -> ValuesPerPacket {
    let fits = |values: &ValuesPerPacket| usize::from(values.mtu()) <= mtu;
    ValuesPerPacket::ALL.into_iter().rev().find(fits).unwrap_or(ValuesPerPacket::N32)
}

impl Port {
    /// Opens an interface for frames of so many values, or of as many as its MTU has room for; which that
    /// is. To be called within a tokio runtime.
    ///
    /// # Errors
    /// An interface that there is not, that is down, whose MTU is too small, or that may not be opened.
    pub fn open(name: &str, values: Option<ValuesPerPacket>) -> Result<(Self, ValuesPerPacket), Error> {
        let refused = |source: io::Error| Error::Io { interface: name.to_owned(), source };
        let mut port = BatchedPort::open(name)?;
        let values = match values {
            Some(values) => values,
            None => most_values(inart_ethernet::mtu(name).map_err(refused)?),
        };
        port.prepare(values.frame_bytes())?;
        let arrivals = watched(port.as_fd()).map_err(refused)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags);
        let timer = timer.map_err(|errno| refused(errno.into()))?;
        let ended = watched(timer.as_fd()).map_err(refused)?;
        Ok((Self { port, arrivals, is_more: false, timer, ended }, values))
    }

    /// Waits until frames are there, or until then.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub async fn wait(&self, until: Instant) -> Result<(), Error> {
        let waited = tokio::select! {
            there = self.readable() => there,
            due = self.sleep_until(until) => due,
        };
        waited.map_err(|source| Error::Io { interface: self.port.name().to_owned(), source })
    }

    async fn readable(&self) -> io::Result<()> {
        if !self.is_more {
            // Cleared before frames are taken: one that comes meanwhile is told anew.
            self.arrivals.readable().await?.clear_ready();
        }
        Ok(())
    }

    async fn sleep_until(&self, at: Instant) -> io::Result<()> {
        let left = at.saturating_duration_since(Instant::now()).max(LEAST_SLEEP);
        let expiration = Expiration::OneShot(TimeSpec::from_duration(left));
        self.timer.set(expiration, TimerSetTimeFlags::empty())?;
        loop {
            self.ended.readable().await?.clear_ready();
            // What was told may be the end of an earlier wait.
            match self.timer.wait() {
                Err(nix::errno::Errno::EAGAIN) => {}
                ended => return Ok(ended?),
            }
        }
    }

    /// Hands over the frames that are there, or many of them; the next call has the rest.
    ///
    /// # Errors
    /// The interface cannot be used any more.
    pub fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        for _ in 0..MOST_BATCHES {
            self.is_more = self.port.receive(take)? > 0;
            if !self.is_more {
                break;
            }
        }
        Ok(())
    }

    /// Sends the frames that are written, until none is.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), Error> {
        self.port.transmit(fill)
    }
}

/// The Ethernet address of an interface in this thread's network namespace, if it has one.
pub(super) fn own_address(name: &str) -> Option<MacAddr> {
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
