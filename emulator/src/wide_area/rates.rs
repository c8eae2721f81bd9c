//! Rates that follow their traces.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_overlay::{ArcId, Overlay};

use crate::namespace::Namespace;

/// Changes rates when the traces say so; stops when dropped.
#[derive(Debug)]
pub struct RateFollower {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RateFollower {
    /// Begins at time 0 of the traces, which was at `began`.
    pub fn start(overlay: Arc<Overlay>, sites: Vec<Namespace>, began: Instant) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let follow = move || {
            let mut now_s = 0.0;
            while let Some(change_s) = overlay.next_change(now_s) {
                let at = began + Duration::from_secs_f64(change_s);
                match stopped.recv_timeout(at.saturating_duration_since(Instant::now())) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
                for (site, namespace) in sites.iter().enumerate() {
                    if let Err(error) = namespace.batch("tc", &changes(&overlay, site, change_s)) {
                        tracing::error!("rates of {} stay as they were: {error}", overlay.sites()[site]);
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

fn changes(overlay: &Overlay, site: usize, now_s: f64) -> String {
    let arcs = overlay.arcs().filter(|&arc| overlay.ends(arc).0.index() == site);
    arcs.map(|arc| rate_command("change", overlay, arc, now_s)).collect()
}

/// What a link's end sends at once, in seconds of its rate at the start, and at least two frames.
const BURST_SECONDS: f64 = 0.001;
const LEAST_BURST_BYTES: f64 = 3028.0;
/// What a link's end holds back before it drops: what it sends in so long, and at least so much.
const QUEUE_SECONDS: f64 = 0.05;
const LEAST_QUEUE_BYTES: f64 = 16.0 * 1500.0;

/// A line for `tc`, which adds or changes the rate of one end of a link. It is a token bucket since that cuts
/// what a program hands over as many datagrams at once (GSO); an HTB class lets them all go together. The
/// bucket's size never changes: what was let in whole would not fit a smaller one, and wait there for ever.
pub(super) fn rate_command(verb: &str, overlay: &Overlay, arc: ArcId, now_s: f64) -> String {
    let bytes_per_s = |at_s: f64| overlay.rates_at(at_s).of(arc).max(8.0) / 8.0;
    let (link, rate) = (arc.index() / 2, (bytes_per_s(now_s) * 8.0).round());
    let burst = (bytes_per_s(0.0) * BURST_SECONDS).max(LEAST_BURST_BYTES).round();
    let limit = (bytes_per_s(now_s) * QUEUE_SECONDS).max(LEAST_QUEUE_BYTES).round();
    format!("qdisc {verb} dev l{link} root handle 1: tbf rate {rate}bit burst {burst} limit {limit}\n")
}
