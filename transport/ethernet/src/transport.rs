//! What carries a host's frames.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::port_error::PortError;

/// Ends a [`Transport::wait`] from another thread.
pub trait Wake: Send + Sync {
    /// The wait that is under way ends, or the next one at once.
    fn wake(&self);
}

/// Carries whole Ethernet frames between the hosts of a job. Frames may be lost, doubled, late and out of
/// order; those that arrive are as they were sent.
///
/// [`BatchedPort`](crate::BatchedPort) is one, on a network interface, and [`Port`](crate::Port) another;
/// [`InProcess`](crate::InProcess) is a third. One thread uses it.
pub trait Transport: Send {
    /// What it is, for people: an interface's name.
    fn name(&self) -> &str;

    /// Makes room for frames of up to so many bytes. Called once, before the first frame.
    ///
    /// # Errors
    /// It cannot carry such frames.
    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError>;

    /// Sends frames, or loses them: those that `fill` writes, until it returns `None`. `fill` writes a frame
    /// to the front of a buffer, which has room for one and holds anything, and returns its length.
    ///
    /// # Errors
    /// Nothing can be sent any more.
    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError>;

    /// Hands `take` the frames that are there already, in the order in which they came, and some tens of them
    /// at most; the rest is for the next call. Returns how many there were.
    ///
    /// # Errors
    /// Nothing can be received any more.
    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError>;

    /// Sleeps until a frame is there, somebody wakes it, or the time is up; `None` is for ever. It may end
    /// sooner.
    ///
    /// # Errors
    /// Nothing can be received any more.
    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), PortError>;

    /// What ends a wait.
    fn waker(&self) -> Arc<dyn Wake>;

    /// Lets waits also end when that is readable. False if the transport cannot: then it is looked at now and
    /// then.
    fn watch(&mut self, source: OwnedFd) -> bool {
        drop(source);
        false
    }
}

/// One that is chosen while the program runs.
impl<T: Transport + ?Sized> Transport for Box<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        (**self).prepare(frame_bytes)
    }

    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        (**self).transmit(fill)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        (**self).receive(take)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), PortError> {
        (**self).wait(timeout)
    }

    fn waker(&self) -> Arc<dyn Wake> {
        (**self).waker()
    }

    fn watch(&mut self, source: OwnedFd) -> bool {
        (**self).watch(source)
    }
}
