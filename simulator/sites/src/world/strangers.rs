//! Schedulers: the right one, and those that have another document.

use std::sync::Arc;
use std::time::Duration;

use inart_connections::{Machine as _, Output, PeerNo};
use inart_planner_sites::{Options as PlanOptions, Scheme};
use inart_protocol_sites::{Policy, SiteNo};
use inart_sites_agent::message::{Body, encode};
use inart_sites_agent::policy_message::policy_message;
use inart_sites_agent::{Peer, Scheduler, SchedulerNews, SchedulerProcess};
use inart_topologies::sites::{Overlay, SiteJob};

use super::{Knowledge, World, peer};
use crate::fault::OtherDocument;

impl World<'_> {
    /// Starts a scheduler in the place of that which runs, if one does.
    pub(super) fn start_scheduler(&mut self, other: Option<OtherDocument>) {
        for (a, b) in self.connections.of(Peer::Scheduler) {
            self.disconnect(a, b);
        }
        let (overlay, job) = (self.overlay.clone(), self.overlay.jobs()[0].clone());
        let plan = self.options.plan.clone();
        let (overlay, job, plan) = match other {
            Some(other) => changed(overlay, job, plan, other),
            None => (overlay, job, plan),
        };
        self.stranger = other;
        let scheduler = match self.options.knowledge {
            Knowledge::Passive => Scheduler::new(overlay, job, plan, self.options.prior_bps),
            Knowledge::Static => {
                let rates = overlay.rates_at(0.0);
                Scheduler::knowing(overlay, job, plan, rates)
            }
        };
        let sites = (0..self.sites.len()).map(|site| SiteNo(site as u16));
        // A plan takes no virtual time.
        let process = SchedulerProcess::new(scheduler, sites);
        self.scheduler = process.ok().map(|process| process.with_pause(Duration::ZERO));
    }

    /// A site is connected to the scheduler.
    pub(super) fn meets_scheduler(&mut self, site: SiteNo) {
        let now = self.now();
        let Some(scheduler) = &mut self.scheduler else { return };
        scheduler.up(PeerNo(site.0.into()), now);
        let offered = scheduler.scheduler().offered().cloned();
        // One with another document offers its plans to all the same.
        if let Some(policy) = offered.filter(|_| self.stranger.is_some()) {
            self.offer(Peer::Site(site), encode(Body::Offer(policy_message(&policy))));
        }
        self.carry_out_scheduler();
    }

    /// Does what the scheduler wants.
    pub(super) fn carry_out_scheduler(&mut self) {
        let now = self.now();
        while let Some(output) = self.scheduler.as_mut().and_then(|scheduler| scheduler.next(now)) {
            match output {
                Output::Send { to, data, .. } => self.offer(peer(to.index()), data),
                Output::Work(work) => {
                    let done = work.run();
                    self.scheduler.iter_mut().for_each(|scheduler| scheduler.done(done.clone(), now));
                }
                Output::Tell(SchedulerNews::Offered(policy)) => self.offered(policy),
                Output::Tell(SchedulerNews::Warned(_)) | Output::Copy(_) | Output::Over => {}
            }
        }
    }

    fn offered(&mut self, policy: Arc<Policy>) {
        if self.stranger.is_none() {
            self.plans.insert(policy.version, policy);
            return;
        }
        self.refused.push(policy.clone());
        let data = encode(Body::Offer(policy_message(&policy)));
        (0..self.sites.len()).for_each(|site| self.offer(peer(site), data.clone()));
    }
}

/// What another scheduler plans for. A document that cannot be changed so is changed in its scheme.
fn changed(
    overlay: Arc<Overlay>,
    job: SiteJob,
    plan: PlanOptions,
    other: OtherDocument,
) -> (Arc<Overlay>, SiteJob, PlanOptions) {
    let text = overlay.to_yaml();
    let text = match other {
        OtherDocument::Link => with_a_link(&overlay, &text),
        OtherDocument::Chunks => {
            let chunk_bytes =
                if job.chunk_bytes >= 8 { job.chunk_bytes / 8 * 4 } else { 2 * job.chunk_bytes };
            with_chunks(&text, chunk_bytes)
        }
        OtherDocument::Scheme => None,
    };
    match text.and_then(|text| Overlay::from_yaml(&text).ok()) {
        Some(other) => {
            debug_assert_ne!(other.to_yaml(), overlay.to_yaml(), "another document");
            let job = other.jobs()[0].clone();
            (Arc::new(other), job, plan)
        }
        None => {
            let schemes = Scheme::ALL;
            let at = schemes.iter().position(|scheme| *scheme == plan.scheme).unwrap_or(0);
            (overlay, job, PlanOptions::new(schemes[(at + 1) % schemes.len()]))
        }
    }
}

/// The document with chunks of that size.
fn with_chunks(text: &str, chunk_bytes: u64) -> Option<String> {
    let (before, size) = text.split_once("chunk: ")?;
    let after = size.find([',', '}', '\n']).map_or("", |end| &size[end..]);
    Some(format!("{before}chunk: {chunk_bytes} B{after}"))
}

/// The document with a link between the first two sites that have none, ten times as fast as all others.
fn with_a_link(overlay: &Overlay, text: &str) -> Option<String> {
    let sites: Vec<_> = overlay.site_ids().collect();
    let pairs = sites.iter().enumerate().flat_map(|(at, a)| sites[at + 1..].iter().map(move |b| (*a, *b)));
    let (a, b) = pairs.into_iter().find(|(a, b)| overlay.arc_between(*a, *b).is_none())?;
    let fastest = overlay.links().iter().flat_map(|link| link.rates_bps).fold(0.0, f64::max);
    let [a, b] = [a, b].map(|site| overlay.site_name(site));
    let link = format!("links:\n  - {{ends: [\"{a}\", \"{b}\"], rate: {} bps}}\n", 10.0 * fastest);
    Some(text.replacen("links:\n", &link, 1))
}
