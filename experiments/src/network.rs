//! The networks of the InArt paper's evaluation.

use std::fmt;

use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, fat_tree};
use inart_topologies::switched::ranges::Ranges;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Link rate, B(s) and C(v) of the emulation (§5.3.1), bit/s.
const LINK_BPS: f64 = 20e6;
const INGRESS_BPS: f64 = 20e6;
const AGGREGATION_BPS: f64 = 9e6;
/// Rates of links drawn at random.
const DRAWN: &str = "10Mbps..30Mbps";

/// Rates of the fat-tree's links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkRates {
    /// 20 Mbps each: the InArt paper's homogeneous scenario.
    Equal,
    /// Links between switches drawn from 10 to 30 Mbps, hosts' links 20 Mbps: the reading of the
    /// heterogeneous scenario that gives the InArt paper's LBMM and ATP.
    DrawnInFabric,
    /// Every link drawn from 10 to 30 Mbps: the heterogeneous scenario by its words.
    Drawn,
}

/// A kind of network; a seed makes it one network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Network {
    /// §5.2: `topologies/testbed.yaml`. With less than its six workers the seed draws which of them take
    /// part.
    Testbed {
        /// Workers that take part, up to 6.
        workers: usize,
    },
    /// §5.3: a fat-tree of k = 6 (45 switches, 54 hosts). The seed draws the hosts' places and the links'
    /// rates.
    FatTree {
        /// The links' rates.
        links: LinkRates,
        /// Parameter servers.
        servers: usize,
        /// Workers.
        workers: usize,
    },
}

impl Network {
    /// How many workers it has.
    pub fn workers(self) -> usize {
        match self {
            Network::Testbed { workers } | Network::FatTree { workers, .. } => workers,
        }
    }

    /// The network that `seed` draws. Fat-trees of the same seed and hosts differ in the links' rates only;
    /// they are those of `inart topology fat-tree --k 6 … --seed SEED`, with `--link-range` and
    /// `--access-range` where links are drawn.
    pub fn topology(self, seed: u64) -> Topology {
        match self {
            Network::Testbed { workers } => testbed(workers, seed),
            Network::FatTree { links, servers, workers } => emulation(links, servers, workers, seed),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Network::Testbed { workers } => write!(f, "the testbed with {workers} workers"),
            Network::FatTree { links, servers, workers } => {
                let links = match links {
                    LinkRates::Equal => "equal links",
                    LinkRates::DrawnInFabric => "links between switches drawn",
                    LinkRates::Drawn => "all links drawn",
                };
                write!(f, "the fat-tree with {servers} servers, {workers} workers, {links}")
            }
        }
    }
}

fn testbed(workers: usize, seed: u64) -> Topology {
    let whole = Topology::from_yaml(include_str!("../../topologies/testbed.yaml"));
    let whole = whole.expect("topologies/testbed.yaml is a topology");
    let mut job = whole.jobs()[0].clone();
    job.workers.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    job.workers.truncate(workers);
    job.workers.sort();
    whole.with_jobs(vec![job])
}

fn emulation(links: LinkRates, servers: usize, workers: usize, seed: u64) -> Topology {
    let equipment = Equipment {
        servers,
        workers,
        rate_bps: LINK_BPS,
        aggregation_bps: AGGREGATION_BPS,
        ingress_bps: INGRESS_BPS,
        delay_seconds: 0.0,
        gradient_bytes: 1,
        seed,
    };
    let equal = fat_tree(6, &equipment).expect("the experiments' hosts fit on a fat-tree of k = 6");
    let drawn = DRAWN.parse().expect("it is a range of rates");
    let fabric = (links != LinkRates::Equal).then_some(drawn);
    let access = (links == LinkRates::Drawn).then_some(drawn);
    equal.with_drawn_rates(&Ranges { fabric, access, aggregation: None }, seed)
}

#[cfg(test)]
mod tests {
    use inart_topologies::switched::NodeKind;

    use super::*;

    #[test]
    fn drawn_rates_stay_in_their_range_and_on_their_links() {
        let drawn = |links| Network::FatTree { links, servers: 4, workers: 50 }.topology(7);
        let [equal, fabric, all] = [LinkRates::Equal, LinkRates::DrawnInFabric, LinkRates::Drawn].map(drawn);
        for ((equal, fabric), link) in equal.links().iter().zip(fabric.links()).zip(all.links()) {
            assert_eq!(equal.rate_bps(), 20e6);
            assert!((10e6..=30e6).contains(&link.rate_bps()));
            assert_eq!((equal.ends, fabric.ends), (link.ends, link.ends), "hosts at the same places");
            let to_host = link.ends.iter().any(|&end| all.node(end).kind != NodeKind::Switch);
            assert_eq!(fabric.rate_bps(), if to_host { 20e6 } else { link.rate_bps() });
        }
    }

    #[test]
    fn a_seed_draws_who_takes_part_on_the_testbed() {
        let workers = |seed| Network::Testbed { workers: 4 }.topology(seed).jobs()[0].workers.clone();
        assert_eq!(workers(3).len(), 4);
        assert_ne!(workers(3), workers(4));
    }
}
