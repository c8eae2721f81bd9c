//! Periodic metrics of a running host for the controller.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use inart_protocol_aggregation::{ServerStatus, WorkerStatus};
use inart_wire::{Incarnation, JobId};
use tokio::sync::oneshot;

use crate::client::Client;
use crate::proto;
use crate::source::Source;

/// Interval of the reports.
const EVERY: Duration = Duration::from_secs(1);

/// Metrics of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostReport {
    /// Tensors that the program has started since the host started.
    pub started: u64,
    /// Tensors of these whose sums are complete.
    pub ended: u64,
    /// Current sending rate, bit/s of Ethernet frames.
    pub rate_bps: f64,
    /// Sending rate of the plan, bit/s; congestion lowers the current one.
    pub planned_rate_bps: f64,
    /// Counters since the start of the host's view.
    pub counted: Counted,
    /// Smoothed round trip to the server with the longest queue, and the shortest one to that server, in
    /// seconds.
    pub round_trip: Option<(f64, f64)>,
}

/// Counters of a host since the start of its view.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counted {
    /// Frames sent, of any kind.
    pub frames_sent: u64,
    /// Retransmitted gradients of a worker, or results of a server.
    pub frames_resent: u64,
    /// Results that completed a chunk; of a server, gradients and partials that it added.
    pub frames_received: u64,
    /// Frames of these with a congestion mark.
    pub frames_marked: u64,
    /// Bytes of the frames of summed chunks.
    pub summed_bytes: u64,
    /// Seconds in which the host had something to send or to wait for; 0 for a server.
    pub busy_seconds: f64,
}

impl From<&WorkerStatus> for HostReport {
    fn from(worker: &WorkerStatus) -> Self {
        let (shards, counters) = (&worker.shards, worker.counters);
        let started = worker.round.map_or(0, |round| u64::from(round) + 1);
        let round_trips = shards.iter().filter_map(|shard| shard.rtt_seconds.zip(shard.least_rtt_seconds));
        let queue = |(time, least): &(f64, f64)| time - least;
        Self {
            started,
            ended: started - u64::from(worker.in_round && started > 0),
            rate_bps: shards.iter().map(|shard| shard.rate_bps).sum(),
            planned_rate_bps: shards.iter().map(|shard| shard.planned_rate_bps).sum(),
            counted: Counted {
                frames_sent: counters.frames_sent,
                frames_resent: counters.retransmissions,
                frames_received: counters.results,
                frames_marked: counters.marked,
                summed_bytes: counters.results * worker.frame_bytes as u64,
                busy_seconds: worker.busy_seconds,
            },
            round_trip: round_trips.max_by(|one, other| queue(one).total_cmp(&queue(other))),
        }
    }
}

impl From<&ServerStatus> for HostReport {
    fn from(server: &ServerStatus) -> Self {
        let counters = server.counters;
        Self {
            counted: Counted {
                frames_sent: counters.frames_sent,
                frames_resent: counters.resends_sent,
                frames_received: counters.gradients + counters.partials,
                frames_marked: counters.marked,
                summed_bytes: counters.chunks * server.frame_bytes as u64,
                busy_seconds: 0.0,
            },
            ..Self::default()
        }
    }
}

impl HostReport {
    /// Converts the report into a request.
    fn request(self, job: JobId, role: String, incarnation: Incarnation) -> proto::ReportMetricsRequest {
        let Self { started, ended, rate_bps, planned_rate_bps, counted, round_trip } = self;
        proto::ReportMetricsRequest {
            job: job.get().into(),
            role,
            incarnation: incarnation.get(),
            started,
            ended,
            rate_bps,
            planned_rate_bps,
            frames_sent: counted.frames_sent,
            frames_resent: counted.frames_resent,
            frames_received: counted.frames_received,
            frames_marked: counted.frames_marked,
            summed_bytes: counted.summed_bytes,
            busy_seconds: counted.busy_seconds,
            rtt_seconds: round_trip.map(|(time, _)| time),
            least_rtt_seconds: round_trip.map(|(_, least)| least),
        }
    }
}

/// Thread that reports for a host. Dropping it ends the thread.
#[derive(Debug)]
pub struct Reporting {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Reporting {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been reported
        }
    }
}

impl Source {
    /// Reports metrics of the host that was granted role `who` of the job in `incarnation` to the
    /// controller every second, in a thread of its own. Skips reports while the controller is unreachable.
    /// Returns `None` for a host with an assignment file, which has no controller.
    ///
    /// # Errors
    /// If the operating system cannot create a thread.
    pub fn report(
        &self,
        job: JobId,
        who: &str,
        incarnation: Incarnation,
        report: impl Fn() -> Option<HostReport> + Send + 'static,
    ) -> io::Result<Option<Reporting>> {
        let Self::Controller { address, security, .. } = self else { return Ok(None) };
        let (address, security, role) = (address.clone(), security.clone(), who.to_owned());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let reports = async move {
            let mut connected: Option<Client> = None;
            loop {
                tokio::time::sleep(EVERY).await;
                let Some(report) = report() else { continue };
                let request = report.request(job, role.clone(), incarnation);
                if connected.is_none() {
                    connected = Client::connect(&address, &security).await.ok();
                }
                if let Some(client) = &connected
                    && client.report_metrics(request).await.is_err()
                {
                    connected = None;
                }
            }
        };
        let work = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = reports => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = thread::Builder::new().name("inart-report".into()).spawn(work)?;
        Ok(Some(Reporting { stop: Some(stop), thread: Some(thread) }))
    }
}
