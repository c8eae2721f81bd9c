//! Networks of sites, of peers and of both levels as nodes and links: what is in them, how they are cabled,
//! and a drawing.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::fmt::Write as _;

use inart_controller::PortMap;
use inart_topologies::Network;
use inart_topologies::peers::Mesh;
use inart_topologies::sites::{Hierarchy, Overlay};
use inart_topologies::switched::{NodeKind, Topology};
use inart_topologies::units::{counted, display_rate, display_seconds};
use serde::Serialize;

/// A network without its plans.
#[derive(Serialize)]
pub struct Sketch {
    name: String,
    nodes: Vec<Node>,
    links: Vec<Link>,
    jobs: Vec<String>,
    #[serde(skip)]
    kinds: &'static [&'static str],
}

#[derive(Serialize)]
struct Node {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mac: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
}

#[derive(Serialize)]
struct Link {
    ends: [String; 2],
    /// Ports of the first end and of the second, where the end is a switch.
    ports: [Option<u16>; 2],
    /// Rates from the first end to the second, and back.
    rates_bps: [f64; 2],
    delay_seconds: f64,
    loss: f64,
}

impl Sketch {
    /// Returns the sketch of a network of sites, of peers or of both levels; `None` for one of switches.
    ///
    /// # Errors
    /// Ports of a network of peers that cannot be numbered.
    pub fn of(network: &Network) -> anyhow::Result<Option<Self>> {
        Ok(match network {
            Network::Switched(_) => None,
            Network::Sites(sites) if sites.insides.is_empty() => Some(Self::of_sites(&sites.overlay)),
            Network::Sites(sites) => Some(Self::of_both(sites)),
            Network::Peers(mesh) => Some(Self::of_peers(mesh)?),
        })
    }

    fn of_sites(overlay: &Overlay) -> Self {
        let node = |name: &String| Node { name: name.clone(), kind: "site", mac: None, site: None };
        let link = |link: &inart_topologies::sites::SiteLink| Link {
            ends: link.ends.map(|end| overlay.site_name(end).to_owned()),
            ports: [None; 2],
            rates_bps: link.rates_bps,
            delay_seconds: link.delay_seconds,
            loss: link.loss,
        };
        Self {
            name: overlay.name().to_owned(),
            nodes: overlay.sites().iter().map(node).collect(),
            links: overlay.links().iter().map(link).collect(),
            jobs: overlay.jobs().iter().map(|job| job.name.clone()).collect(),
            kinds: &["site"],
        }
    }

    fn of_both(hierarchy: &Hierarchy) -> Self {
        let mut all = Self { kinds: &["site", "switch", "worker"], ..Self::of_sites(&hierarchy.overlay) };
        for inside in &hierarchy.insides {
            let topology: &Topology = &inside.topology;
            let own = topology.nodes().iter().filter(|node| node.name != inside.site);
            all.nodes.extend(own.map(|node| Node {
                name: node.name.clone(),
                kind: if node.kind == NodeKind::Switch { "switch" } else { "worker" },
                mac: None,
                site: Some(inside.site.clone()),
            }));
            all.links.extend(topology.links().iter().map(|link| Link {
                ends: link.ends.map(|end| topology.node(end).name.clone()),
                ports: [None; 2],
                rates_bps: link.rates_bps,
                delay_seconds: link.delay_seconds,
                loss: link.loss,
            }));
            all.jobs.extend(topology.jobs().iter().map(|job| job.name.clone()));
        }
        all
    }

    fn of_peers(mesh: &Mesh) -> anyhow::Result<Self> {
        let ports = PortMap::of_mesh(mesh)?;
        let port = |switch: &str, other: &str| ports.port(switch, other).map(|port| port.get());
        let switches = mesh.switches().iter();
        let switches =
            switches.map(|name| Node { name: name.clone(), kind: "switch", mac: None, site: None });
        let peers = mesh.peers().iter().map(|peer| {
            let mac = ports.mac(&peer.name).map(|mac| mac.to_string());
            Node { name: peer.name.clone(), kind: "peer", mac, site: None }
        });
        let mut links: Vec<Link> = Vec::new();
        for peer in mesh.peers() {
            let switch = &mesh.switches()[peer.switch];
            links.push(Link {
                ends: [peer.name.clone(), switch.clone()],
                ports: [None, port(switch, &peer.name)],
                rates_bps: [peer.up_bps, peer.down_bps],
                delay_seconds: peer.delay_seconds,
                loss: peer.loss,
            });
        }
        for trunk in mesh.trunks() {
            let [a, b] = trunk.ends.map(|end| &mesh.switches()[end]);
            links.push(Link {
                ends: [a.clone(), b.clone()],
                ports: [port(a, b), port(b, a)],
                rates_bps: trunk.rates_bps,
                delay_seconds: trunk.delay_seconds,
                loss: trunk.loss,
            });
        }
        Ok(Self {
            name: mesh.name().to_owned(),
            nodes: switches.chain(peers).collect(),
            links,
            jobs: mesh.jobs().iter().map(|job| job.name.clone()).collect(),
            kinds: &["peer", "switch"],
        })
    }

    /// Prints the numbers of nodes and links, in a line or a document.
    pub fn summary(&self, json: bool) -> String {
        let count = |kind: &str| self.nodes.iter().filter(|node| node.kind == kind).count();
        if json {
            let mut document =
                serde_json::json!({"name": self.name, "links": self.links.len(), "jobs": self.jobs});
            for kind in self.kinds {
                // Keys are plurals.
                document[counted(2u64, kind).trim_start_matches("2 ")] = count(kind).into();
            }
            return format!("{document}\n");
        }
        let nodes = self.kinds.iter().map(|kind| counted(count(kind), kind));
        let nodes = nodes.collect::<Vec<_>>().join(", ");
        let links = counted(self.links.len(), "link");
        format!("{}: {nodes}, {links}; jobs: {}\n", self.name, self.jobs.join(", "))
    }

