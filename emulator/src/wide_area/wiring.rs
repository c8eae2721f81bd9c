//! Namespaces and links. A link is two pairs of interfaces with our relay between them, which delays and
//! loses frames; the sites' ends shape the rate.

use std::collections::VecDeque;
use std::fmt::Write;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use inart_faults::LinkFaults;
use inart_faults::quantity::Share;
use inart_overlay::{ArcId, Overlay};

use crate::error::Error;
use crate::namespace::Namespace;
use crate::relay::Relay;
use crate::wiring::namespace;

use super::rates::rate_command;

/// The port of every site and the scheduler.
const PORT: u16 = 7400;
const MTU: u16 = 1500;
/// The interface with a site's own address.
pub const SITE_INTERFACE: &str = "site";

/// The built network.
#[derive(Debug)]
pub struct WideAreaWiring {
    /// Before the namespaces, so that it ends before they do.
    relay: Relay,
    sites: Vec<Namespace>,
    /// The scheduler reaches all sites by links of their own, which are as fast as the machine.
    scheduler: Namespace,
    _relay_namespace: Namespace,
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

/// Where the scheduler is for a site.
pub fn scheduler_address(site: usize) -> SocketAddr {
    (management(site, 1), PORT).into()
}

impl WideAreaWiring {
    pub fn build(overlay: &Overlay, seed: u64) -> Result<Self, Error> {
        let sites = overlay.sites().iter().map(|_| namespace()).collect::<Result<Vec<_>, _>>()?;
        Self::build_in(overlay, seed, sites)
    }

    /// The same with the sites in namespaces that are there.
    pub fn build_in(overlay: &Overlay, seed: u64, sites: Vec<Namespace>) -> Result<Self, Error> {
        let (scheduler, middle) = (namespace()?, namespace()?);
        let wrong = |what: &'static str| super::refusal::system(what);
        let mut script = String::new();
        for (at, link) in overlay.links().iter().enumerate() {
            for (end, side) in ["a", "b"].into_iter().enumerate() {
                let site = &sites[link.ends[end].index()];
                let _ = writeln!(
                    script,
                    "link add name l{at} mtu {MTU} netns {} type veth peer name {side}{at} mtu {MTU} netns {}",
                    site.path().display(),
                    middle.path().display()
                );
            }
        }
        for (at, site) in sites.iter().enumerate() {
            let _ = writeln!(
                script,
                "link add name manage netns {} type veth peer name m{at} netns {}",
                site.path().display(),
                scheduler.path().display()
            );
        }
        middle.batch("ip", &script).map_err(wrong("make links"))?;
        let ups = (0..overlay.links().len()).map(|at| format!("link set a{at} up\nlink set b{at} up\n"));
        middle.batch("ip", &ups.collect::<String>()).map_err(wrong("set up the relay"))?;
        let mut script = String::from("link set lo up\n");
        for at in 0..sites.len() {
            let _ = writeln!(script, "address add {}/30 dev m{at}\nlink set m{at} up", management(at, 1));
        }
        scheduler.batch("ip", &script).map_err(wrong("set up the scheduler"))?;
        for (at, site) in sites.iter().enumerate() {
            set_up(overlay, at, site).map_err(wrong("set up a site"))?;
        }
        let arcs = || overlay.arcs();
        let faults = |arc: ArcId| {
            let share = overlay.links()[arc.index() / 2].loss.to_string().parse::<Share>();
            LinkFaults { drop: share.unwrap_or_default(), ..LinkFaults::default() }
        };
        let delays: Vec<Duration> =
            arcs().map(|arc| Duration::from_secs_f64(overlay.delay_seconds(arc))).collect();
        let faults: Vec<LinkFaults> = arcs().map(faults).collect();
        let relay =
            Relay::start_delayed(&middle, &faults, &delays, seed).map_err(wrong("start the relay"))?;
        Ok(Self { sites, scheduler, relay, _relay_namespace: middle })
    }

    pub fn site(&self, site: usize) -> &Namespace {
        &self.sites[site]
    }

    pub fn scheduler(&self) -> &Namespace {
        &self.scheduler
    }

    /// Other handles of the sites' namespaces.
    pub fn handles(&self) -> Result<Vec<Namespace>, Error> {
        let all = self.sites.iter().map(Namespace::duplicate).collect::<io::Result<Vec<_>>>();
        all.map_err(super::refusal::system("open namespaces"))
    }

    /// Frames lost on all links so far.
    pub fn lost(&self) -> u64 {
        self.relay.counters().dropped
    }
}

/// Where a site listens.
pub fn listen() -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, PORT).into()
}

/// Where a site finds its neighbours.
pub fn neighbours(overlay: &Overlay, site: usize) -> Vec<(String, SocketAddr)> {
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

/// Where the scheduler finds a site.
pub fn from_scheduler(site: usize) -> SocketAddr {
    (management(site, 2), PORT).into()
}

fn set_up(overlay: &Overlay, site: usize, namespace: &Namespace) -> io::Result<()> {
    let mut ip = String::from("link set lo up\n");
    let mut tc = String::new();
    let _ = writeln!(ip, "link add {SITE_INTERFACE} type veth peer name inside\nlink set dev inside up");
    let _ = writeln!(ip, "address add {}/32 dev {SITE_INTERFACE}", site_address(site));
    let _ = writeln!(ip, "link set dev {SITE_INTERFACE} up");
    let _ = writeln!(ip, "address add {}/30 dev manage\nlink set dev manage up", management(site, 2));
    for arc in overlay.arcs() {
        let (from, _) = overlay.ends(arc);
        if from.index() != site {
            continue;
        }
        let (link, end) = (arc.index() / 2, arc.index() % 2);
        let _ =
            writeln!(ip, "address add {}/24 dev l{link}\nlink set dev l{link} up", link_address(link, end));
        tc.push_str(&rate_command("add", overlay, arc, 0.0));
    }
    for (to, via) in next_hops(overlay, site) {
        let _ = writeln!(ip, "route add {}/32 via {via} src {}", site_address(to), site_address(site));
    }
    namespace.batch("ip", &ip)?;
    namespace.batch("tc", &tc)?;
    namespace.run(|| {
        let path = "/proc/sys/net/ipv4/ip_forward";
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        std::fs::write(path, "1").map_err(named)
    })?;
    for arc in overlay.arcs().filter(|&arc| overlay.ends(arc).0.index() == site) {
        namespace.disable_checksum_offload(&format!("l{}", arc.index() / 2))?;
    }
    Ok(())
}

/// By site: the neighbour's address that the route of the fewest hops begins with. For programs that know
/// addresses alone, as Gloo.
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
            let neighbour = link_address(arc.index() / 2, 1 - arc.index() % 2);
            first[to] = if at == site { Some(neighbour) } else { first[at] };
            open.push_back(to);
        }
    }
    first.into_iter().enumerate().filter_map(|(to, via)| Some((to, via?))).collect()
}
