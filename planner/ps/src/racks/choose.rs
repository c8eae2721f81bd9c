//! Chooses the number of groups.

use inart_topologies::switched::{Job as Planned, Topology};

use super::divide::racks_of;
use super::error::RackError;
use super::plans::Racks;
use inart_topologies::ps::Job;

/// Relative gain of a prediction that justifies more groups: more groups are more stale.
const GAIN: f64 = 1e-3;

/// A considered number of groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Considered {
    /// Number of groups.
    pub groups: usize,
    /// Predicted duration of an iteration, in seconds, if times do not vary.
    pub predicted_s: f64,
}

/// The best number of groups, and the considered ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice<'r> {
    /// The groups.
    pub racks: &'r Racks,
    /// All considered numbers, in the order of the candidates.
    pub considered: Vec<Considered>,
}

/// Plans a job in 1, 2, 3, 4, 6, 9, … groups, in one per rack and in one per worker.
///
/// # Errors
/// As for [`Racks::plan`].
pub fn candidate_racks(topology: &Topology, planned: &Planned) -> Result<Vec<Racks>, RackError> {
    let numbers = numbers(racks_of(topology, planned).len(), planned.workers.len());
    numbers.into_iter().map(|groups| Racks::plan(topology, planned, groups)).collect()
}

/// Returns the candidate with the shortest predicted iterations; of those within a thousandth, the one with
/// the fewest groups. Candidates must have rising numbers of groups. `None` without candidates.
pub fn choose_racks<'r>(candidates: &'r [Racks], job: &Job) -> Option<Choice<'r>> {
    let predicted_s = |racks: &Racks| racks.predicted_s(&racks.computes_s(job), job.bits);
    let considered: Vec<_> = candidates
        .iter()
        .map(|racks| Considered { groups: racks.groups.len(), predicted_s: predicted_s(racks) })
        .collect();
    let mut best: Option<(f64, &Racks)> = None;
    for (one, racks) in considered.iter().zip(candidates) {
        if best.is_none_or(|(least_s, _)| one.predicted_s < least_s * (1.0 - GAIN)) {
            best = Some((one.predicted_s, racks));
        }
    }
    best.map(|(_, racks)| Choice { racks, considered })
}

/// Returns numbers from 1 on, each about half as much again, and the number of racks and of workers.
fn numbers(racks: usize, workers: usize) -> Vec<usize> {
    let mut all = vec![racks, workers];
    let mut next = 1;
    while next < workers {
        all.push(next);
        next = (next + 1).max(next * 3 / 2);
    }
    all.sort_unstable();
    all.dedup();
    all.retain(|&number| (1..=workers).contains(&number));
    all
}

impl Racks {
    /// Returns the mean compute time of each group's slowest worker, in seconds.
    pub fn computes_s(&self, job: &Job) -> Vec<f64> {
        let of = |members: &[usize]| {
            let means = members.iter().map(|&at| job.participants[at].compute.mean_s);
            means.fold(0.0, f64::max)
        };
        self.groups.iter().map(|group| of(&group.members)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_racks_and_workers_among_them() {
        assert_eq!(numbers(2, 6), [1, 2, 3, 4, 6]);
        assert_eq!(numbers(18, 50), [1, 2, 3, 4, 6, 9, 13, 18, 19, 28, 42, 50]);
        assert_eq!(numbers(1, 1), [1]);
        assert!(numbers(0, 0).is_empty());
    }
}
