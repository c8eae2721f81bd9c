//! Predictions: rounds of the state machines of `protocol/sites` on fluid links, without lost chunks and
//! failed processes. Plans are remade from the knowledge of the network.

mod insides;
mod run;
mod timeline;

pub use insides::{InsideRound, InsideRun, InsideTimes, run_with_insides};
pub use run::{Knowledge, Round, Run, RunError, RunOptions, Until, run};
pub use timeline::{BetweenSites, Timeline, timeline};
