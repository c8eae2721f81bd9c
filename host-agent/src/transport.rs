//! What carries a host's frames.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::Error;

/// Ends a [`Transport::wait`] from another thread.
pub trait Wake: Send + Sync {
    /// The wait that is under way ends, or the next one at once.
    fn wake(&self);
}

/// Carries whole Ethernet frames between the hosts of a job. Frames may be lost, doubled, late and out of
/// order; those that arrive are as they were sent.
///
/// [`Port`](crate::Port) is one, on a network interface; [`InProcess`](crate::InProcess) another. One thread
/// uses it.
pub trait Transport: Send {
    /// What it is, for people: an interface's name.
    fn name(&self) -> &str;

    /// Sends a frame, or loses it.
    ///
    /// # Errors
    /// Nothing can be sent any more.
    fn send(&mut self, frame: &[u8]) -> Result<(), Error>;

    /// The next frame that is there already.
    ///
    /// # Errors
    /// Nothing can be received any more.
    fn receive(&mut self) -> Result<Option<&[u8]>, Error>;

    /// Sleeps until a frame is there, somebody wakes it, or the time is up; `None` is for ever. It may end
    /// sooner.
    ///
    /// # Errors
    /// Nothing can be received any more.
    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), Error>;

    /// What ends a wait.
    fn waker(&self) -> Arc<dyn Wake>;

    /// Lets waits also end when that is readable. False if the transport cannot: then it is looked at now and
    /// then.
    fn watch(&mut self, source: OwnedFd) -> bool {
        drop(source);
        false
    }
}
