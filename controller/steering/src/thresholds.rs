//! When another plan is worth a change.

use std::time::Duration;

/// The thresholds. What fails on a plan's paths is answered in spite of all of them but `dry_run`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplanThresholds {
    /// By which factor the rate has to rise for a change. 1.1 by default.
    pub gain: f64,
    /// The least time between the end of a change and the next question. 1 s by default.
    pub gap: Duration,
    /// Changes within an hour at most, those for failures counted, but not refused. 60 by default.
    pub per_hour: usize,
    /// The part of a capacity by which what others use of it has to differ from what the plan in force was
    /// made for, before a question is asked. 0.05 by default.
    pub hysteresis: f64,
    /// How long what others no longer use is still counted for, see [`crate::Background`]. 2 s by default.
    pub time_constant: Duration,
    /// How long what failed has to be in order again before plans use it. 2 s by default.
    pub back_after: Duration,
    /// How long after it was last seen to have failed a part is tried again, though nothing shows that it is
    /// in order: what no plan uses carries nothing that could. Twice as long each time that it turns out to
    /// have failed still, up to 64 times as long. A minute by default.
    pub forget_after: Duration,
    /// How long after a change that came to nothing it is tried again. 5 s by default.
    pub again_after: Duration,
    /// How long plans that somebody else put in force are left alone before others are looked for. 2 s by
    /// default.
    pub settle: Duration,
    /// The part of a host's frames that it sends again, and the part of those it gets that are marked, from
    /// which on the network is congested for it. 0.05 and 0.25 by default.
    pub retransmitted: f64,
    /// See [`ReplanThresholds::retransmitted`].
    pub marked: f64,
    /// So is it where a host's chunks are summed at less than this part of the best rate that they had by the
    /// plan in force. 0.5 by default.
    pub delivered: f64,
    /// How many of a host's reports in a row have to show that. 3 by default.
    pub congested_reports: u32,
    /// How often shares are planned anew (phase 1), if at all. Never by default.
    pub shares_every: Option<Duration>,
    /// Whether nothing is changed, and only said what would be. Off by default.
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
            back_after: Duration::from_secs(2),
            forget_after: Duration::from_secs(60),
            again_after: Duration::from_secs(5),
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
