//! Waiting for frames within a tokio runtime.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Batches that are received before something else gets its turn.
const MOST_BATCHES: usize = 8;
/// A timer that is set to no time at all never ends.
const LEAST_SLEEP: Duration = Duration::from_nanos(1);

/// Waits for frames on a socket, or until a moment, as exactly as the kernel's timers do: tokio's own round
/// up to milliseconds, in which many frames would leave.
#[derive(Debug)]
pub struct Watch {
    arrivals: AsyncFd<OwnedFd>,
    /// Whether more frames may be queued than were taken.
    is_more: bool,
    timer: TimerFd,
    ended: AsyncFd<OwnedFd>,
}

impl Watch {
    /// Watches a socket that does not block. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The system has no more descriptors, or refuses to watch this one.
    pub fn new(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let arrivals = watched(socket)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let ended = watched(timer.as_fd())?;
        Ok(Self { arrivals, is_more: false, timer, ended })
    }

    /// Waits until frames are there.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub async fn readable(&self) -> io::Result<()> {
        if !self.is_more {
            // Cleared before frames are taken: a frame that arrives meanwhile is reported again.
            self.arrivals.readable().await?.clear_ready();
        }
        Ok(())
    }

    /// Waits until then. One call at a time: there is one timer.
    ///
    /// # Errors
    /// As [`readable`](Self::readable).
    pub async fn sleep_until(&self, at: Instant) -> io::Result<()> {
        let left = at.saturating_duration_since(Instant::now()).max(LEAST_SLEEP);
        let expiration = Expiration::OneShot(TimeSpec::from_duration(left));
        self.timer.set(expiration, TimerSetTimeFlags::empty())?;
        loop {
            self.ended.readable().await?.clear_ready();
            // The notification may be the end of an earlier wait.
            match self.timer.wait() {
                Err(Errno::EAGAIN) => {}
                ended => return Ok(ended?),
            }
        }
    }

    /// Receives with `receive`, which takes a batch and returns its number of frames, until no frame is left,
    /// or many times. If none is left, the next wait waits for a new frame.
    ///
    /// # Errors
    /// Returns the error of `receive`.
    pub fn take<E>(&mut self, mut receive: impl FnMut() -> Result<usize, E>) -> Result<(), E> {
        for _ in 0..MOST_BATCHES {
            self.is_more = receive()? > 0;
            if !self.is_more {
                break;
            }
        }
        Ok(())
    }
}

/// Registers a descriptor for readability. Must be called within a tokio runtime.
fn watched(source: BorrowedFd<'_>) -> io::Result<AsyncFd<OwnedFd>> {
    let own = source.try_clone_to_owned()?;
    // SAFETY: the registration owns the descriptor, which stays open and unchanged until it is dropped.
    Ok(unsafe { AsyncFd::register_with_interest(own, Interest::READABLE) }?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    fn pair() -> (UnixDatagram, UnixDatagram) {
        let (ours, theirs) = UnixDatagram::pair().expect("sockets");
        ours.set_nonblocking(true).expect("set");
        (ours, theirs)
    }

    fn taken(socket: &UnixDatagram) -> io::Result<usize> {
        match socket.recv(&mut [0; 8]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            received => received,
        }
    }

    /// Returns whether the wait for frames is over within the time that a sleep takes.
    async fn is_reported(watch: &Watch) -> bool {
        let until = Instant::now() + Duration::from_millis(50);
        tokio::select! {
            biased;
            there = watch.readable() => there.map(|()| true),
            due = watch.sleep_until(until) => due.map(|()| false),
        }
        .expect("waits")
    }

    #[tokio::test]
    async fn arrivals_are_reported_until_they_are_taken() {
        let (ours, theirs) = pair();
        let mut watch = Watch::new(ours.as_fd()).expect("watched");
        assert!(!is_reported(&watch).await);
        for _ in 0..MOST_BATCHES + 2 {
            theirs.send(b"frame").expect("sent");
        }
        assert!(is_reported(&watch).await);
        let mut count = 0;
        let mut receive = || taken(&ours).inspect(|&bytes| count += usize::from(bytes > 0));
        watch.take(&mut receive).expect("taken");
        assert!(is_reported(&watch).await, "there are more");
        watch.take(&mut receive).expect("taken");
        assert_eq!(count, MOST_BATCHES + 2);
        assert!(!is_reported(&watch).await);
        theirs.send(b"frame").expect("sent");
        assert!(is_reported(&watch).await, "a later frame is reported again");
    }

    #[tokio::test]
    async fn a_moment_that_has_passed_is_not_waited_for_and_no_sleep_ends_early() {
        let (ours, _theirs) = pair();
        let watch = Watch::new(ours.as_fd()).expect("watched");
        let now = Instant::now();
        watch.sleep_until(now).await.expect("sleeps");
        for millis in [1, 3] {
            let until = Instant::now() + Duration::from_millis(millis);
            watch.sleep_until(until).await.expect("sleeps");
            assert!(Instant::now() >= until);
        }
    }

    #[tokio::test]
    async fn the_end_of_an_abandoned_sleep_does_not_end_the_next() {
        let (ours, theirs) = pair();
        let watch = Watch::new(ours.as_fd()).expect("watched");
        theirs.send(b"frame").expect("sent");
        let soon = Instant::now() + Duration::from_millis(1);
        tokio::select! {
            biased;
            there = watch.readable() => there,
            due = watch.sleep_until(soon) => due,
        }
        .expect("waits");
        let until = Instant::now() + Duration::from_millis(20);
        watch.sleep_until(until).await.expect("sleeps");
        assert!(Instant::now() >= until);
    }
}
