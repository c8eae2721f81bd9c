//! `inart simulate`: a job in virtual time, by the kind of the network.

pub mod aggregation;
pub mod peers;
pub mod ps;
pub mod sites;

use inart_topologies::Network;

use crate::line::section::{PEERS, SERVERS, SITES, SWITCHES, Section};
use crate::line::{ByNetwork, Entry, Given, Words};

/// The command.
pub struct Simulate;

impl ByNetwork for Simulate {
    const NAME: &'static str = "simulate";
    const WORDS: Words = Words::NetworkOrTrials;

    fn entries() -> Vec<Entry> {
        vec![
            Entry::of::<aggregation::Args>(),
            Entry::of::<sites::Args>(),
            Entry::of::<peers::Args>(),
            Entry::of::<ps::Args>(),
        ]
    }

    fn section(network: &Network, given: &Given<'_>) -> anyhow::Result<&'static Section> {
        Ok(match network {
            Network::Switched(_) if given.has("sync") => &SERVERS,
            Network::Switched(_) => &SWITCHES,
            Network::Sites(_) => &SITES,
            Network::Peers(_) => &PEERS,
        })
    }
}
