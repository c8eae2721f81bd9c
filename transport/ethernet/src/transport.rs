//! Transports of a host's frames.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::port_error::PortError;

/// Ends a [`Transport::wait`] from another thread.
pub trait Wake: Send + Sync {
    /// Ends the active wait, or the next one immediately.
    fn wake(&self);
}

/// Transfers whole Ethernet frames between the hosts of a job. Frames may be lost, duplicated, late and out
/// of order; those that arrive are unchanged.
///
/// [`BatchedPort`](crate::BatchedPort) and [`Port`](crate::Port) use a network interface;
/// [`InProcess`](crate::InProcess) uses memory. One thread uses a transport.
pub trait Transport: Send {
    /// Returns the name for messages: an interface's name.
    fn name(&self) -> &str;

    /// Makes room for frames of up to `bytes` bytes. Called once, before the first frame.
    ///
    /// # Errors
    /// Returns an error if the transport cannot transfer such frames.
    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError>;

    /// Sends frames, or loses them: those that `fill` writes, until it returns `None`. `fill` writes a frame
    /// to the front of a buffer, which has room for one and holds anything, and returns its length.
    ///
    /// # Errors
    /// Nothing can be sent any more.
    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError>;

    /// Passes queued frames to `take`, in order of arrival, some tens of them at most; the rest is for the
    /// next call. Returns the number of frames.
    ///
    /// # Errors
    /// Returns an error if nothing can be received any longer.
    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError>;

    /// Sleeps until a frame arrives, [`Wake::wake`] is called, or the timeout ends; `None` waits without
    /// limit. May return earlier.
    ///
    /// # Errors
    /// Returns an error if nothing can be received any longer.
    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), PortError>;

    /// Returns a handle that ends a wait.
    fn waker(&self) -> Arc<dyn Wake>;

    /// Makes waits also end when `source` is readable. Returns false if the transport cannot: then the caller
    /// polls it.
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
