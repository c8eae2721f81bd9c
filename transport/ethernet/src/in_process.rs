//! A transport within one process.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use inart_wire::{ETHERNET_BYTES, MacAddr};

use crate::port_error::PortError;
use crate::transport::{Transport, Wake};

/// A switch within the process: the hosts of a job are threads. It only forwards; parameter servers do all
/// sums.
#[derive(Clone, Default)]
pub struct InProcess {
    ports: Arc<Mutex<Vec<Arc<Inbox>>>>,
}

/// Frames that have arrived at a host.
struct Inbox {
    mac: MacAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    frames: VecDeque<Vec<u8>>,
    woken: bool,
}

impl InProcess {
    /// Frames that wait for a host; more are lost.
    const MOST_FRAMES: usize = 1 << 16;

    /// Creates a switch without hosts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a host's access, under its address in the assignment. Two ports may have one address: a
    /// worker's and a server's on one host. Both get all that is sent to it.
    pub fn port(&self, mac: MacAddr) -> InProcessPort {
        let inbox = Arc::new(Inbox { mac, state: Mutex::default(), changed: Condvar::new() });
        self.ports.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&inbox));
        let name = format!("in-process {mac}");
        InProcessPort { name, network: self.clone(), inbox, outgoing: Vec::new(), incoming: Vec::new() }
    }

    fn carry(&self, from: &Arc<Inbox>, frame: &[u8]) {
        let Some(to) = frame.get(..6).and_then(|to| to.try_into().ok()).map(MacAddr) else { return };
        if frame.len() < ETHERNET_BYTES {
            return;
        }
        for port in self.ports.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            if !Arc::ptr_eq(port, from) && (to.is_multicast() || port.mac == to) {
                let mut state = port.lock();
                if state.frames.len() < Self::MOST_FRAMES {
                    state.frames.push_back(frame.to_vec());
                    port.changed.notify_one();
                }
            }
        }
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Inbox {
    fn wake(&self) {
        self.lock().woken = true;
        self.changed.notify_one();
    }
}

/// A host's access to a network within the process.
pub struct InProcessPort {
    name: String,
    network: InProcess,
    inbox: Arc<Inbox>,
    /// The frame to be sent.
    outgoing: Vec<u8>,
    /// The frames that are handed over.
    incoming: Vec<Vec<u8>>,
}

impl InProcessPort {
    /// Frames handed over at once.
    const RECEIVE_BATCH: usize = 32;
}

impl Transport for InProcessPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        self.outgoing = vec![0; frame_bytes];
        Ok(())
    }

    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        while let Some(frame_bytes) = fill(&mut self.outgoing) {
            self.network.carry(&self.inbox, &self.outgoing[..frame_bytes]);
        }
        Ok(())
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        let mut state = self.inbox.lock();
        let count = state.frames.len().min(Self::RECEIVE_BATCH);
        self.incoming.extend(state.frames.drain(..count));
        drop(state);
        self.incoming.drain(..).for_each(|frame| take(&frame));
        Ok(count)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), PortError> {
        let mut state = self.inbox.lock();
        if state.frames.is_empty() && !state.woken {
            state = match timeout {
                Some(timeout) => {
                    let waited = self.inbox.changed.wait_timeout(state, timeout);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.inbox.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        mem::take(&mut state.woken);
        Ok(())
    }

    fn waker(&self) -> Arc<dyn Wake> {
        Arc::clone(&self.inbox) as Arc<dyn Wake>
    }
}

impl Drop for InProcessPort {
    fn drop(&mut self) {
        let mut ports = self.network.ports.lock().unwrap_or_else(PoisonError::into_inner);
        ports.retain(|port| !Arc::ptr_eq(port, &self.inbox));
    }
}
