//! The parts of the time of emulated rounds.

use std::io;

use serde::Serialize;

use super::super::processes::Records;
use super::audit::Audit;
use super::setting::BothSetting;
use crate::error::Error;

/// A round, in seconds from the first worker's beginning, at the network's own rates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BothRound {
    /// Until every site has the sum of its workers.
    pub inside_s: f64,
    /// From then until every site has the sum of all sites.
    pub between_s: f64,
    /// From then until every worker has it.
    pub back_s: f64,
    /// The whole.
    pub seconds: f64,
}

/// Figures of rounds of both levels, at the network's own rates.
#[derive(Debug, Clone, Serialize)]
pub struct BothReport {
    /// All rounds, in order.
    pub rounds: Vec<BothRound>,
    /// Their means.
    pub mean: BothRound,
    /// Values of sums that were compared at workers and sites, all equal.
    pub sums_checked: u64,
    /// Gradients that switches have summed.
    pub summed_in_switches: u64,
    /// Test accuracy at the end, 0 to 1; `None` without training.
    pub accuracy: Option<f64>,
    /// Chunks passed on for other sites.
    pub relayed: u64,
    /// Times that sites asked for what they missed.
    pub asks: u64,
    /// Frames that the links between sites lost.
    pub frames_lost: u64,
}

pub fn report(
    setting: &BothSetting,
    records: &Records,
    audit: &Audit,
    (summed_in_switches, accuracy): (u64, Option<f64>),
    frames_lost: u64,
) -> Result<BothReport, Error> {
    let sites = setting.hierarchy.overlay.jobs()[0].sites.len();
    let mut rounds = Vec::new();
    for ((round, of_sites), of_workers) in records.rounds.iter().zip(audit.times()) {
        if of_sites.len() != sites {
            let cause = io::Error::other(format!("round {round} was not ended by all sites"));
            return Err(Error::System { what: "measure".to_owned(), cause });
        }
        let bare = of_sites.values().filter(|site| site.own_ns.is_none()).map(|site| site.began_ns);
        let began = of_workers.iter().map(|worker| worker.began_ns).chain(bare).min().unwrap_or(0);
        let own = of_sites.values().filter_map(|site| site.own_ns).max().unwrap_or(began);
        let ended = of_sites.values().map(|site| site.ended_ns).max().unwrap_or(own);
        let back = of_workers.iter().map(|worker| worker.ended_ns).max().unwrap_or(ended).max(ended);
        let seconds = |from: u64, to: u64| setting.between.scale.own(to.saturating_sub(from) as f64 * 1e-9);
        rounds.push(BothRound {
            inside_s: seconds(began, own),
            between_s: seconds(own, ended),
            back_s: seconds(ended, back),
            seconds: seconds(began, back),
        });
    }
    if rounds.len() != setting.rounds as usize {
        let cause = io::Error::other(format!("{} of {} rounds have ended", rounds.len(), setting.rounds));
        return Err(Error::System { what: "measure".to_owned(), cause });
    }
    let mean = |of: fn(&BothRound) -> f64| rounds.iter().map(of).sum::<f64>() / rounds.len() as f64;
    let counted = &records.counted;
    Ok(BothReport {
        mean: BothRound {
            inside_s: mean(|round| round.inside_s),
            between_s: mean(|round| round.between_s),
            back_s: mean(|round| round.back_s),
            seconds: mean(|round| round.seconds),
        },
        rounds,
        sums_checked: audit.sums(),
        summed_in_switches,
        accuracy: accuracy.or(counted.iter().find_map(|counted| counted.accuracy)),
        relayed: counted.iter().map(|counted| counted.relayed).sum(),
        asks: counted.iter().map(|counted| counted.asks).sum(),
        frames_lost,
    })
}
