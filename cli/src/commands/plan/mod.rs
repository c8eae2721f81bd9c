//! `inart plan`: a plan of a job, by the kind of the network.

pub mod aggregation;
pub mod peers;
pub mod sites;

use inart_topologies::Network;

use crate::line::section::{self, Section};
use crate::line::{ByNetwork, Entry, Given, Words};

/// The command.
pub struct Plan;

impl ByNetwork for Plan {
    const NAME: &'static str = "plan";
    const WORDS: Words = Words::Network;

    fn entries() -> Vec<Entry> {
        vec![Entry::of::<aggregation::Args>(), Entry::of::<sites::Args>(), Entry::of::<peers::Args>()]
    }

    fn section(network: &Network, _: &Given<'_>) -> anyhow::Result<&'static Section> {
        Ok(section::of(network))
    }
}
