//! Token buckets at the ends of links, and rates that follow their traces.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::machine::namespace::Namespace;

/// Burst of an interface, in seconds of its rate at the start; at least two frames.
const BURST_SECONDS: f64 = 0.005;
const LEAST_BURST_BYTES: f64 = 3028.0;
/// Least queue of an interface, in bytes.
const LEAST_QUEUE_BYTES: f64 = 16.0 * 1500.0;

/// Returns a line for `tc`, which adds or changes the rate at which an interface sends. The line uses a token
/// bucket, since that splits datagrams that a program sends together (GSO); an HTB class sends all of them
/// together. The bucket's size never changes: a packet that was admitted whole would not fit a smaller one,
/// and would wait forever. Packets that would wait for longer than `queue_s` seconds are dropped.
pub fn bucket(verb: &str, interface: &str, start_bps: f64, now_bps: f64, queue_s: f64) -> String {
    let bytes_per_s = |bps: f64| bps.max(8.0) / 8.0;
    let rate = (bytes_per_s(now_bps) * 8.0).round();
    let burst = (bytes_per_s(start_bps) * BURST_SECONDS).max(LEAST_BURST_BYTES).round();
    let limit = (bytes_per_s(now_bps) * queue_s).max(LEAST_QUEUE_BYTES).round();
    format!("qdisc {verb} dev {interface} root handle 1: tbf rate {rate}bit burst {burst} limit {limit}\n")
}

/// Rates over time, in seconds from the start of their traces.
pub trait Rates: Send + 'static {
    /// Returns the time of the next change of a rate after a time; `None` if no rate changes.
    fn next_change(&self, after_s: f64) -> Option<f64>;

    /// Returns the commands for `tc` in a namespace, by its number, after a change of rates.
    fn script(&self, namespace: usize, now_s: f64) -> String;
}

/// A thread that changes rates by the traces; stops when dropped.
#[derive(Debug)]
pub struct RateFollower {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RateFollower {
    /// Begins at time 0 of the traces, which was at `began`. Namespaces have names for messages.
    pub fn start(
        rates: impl Rates,
        namespaces: Vec<(String, Namespace)>,
        began: Instant,
    ) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let follow = move || {
            let mut now_s = 0.0;
            while let Some(change_s) = rates.next_change(now_s) {
                let at = began + Duration::from_secs_f64(change_s);
                match stopped.recv_timeout(at.saturating_duration_since(Instant::now())) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
                for (number, (name, namespace)) in namespaces.iter().enumerate() {
                    if let Err(error) = namespace.batch("tc", &rates.script(number, change_s)) {
                        tracing::error!("rates of {name} stay as they were: {error}");
                    }
                }
                now_s = change_s;
            }
        };
        let thread = thread::Builder::new().name("rates".into()).spawn(follow)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for RateFollower {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been printed already
        }
    }
}
