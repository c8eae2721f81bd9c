//! An incoming update.

use std::time::Duration;

use crate::ranges::Ranges;
use crate::update::Cut;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Assembly {
    pub round: u32,
    cut: Cut,
    words: Vec<u32>,
    missing: Ranges,
    /// Requested chunks that have not arrived.
    asked: Ranges,
    /// Time of the next request for missing chunks. `None`: not before a chunk arrives.
    pub ask_at: Option<Duration>,
    /// Requests since the last arrival.
    asks: u32,
}

/// Result of inserting a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InsertOutcome {
    Repeated,
    Misfit,
    New,
    /// The update is complete.
    Whole,
}

/// Most doublings of the time between requests.
const MOST_DOUBLINGS: u32 = 5;

impl Assembly {
    pub fn new(round: u32, cut: Cut) -> Self {
        Assembly {
            round,
            cut,
            words: vec![0; cut.values()],
            missing: Ranges::of(0..cut.chunks()),
            asked: Ranges::default(),
            ask_at: None,
            asks: 0,
        }
    }

    pub fn place(&mut self, chunk: u32, words: impl ExactSizeIterator<Item = u32>) -> InsertOutcome {
        let range = self.cut.range(chunk);
        if range.is_empty() || range.len() != words.len() {
            return InsertOutcome::Misfit;
        }
        if !self.missing.remove(chunk) {
            return InsertOutcome::Repeated;
        }
        self.asked.remove(chunk);
        self.asks = 0;
        self.words[range].iter_mut().zip(words).for_each(|(place, word)| *place = word);
        if self.missing.is_empty() { InsertOutcome::Whole } else { InsertOutcome::New }
    }

    /// Returns whether all requested chunks have arrived, if any were requested.
    pub fn is_answered(&self, chunk: u32, had_asked: bool) -> bool {
        had_asked && self.asked.is_empty() || self.cut.is_last(chunk)
    }

    pub fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Returns the chunks to request now, in at most `messages` messages of at most `ranges` ranges.
    pub fn ask(&mut self, messages: usize, ranges: usize) -> Vec<Ranges> {
        let runs: Vec<_> = self.missing.iter().take(messages.saturating_mul(ranges.max(1))).collect();
        self.asked = chunks_of(&runs);
        runs.chunks(ranges.max(1)).map(chunks_of).collect()
    }

    /// Requests again after `quiet`, twice that, and so on, unless a chunk arrives.
    pub fn put_off(&mut self, quiet: Option<Duration>, now: Duration) {
        self.ask_at = quiet.map(|quiet| now.saturating_add(quiet.saturating_mul(1 << self.asks)));
        self.asks = (self.asks + 1).min(MOST_DOUBLINGS);
    }

    pub fn into_words(self) -> Vec<u32> {
        self.words
    }
}

/// Returns the chunks of some ranges.
fn chunks_of(runs: &[std::ops::Range<u32>]) -> Ranges {
    let mut chunks = Ranges::default();
    for run in runs {
        chunks.insert(run.clone());
    }
    chunks
}
