//! Bytes of messages that are not whole, and of whole messages that wait for the consumer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// Unfinished messages of one connection, by their order.
#[derive(Debug, Default)]
struct Ledger {
    begun: u64,
    bytes: u64,
    messages: BTreeMap<u64, u64>,
}

/// Limits the bytes of the unfinished messages of one connection.
///
/// Waiting would not do: unread bytes of messages that wait fill the connection's window, and then the
/// messages that are read cannot arrive either. So messages above the limit are refused, and the oldest never
/// is.
#[derive(Debug, Clone)]
pub(crate) struct Unfinished {
    most: u64,
    ledger: Arc<Mutex<Ledger>>,
}

impl Unfinished {
    /// With a limit in bytes.
    pub fn new(most: u64) -> Self {
        Unfinished { most, ledger: Arc::default() }
    }

    /// Starts a message, which counts until it is dropped.
    pub fn begin(&self) -> OneUnfinished {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.begun += 1;
        let order = ledger.begun;
        ledger.messages.insert(order, 0);
        OneUnfinished { all: self.clone(), order }
    }
}

/// An unfinished message.
#[derive(Debug)]
pub(crate) struct OneUnfinished {
    all: Unfinished,
    order: u64,
}

impl OneUnfinished {
    /// Adds bytes that have arrived. Returns whether the message may go on: if the connection's messages are
    /// within the limit, or this one is the oldest.
    pub fn add(&self, bytes: u64) -> bool {
        let mut ledger = self.all.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.bytes += bytes;
        *ledger.messages.entry(self.order).or_default() += bytes;
        let oldest = ledger.messages.first_key_value().map(|(order, _)| *order);
        ledger.bytes <= self.all.most || oldest == Some(self.order)
    }
}

impl Drop for OneUnfinished {
    fn drop(&mut self) {
        let mut ledger = self.all.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = ledger.messages.remove(&self.order).unwrap_or(0);
        ledger.bytes -= bytes;
    }
}

/// Bytes of whole messages that the consumer has not taken.
#[derive(Debug, Clone)]
pub(crate) struct Untaken {
    most: u64,
    bytes: Arc<watch::Sender<u64>>,
}

impl Untaken {
    /// With a limit in bytes, after which nothing is read.
    pub fn new(most: u64) -> Self {
        Untaken { most, bytes: Arc::default() }
    }

    /// Waits until the consumer has taken enough.
    pub async fn room(&self) {
        if *self.bytes.borrow() >= self.most {
            // The sender is here, so there is no error.
            let _ = self.bytes.subscribe().wait_for(|bytes| *bytes < self.most).await;
        }
    }

    /// A whole message waits.
    pub fn add(&self, bytes: usize) {
        self.bytes.send_modify(|all| *all = all.saturating_add(bytes as u64));
    }

    /// The consumer has taken a message.
    pub fn take(&self, bytes: usize) {
        self.bytes.send_modify(|all| *all = all.saturating_sub(bytes as u64));
    }

    /// The consumer takes no more.
    pub fn end(&self) {
        self.bytes.send_modify(|all| *all = 0);
    }
}
