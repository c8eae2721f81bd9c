//! Namespaces and cables: each link of the network is a cable between two sites.

use std::collections::VecDeque;
use std::fmt::Write;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use inart_topologies::sites::{Overlay, SiteLink};

use super::rates::SiteRates;
use crate::error::Error;
use crate::machine::cables::{Cable, Cables, End, Endpoint, Plan, share};
use crate::machine::namespace::Namespace;
use crate::machine::shaping::RateFollower;
use crate::machine::wiring::namespace;

/// Longest wait at the end of a link before a drop, in seconds.
const QUEUE_SECONDS: f64 = 0.05;
/// The port of every site and the scheduler.
const PORT: u16 = 7400;
/// The interface with a site's own address.
pub const SITE_INTERFACE: &str = "site";

/// The built network: the sites, and behind them the scheduler, which reaches all sites by links of their
/// own, which are as fast as the machine.
#[derive(Debug)]
pub struct WideAreaWiring {
    cables: Cables,
    scheduler: usize,
}

/// The address of a site's end of a link.
fn link_address(link: usize, end: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 60 + (link / 256) as u8, (link % 256) as u8, 1 + end as u8)
}

/// A site's own address, which routes lead to.
pub fn site_address(site: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 200, (site / 250) as u8, 1 + (site % 250) as u8)
}

fn management(site: usize, end: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 254, site as u8, end)
}

/// Returns the address of the scheduler for a site.
pub fn scheduler_address(site: usize) -> SocketAddr {
    (management(site, 1), PORT).into()
}

impl WideAreaWiring {
    pub fn build(overlay: &Arc<Overlay>, seed: u64) -> Result<Self, Error> {
        let sites = overlay.sites().iter().map(|_| namespace()).collect::<Result<Vec<_>, _>>()?;
        Self::build_in(overlay, seed, sites)
    }

    /// Builds the network with the sites in existing namespaces.
    pub fn build_in(overlay: &Arc<Overlay>, seed: u64, sites: Vec<Namespace>) -> Result<Self, Error> {
        let scheduler = sites.len();
        let end = |place: usize, interface: String| End { place, interface };
        let cable = |(at, link): (usize, &SiteLink)| Cable {
            ends: link.ends.map(|site| end(site.index(), format!("l{at}"))),
            delay: Duration::from_secs_f64(link.delay_seconds),
            loss: share(link.loss),
        };
        let manage = |at: usize| [end(at, "manage".to_owned()), end(scheduler, format!("m{at}"))];
        let mut ip = String::from("link set lo up\n");
        for at in 0..scheduler {
            let _ = writeln!(ip, "address add {}/30 dev m{at}\nlink set m{at} up", management(at, 1));
        }
        let unlimited = (0..scheduler).map(manage).collect();
        let mut places = Vec::new();
        for (at, (namespace, name)) in sites.into_iter().zip(overlay.sites()).enumerate() {
            let forward = forward(&namespace);
            forward.map_err(super::refusal::system(&format!("set up {name}")))?;
            places.push(Endpoint { name: name.clone(), namespace, ip: site_script(overlay, at) });
        }
        places.push(Endpoint { name: "the scheduler".to_owned(), namespace: namespace()?, ip });
        let cables = Cables::lay(Plan {
            places,
            cables: overlay.links().iter().enumerate().map(cable).collect(),
            unlimited,
            speeds: Arc::new(SiteRates(Arc::clone(overlay))),
            queue_s: QUEUE_SECONDS,
            seed,
        })?;
        Ok(Self { cables, scheduler })
    }

    pub fn site(&self, site: usize) -> &Namespace {
        self.cables.namespace(site)
    }

    pub fn scheduler(&self) -> &Namespace {
        self.cables.namespace(self.scheduler)
    }

    /// Changes rates by the traces, whose time 0 was at `began`.
    pub fn follow(&self, began: Instant) -> Result<RateFollower, Error> {
        self.cables.follow(began)
    }

    /// Returns the number of frames lost on all links.
    pub fn lost(&self) -> u64 {
        self.cables.lost()
    }
}

/// Returns the address at which a site listens.
pub fn listen() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, PORT).into()
}

/// Returns the addresses of a site's neighbors.
pub fn neighbors(overlay: &Overlay, site: usize) -> Vec<(String, SocketAddr)> {
    let mut found = Vec::new();
    for (at, link) in overlay.links().iter().enumerate() {
        for end in 0..2 {
            if link.ends[end].index() == site {
                let name = overlay.site_name(link.ends[1 - end]).to_owned();
                found.push((name, (link_address(at, 1 - end), PORT).into()));
            }
        }
    }
    found
}

/// Returns the address of a site for the scheduler.
pub fn from_scheduler(site: usize) -> SocketAddr {
    (management(site, 2), PORT).into()
}

fn site_script(overlay: &Overlay, site: usize) -> String {
    let mut ip = String::from("link set lo up\n");
    let _ = writeln!(ip, "link add {SITE_INTERFACE} type veth peer name inside\nlink set dev inside up");
    let _ = writeln!(ip, "address add {}/32 dev {SITE_INTERFACE}", site_address(site));
    let _ = writeln!(ip, "link set dev {SITE_INTERFACE} up");
    let _ = writeln!(ip, "address add {}/30 dev manage\nlink set dev manage up", management(site, 2));
    for arc in overlay.arcs().filter(|&arc| overlay.ends(arc).0.index() == site) {
        let (link, end) = (arc.index() / 2, arc.index() % 2);
        let _ =
            writeln!(ip, "address add {}/24 dev l{link}\nlink set dev l{link} up", link_address(link, end));
    }
    for (to, via) in next_hops(overlay, site) {
        let _ = writeln!(ip, "route add {}/32 via {via} src {}", site_address(to), site_address(site));
    }
    ip
}

/// Enables forwarding in a site's namespace.
fn forward(site: &Namespace) -> io::Result<()> {
    site.run(|| {
        let path = "/proc/sys/net/ipv4/ip_forward";
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        std::fs::write(path, "1").map_err(named)
    })
}

/// Returns, by site, the address of the neighbor on the route of the fewest hops. For programs that know
/// addresses only, such as Gloo.
fn next_hops(overlay: &Overlay, site: usize) -> Vec<(usize, Ipv4Addr)> {
    let mut first: Vec<Option<Ipv4Addr>> = vec![None; overlay.sites().len()];
    let mut open = VecDeque::from([site]);
    while let Some(at) = open.pop_front() {
        for arc in overlay.arcs() {
            let (from, to) = overlay.ends(arc);
            let to = to.index();
            if from.index() != at || to == site || first[to].is_some() {
                continue;
            }
            let neighbor = link_address(arc.index() / 2, 1 - arc.index() % 2);
            first[to] = if at == site { Some(neighbor) } else { first[at] };
            open.push_back(to);
        }
    }
    first.into_iter().enumerate().filter_map(|(to, via)| Some((to, via?))).collect()
}
