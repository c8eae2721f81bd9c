//! Congestion that hosts report: it also covers links where no switch counts.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_topologies::switched::NodeId;

use crate::observation::{HostSeen, Observation};
use crate::thresholds::ReplanThresholds;

/// Reports of one host.
#[derive(Debug, Clone, Default)]
struct Reports {
    /// Number of consecutive reports with congestion.
    congested: u32,
    /// Start of the first of them.
    since: Duration,
    /// Last report.
    last: HostSeen,
    /// Largest part of the plan's rate at which chunks were summed.
    best: f64,
    /// Earliest time of the next request about this host.
    not_before: Duration,
}

/// Reports of all hosts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Congestion(BTreeMap<NodeId, Reports>);

impl Congestion {
    /// Notes an interval that ended at `now`.
    pub fn note(&mut self, now: Duration, seen: &Observation, thresholds: &ReplanThresholds) {
        for (&host, report) in &seen.hosts {
            let reports = self.0.entry(host).or_default();
            // No new report, or nothing was sent.
            let is_silent =
                report.retransmitted.is_none() && report.marked.is_none() && report.delivered.is_none();
            if *report == reports.last || is_silent {
                continue;
            }
            reports.best = reports.best.max(report.delivered.unwrap_or(0.0).min(1.0));
            let above = |part: Option<f64>, most: f64| part.is_some_and(|part| part >= most);
            let is_slow = report.delivered.is_some_and(|part| part < thresholds.delivered * reports.best);
            reports.last = *report;
            if above(report.retransmitted, thresholds.retransmitted)
                || above(report.marked, thresholds.marked)
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

    /// Returns the host that has reported congestion for longest, except those with a recent request: since
    /// when, and its last report.
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

    /// Suppresses requests about congestion before that time, whichever host reports it.
    pub fn suppress(&mut self, not_before: Duration) {
        self.0.values_mut().for_each(|reports| reports.not_before = not_before);
    }

    /// Forgets all reports, because other plans became active.
    pub fn reset(&mut self) {
        for reports in self.0.values_mut() {
            *reports = Reports { not_before: reports.not_before, ..Reports::default() };
        }
    }
}
