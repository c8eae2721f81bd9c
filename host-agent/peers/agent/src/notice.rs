//! Progress notices of peers to all others. A notice may be lost, and is repeated.

/// Progress of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// Rounds that the peer has ended, multicasts included.
    pub ended: u32,
    /// Whether the peer has ended its last round.
    pub is_finished: bool,
}

const WHERE: u32 = 1;

impl Notice {
    /// Returns the notice as words: kind (1), rounds, whether the last round has ended.
    pub fn words(self) -> [u32; 3] {
        [WHERE, self.ended, self.is_finished.into()]
    }

    /// Reads a notice and ignores trailing words. `None` if the kind is unknown.
    pub fn parse(words: impl Iterator<Item = u32>) -> Option<Self> {
        let words: Vec<u32> = words.take(3).collect();
        match words[..] {
            [WHERE, ended, finished @ (0 | 1)] => Some(Notice { ended, is_finished: finished == 1 }),
            _ => None,
        }
    }
}
