//! Stop signals.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// SIGTERM and SIGINT as an event that can be waited for together with frames.
#[derive(Debug)]
pub struct StopSignal {
    signals: SignalFd,
    received: bool,
}

impl StopSignal {
    /// Catches the signals from now on. Call it before the process starts threads, so that all of them leave
    /// the signals alone.
    ///
    /// # Errors
    /// If the kernel refuses the signal descriptor.
    pub fn catch() -> io::Result<Self> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGTERM);
        mask.add(Signal::SIGINT);
        mask.thread_block()?;
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { signals, received: false })
    }

    /// Returns whether the process was asked to stop.
    ///
    /// # Errors
    /// If the signal descriptor cannot be read.
    pub fn is_received(&mut self) -> io::Result<bool> {
        self.next_signal()?;
        Ok(self.received)
    }

    /// Returns the next signal that was not returned yet.
    ///
    /// # Errors
    /// If the signal descriptor cannot be read.
    pub fn next_signal(&mut self) -> io::Result<Option<Signal>> {
        let Some(info) = self.signals.read_signal()? else { return Ok(None) };
        self.received = true;
        Ok(Signal::try_from(info.ssi_signo as i32).ok())
    }
}

impl AsFd for StopSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }
}
