//! Settings that all processes of a training in groups must share, as numbers that switches can sum.
//!
//! Before its first turn a worker sums a tensor *terms* with its group: each number holds twelve bits of a
//! digest of a setting's value, and the numbers repeat so that every server has all of them. The mean over
//! the group must be the server's own number, or the setting differs. The answer is the server's own numbers,
//! which workers compare among servers.

use inart_terms::{digest_of_bytes, digest_of_values};

use crate::error::PartError;

/// Numbers per setting, and bits per number: small enough that sums over all workers are exact.
const WORDS: usize = 3;
const WORD_DIGITS: usize = 3;
/// Most settings: their numbers fit into every block of 256 values.
const MOST: usize = 80;
/// Numbers that differ by less are equal: the mean of equal numbers is exact but for a rounding, which grows
/// with the number of workers.
const ROUNDING: f32 = 0.01;
const ROUNDING_OF_WORKER: f32 = 1e-5;

/// Settings that workers do not know: they compare their servers.
const OF_SERVERS: [&str; 2] = ["order of groups", "number of groups that push at once"];

/// Settings that all must share, by name. No process knows every value: workers do not know the order of
/// groups, and servers not the learning rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreed {
    names: Vec<String>,
    /// Numbers in the order of names; `None` for a setting that is not known here.
    words: Vec<Option<f32>>,
}

impl Agreed {
    /// Creates the settings that each process knows: the number of groups, the model's length and its first
    /// weights; and the ones that only servers know: the jobs of groups in the order of turns, and the number
    /// of groups that push concurrently.
    pub fn new(groups: usize, first: &[f32], turns: Option<(&[String], usize)>) -> Self {
        let mut agreed = Agreed { names: Vec::new(), words: Vec::new() };
        agreed.add("number of groups", Some(groups.to_string()));
        agreed.add("number of values", Some(first.len().to_string()));
        agreed.add("first weights", Some(digest_of_values(first)));
        agreed.add(OF_SERVERS[0], turns.map(|(jobs, _)| jobs.join(", ")));
        agreed.add(OF_SERVERS[1], turns.map(|(_, concurrent_groups)| concurrent_groups.to_string()));
        agreed
    }

    /// Adds a setting; without a value if this process does not know it. Settings beyond 80 are ignored.
    pub fn add(&mut self, name: &str, value: Option<String>) {
        if self.names.len() >= MOST {
            return;
        }
        let digits = value.map(|value| digest_of_bytes(value.as_bytes()));
        let word = |at: usize| {
            let digits = digits.as_ref()?.get(at * WORD_DIGITS..(at + 1) * WORD_DIGITS)?;
            u16::from_str_radix(digits, 16).ok().map(f32::from)
        };
        self.words.extend((0..WORDS).map(word));
        self.names.push(name.to_owned());
    }

    /// Returns the number at a position of the tensor; 0 for a setting that is not known here.
    pub fn value(&self, at: usize) -> f32 {
        self.words[at % self.words.len()].unwrap_or(0.0)
    }

    /// Compares the mean of a group's numbers from a position on with those of a server; numbers that the
    /// server does not know are those of the first group. Settings that only servers know are not compared.
    ///
    /// # Errors
    /// The first setting that differs.
    pub fn compare(
        &mut self,
        group: usize,
        first: usize,
        (means, workers): (&[f32], f32),
    ) -> Result<(), PartError> {
        let rounding = ROUNDING.max(workers * ROUNDING_OF_WORKER);
        let mut other = None;
        for (at, mean) in (first..).zip(means) {
            let place = at % self.words.len();
            match self.words[place] {
                _ if self.is_of_servers(place) => {}
                Some(own) if (own - mean).abs() <= rounding => {}
                None => self.words[place] = Some(*mean),
                Some(_) => other = Some(other.unwrap_or(place).min(place)),
            }
        }
        match other {
            Some(place) => Err(PartError::Terms { group, name: self.names[place / WORDS].clone() }),
            None => Ok(()),
        }
    }

    /// Returns the first setting in which an answer differs from this worker's numbers, or between servers:
    /// its name, and the positions of both numbers.
    pub fn differs(&self, answer: &[f32]) -> Option<(&str, usize, usize)> {
        let period = self.words.len();
        let other = |at: &usize| {
            let own = self.words[at % period].unwrap_or_else(|| answer[at % period]);
            (own - answer[*at]).abs() > ROUNDING
        };
        let at = (0..answer.len()).filter(other).min_by_key(|at| at % period)?;
        Some((&self.names[at % period / WORDS], at % period, at))
    }

    fn is_of_servers(&self, place: usize) -> bool {
        OF_SERVERS.contains(&&*self.names[place / WORDS])
    }
}
