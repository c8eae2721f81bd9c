//! What distinguishes one synchronisation system from another. The exchange of chunks between workers and a
//! parameter server (windows, pacing, loss, keep-alive, incarnations, silence) is the same for all of them; a
//! policy answers three questions about each chunk:
//!
//! 1. *What completes it?* Contributions of one [cohort](Policy::cohort) make a chunk, and the policy says
//!    [when](Policy::is_complete): everybody is in, enough are in, it is the cohort's turn.
//! 2. *What is done with it?* Contributions go into a [`Reduction`], and the policy makes the
//!    [result](Policy::complete) of that: their sum, or a model that it keeps and applies them to.
//! 3. *Who gets what back?* The [`Receivers`].
//!
//! [`Lockstep`] is InArt's; [`Onward`] is that of a job whose sums are parts of larger ones. What else there
//! may be is shown by `protocol/aggregation/tests/completion_rule.rs`.

mod lockstep;
mod onward;
mod traits;

pub use lockstep::{Lockstep, Sum};
pub use onward::{Answer, Onward, OwnSum};
pub use traits::{CompletionRule, Due, Gathered, Progress, Receivers, Reduction};
