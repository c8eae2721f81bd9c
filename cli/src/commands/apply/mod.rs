//! `inart apply`: tables of switches, by the kind of the network.

pub mod aggregation;
pub mod peers;

use inart_topologies::Network;

use crate::line::section::{self, Section};
use crate::line::{ByNetwork, Entry, Given, Words};

/// The command.
pub struct Apply;

impl ByNetwork for Apply {
    const NAME: &'static str = "apply";
    const WORDS: Words = Words::PlanAndNetwork;

    fn entries() -> Vec<Entry> {
        vec![Entry::of::<aggregation::Args>(), Entry::of::<peers::Args>()]
    }

    fn section(network: &Network, _: &Given<'_>) -> anyhow::Result<&'static Section> {
        Ok(section::of(network))
    }
}
