//! `inart controller --follow`: thresholds for changes of plans.

use std::time::Duration;

use inart_controller::daemon::Steer;
use inart_planner_aggregation::{Scheme, schemes};
use inart_steering::ReplanThresholds;

use crate::commands::values::duration;

/// Arguments of watching the network and of following it with plan changes.
#[derive(clap::Args)]
#[group(id = "following")]
pub struct FollowArgs {
    /// Watch the network and change the plans of running jobs when that pays.
    ///
    /// Plans change when a link or switch fails or recovers, and when background traffic makes another plan
    /// faster.
    #[arg(long)]
    follow: bool,
    /// Watch the network, but only log the changes that --follow would make.
    #[arg(long, conflicts_with = "follow")]
    dry_run: bool,
    /// With --follow or --dry-run: time between readings of the switches' counters.
    #[arg(long, value_name = "TIME", default_value = "0.5s", value_parser = duration)]
    watch_every: Duration,
    /// Time limit of the planner for one new plan.
    #[arg(long, value_name = "TIME", default_value = "0.3s", value_parser = duration)]
    plan_within: Duration,
    /// Least ratio of the new rate to the old one for a change; failures are always handled.
    #[arg(long, value_name = "FACTOR", default_value_t = ReplanThresholds::default().gain, value_parser = parse_gain)]
    gain: f64,
    /// Least time between two plan changes.
    #[arg(long = "min-change-interval", value_name = "TIME", default_value = "1s", value_parser = duration)]
    gap: Duration,
    /// Largest number of plan changes per hour.
    #[arg(long, value_name = "COUNT", default_value_t = ReplanThresholds::default().per_hour)]
    changes_per_hour: usize,
    /// Least change of background traffic, as a part of a capacity, that starts a search.
    #[arg(long, value_name = "PART", default_value_t = ReplanThresholds::default().hysteresis, value_parser = parse_part)]
    hysteresis: f64,
    /// Time constant for decaying the background-traffic estimate after traffic stops.
    #[arg(long = "background-decay", value_name = "TIME", default_value = "2s", value_parser = duration)]
    forget: Duration,
    /// Use a recovered link or switch again after it has been healthy for this long.
    #[arg(long = "hold-down", value_name = "TIME", default_value = "2s", value_parser = duration)]
    hold_down: Duration,
    /// Time between searches for new shares of elastic jobs, such as 4h, 90m or 30s.
    ///
    /// [default: search only when a server joins or leaves].
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
    /// Returns how the daemon watches and decides; `None` if it does not. Plans are made by `scheme` if it
    /// can start from the active plans, else by scheme optimized.
    pub fn steer(&self, scheme: &'static dyn Scheme) -> Option<Steer> {
        let thresholds = ReplanThresholds {
            gain: self.gain,
            gap: self.gap,
            per_hour: self.changes_per_hour,
            hysteresis: self.hysteresis,
            time_constant: self.forget,
            hold_down: self.hold_down,
            shares_every: self.shares_every,
            dry_run: self.dry_run,
            ..ReplanThresholds::default()
        };
        let scheme = if scheme.promises().starts_from_running { scheme } else { schemes::OPTIMIZED };
        let steer = Steer { thresholds, every: self.watch_every, plan_within: self.plan_within, scheme };
        (self.follow || self.dry_run).then_some(steer)
    }
}
