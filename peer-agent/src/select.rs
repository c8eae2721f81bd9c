//! Who chooses receivers.

use inart_peers::{Pairs, Problem, Reading, Scheme, Setting, SplitMix64, Task};

/// Chooses receivers. Peers are numbers from 0 on: those that take part, by rank.
pub trait Selector {
    /// The receivers of everybody's update of one round.
    ///
    /// # Errors
    /// Why there are none, as the end of a sentence.
    fn round(&mut self, problem: &Problem) -> Result<Pairs, String>;

    /// The receivers of each multicast from now on, in the order of `tasks`, of which the one numbered
    /// `ready` is about to begin, to nobody yet or to everybody: for the others, a subset of those so far.
    ///
    /// # Errors
    /// Why there are none, as the end of a sentence.
    fn ready(
        &mut self,
        setting: &Setting<'_>,
        tasks: &[Task],
        ready: usize,
    ) -> Result<Vec<Vec<usize>>, String>;
}

/// The schemes of `inart-peers`.
#[derive(Debug, Clone)]
pub struct Schemes {
    scheme: Scheme,
    reading: Reading,
    random: SplitMix64,
    job: String,
}

impl Schemes {
    /// A scheme, how Algorithm 2 is read, and what names Orpheus' draws; the job's name is for errors.
    pub fn new(scheme: Scheme, reading: Reading, seed: u64, job: &str) -> Self {
        Schemes { scheme, reading, random: SplitMix64::new(seed), job: job.to_owned() }
    }
}

impl Selector for Schemes {
    fn round(&mut self, problem: &Problem) -> Result<Pairs, String> {
        let second_pass = self.reading.second_pass;
        inart_peers::select(problem, self.scheme, second_pass, &mut self.random, &self.job)
            .map_err(|error| error.to_string())
    }

    fn ready(
        &mut self,
        setting: &Setting<'_>,
        tasks: &[Task],
        ready: usize,
    ) -> Result<Vec<Vec<usize>>, String> {
        match self.scheme {
            Scheme::Optimal => Err(format!("scheme {} plans whole rounds only", self.scheme)),
            // It neither looks at the others nor takes anything from them.
            Scheme::Orpheus => {
                let from = tasks[ready].from;
                let n = setting.bits.len();
                let own = setting.required.receivers(from).map(|to| (from, to));
                let problem = Problem {
                    ports: setting.ports.clone(),
                    bits: setting.bits.to_vec(),
                    receivers: setting.receivers,
                    required: Pairs::of(n, own),
                    waited: setting.waited.clone(),
                    multicast: setting.multicast,
                };
                let drawn = self.round(&problem)?;
                let mut chosen: Vec<Vec<usize>> = tasks.iter().map(|task| task.to.clone()).collect();
                chosen[ready] = drawn.receivers(from).collect();
                Ok(chosen)
            }
            Scheme::Inart | Scheme::Selmcast => Ok(inart_peers::reselect(setting, tasks, &self.reading).to),
        }
    }
}
