//! Process of the scheduler.

use std::collections::BTreeSet;
use std::time::Duration;

use inart_connections::{Host, Names, PeerNo, Transport, WaitWatch, drive};
use inart_host_agent::status::{AnyStatus, ProcessStatus, ProcessWait, StatusPublisher, StatusSocket};
use inart_protocol_sites::SiteNo;
use inart_sites_agent::{Scheduler, SchedulerNews, SchedulerProcess};
use inart_topologies::sites::Overlay;

use crate::error::HostError;
use crate::options::HostOptions;

/// Longest message of a site: a report has at most 256 samples.
const MOST_BYTES: u64 = 1 << 20;
/// Buffer for messages of one site, in bytes.
const MOST_HELD_BYTES: u64 = 16 << 20;

/// Plan that was offered to all sites.
#[derive(Debug, Clone)]
pub struct Offered {
    /// Version of the plan.
    pub version: u64,
    /// Number of trees of the plan.
    pub trees: usize,
}

/// Scheduler with its connections.
pub struct SchedulerHost {
    process: SchedulerProcess,
    names: Names,
    transport: Transport,
    status: StatusPublisher,
}

impl SchedulerHost {
    /// Listens, and starts to connect to all sites. `name`: own name, as in the certificate. Must be called
    /// within a tokio runtime.
    ///
    /// # Errors
    /// An unavailable address, or invalid certificates; terms that do not fit in a hello.
    pub fn open(
        overlay: &Overlay,
        scheduler: Scheduler,
        name: &str,
        options: HostOptions,
    ) -> Result<Self, HostError> {
        let names = Names { me: name.to_owned(), all: overlay.sites().to_vec() };
        let options = HostOptions { scheduler: None, ..options };
        let sites = options.peers.keys().filter_map(|site| names.number(site)).map(site);
        let process = SchedulerProcess::new(scheduler, sites)?;
        let mut quic = options.quic(MOST_BYTES);
        quic.held_bytes = Some(MOST_HELD_BYTES);
        let transport = Transport::quic(&names, quic)?;
        Ok(Self { process, names, transport, status: StatusPublisher::default() })
    }

    /// Publishes the scheduler's status on this socket.
    #[must_use]
    pub fn with_status(self, socket: StatusSocket<AnyStatus>) -> Self {
        self.status.set(socket);
        self
    }

    /// Serves sites forever; calls `on_offer` for every offered plan.
    ///
    /// # Errors
    /// Another process of the same name that is connected to a site and answers.
    pub async fn run(self, on_offer: impl FnMut(Offered)) -> Result<(), HostError> {
        // A scheduler has no program that sends orders.
        let (orders, taken) = tokio::sync::mpsc::unbounded_channel();
        let (names, status) = (self.names.clone(), self.status);
        let mut host = Scheduling { names, watch: WaitWatch::default(), plans: 0, status, on_offer };
        let ended = drive(self.process, &self.names, self.transport, taken, &mut host).await;
        drop(orders);
        ended.map(drop)
    }
}

fn site(number: PeerNo) -> SiteNo {
    SiteNo(number.0 as u16)
}

fn number(site: &SiteNo) -> PeerNo {
    PeerNo(site.0.into())
}

/// Host side of a scheduler: its log and its status.
struct Scheduling<F> {
    names: Names,
    watch: WaitWatch<BTreeSet<SiteNo>>,
    /// Number of plans that were offered.
    plans: u64,
    status: StatusPublisher,
    on_offer: F,
}

impl<F> Scheduling<F> {
    /// Logs the sites that are not connected.
    fn log_missing(&mut self, missing: &BTreeSet<SiteNo>, network: &Transport) {
        let waits = Some(missing).filter(|missing| !missing.is_empty());
        let Some(waited) = self.watch.due(waits.cloned(), true) else { return };
        let all = missing.iter().map(|site| crate::missing::in_words(&self.names, network, number(site)));
        tracing::warn!("waiting for {} (for {} s)", all.collect::<Vec<_>>().join("; "), waited.as_secs());
    }

    fn publish(&self, missing: &BTreeSet<SiteNo>, network: &Transport, now: Duration) {
        let waits = missing.iter().map(number).map(|site| {
            let (on, why) = (self.names.of(site).to_owned(), network.why_not(site));
            ProcessWait { on, why, seconds: now.as_secs_f64(), disconnected: true }
        });
        self.status.take(ProcessStatus {
            name: self.names.me.clone(),
            role: "scheduler".to_owned(),
            progress: self.plans,
            waits: waits.collect(),
            ..ProcessStatus::default()
        });
    }
}

impl<F: FnMut(Offered)> Host<SchedulerProcess> for Scheduling<F> {
    type Error = HostError;

    fn report(&mut self, news: SchedulerNews, process: &mut SchedulerProcess) -> Result<(), HostError> {
        match news {
            SchedulerNews::Warned(text) => tracing::warn!("{text}"),
            SchedulerNews::Offered(policy) => {
                tracing::debug!("bit/s by direction: {:?}", process.scheduler().believed().0);
                self.plans += 1;
                (self.on_offer)(Offered { version: policy.version, trees: policy.trees.len() });
            }
        }
        Ok(())
    }

    fn look(
        &mut self,
        process: &mut SchedulerProcess,
        network: &Transport,
        now: Duration,
    ) -> Result<(), HostError> {
        self.log_missing(process.missing(), network);
        if self.status.is_due() {
            self.publish(process.missing(), network, now);
        }
        Ok(())
    }
}
