//! Rates that follow their traces.

use std::fmt::Write;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_overlay::Overlay;

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
    let rates = overlay.rates_at(now_s);
    let mut script = String::new();
    for arc in overlay.arcs().filter(|&arc| overlay.ends(arc).0.index() == site) {
        let rate = rates.of(arc).max(8.0).round();
        let burst = (rate / 8.0 * 0.004).max(6000.0).round();
        let _ = writeln!(
            script,
            "class change dev l{} parent 1: classid 1:1 htb rate {rate}bit burst {burst} cburst {burst} \
             quantum 1514",
            arc.index() / 2
        );
    }
    script
}
