//! `inart emulate`: a job on this machine, by the kind of the network.

pub mod aggregation;
pub mod groups;
pub mod peers;
pub mod ps;
pub mod sites;

use inart_topologies::Network;

use crate::line::section::{GROUPS, PEERS, SERVERS, SITES, SWITCHES, Section};
use crate::line::{ByNetwork, Entry, Given, Words};

/// The command.
pub struct Emulate;

impl ByNetwork for Emulate {
    const NAME: &'static str = "emulate";
    const WORDS: Words = Words::NetworkAndProgram;

    fn entries() -> Vec<Entry> {
        vec![
            Entry::of::<aggregation::Args>(),
            Entry::of::<sites::Args>(),
            Entry::of::<peers::Args>(),
            Entry::of::<ps::Args>(),
            Entry::of::<groups::Args>(),
        ]
    }

    fn section(network: &Network, given: &Given<'_>) -> anyhow::Result<&'static Section> {
        Ok(match network {
            Network::Switched(_) if given.has("sync") && given.has("aggregated-groups") => &GROUPS,
            Network::Switched(_) if given.has("sync") => &SERVERS,
            Network::Switched(_) => &SWITCHES,
            Network::Sites(_) => &SITES,
            Network::Peers(_) => &PEERS,
        })
    }
}
