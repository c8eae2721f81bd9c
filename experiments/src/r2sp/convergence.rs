//! Convergence of a training of clients.

/// Rounds without a better accuracy after which a training has converged (Section VI-B).
const STAGNANT: u32 = 10;

/// An accuracy below that of converged trainings. The time to reach it varies less than the time to stagnate.
pub const TARGET: f64 = 0.95;

/// A training that has converged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Converged {
    /// Best accuracy, from 0 to 1.
    pub accuracy: f64,
    /// Rounds until convergence, including those that stagnated.
    pub rounds: u32,
    /// Time of convergence, in seconds.
    pub seconds: f64,
    /// Time at which the accuracy reached [`TARGET`], if it did, in seconds.
    pub to_target_s: Option<f64>,
}

/// A training that does not converge.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("after {rounds} rounds the accuracy, {best:.3} at best, has not stagnated for {STAGNANT} rounds")]
pub struct NotConverged {
    rounds: u32,
    best: f64,
}

/// Accuracies, one per round.
#[derive(Debug, Clone, Default)]
pub struct Convergence {
    best: f64,
    rounds: u32,
    stagnant: u32,
    to_target_s: Option<f64>,
    reached: Option<Converged>,
}

impl Convergence {
    /// Reports whether the training has converged.
    pub fn is_over(&self) -> bool {
        self.reached.is_some()
    }

    /// Records the accuracy after one more round. After convergence nothing changes.
    pub fn evaluated(&mut self, at_s: f64, accuracy: f64) {
        if self.is_over() {
            return;
        }
        self.rounds += 1;
        self.stagnant = if accuracy > self.best { 0 } else { self.stagnant + 1 };
        self.best = self.best.max(accuracy);
        if accuracy >= TARGET {
            self.to_target_s.get_or_insert(at_s);
        }
        if self.stagnant == STAGNANT {
            let (accuracy, rounds, to_target_s) = (self.best, self.rounds, self.to_target_s);
            self.reached = Some(Converged { accuracy, rounds, seconds: at_s, to_target_s });
        }
    }

    /// Returns the result of the training.
    ///
    /// # Errors
    /// A training that has not converged.
    pub fn reached(&self) -> Result<Converged, NotConverged> {
        self.reached.ok_or(NotConverged { rounds: self.rounds, best: self.best })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ten_rounds_without_a_better_one_end_it() {
        let mut convergence = Convergence::default();
        let rounds = [0.5, 0.975, 0.7].into_iter().chain([0.975; 8]);
        rounds.enumerate().for_each(|(at, accuracy)| convergence.evaluated(at as f64, accuracy));
        // Nine rounds since the best one.
        let error = convergence.reached().unwrap_err().to_string();
        assert!(error.contains("11 rounds") && error.contains("0.975"), "{error}");
        // A better one restarts the count.
        convergence.evaluated(20.0, 0.98);
        for at in 0..9 {
            convergence.evaluated(21.0 + f64::from(at), 0.98);
        }
        assert!(!convergence.is_over());
        convergence.evaluated(30.0, 0.1);
        let reached = Converged { accuracy: 0.98, rounds: 22, seconds: 30.0, to_target_s: Some(1.0) };
        assert_eq!(convergence.reached(), Ok(reached));
        convergence.evaluated(31.0, 0.99);
        assert_eq!(convergence.reached(), Ok(reached));
    }

    #[test]
    fn who_stagnates_below_the_target_has_not_reached_it() {
        let mut convergence = Convergence::default();
        (0..11).for_each(|at| convergence.evaluated(f64::from(at), 0.5));
        let converged = convergence.reached().unwrap();
        assert_eq!((converged.accuracy, converged.rounds, converged.to_target_s), (0.5, 11, None));
    }
}
