//! Thresholds of replanning.

use std::time::Duration;

/// Thresholds of replanning. Failures on a plan's paths override all of them except `dry_run`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplanThresholds {
    /// Least ratio of new to active rate for a change. 1.1 by default.
    pub gain: f64,
    /// Least time between the end of a change and the next request. 1 s by default.
    pub gap: Duration,
    /// Maximum number of changes within an hour. Changes for failures count, but are never refused. 60 by
    /// default.
    pub per_hour: usize,
    /// Least change of background traffic since the active plan was made that leads to a request, as part
    /// of the capacity. 0.05 by default.
    pub hysteresis: f64,
    /// Time constant of the decay of ended background traffic, see [`crate::Background`]. 2 s by default.
    pub time_constant: Duration,
    /// Hold-down time: a recovered part is used again after it has been healthy for this long. 2 s by
    /// default.
    pub hold_down: Duration,
    /// Time from the last observation of a failure until the part is probed by use, without a sign of
    /// recovery: a part without traffic cannot show any. Doubles with each failed probe, up to 64 times. 1
    /// min by default.
    pub probe_after: Duration,
    /// Time until a failed change is retried. 5 s by default.
    pub retry_after: Duration,
    /// Time for which plans that others activated are left alone before a request. 2 s by default.
    pub settle: Duration,
    /// Parts of a host's frames from which it counts as congested: retransmitted ones of the frames it
    /// sends, and marked ones of the frames it receives. 0.05 and 0.25 by default.
    pub retransmitted: f64,
    /// Marked part, see [`ReplanThresholds::retransmitted`].
    pub marked: f64,
    /// Part of the best summing rate under the active plan below which a host counts as congested. 0.5 by
    /// default.
    pub delivered: f64,
    /// Number of consecutive reports that must show congestion. 3 by default.
    pub congested_reports: u32,
    /// Interval of share changes (phase 1), if any. Never by default.
    pub shares_every: Option<Duration>,
    /// Whether decisions are only reported, not carried out. Off by default.
    pub dry_run: bool,
}

impl Default for ReplanThresholds {
    fn default() -> Self {
        ReplanThresholds {
            gain: 1.1,
            gap: Duration::from_secs(1),
            per_hour: 60,
            hysteresis: 0.05,
            time_constant: Duration::from_secs(2),
            hold_down: Duration::from_secs(2),
            probe_after: Duration::from_secs(60),
            retry_after: Duration::from_secs(5),
            settle: Duration::from_secs(2),
            retransmitted: 0.05,
            marked: 0.25,
            delivered: 0.5,
            congested_reports: 3,
            shares_every: None,
            dry_run: false,
        }
    }
}
