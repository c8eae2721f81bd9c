//! Rounds whose plans are remade at intervals, from links that are measured in other ways than by default:
//! what NETSTORM sets by UPDATE_TIME, PROBE_CHUNK_NUM and PROBE_CHUNK_SIZE.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::network::{Overlay, Rates, SiteJob};
use crate::plan::chunk_sizes;
use crate::planning;
use crate::rounds::{self, Network, Sample};
use crate::run::{Round, Run, RunError, RunOptions, Until};
use crate::scheme::Scheme;

/// How links are measured, and how often a plan is remade by it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// A plan is remade before the first round that begins after each multiple of this time, in seconds;
    /// before each round if it is 0.
    pub update_s: f64,
    /// A link's entry is the mean of its last so many samples, at least 1; with fewer samples it is the
    /// prior.
    pub samples: usize,
    /// Chunks of fewer bytes are no samples.
    pub least_bytes: u64,
}

/// Rounds back to back, planned by what chunks took on their links so far, whatever the options say of
/// knowledge. With plans before each round, 4 samples and chunks of any length it is [`crate::run()`] with
/// [`crate::Knowledge::Passive`].
///
/// # Errors
/// As of [`crate::run()`].
pub fn run_tuned(
    overlay: &Overlay,
    job: &SiteJob,
    options: &RunOptions,
    tuning: &Tuning,
) -> Result<Run, RunError> {
    let scheme = options.plan.scheme;
    let sending = rounds::sending(scheme, options.plan.auxiliary.map(|_| options.auxiliary));
    let mut network = Network::new(overlay, None, rounds::sharing(scheme, options.sharing), sending);
    let mut table = Samples::new(overlay, scheme, options.prior_bps, tuning);
    let (mut all, mut errors, mut sums): (Vec<Round>, f64, u64) = (Vec::new(), 0.0, 0);
    let mut in_force: Option<(f64, Arc<inart_sites::Policy>, Vec<u64>)> = None;
    let goes_on = |rounds: usize, now_s: f64| match options.until {
        Until::Rounds(most) => rounds < most as usize,
        Until::Seconds(end_s) => now_s <= end_s,
    };
    while goes_on(all.len(), network.now_s()) {
        let (now_s, believed) = (network.now_s(), table.rates());
        let truth = overlay.rates_at(now_s);
        errors += believed.0.iter().zip(&truth.0).map(|(b, t)| (b - t).abs() / t).sum::<f64>()
            / truth.0.len() as f64;
        let is_due = |made_s: f64| {
            tuning.update_s <= 0.0 || (now_s / tuning.update_s).floor() > (made_s / tuning.update_s).floor()
        };
        let (made_s, policy, bytes) = match in_force.take().filter(|(made_s, ..)| !is_due(*made_s)) {
            Some(same) => same,
            None => {
                let made = planning::make(overlay, job, &believed, &options.plan)?;
                let bytes = chunk_sizes(job, &made.plan);
                let mut policy = made.policy;
                policy.version = all.len() as u64 + 1;
                (now_s, Arc::new(policy), bytes)
            }
        };
        let ended = network.round(&policy, &bytes).ok_or(RunError::Stuck { round: all.len() })?;
        if ended.other_sums > 0 {
            return Err(RunError::Sums { round: all.len(), sums: ended.other_sums });
        }
        sums += ended.equal_sums;
        table.learn(&ended.samples);
        all.push(Round { start_s: ended.started_s, seconds: ended.ended_s - ended.started_s });
        in_force = Some((made_s, policy, bytes));
    }
    let count = (all.len() as f64).max(1.0);
    Ok(Run {
        scheme: scheme.name(),
        mean_s: all.iter().map(|round| round.seconds).sum::<f64>() / count,
        table_error: errors / count,
        rounds: all,
        sums,
        relayed: network.counters().iter().map(|counters| counters.relayed).sum(),
    })
}

/// What is believed of every directed link.
struct Samples {
    prior_bps: f64,
    most: usize,
    least_bits: f64,
    last: Vec<VecDeque<f64>>,
    /// What is taken off the time of a sample, as in [`crate::Table`].
    delays_s: Vec<f64>,
}

impl Samples {
    fn new(overlay: &Overlay, scheme: Scheme, prior_bps: f64, tuning: &Tuning) -> Self {
        let delay = |arc| if scheme == Scheme::Inart { overlay.delay_seconds(arc) } else { 0.0 };
        let delays_s: Vec<f64> = overlay.arcs().map(delay).collect();
        Samples {
            prior_bps,
            most: tuning.samples.max(1),
            least_bits: tuning.least_bytes as f64 * 8.0,
            last: vec![VecDeque::new(); delays_s.len()],
            delays_s,
        }
    }

    fn learn(&mut self, samples: &[Sample]) {
        for sample in samples.iter().filter(|sample| sample.bits >= self.least_bits) {
            let seconds = sample.seconds - self.delays_s[sample.arc.index()];
            let last = &mut self.last[sample.arc.index()];
            if last.len() == self.most {
                last.pop_front();
            }
            last.push_back(sample.bits / seconds.max(f64::MIN_POSITIVE));
        }
    }

    fn rates(&self) -> Rates {
        let entry = |last: &VecDeque<f64>| match last.len() == self.most {
            true => last.iter().sum::<f64>() / self.most as f64,
            false => self.prior_bps,
        };
        Rates(self.last.iter().map(entry).collect())
    }
}
