//! Inputs and results of programs. The audit reads sums by their bytes; it adds nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::ring::News;

/// Values and sums of 8 processes at most: each has a byte of its own in every sum.
#[derive(Debug)]
pub struct Audit {
    /// Number of starts of each process.
    incarnations: Vec<u8>,
    /// By round and process: the bytes that its program passed in, one per life at most.
    given: BTreeMap<(u64, usize), BTreeSet<u8>>,
    sums: BTreeMap<u64, u64>,
    /// Rounds with a received sum since the start, by process.
    heard: Vec<Vec<u64>>,
}

impl Audit {
    pub fn new(count: u32) -> Self {
        let (incarnations, heard) = (vec![0; count as usize], vec![Vec::new(); count as usize]);
        Audit { incarnations, given: BTreeMap::new(), sums: BTreeMap::new(), heard }
    }

    pub fn starts(&mut self, who: usize) {
        self.incarnations[who] += 1;
        self.heard[who].clear();
    }

    /// Takes a report of a process. Returns its program's round and value.
    pub fn hear(&mut self, who: usize, news: News) -> Result<Option<(u64, u64)>, String> {
        match news {
            News::Wanted(round) => {
                let byte = 16 * (round % 16) as u8 + self.incarnations[who];
                self.given.entry((round, who)).or_default().insert(byte);
                Ok(Some((round, u64::from(byte) << (8 * who))))
            }
            News::Sum(round, sum) => self.sum(who, round, sum).map(|()| None),
        }
    }

    /// Checks that a sum has one value of each process that its program passed in, and is the same
    /// everywhere.
    fn sum(&mut self, who: usize, round: u64, sum: u64) -> Result<(), String> {
        for (process, byte) in sum.to_le_bytes().into_iter().enumerate() {
            let given = self.given.get(&(round, process)).is_some_and(|given| given.contains(&byte));
            if !given && (process < self.incarnations.len() || byte != 0) {
                return Err(format!("round {round}: {byte:#x} of process {process} in {sum:#x}"));
            }
        }
        if *self.sums.entry(round).or_insert(sum) != sum {
            return Err(format!("round {round}: process {who} has another sum, {sum:#x}"));
        }
        self.heard[who].push(round);
        Ok(())
    }

    /// Returns each round has a sum, and a process that has started once has had each of them once, in order.
    pub fn end(&self, rounds: u64) -> Result<(), String> {
        let mut steady =
            self.heard.iter().zip(&self.incarnations).filter(|(_, incarnations)| **incarnations == 1);
        let is_all = |heard: &Vec<u64>| heard.iter().copied().eq(0..rounds);
        let is_right = self.sums.keys().copied().eq(0..rounds) && steady.all(|(heard, _)| is_all(heard));
        if is_right { Ok(()) } else { Err(format!("sums that processes had: {:?}", self.heard)) }
    }
}
