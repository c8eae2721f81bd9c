//! `inart controller --follow`: when another plan is worth a change.

use std::time::Duration;

use inart_controller::daemon::Steer;
use inart_planner_aggregation::{Scheme, schemes};
use inart_steering::Policy;

use crate::commands::values::duration;

/// Arguments that say whether and how the network is watched and followed.
#[derive(clap::Args)]
#[group(id = "following")]
pub struct FollowArgs {
    /// Watch the network, and move jobs that run to other plans when links or switches fail, or when that is
    /// worth it for what others use.
    #[arg(long, conflicts_with_all = ["ask", "why", "replan"])]
    follow: bool,
    /// Watch the network, and only say in the log and by --why what would be changed.
    #[arg(long, conflicts_with_all = ["follow", "ask", "why", "replan"])]
    dry_run: bool,
    /// With --follow or --dry-run: read the switches' counters this often.
    #[arg(long, value_name = "TIME", default_value = "0.5s", value_parser = duration)]
    watch_every: Duration,
    /// Give the planner so much time for another plan.
    #[arg(long, value_name = "TIME", default_value = "0.3s", value_parser = duration)]
    plan_within: Duration,
    /// Change if the rate rises by this factor at least. Failures are answered in any case.
    #[arg(long, value_name = "FACTOR", default_value_t = Policy::default().gain, value_parser = parse_gain)]
    gain: f64,
    /// Leave so much time between changes.
    #[arg(long = "min-change-interval", value_name = "TIME", default_value = "1s", value_parser = duration)]
    gap: Duration,
    /// Change so often within an hour at most.
    #[arg(long, value_name = "COUNT", default_value_t = Policy::default().per_hour)]
    changes_per_hour: usize,
    /// Look for another plan if what others use of a capacity differs by this part of it from what the plan
    /// in force was made for.
    #[arg(long, value_name = "PART", default_value_t = Policy::default().hysteresis, value_parser = parse_part)]
    hysteresis: f64,
    /// Go on counting what others no longer use: 1/e of it is left after this time.
    #[arg(long = "background-decay", value_name = "TIME", default_value = "2s", value_parser = duration)]
    forget: Duration,
    /// Use what had failed again when it has been in order for this long.
    #[arg(long = "hold-down", value_name = "TIME", default_value = "2s", value_parser = duration)]
    back_after: Duration,
    /// Look for new shares of elastic jobs this often: a time such as 4h, 90m or 30s [default: only when
    /// servers come or go].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    shares_every: Option<Duration>,
}

fn parse_gain(text: &str) -> Result<f64, String> {
    let gain = text.parse().ok().filter(|gain: &f64| gain.is_finite() && *gain >= 1.0);
    gain.ok_or_else(|| "expected a factor of 1 or more, such as 1.1".into())
}

fn parse_part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part: &f64| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "expected a part from 0 to 1, such as 0.05".into())
}

impl FollowArgs {
    /// How the daemon watches and decides, if it does. Plans are made by `scheme` where that can start from
    /// those in force, else by ours.
    pub fn steer(&self, scheme: &'static dyn Scheme) -> Option<Steer> {
        let policy = Policy {
            gain: self.gain,
            gap: self.gap,
            per_hour: self.changes_per_hour,
            hysteresis: self.hysteresis,
            time_constant: self.forget,
            back_after: self.back_after,
            shares_every: self.shares_every,
            dry_run: self.dry_run,
            ..Policy::default()
        };
        let scheme = if scheme.promises().starts_from_running { scheme } else { schemes::OPTIMIZED };
        let steer = Steer { policy, every: self.watch_every, plan_within: self.plan_within, scheme };
        (self.follow || self.dry_run).then_some(steer)
    }
}
