//! Host side of a site: events for the training loop, log, and status.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use inart_connections::{Host, Names, Transport};
use inart_host_agent::OnwardEvent;
use inart_host_agent::status::StatusPublisher;
use inart_protocol_aggregation::ServerCounters;
use inart_protocol_sites::SiteNo;
use inart_sites_agent::{Peer, SiteNews, SiteProcess, Wait, Waiting};

use crate::ending::Ending;
use crate::error::HostError;
use crate::next::Next;
use crate::workers_inside::WorkersInside;

/// Event for the training loop.
#[derive(Debug)]
pub(crate) enum SiteEvent {
    Ready(Next),
    Reduced {
        round: u32,
        sum: Vec<f32>,
        version: u64,
    },
    /// Sum of a chunk, in a round whose chunks are passed one by one.
    Summed {
        round: u32,
        chunk: usize,
        values: Vec<f32>,
    },
    /// Event of the parameter server inside the site.
    Inside(OnwardEvent),
    /// End of the parameter server inside the site.
    InsideEnded(Result<ServerCounters, inart_host_agent::Error>),
    StateWanted {
        round: u32,
    },
    Failed(HostError),
    Exited(Ending),
}

/// Workers that compute the site's gradient, once they are known.
pub(crate) type Inside = Arc<Mutex<Option<WorkersInside>>>;

/// Host side of a site.
pub(crate) struct SiteSide {
    names: Names,
    events: Sender<SiteEvent>,
    status: StatusPublisher,
    inside: Inside,
}

impl SiteSide {
    pub fn new(names: Names, events: Sender<SiteEvent>, status: StatusPublisher, inside: Inside) -> Self {
        SiteSide { names, events, status, inside }
    }

    /// Logs a wait of the site.
    fn log_wait(&self, process: &mut SiteProcess, network: &Transport, now: Duration) {
        let reported = process.driver_mut().next_waiting();
        if let Some(inside) = &mut *self.inside.lock().unwrap_or_else(PoisonError::into_inner) {
            let waiting = process.driver().waiting(now);
            let awaits = matches!(waiting, Some(Waiting { wait: Wait::Program { .. }, .. }));
            let has_begun = process.driver().round() > Some(1);
            if let Some((workers, waited)) = inside.due(awaits, has_begun) {
                tracing::warn!("waiting for workers inside: {workers} (for {} s)", waited.as_secs());
            }
            if awaits {
                return;
            }
        }
        let Some(Waiting { wait, waited }) = reported else { return };
        let name = |site: SiteNo, is_missing: bool| {
            let number = process.number(Peer::Site(site));
            match is_missing {
                true => crate::missing::in_words(&self.names, network, number),
                false => self.names.of(number).to_owned(),
            }
        };
        tracing::warn!("{} (for {} s)", wait.in_words(&name), waited.as_secs());
    }

    fn publish(&self, process: &SiteProcess, network: &Transport, now: Duration) {
        let mut status = crate::status::of_site(&self.names, network, process, now);
        if let Some(inside) = &*self.inside.lock().unwrap_or_else(PoisonError::into_inner) {
            crate::status::add_inside(&mut status, inside);
        }
        self.status.take(status);
    }
}

impl Host<SiteProcess> for SiteSide {
    type Error = HostError;

    /// Sends an event to the training loop. After a failure, the site notifies others until its training loop
    /// exits.
    fn report(&mut self, news: SiteNews, _process: &mut SiteProcess) -> Result<(), HostError> {
        let news = match news {
            SiteNews::Ready { round, training } => SiteEvent::Ready(Next::Round { round, training }),
            SiteNews::Ended { training } => SiteEvent::Ready(Next::Ended { training }),
            SiteNews::Reduced { round, sum, version } => SiteEvent::Reduced { round, sum, version },
            SiteNews::Summed { round, chunk, values } => SiteEvent::Summed { round, chunk, values },
            SiteNews::StateWanted { round } => SiteEvent::StateWanted { round },
            SiteNews::Failed(error) => SiteEvent::Failed(error.into()),
            SiteNews::Warned(text) => {
                tracing::warn!("{text}");
                return Ok(());
            }
        };
        // An exited training loop is noticed by its closed command channel.
        let _ = self.events.send(news);
        Ok(())
    }

    fn look(
        &mut self,
        process: &mut SiteProcess,
        network: &Transport,
        now: Duration,
    ) -> Result<(), HostError> {
        self.log_wait(process, network, now);
        if self.status.is_due() {
            self.publish(process, network, now);
        }
        Ok(())
    }
}
