//! Exchanges of updates between the slowest port and another.

use super::loads::Loads;

/// Most updates for which all divisions between two ports are tried.
const TRIED: usize = 10;

/// A change at the slowest port: updates move to another receiver, and others move back.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Senders that move to the other receiver.
    pub goes: Vec<usize>,
    /// Senders that move to the slowest one.
    pub comes: Vec<usize>,
    /// Other receiver.
    pub with: usize,
    /// Time at which the later of both ports is done afterwards, in seconds.
    pub seconds: f64,
}

/// Returns the best step between two ports.
pub(super) fn between(loads: &Loads<'_>, slowest: usize, with: usize) -> Option<Step> {
    let going: Vec<usize> = movable(loads, slowest, with);
    let coming: Vec<usize> = movable(loads, with, slowest);
    let pair = Two { loads, slowest, with };
    match going.len() + coming.len() <= TRIED {
        true => pair.all_ways(&going, &coming),
        false => pair.one_for_one(&going, &coming),
    }
}

/// Returns the senders of one port that may send to the other instead, by size, ascending.
fn movable(loads: &Loads<'_>, at: usize, to: usize) -> Vec<usize> {
    loads.senders[at].iter().copied().filter(|&from| loads.is_free(from, to)).collect()
}

struct Two<'l> {
    loads: &'l Loads<'l>,
    slowest: usize,
    with: usize,
}

impl Two<'_> {
    /// Returns when the later port is done if `moved` bits change sides, in seconds.
    fn after(&self, moved: f64) -> f64 {
        let Two { loads, slowest, with } = *self;
        let (from, to) = (loads.down[slowest] - moved, loads.down[with] + moved);
        (from / loads.bps(slowest)).max(to / loads.bps(with))
    }

    /// Tries every division of the updates.
    fn all_ways(&self, going: &[usize], coming: &[usize]) -> Option<Step> {
        let all: Vec<f64> = going
            .iter()
            .map(|&from| self.loads.bits(from))
            .chain(coming.iter().map(|&from| -self.loads.bits(from)))
            .collect();
        let mut moved = vec![0.0; 1 << all.len()];
        let (mut best, mut best_s) = (0usize, f64::INFINITY);
        for set in 1..moved.len() {
            let low = set.trailing_zeros() as usize;
            moved[set] = moved[set & (set - 1)] + all[low];
            if moved[set] > 0.0 {
                let seconds = self.after(moved[set]);
                if seconds < best_s {
                    (best, best_s) = (set, seconds);
                }
            }
        }
        let picked = |list: &[usize], shift: usize| {
            let is_in = |at: &usize| best >> (at + shift) & 1 == 1;
            (0..list.len()).filter(is_in).map(|at| list[at]).collect()
        };
        let goes: Vec<usize> = picked(going, 0);
        let comes = picked(coming, going.len());
        (best > 0).then_some(Step { goes, comes, with: self.with, seconds: best_s })
    }

    /// Moves one update, or exchanges two. The ideal amount to move leaves both ports done at once; of all
    /// pairs of updates, the one whose difference is nearest to it is found by a merge of both orders.
    fn one_for_one(&self, going: &[usize], coming: &[usize]) -> Option<Step> {
        let Two { loads, slowest, with } = *self;
        let (from_bps, to_bps) = (loads.bps(slowest), loads.bps(with));
        let wanted = (loads.down[slowest] * to_bps - loads.down[with] * from_bps) / (from_bps + to_bps);
        let mut best: Option<(usize, Option<usize>, f64)> = None;
        let mut consider = |goes: usize, comes: Option<usize>| {
            let moved = loads.bits(goes) - comes.map_or(0.0, |comes| loads.bits(comes));
            let seconds = self.after(moved);
            if moved > 0.0 && best.is_none_or(|(.., best)| seconds < best) {
                best = Some((goes, comes, seconds));
            }
        };
        let mut at = 0;
        for &goes in going {
            consider(goes, None);
            // The last one that leaves more than wanted, and the one after it.
            while at < coming.len() && loads.bits(goes) - loads.bits(coming[at]) > wanted {
                at += 1;
            }
            for near in [at.checked_sub(1), Some(at)].into_iter().flatten() {
                if let Some(&comes) = coming.get(near) {
                    consider(goes, Some(comes));
                }
            }
        }
        let (goes, comes, seconds) = best?;
        Some(Step { goes: vec![goes], comes: comes.into_iter().collect(), with, seconds })
    }
}
