//! Figures of an emulation, at the network's own rates.

use inart_report::SiteRound;
use serde::Serialize;

use super::processes::Records;
use super::setting::{Setting, Variant};
use crate::error::Error;
use crate::machine::scale::Scaling;

/// Figures of an emulation. All times are at the document's rates, with its gradient.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The network's name.
    pub network: String,
    /// Ratio of the emulated network to the document's.
    pub scale: Scaling,
    /// Bytes summed in the emulation.
    pub gradient_bytes: u64,
    /// Each way to plan, in the order in which it ran.
    pub schemes: Vec<SchemeReport>,
}

/// Times of one round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RoundTime {
    /// Start at the first site, in seconds since the start of the first round.
    pub start_s: f64,
    /// Until the last site had the sum.
    pub seconds: f64,
    /// The version of the plan that it followed.
    pub version: u64,
}

/// Mean time of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PerRound {
    /// From the first round's beginning to the last one's end, per round, in seconds.
    pub mean_s: f64,
    /// Mean time from the end of the first round on.
    pub after_first_s: f64,
}

impl PerRound {
    /// Computes the times of rounds that ended at these times, in order, in seconds since the first round's
    /// start.
    pub fn of(ended_s: &[f64]) -> Self {
        let (first_s, last_s) = (ended_s.first().copied(), ended_s.last().copied());
        let (first_s, last_s) = (first_s.unwrap_or(0.0), last_s.unwrap_or(0.0));
        let mean_s = last_s / ended_s.len().max(1) as f64;
        let after_first_s =
            if ended_s.len() > 1 { (last_s - first_s) / (ended_s.len() - 1) as f64 } else { mean_s };
        PerRound { mean_s, after_first_s }
    }
}

/// Results of one variant.
#[derive(Debug, Clone, Serialize)]
pub struct SchemeReport {
    /// Name of the scheme.
    pub scheme: String,
    /// Rounds that all sites ended.
    pub rounds: Vec<RoundTime>,
    /// Time from the start of the first round to the end of the last, per round, in seconds. A site begins
    /// the next round when it has its own sum, so rounds overlap, and the sum of their times is greater.
    pub mean_s: f64,
    /// Mean time from the end of the first round on, in which connections start slowly; of one round alone,
    /// its time.
    pub after_first_s: f64,
    /// Both of the same rounds in virtual time; none for Gloo.
    pub simulated: Option<PerRound>,
    /// Time from a sum to the site's next gradient, in seconds, in real and in virtual time. This machine's
    /// processes take that time, so in wall-clock time it does not depend on the scale.
    pub compute_s: f64,
    /// The proven bound on the rates at the start, in seconds.
    pub bound_s: f64,
    /// Test accuracy at the end, 0 to 1; `None` without training.
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

impl SchemeReport {
    /// From times by the clock to the network's own.
    fn at_own_rates(mut self, scale: Scaling) -> Self {
        scale.apply(self.rounds.iter_mut().flat_map(|round| [&mut round.start_s, &mut round.seconds]));
        let simulated = self.simulated.iter_mut();
        scale.apply(simulated.flat_map(|of| [&mut of.mean_s, &mut of.after_first_s]));
        let own = [&mut self.mean_s, &mut self.after_first_s, &mut self.compute_s, &mut self.bound_s];
        scale.apply(own);
        self
    }
}

pub fn report(
    setting: &Setting,
    variant: &Variant,
    records: &Records,
    sums_checked: u64,
    simulated: Option<PerRound>,
    bound_s: f64,
    frames_lost: u64,
) -> Result<SchemeReport, Error> {
    let sites = setting.overlay.jobs()[0].sites.len();
    let whole = records.rounds.values().filter(|round| round.len() == sites);
    let first_ns = records.rounds.values().flat_map(|round| round.values()).map(|site| site.began_ns).min();
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
    let ended_s: Vec<f64> = rounds.iter().map(|round| round.start_s + round.seconds).collect();
    let PerRound { mean_s, after_first_s } = PerRound::of(&ended_s);
    let by_the_clock = SchemeReport {
        scheme: variant.name.clone(),
        mean_s,
        after_first_s,
        simulated,
        compute_s: records.compute_s(),
        rounds,
        bound_s,
        accuracy: records.counted.iter().find_map(|counted| counted.accuracy),
        sums_checked,
        relayed: records.counted.iter().map(|counted| counted.relayed).sum(),
        asks: records.counted.iter().map(|counted| counted.asks).sum(),
        frames_lost,
    };
    Ok(by_the_clock.at_own_rates(setting.scale))
}
