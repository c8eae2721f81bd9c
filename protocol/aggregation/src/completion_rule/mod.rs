//! Differences between synchronization models. The exchange of chunks between workers and a parameter server
//! (windows, pacing, loss, keep-alive, incarnations, silence) is common to all of them. A completion rule
//! defines three properties of each chunk:
//!
//! 1. *When is it complete?* Contributions of one [cohort](CompletionRule::cohort) make a chunk. The rule
//!    says [when it is complete](CompletionRule::is_complete): all members have contributed, enough have, or
//!    it is the cohort's turn.
//! 2. *How is it combined?* Contributions go into a [`Reduction`], and the rule makes the
//!    [result](CompletionRule::complete) from that: their sum, or a stored model to which they are applied.
//! 3. *Who receives the result?* The [`Receivers`].
//!
//! [`Lockstep`] is InArt's rule; [`Onward`] is the rule of a job whose sums are parts of larger ones.
//! `protocol/aggregation/tests/completion_rule.rs` has further examples.

mod lockstep;
mod onward;
mod traits;

pub use lockstep::{Lockstep, Sum};
pub use onward::{Answer, Onward, OwnSum};
pub use traits::{CompletionRule, ContributionRule, Gathered, Progress, Receivers, Reduction};
