//! Next step of a training loop.

use bytes::Bytes;

/// Next step.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Computation of the gradient of a round.
    Round {
        /// Round, counted from 1.
        round: u32,
        /// State to load first, from another site: this site has restarted, or was left behind.
        training: Option<Bytes>,
    },
    /// End of the training: the other sites have finished.
    Ended {
        /// Final state.
        training: Bytes,
    },
}
