//! What peers tell all others: where they are. It may be lost, and is said again.

/// Where a peer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// Rounds that it has ended: its multicast of that round is over.
    pub ended: u32,
    /// Whether it has ended its last one.
    pub is_finished: bool,
}

const WHERE: u32 = 1;

impl Notice {
    /// The notice as words: what it is (1), rounds, whether that was the last.
    pub fn words(self) -> [u32; 3] {
        [WHERE, self.ended, self.is_finished.into()]
    }

    /// Reads a notice; words behind it are ignored. `None` if it is none that is known.
    pub fn parse(words: impl Iterator<Item = u32>) -> Option<Self> {
        let words: Vec<u32> = words.take(3).collect();
        match words[..] {
            [WHERE, ended, finished @ (0 | 1)] => Some(Notice { ended, is_finished: finished == 1 }),
            _ => None,
        }
    }
}
