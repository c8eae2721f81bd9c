//! What the daemon has seen of the network and decided, kept by the task that does so and read by the API and
//! the changer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use inart_planner_aggregation::Scheme;
use inart_steering::{Decision, ReplanThresholds, Shares};
use inart_topologies::switched::Job;
use inart_wire::JobId;
use tokio::sync::{mpsc, oneshot};

use crate::api::proto;

/// How a daemon watches the network and decides.
#[derive(Clone)]
pub struct Steer {
    /// When another plan is worth a change, or whether nothing is changed at all.
    pub thresholds: ReplanThresholds,
    /// How often the switches' counters are read.
    pub every: Duration,
    /// How long the planner may take.
    pub plan_within: Duration,
    /// With which it plans.
    pub scheme: &'static dyn Scheme,
}

/// Somebody wants a decision.
pub(crate) struct Asked {
    pub shares: Shares,
    /// Hears what was decided, or why nothing was.
    pub answer: oneshot::Sender<Result<Decision, String>>,
}

/// What was seen and decided.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// What has failed, by name.
    pub failed: Vec<String>,
    /// Switches that are gone.
    pub gone: BTreeSet<String>,
    /// What others use, bit/s in the topology's own rates, by resource; only what is more than nothing.
    pub background: BTreeMap<String, f64>,
    /// Workers that the others wait for though no network explains it: why.
    pub late: BTreeMap<String, String>,
    /// The last decisions, oldest first.
    pub decisions: Vec<Decision>,
}

/// Shared between the task that watches and those who ask.
#[derive(Default)]
pub(super) struct Steered {
    seen: Mutex<Seen>,
    /// To the task, once it runs.
    asking: Mutex<Option<mpsc::UnboundedSender<Asked>>>,
    /// The network's jobs, if others were submitted since the task looked last.
    jobs: Mutex<Option<Vec<Job>>>,
    /// What hosts said last, by job and role.
    reports: Mutex<BTreeMap<(JobId, String), proto::ReportMetricsRequest>>,
}

impl Steered {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As it is now.
    pub fn seen(&self) -> Seen {
        self.lock().clone()
    }

    /// Changes what is known.
    pub fn update(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.lock());
    }

    /// Whether a switch is known to be gone.
    pub fn is_gone(&self, switch: &str) -> bool {
        self.lock().gone.contains(switch)
    }

    /// The network has these jobs from now on.
    pub fn know_jobs(&self, jobs: Vec<Job>) {
        *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = Some(jobs);
    }

    /// The network's jobs, if they are others than at the last call.
    pub fn take_jobs(&self) -> Option<Vec<Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Hears a host.
    pub fn hear(&self, job: JobId, said: proto::ReportMetricsRequest) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.insert((job, said.role.clone()), said);
    }

    /// What hosts said last.
    pub fn reports(&self) -> BTreeMap<(JobId, String), proto::ReportMetricsRequest> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// For the API; `None` if nobody watches.
    pub fn network(&self) -> Option<proto::Network> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?;
        let Seen { failed, background, late, .. } = self.seen();
        let background = background.into_iter().map(|(resource, bps)| proto::Background { resource, bps });
        let late = late.into_iter().map(|(host, why)| proto::Straggler { host, why });
        Some(proto::Network { failed, background: background.collect(), stragglers: late.collect() })
    }

    /// From now on questions come here.
    pub fn listen(&self) -> mpsc::UnboundedReceiver<Asked> {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.asking.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// Asks for a decision; `None` if nobody watches.
    pub fn ask(&self, shares: Shares) -> Option<oneshot::Receiver<Result<Decision, String>>> {
        let (answer, answered) = oneshot::channel();
        let asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        asking.as_ref()?.send(Asked { shares, answer }).ok()?;
        Some(answered)
    }
}
