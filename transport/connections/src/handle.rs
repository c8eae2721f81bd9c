//! A machine on a thread of its own, for a program.

use std::future::Future;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender};

use crate::drive::Order;
use crate::error::Error;

/// Time between two looks at whether the thread still runs.
const LOOK: Duration = Duration::from_millis(500);

/// Orders `C` to a machine on a thread of its own, and reports `N` from there.
#[derive(Debug)]
pub struct Handle<C, N> {
    /// `None` once dropped, so that the thread ends.
    orders: Option<UnboundedSender<Order<C>>>,
    sender: Sender<N>,
    reports: Receiver<N>,
    thread: Option<JoinHandle<()>>,
}

/// Stops a process from another thread, such as one that waits for signals.
#[derive(Debug)]
pub struct Stopper<C>(Option<WeakUnboundedSender<Order<C>>>);

impl<C> Clone for Stopper<C> {
    fn clone(&self) -> Self {
        Stopper(self.0.clone())
    }
}

impl<C> Stopper<C> {
    /// Ends the process. Returns whether it was still running.
    pub fn stop(&self) -> bool {
        let orders = self.0.as_ref().and_then(WeakUnboundedSender::upgrade);
        orders.is_some_and(|orders| orders.send(Order::Stop).is_ok())
    }
}

impl<C: Send + 'static, N: Send + 'static> Handle<C, N> {
    /// Creates the runtime of the thread. Transports must be opened within it.
    ///
    /// # Errors
    /// The system refuses.
    pub fn runtime() -> Result<Runtime, Error> {
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)
    }

    /// Runs a future on a thread of that name, with the orders, and a sender of reports.
    ///
    /// # Errors
    /// The system refuses.
    pub fn start<F: Future<Output = ()>>(
        name: &str,
        runtime: Runtime,
        run: impl FnOnce(UnboundedReceiver<Order<C>>, Sender<N>) -> F + Send + 'static,
    ) -> Result<Self, Error> {
        let (orders, taken) = tokio::sync::mpsc::unbounded_channel();
        let (sender, reports) = mpsc::channel();
        let for_thread = sender.clone();
        let thread = std::thread::Builder::new().name(name.to_owned());
        let thread =
            thread.spawn(move || runtime.block_on(run(taken, for_thread))).map_err(Error::Runtime)?;
        Ok(Handle { orders: Some(orders), sender, reports, thread: Some(thread) })
    }

    /// Sends an order to the machine.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn command(&self, command: C) -> Result<(), Error> {
        let orders = self.orders.as_ref().ok_or(Error::Gone)?;
        orders.send(Order::Command(command)).map_err(|_| Error::Gone)
    }

    /// Returns a handle that stops the process from another thread.
    pub fn stopper(&self) -> Stopper<C> {
        Stopper(self.orders.as_ref().map(UnboundedSender::downgrade))
    }

    /// Returns a sender of reports, next to the thread's.
    pub fn sender(&self) -> Sender<N> {
        self.sender.clone()
    }

    /// Waits for the next report. `others`: whether another sender next to the thread will send some.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn next(&self, others: bool) -> Result<N, Error> {
        loop {
            match self.reports.recv_timeout(LOOK) {
                Ok(report) => return Ok(report),
                Err(_) if others || self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) => {}
                // The last report may have arrived since.
                Err(_) => return self.reports.try_recv().map_err(|_| Error::Gone),
            }
        }
    }

    /// Returns the reports that have arrived.
    pub fn arrived(&self) -> impl Iterator<Item = N> + '_ {
        self.reports.try_iter()
    }
}

impl<C, N> Handle<C, N> {
    /// Waits until the thread has ended.
    pub fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been printed already
        }
    }
}

impl<C, N> Drop for Handle<C, N> {
    /// Waits until the machine has ended: other processes receive the reason, if they must.
    fn drop(&mut self) {
        self.orders = None;
        self.join();
    }
}
