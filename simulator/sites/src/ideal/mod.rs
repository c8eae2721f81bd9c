//! Predictions: rounds of the state machines of `protocol/sites` on fluid links, where no chunk is lost and
//! no process fails. Plans are made again by what is known of the network.

mod insides;
mod run;
mod timeline;

pub use insides::{InsideRound, InsideRun, InsideTimes, run_with_insides};
pub use run::{Knowledge, Round, Run, RunError, RunOptions, Until, run};
pub use timeline::{BetweenSites, Timeline, timeline};
