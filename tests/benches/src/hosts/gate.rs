//! A transport that can hold frames back, so that a host finds many at once, as a busy one does.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use inart_host_agent::{PortError, Transport, Wake};

/// Open or closed.
pub struct Gate {
    is_open: Mutex<bool>,
    changed: Condvar,
}

impl Default for Gate {
    fn default() -> Self {
        Self { is_open: Mutex::new(true), changed: Condvar::new() }
    }
}

impl Gate {
    pub fn set(&self, is_open: bool) {
        *self.is_open.lock().unwrap_or_else(PoisonError::into_inner) = is_open;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(is_open, |is_open| !*is_open));
    }
}

/// A transport behind a gate: its waits end when the gate is open.
pub struct Gated {
    pub transport: Box<dyn Transport>,
    pub gate: Arc<Gate>,
}

impl Transport for Gated {
    fn name(&self) -> &str {
        self.transport.name()
    }

    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        self.transport.prepare(frame_bytes)
    }

    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        self.transport.transmit(fill)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        self.transport.receive(take)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), PortError> {
        self.transport.wait(timeout)?;
        self.gate.pass();
        Ok(())
    }

    fn waker(&self) -> Arc<dyn Wake> {
        self.transport.waker()
    }

    fn watch(&mut self, source: OwnedFd) -> bool {
        self.transport.watch(source)
    }
}
