//! The agents that hosts run, in virtual time: `inart_ps_agent`'s server and workers on links around a
//! server, with losses, crashed processes, broken connections and changing rates. An oracle compares every
//! update and every version of the model, and checks order and staleness.

mod access_links;
mod audit;
mod error;
mod faults;
mod machine;
mod measured;
mod options;
mod outcome;
mod run;
mod sequencer;
mod star;
mod training;
mod trial;

pub use error::AgentError;
pub use faults::CAPABILITIES;
pub use options::{AgentOptions, MODEL, Sync};
pub use outcome::{AgentRun, FaultRecord};
pub use run::{run_agents, run_sequencer};
pub use sequencer::{Either, server_options};
pub use trial::{Trial, TrialError, random_faults};
