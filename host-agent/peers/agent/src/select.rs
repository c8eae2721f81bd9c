//! Selection of receivers.

use std::sync::Arc;

use inart_planner_peers::{Pairs, Problem, Reading, Scheme, Setting, SplitMix64, Task};

/// Chooses receivers. Peers that take part are numbered from 0 in the order of their ranks.
pub trait Selector {
    /// Returns the receivers of every update of one round. `ranks`: ranks of the peers that take part.
    ///
    /// # Errors
    /// No receivers can be chosen; the reason is the end of a sentence.
    fn round(&mut self, problem: &Problem, ranks: &[usize]) -> Result<Pairs, String>;

    /// Returns the receivers of each active multicast, in the order of `tasks`. The task numbered `ready` is
    /// about to start, and has no receivers yet or all; each other task gets a subset of its receivers.
    /// `ranks`: ranks of the peers that take part.
    ///
    /// # Errors
    /// No receivers can be chosen; the reason is the end of a sentence.
    fn ready(
        &mut self,
        setting: &Setting<'_>,
        tasks: &[Task],
        ready: usize,
        ranks: &[usize],
    ) -> Result<Vec<Vec<usize>>, String>;
}

/// The schemes of `inart-planner-peers`.
#[derive(Debug, Clone)]
pub struct Schemes {
    scheme: Scheme,
    reading: Reading,
    random: SplitMix64,
    job: String,
    /// With the scheme `own`: user-defined receivers, by rank.
    given: Option<Arc<Pairs>>,
}

impl Schemes {
    /// Creates schemes from a scheme, a reading of Algorithm 2 and the seed of Orpheus' draws; error messages
    /// name the job.
    pub fn new(scheme: Scheme, reading: Reading, seed: u64, job: &str) -> Self {
        Schemes { scheme, reading, random: SplitMix64::new(seed), job: job.to_owned(), given: None }
    }

    /// Uses user-defined receivers, by rank. Receivers that do not take part are left out; others replace
    /// them where too few remain.
    pub fn following(self, given: Option<Arc<Pairs>>) -> Self {
        Schemes { scheme: if given.is_some() { Scheme::Own } else { self.scheme }, given, ..self }
    }

    /// Returns the union of `required` and the user-defined pairs, as numbers of the peers that take part.
    fn with_given(&self, required: &Pairs, ranks: &[usize]) -> Pairs {
        let mut all = required.clone();
        let Some(given) = &self.given else { return all };
        let known = |rank: &usize| *rank < given.peers();
        for (from, &from_rank) in ranks.iter().enumerate().filter(|(_, rank)| known(rank)) {
            let chosen = ranks.iter().enumerate().filter(|(_, rank)| known(rank));
            let chosen = chosen.filter(|(_, to)| given.has(from_rank, **to));
            chosen.for_each(|(to, _)| all.insert(from, to));
        }
        all
    }
}

impl Selector for Schemes {
    fn round(&mut self, problem: &Problem, ranks: &[usize]) -> Result<Pairs, String> {
        let second_pass = self.reading.second_pass;
        let required = self.with_given(&problem.required, ranks);
        let problem = Problem { required, ..problem.clone() };
        inart_planner_peers::select(&problem, self.scheme, second_pass, &mut self.random, &self.job)
            .map_err(|error| error.to_string())
    }

    fn ready(
        &mut self,
        setting: &Setting<'_>,
        tasks: &[Task],
        ready: usize,
        ranks: &[usize],
    ) -> Result<Vec<Vec<usize>>, String> {
        match self.scheme {
            Scheme::Optimal => Err(format!("scheme {} plans whole rounds only", self.scheme)),
            // These schemes do not look at other multicasts.
            Scheme::Orpheus | Scheme::Own => {
                let from = tasks[ready].from;
                let n = setting.bits.len();
                let required = self.with_given(setting.required, ranks);
                let own = required.receivers(from).map(|to| (from, to));
                let problem = Problem {
                    ports: setting.ports.clone(),
                    bits: setting.bits.to_vec(),
                    receivers: setting.receivers,
                    required: Pairs::of(n, own),
                    waited: setting.waited.clone(),
                    multicast: setting.multicast,
                };
                let drawn =
                    inart_planner_peers::select(&problem, self.scheme, false, &mut self.random, &self.job);
                let drawn = drawn.map_err(|error| error.to_string())?;
                let mut chosen: Vec<Vec<usize>> = tasks.iter().map(|task| task.to.clone()).collect();
                chosen[ready] = drawn.receivers(from).collect();
                Ok(chosen)
            }
            // No active receiver is dropped.
            Scheme::Optimized => {
                let others = tasks.iter().enumerate().filter(|(at, _)| *at != ready);
                let others: Vec<Task> = others.map(|(_, task)| task.clone()).collect();
                let mut chosen: Vec<Vec<usize>> = tasks.iter().map(|task| task.to.clone()).collect();
                chosen[ready] = inart_planner_peers::join(setting, tasks[ready].from, &others);
                Ok(chosen)
            }
            Scheme::Selmcast => Ok(inart_planner_peers::reselect(setting, tasks, &self.reading).to),
        }
    }
}

#[cfg(test)]
mod tests {
    use inart_planner_peers::{Multicast, Waits};
    use inart_topologies::peers::Ports;

    use super::*;

    /// Peer 0 sends to three peers and has half of its update left when peer 1 is ready.
    fn chosen(scheme: Scheme) -> Vec<Vec<usize>> {
        let ports = Ports { up_bps: vec![40e6; 4], down_bps: vec![10e6, 10e6, 10e6, 10e6] };
        let (required, waited) = (Pairs::of(4, [(1, 2)]), Waits::none(4));
        let setting = Setting {
            ports: &ports,
            bits: &[1e6; 4],
            receivers: 1,
            multicast: Multicast::Hosts,
            required: &required,
            waited: &waited,
        };
        let under_way = Task { from: 0, to: vec![1, 2, 3], left_bits: 0.9e6, wait_s: 0.0 };
        let begins = Task { from: 1, to: vec![0, 2, 3], left_bits: 1e6, wait_s: 0.0 };
        let mut schemes = Schemes::new(scheme, Reading::default(), 1, "job");
        schemes.ready(&setting, &[under_way, begins], 1, &[0, 1, 2, 3]).expect("receivers")
    }

    #[test]
    fn ours_takes_nothing_from_those_under_way_and_algorithm_2_does() {
        let ours = chosen(Scheme::Optimized);
        assert_eq!(ours[0], [1, 2, 3]);
        assert!(ours[1].contains(&2), "the required receiver: {ours:?}");
        // Peer 3 shares its port with peer 0's update, and peer 0's own incoming port is idle.
        assert!(ours[1].contains(&0), "the emptiest port: {ours:?}");
        assert_ne!(chosen(Scheme::Selmcast)[0], [1, 2, 3]);
    }
}
