//! Congestion by what hosts tell of it: it shows there also where no counter of a switch does.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_topologies::switched::NodeId;

use crate::observation::{HostSeen, Observation};
use crate::thresholds::ReplanThresholds;

/// Of one host.
#[derive(Debug, Clone, Default)]
struct Reports {
    /// Those in a row that show congestion.
    congested: u32,
    /// When the first of them began.
    since: Duration,
    /// The last one.
    last: HostSeen,
    /// The largest part of its plan's rate at which chunks were summed.
    best: f64,
    /// Nobody is asked about this host before.
    not_before: Duration,
}

/// What hosts tell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Congestion(BTreeMap<NodeId, Reports>);

impl Congestion {
    /// Takes note of an interval that ended at `now`.
    pub fn take(&mut self, now: Duration, seen: &Observation, thresholds: &ReplanThresholds) {
        for (&host, said) in &seen.hosts {
            let reports = self.0.entry(host).or_default();
            // Nothing new was said, or nothing was sent.
            let is_silent = said.retransmitted.is_none() && said.marked.is_none() && said.delivered.is_none();
            if *said == reports.last || is_silent {
                continue;
            }
            reports.best = reports.best.max(said.delivered.unwrap_or(0.0).min(1.0));
            let above = |part: Option<f64>, most: f64| part.is_some_and(|part| part >= most);
            let is_slow = said.delivered.is_some_and(|part| part < thresholds.delivered * reports.best);
            reports.last = *said;
            if above(said.retransmitted, thresholds.retransmitted)
                || above(said.marked, thresholds.marked)
                || is_slow
            {
                if reports.congested == 0 {
                    reports.since = now.saturating_sub(seen.interval);
                }
                reports.congested += 1;
            } else {
                reports.congested = 0;
            }
        }
    }

    /// The host that tells of it for longest, of those that nobody was asked about lately: since when, and
    /// what it told last.
    pub fn longest(
        &self,
        now: Duration,
        thresholds: &ReplanThresholds,
    ) -> Option<(NodeId, Duration, HostSeen)> {
        let is_congested = |(_, reports): &(&NodeId, &Reports)| {
            reports.congested >= thresholds.congested_reports.max(1) && now >= reports.not_before
        };
        let longest =
            self.0.iter().filter(is_congested).min_by_key(|(host, reports)| (reports.since, **host));
        longest.map(|(&host, reports)| (host, reports.since, reports.last))
    }

    /// Somebody was asked: not again before that moment, whoever tells of it.
    pub fn asked(&mut self, not_before: Duration) {
        self.0.values_mut().for_each(|reports| reports.not_before = not_before);
    }

    /// Other plans are in force: what hosts told before is of no use.
    pub fn begin_anew(&mut self) {
        for reports in self.0.values_mut() {
            *reports = Reports { not_before: reports.not_before, ..Reports::default() };
        }
    }
}
