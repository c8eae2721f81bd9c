//! `inart host`: the process of any host. The network's document has the role of each name.

pub mod aggregation;
pub mod attachment;
mod connections;
mod named;
pub mod peers;
pub mod ps;
pub mod role;
pub mod sites;
mod stopping;

use std::path::Path;

use anyhow::{Context, bail, ensure};
use inart_topologies::Network;
use inart_topologies::switched::{NodeKind, Topology};

use crate::commands::host::role::{
    GROUP_SERVER, GROUP_WORKER, PEER, PS_SERVER, PS_WORKER, SERVER, SITE, WORKER,
};
use crate::line::section::Section;
use crate::line::{ByNetwork, Entry, Given, Words};

/// The command.
pub struct Host;

impl ByNetwork for Host {
    const NAME: &'static str = "host";
    const WORDS: Words = Words::Network;

    fn entries() -> Vec<Entry> {
        vec![
            Entry::of::<aggregation::worker::Named>(),
            Entry::of::<aggregation::server::Named>(),
            Entry::of::<sites::site::Args>(),
            Entry::of::<peers::peer::Args>(),
            Entry::of::<ps::server::Args>(),
            Entry::of::<ps::worker::Args>(),
            Entry::of::<ps::group_server::Named>(),
            Entry::of::<ps::group_worker::Named>(),
        ]
    }

    fn place(_: Option<&Path>, given: &Given<'_>) -> String {
        given.value("name").unwrap_or_default()
    }

    fn section(network: &Network, given: &Given<'_>) -> anyhow::Result<&'static Section> {
        let name = given.value("name");
        let name = name.context("--name is missing; give the host's name in the network's document")?;
        match network {
            Network::Switched(switched) => of_node(&switched.topology, &name, given),
            Network::Sites(sites) if sites.overlay.site_named(&name).is_some() => Ok(&SITE),
            Network::Sites(sites) => {
                let inside = sites.insides.iter().find(|inside| inside.topology.node_named(&name).is_some());
                let inside = inside.with_context(|| unknown(&name, network.name(), sites.overlay.sites()))?;
                of_node(&inside.topology, &name, given)
            }
            Network::Peers(mesh) => {
                let names: Vec<_> = mesh.peers().iter().map(|peer| peer.name.clone()).collect();
                ensure!(names.contains(&name), unknown(&name, network.name(), &names));
                Ok(&PEER)
            }
        }
    }
}

/// Returns the role of a worker or a server, by its node and by the flags that only one of its roles has.
fn of_node(topology: &Topology, name: &str, given: &Given<'_>) -> anyhow::Result<&'static Section> {
    let hosts = || {
        let hosts = topology.nodes().iter().filter(|node| node.kind != NodeKind::Switch);
        hosts.map(|node| node.name.clone()).collect::<Vec<_>>()
    };
    let node = topology.node_named(name).map(|id| topology.node(id).kind);
    let kind = node.with_context(|| unknown(name, topology.name(), &hosts()))?;
    let sums = given.has("assignment") || given.has("controller");
    match kind {
        NodeKind::Switch => bail!("--name {name}: this is a switch; run it by `inart switch`"),
        NodeKind::Worker if given.has("server") => Ok(&PS_WORKER),
        NodeKind::Worker if given.has("groups") => Ok(&GROUP_WORKER),
        NodeKind::Worker if sums => Ok(&WORKER),
        NodeKind::Server if given.has("sync") => Ok(&PS_SERVER),
        NodeKind::Server if given.has("concurrent-groups") => Ok(&GROUP_SERVER),
        NodeKind::Server if sums => Ok(&SERVER),
        NodeKind::Worker => bail!(
            "--name {name}: this is a worker; give --assignment or --controller if the network sums gradients, \
             or --server to train at a parameter server"
        ),
        NodeKind::Server => bail!(
            "--name {name}: this is a server; give --assignment or --controller if the network sums gradients, \
             or --sync to serve workers in an order"
        ),
    }
}

/// Names that an error lists.
const LISTED: usize = 8;

fn unknown(name: &str, network: &str, names: &[String]) -> String {
    let more = if names.len() > LISTED { ", ..." } else { "" };
    let listed = names[..names.len().min(LISTED)].join(", ");
    format!("--name {name}: network {network} has no such host; name one of {listed}{more}")
}
