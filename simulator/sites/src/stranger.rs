//! A scheduler with another document, which offers its plans to all sites.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine as _, Output, PeerNo};
use inart_planner_sites::PlanError;
use inart_protocol_sites::TransmissionPolicy;
use inart_sites_agent::message::{Body, encode};
use inart_sites_agent::policy_message::policy_message;
use inart_sites_agent::{SchedulerNews, SchedulerProcess};

/// Number of the first offer.
const FIRST_OFFER: u64 = 1 << 32;

/// Machine of a scheduler, and offers that it would not make: to sites with other terms.
#[derive(Debug)]
pub(crate) struct Stranger {
    machine: SchedulerProcess,
    sites: u32,
    offers: VecDeque<(PeerNo, Bytes)>,
    offered: u64,
}

impl Stranger {
    /// Creates a scheduler of `sites` sites from its machine.
    pub fn new(machine: SchedulerProcess, sites: usize) -> Self {
        Stranger { machine, sites: sites as u32, offers: VecDeque::new(), offered: 0 }
    }

    /// Returns the machine.
    pub fn machine(&mut self) -> &mut SchedulerProcess {
        &mut self.machine
    }

    /// Records a connection, and offers the plan that was offered to others.
    pub fn up(&mut self, peer: PeerNo, now: Duration) {
        self.machine.up(peer, now);
        let offered = self.machine.scheduler().offered();
        self.offers.extend(offered.map(|policy| (peer, offer(policy))));
    }

    /// Returns when the machine is due.
    pub fn wake_at(&self) -> Option<Duration> {
        self.machine.wake_at()
    }

    /// Returns the next output. Offers go before the machine's messages, so they may arrive before its hello.
    pub fn next(
        &mut self,
        now: Duration,
    ) -> Option<Output<SchedulerNews, Result<TransmissionPolicy, PlanError>>> {
        if let Some((to, data)) = self.offers.pop_front() {
            self.offered += 1;
            return Some(Output::Send { to, id: FIRST_OFFER + self.offered, data, priority: i32::MAX });
        }
        let output = self.machine.next(now)?;
        if let Output::Report(SchedulerNews::Offered(policy)) = &output {
            let data = offer(policy);
            self.offers.extend((0..self.sites).map(|site| (PeerNo(site), data.clone())));
        }
        Some(output)
    }
}

fn offer(policy: &TransmissionPolicy) -> Bytes {
    encode(Body::Offer(policy_message(policy)))
}
