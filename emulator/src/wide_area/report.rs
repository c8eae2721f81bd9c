//! What an emulation came to.

use serde::Serialize;

use super::processes::{Said, SiteRound};
use super::setting::{Setting, Variant};
use crate::error::Error;

/// What an emulation came to.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The network's name.
    pub network: String,
    /// Each way to plan, in the order in which it ran.
    pub schemes: Vec<SchemeReport>,
}

/// One round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RoundTime {
    /// When the first site began it, in seconds since the first round's beginning.
    pub start_s: f64,
    /// Until the last site had the sum.
    pub seconds: f64,
    /// The version of the plan that it followed.
    pub version: u64,
}

/// One way to plan.
#[derive(Debug, Clone, Serialize)]
pub struct SchemeReport {
    /// Its name.
    pub scheme: String,
    /// Rounds that all sites ended.
    pub rounds: Vec<RoundTime>,
    /// The time from the first round's beginning to the last one's end, per round, in seconds. A site begins
    /// the next round when it has its own sum, so rounds overlap, and their times add up to more.
    pub mean_s: f64,
    /// The same of the same rounds in virtual time, in seconds; none for Gloo.
    pub simulated_s: Option<f64>,
    /// How long a site took from a sum to its next gradient, in seconds, in real and in virtual time.
    pub compute_s: f64,
    /// The proven bound on the rates at the start, in seconds.
    pub bound_s: f64,
    /// Share of test images told rightly in the end; none without training.
    pub accuracy: Option<f64>,
    /// Values of sums that were compared, all equal.
    pub sums_checked: u64,
    /// Chunks passed on for others.
    pub relayed: u64,
    /// Times that sites asked for what they missed.
    pub asks: u64,
    /// Frames that the network lost.
    pub frames_lost: u64,
}

pub fn report(
    setting: &Setting,
    variant: &Variant,
    said: &Said,
    sums_checked: u64,
    simulated_s: Option<f64>,
    bound_s: f64,
    frames_lost: u64,
) -> Result<SchemeReport, Error> {
    let sites = setting.overlay.jobs()[0].sites.len();
    let whole = said.rounds.values().filter(|round| round.len() == sites);
    let first_ns = said.rounds.values().flat_map(|round| round.values()).map(|site| site.began_ns).min();
    let first_ns = first_ns.unwrap_or(0);
    let time = |round: &std::collections::BTreeMap<usize, SiteRound>| {
        let began = round.values().map(|site| site.began_ns).min().unwrap_or(0);
        let ended = round.values().map(|site| site.ended_ns).max().unwrap_or(0);
        let version = round.values().map(|site| site.version).max().unwrap_or(0);
        let seconds = |ns: u64| ns as f64 * 1e-9;
        RoundTime { start_s: seconds(began - first_ns), seconds: seconds(ended - began), version }
    };
    let rounds: Vec<RoundTime> = whole.map(time).collect();
    if rounds.is_empty() {
        let cause = std::io::Error::other("no round was ended by all sites");
        return Err(Error::System { what: "measure".to_owned(), cause });
    }
    let ended_s = rounds.iter().map(|round| round.start_s + round.seconds).fold(0.0, f64::max);
    Ok(SchemeReport {
        scheme: variant.name.clone(),
        mean_s: ended_s / rounds.len() as f64,
        simulated_s,
        compute_s: said.compute_s(),
        rounds,
        bound_s,
        accuracy: said.counted.iter().find_map(|counted| counted.accuracy),
        sums_checked,
        relayed: said.counted.iter().map(|counted| counted.relayed).sum(),
        asks: said.counted.iter().map(|counted| counted.asks).sum(),
        frames_lost,
    })
}
