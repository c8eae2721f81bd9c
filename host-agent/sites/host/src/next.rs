//! What a training loop does next.

use bytes::Bytes;

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Compute the gradient of a round.
    Round {
        /// Which; they count from 1.
        round: u32,
        /// What to load first, as another site gave it: this site has restarted, or was left behind.
        training: Option<Bytes>,
    },
    /// The others have finished.
    Ended {
        /// What they ended with.
        training: Bytes,
    },
}
