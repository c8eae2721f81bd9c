//! Observation of hosts by the differences between their reports. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_steering::HostSeen;
use inart_topologies::switched::{NodeId, Topology};

use crate::api::proto::ReportMetricsRequest as Report;

/// Counters of hosts, by job and host, at the last new report.
#[derive(Debug, Clone, Default)]
pub struct HostReports(BTreeMap<(String, String), (Report, HostSums)>);

/// Differences between two reports.
#[derive(Debug, Clone, Copy, Default)]
struct HostSums {
    sent: u64,
    resent: u64,
    received: u64,
    marked: u64,
    /// Bits of frames of summed chunks, and bits at the planned rate in that time.
    summed: f64,
    planned: f64,
    queueing: Option<f64>,
}

impl HostReports {
    /// Computes observations of hosts from the last report of each, by job and name of the host. The
    /// observation of a host covers all its jobs.
    pub fn observe(
        &mut self,
        topology: &Topology,
        reports: BTreeMap<(String, String), Report>,
    ) -> BTreeMap<NodeId, HostSeen> {
        self.0.retain(|who, _| reports.contains_key(who));
        let mut hosts: BTreeMap<NodeId, (HostSums, u64, u64)> = BTreeMap::new();
        for (who, report) in reports {
            let sums = match self.0.get(&who) {
                Some((before, sums)) if *before == report => *sums,
                Some((before, _)) => since(before, &report),
                // The start of its counting is unknown.
                None => HostSums { queueing: queueing(&report), ..HostSums::default() },
            };
            if let Some(id) = topology.node_named(&who.1) {
                let (all, started, ended) = hosts.entry(id).or_default();
                all.add(sums);
                *started += report.started;
                *ended += report.ended;
            }
            self.0.insert(who, (report, sums));
        }
        let seen = |(id, (sums, started, ended)): (NodeId, (HostSums, u64, u64))| {
            (id, HostSeen { started: Some(started), ended: Some(ended), ..sums.seen() })
        };
        hosts.into_iter().map(seen).collect()
    }
}

/// Returns the differences between two reports; counters that decrease have restarted from 0.
fn since(before: &Report, now: &Report) -> HostSums {
    let same = before.incarnation == now.incarnation
        && before.frames_sent <= now.frames_sent
        && before.frames_received <= now.frames_received
        && before.busy_seconds <= now.busy_seconds;
    let nothing = Report::default();
    let before = if same { before } else { &nothing };
    let less = |now: u64, before: u64| now.saturating_sub(before);
    HostSums {
        sent: less(now.frames_sent, before.frames_sent),
        resent: less(now.frames_resent, before.frames_resent),
        received: less(now.frames_received, before.frames_received),
        marked: less(now.frames_marked, before.frames_marked),
        summed: 8.0 * less(now.summed_bytes, before.summed_bytes) as f64,
        planned: (now.busy_seconds - before.busy_seconds) * now.planned_rate_bps,
        queueing: queueing(now),
    }
}

fn queueing(report: &Report) -> Option<f64> {
    Some((report.rtt_seconds? - report.least_rtt_seconds?).max(0.0))
}

impl HostSums {
    fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.resent += other.resent;
        self.received += other.received;
        self.marked += other.marked;
        self.summed += other.summed;
        self.planned += other.planned;
        self.queueing = self.queueing.into_iter().chain(other.queueing).reduce(f64::max);
    }

    fn seen(self) -> HostSeen {
        let part = |some: u64, all: u64| (all > 0).then(|| (some as f64 / all as f64).min(1.0));
        HostSeen {
            retransmitted: part(self.resent, self.sent),
            marked: part(self.marked, self.received),
            queueing: self.queueing.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            delivered: (self.planned > 0.0).then(|| self.summed / self.planned),
            ..HostSeen::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology() -> Topology {
        Topology::from_yaml(
            "{name: star, nodes: [{name: v, kind: switch}, {name: s, kind: server}, {name: w, kind: worker}],
              links: [{ends: [w, v], rate: 1 Gbps}, {ends: [s, v], rate: 1 Gbps}], jobs: [{name: a}, {name: b}]}",
        )
        .expect("a valid topology")
    }

    fn report_and_observe(observer: &mut HostReports, reports: &[(&str, Report)]) -> HostSeen {
        let topology = topology();
        let of = |(job, report): &(&str, Report)| (((*job).to_owned(), "w".to_owned()), report.clone());
        let seen = observer.observe(&topology, reports.iter().map(of).collect());
        seen[&topology.node_named("w").expect("a worker")]
    }

    fn report(frames: u64, busy_seconds: f64) -> Report {
        Report {
            incarnation: 7,
            started: 3,
            ended: 2,
            planned_rate_bps: 8000.0,
            frames_sent: frames,
            frames_resent: frames / 4,
            frames_received: frames / 2,
            frames_marked: frames / 8,
            summed_bytes: 10 * frames,
            busy_seconds,
            rtt_seconds: Some(0.03),
            least_rtt_seconds: Some(0.01),
            ..Report::default()
        }
    }

    #[test]
    fn observations_cover_the_time_since_the_previous_report() {
        let mut observer = HostReports::default();
        let first = report_and_observe(&mut observer, &[("a", report(1000, 10.0))]);
        assert_eq!((first.retransmitted, first.delivered), (None, None), "over an unknown time");
        assert_eq!((first.started, first.ended), (Some(3), Some(2)));
        assert_eq!(first.queueing, Some(Duration::from_millis(20)));
        let second = report_and_observe(&mut observer, &[("a", report(1080, 11.0))]);
        assert_eq!((second.retransmitted, second.marked), (Some(0.25), Some(0.25)));
        // 800 of the 1000 bytes that were planned for a second.
        assert_eq!(second.delivered, Some(0.8));
        // Without a new report the observation stays.
        assert_eq!(report_and_observe(&mut observer, &[("a", report(1080, 11.0))]), second);
        // Another view counts from 0.
        let third = report_and_observe(&mut observer, &[("a", report(40, 0.1))]);
        assert_eq!((third.retransmitted, third.delivered), (Some(0.25), Some(4.0)));
    }

    #[test]
    fn an_observation_of_a_host_covers_all_its_jobs() {
        let mut observer = HostReports::default();
        report_and_observe(&mut observer, &[("a", report(0, 0.0)), ("b", report(0, 0.0))]);
        let lost = Report { frames_resent: 100, rtt_seconds: Some(0.05), ..report(100, 1.0) };
        let seen = report_and_observe(&mut observer, &[("a", report(100, 1.0)), ("b", lost)]);
        assert_eq!((seen.retransmitted, seen.delivered), (Some(0.625), Some(1.0)));
        assert_eq!(seen.queueing, Some(Duration::from_millis(40)));
        assert_eq!((seen.started, seen.ended), (Some(6), Some(4)));
    }
}