    /// Prints the ends of each cable, and the addresses of hosts whose frames switches copy.
    pub fn wiring(&self, json: bool) -> anyhow::Result<String> {
        if json {
            return Ok(serde_json::to_string(self)? + "\n");
        }
        let mut out = String::new();
        for link in &self.links {
            let end = |at: usize| match link.ports[at] {
                Some(port) => format!("{} port {port}", link.ends[at]),
                None => link.ends[at].clone(),
            };
            let delay = display_seconds(link.delay_seconds);
            let loss =
                if link.loss > 0.0 { format!(", loses {} %", 100.0 * link.loss) } else { String::new() };
            let _ = writeln!(out, "{:24} {:24} {}, {delay}{loss}", end(0), end(1), rates(link));
        }
        for node in &self.nodes {
            if let Some(mac) = &node.mac {
                let _ = writeln!(out, "{:24} {mac}", node.name);
            }
        }
        Ok(out)
    }

    /// Draws the network as an SVG: nodes with several links are in a circle, and the others outside, next to
    /// their neighbors.
    pub fn svg(&self) -> String {
        let places = self.places();
        let size = 2.0 * CENTER;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size:.0} {size:.0}\" width=\"{size:.0}\" \
             height=\"{size:.0}\" font-family=\"sans-serif\" font-size=\"18\" text-anchor=\"middle\" \
             role=\"img\">\n<title>{0}</title>\n<desc>{1}</desc>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text x=\"{CENTER:.0}\" y=\"34\" \
             font-size=\"24\">{0}</text>\n",
            escaped(&self.name),
            escaped(self.summary(false).trim_end())
        );
        for link in &self.links {
            let [(x1, y1), (x2, y2)] = [0, 1].map(|end| places[&*link.ends[end]]);
            let [a, b] = [0, 1].map(|end| escaped(&link.ends[end]));
            let _ = writeln!(
                out,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#8a97a8\" \
                 stroke-width=\"1.5\"><title>{a}-{b}: {}, {}</title></line>",
                rates(link),
                display_seconds(link.delay_seconds)
            );
        }
        for node in &self.nodes {
            let (x, y) = places[&*node.name];
            let fill = match node.kind {
                "site" => "#dbe9f6",
                "switch" => "#eef3f8",
                _ => "#fbf3e4",
            };
            let _ = match node.kind {
                "switch" => writeln!(
                    out,
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"56\" height=\"40\" rx=\"4\" fill=\"{fill}\" \
                     stroke=\"#44546a\"/>",
                    x - 28.0,
                    y - 20.0
                ),
                _ => writeln!(
                    out,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"26\" fill=\"{fill}\" stroke=\"#44546a\"/>"
                ),
            };
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y + 6.0, escaped(&node.name));
        }
        out + "</svg>\n"
    }

    fn places(&self) -> HashMap<&str, (f64, f64)> {
        let kind: HashMap<&str, &str> = self.nodes.iter().map(|node| (&*node.name, node.kind)).collect();
        let is_outer = |name: &str| {
            let own: Vec<_> =
                self.links.iter().filter(|link| link.ends.iter().any(|end| end == name)).collect();
            own.len() == 1 && kind[name] != "site"
        };
        let (outer, inner): (Vec<_>, Vec<_>) = self.nodes.iter().partition(|node| is_outer(&node.name));
        let at =
            |turn: f64, radius: f64, (x, y): (f64, f64)| (x + radius * turn.sin(), y - radius * turn.cos());
        let center = (CENTER, CENTER + 20.0);
        let ring = if inner.len() == 1 {
            0.0
        } else if outer.is_empty() {
            0.78 * CENTER
        } else {
            0.5 * CENTER
        };
        let mut places: HashMap<&str, (f64, f64)> = HashMap::new();
        let mut turns: HashMap<&str, f64> = HashMap::new();
        for (number, node) in inner.iter().enumerate() {
            let turn = TAU * number as f64 / inner.len() as f64;
            turns.insert(&node.name, turn);
            places.insert(&node.name, at(turn, ring, center));
        }
        for (number, node) in outer.iter().enumerate() {
            let near = self.links.iter().find(|link| link.ends.contains(&node.name));
            let near = near.and_then(|link| link.ends.iter().find(|end| **end != node.name));
            let near = near.map(String::as_str).filter(|near| places.contains_key(near));
            let of: Vec<_> = outer.iter().filter(|other| self.hangs_on(&other.name, near)).collect();
            let place = of.iter().position(|other| other.name == node.name).unwrap_or(number) as f64;
            let room = if inner.len() == 1 { TAU } else { 0.9 * TAU / inner.len() as f64 };
            let from = near.and_then(|near| turns.get(near)).copied().unwrap_or_default();
            let part = if inner.len() == 1 { place } else { place + 0.5 - of.len() as f64 / 2.0 };
            places.insert(&node.name, at(from + room * part / of.len().max(1) as f64, 0.82 * CENTER, center));
        }
        places
    }

    fn hangs_on(&self, name: &str, near: Option<&str>) -> bool {
        let link = self.links.iter().find(|link| link.ends.iter().any(|end| end == name));
        link.is_some_and(|link| near.is_some_and(|near| link.ends.iter().any(|end| end == near)))
    }
}

/// Half the width and height of a drawing.
const CENTER: f64 = 500.0;

fn rates(link: &Link) -> String {
    let [there, back] = link.rates_bps.map(display_rate);
    if there == back { there } else { format!("{there} there, {back} back") }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
