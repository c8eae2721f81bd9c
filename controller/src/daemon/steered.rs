//! Observations of the network and decisions: kept by the replanning task, and read by the API and the plan
//! updater.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use inart_planner_aggregation::Scheme;
use inart_steering::{Decision, ReplanThresholds, Shares};
use inart_topologies::switched::Job;
use inart_wire::JobId;
use tokio::sync::{mpsc, oneshot};

use crate::api::proto;

/// Settings of replanning.
#[derive(Clone)]
pub struct Steer {
    /// Thresholds, and whether plans are changed at all.
    pub thresholds: ReplanThresholds,
    /// Interval of reads of the switches' counters.
    pub every: Duration,
    /// Time limit of the planner.
    pub plan_within: Duration,
    /// Planning scheme.
    pub scheme: &'static dyn Scheme,
}

/// Request for a decision.
pub(crate) struct DecisionRequest {
    pub shares: Shares,
    /// Receives the decision, or an error.
    pub answer: oneshot::Sender<Result<Decision, String>>,
}

/// Observations and decisions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Failed parts, by name.
    pub failed: Vec<String>,
    /// Failed switches.
    pub failed_switches: BTreeSet<String>,
    /// Background traffic, bit/s in the topology's own rates, by resource; only what is above 0.
    pub background: BTreeMap<String, f64>,
    /// Stragglers, and why they delay the others.
    pub stragglers: BTreeMap<String, String>,
    /// Last decisions, oldest first.
    pub decisions: Vec<Decision>,
}

/// State that the replanning task and its clients share.
#[derive(Default)]
pub(super) struct Steered {
    seen: Mutex<Seen>,
    /// Sender to the task, once it runs.
    requests: Mutex<Option<mpsc::UnboundedSender<DecisionRequest>>>,
    /// Jobs of the network, if they changed since the task read them last.
    jobs: Mutex<Option<Vec<Job>>>,
    /// Last reports of hosts, by job and role.
    reports: Mutex<BTreeMap<(JobId, String), proto::ReportMetricsRequest>>,
}

impl Steered {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current observations.
    pub fn seen(&self) -> Seen {
        self.lock().clone()
    }

    /// Updates the observations.
    pub fn update(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.lock());
    }

    /// Returns whether a switch has failed.
    pub fn is_failed(&self, switch: &str) -> bool {
        self.lock().failed_switches.contains(switch)
    }

    /// Sets the jobs of the network.
    pub fn set_jobs(&self, jobs: Vec<Job>) {
        *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = Some(jobs);
    }

    /// Returns the jobs of the network, if they changed since the last call.
    pub fn take_jobs(&self) -> Option<Vec<Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Stores a report of a host.
    pub fn store_report(&self, job: JobId, report: proto::ReportMetricsRequest) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.insert((job, report.role.clone()), report);
    }

    /// Returns the last reports of hosts.
    pub fn reports(&self) -> BTreeMap<(JobId, String), proto::ReportMetricsRequest> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the network for the API; `None` without replanning.
    pub fn network(&self) -> Option<proto::Network> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?;
        let Seen { failed, background, stragglers, .. } = self.seen();
        let background = background.into_iter().map(|(resource, bps)| proto::Background { resource, bps });
        let stragglers = stragglers.into_iter().map(|(host, why)| proto::Straggler { host, why });
        Some(proto::Network { failed, background: background.collect(), stragglers: stragglers.collect() })
    }

    /// Returns the receiver of requests.
    pub fn listen(&self) -> mpsc::UnboundedReceiver<DecisionRequest> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// Requests a decision; `None` without replanning.
    pub fn request(&self, shares: Shares) -> Option<oneshot::Receiver<Result<Decision, String>>> {
        let (answer, answered) = oneshot::channel();
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.as_ref()?.send(DecisionRequest { shares, answer }).ok()?;
        Some(answered)
    }
}
