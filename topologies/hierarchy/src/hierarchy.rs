//! Sites with their insides.

use std::collections::BTreeMap;

use inart_overlay::{Overlay, SiteJob};
use inart_planner::units::display_size;
use inart_planner::{Job, Topology, TopologyError};
use serde_json::Value;

use crate::document::{Document, Entry, entries, text};
use crate::error::HierarchyError;

/// A data centre's inside: switches, workers, and the site itself as their parameter server.
#[derive(Debug, Clone)]
pub struct Inside {
    /// The site.
    pub site: String,
    /// Its network, with one job.
    pub topology: Topology,
}

/// A network of both levels.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    /// The sites and the links between them.
    pub overlay: Overlay,
    /// The insides of those sites that have one, in the order of the sites.
    pub insides: Vec<Inside>,
}

/// Chunks between sites are whole multiples of so many bytes, so that they are whole frames of every length
/// that frames inside sites may have.
pub const CHUNK_UNIT_BYTES: u64 = 8192;

/// A wrong entry.
fn wrong(entry: &Entry, place: String, problem: &str, fix: &str) -> HierarchyError {
    TopologyError::new(entry.line, place, problem, fix).into()
}

impl Hierarchy {
    /// Whether a document has both levels: one of its nodes is inside a site. Documents that cannot be read
    /// have not.
    pub fn is_one(text: &str) -> bool {
        text.contains("site")
            && Document::read(text)
                .is_ok_and(|document| document.nodes.iter().any(|node| node.value.contains_key("site")))
    }

    /// Reads and validates a document: YAML or JSON.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the document.
    pub fn from_yaml(document: &str) -> Result<Hierarchy, HierarchyError> {
        let Document { name, mtu, nodes, links, traces, jobs } = Document::read(document)?;
        let (nodes, links, jobs) = (entries(nodes), entries(links), entries(jobs));
        let site_of = sites(&nodes)?;
        let within = |name: &str| site_of.get(name).and_then(|site| site.as_deref());
        let mut parts: BTreeMap<&str, Parts> = BTreeMap::new();
        let mut outer = Parts::default();
        for node in &nodes {
            let part = node.text("site").map_or(&mut outer, |site| parts.entry(site).or_default());
            let mut node = node.clone();
            node.fields.remove("site");
            part.nodes.push(node);
        }
        for link in links {
            let ends = link.texts("ends").unwrap_or_default();
            let inside = ends.iter().find_map(|end| within(end)).map(str::to_owned);
            let Some(site) = inside else {
                outer.links.push(link);
                continue;
            };
            let place = format!("link {}", ends.join(" to "));
            if ends.iter().any(|end| *end != site && within(end) != Some(&site)) {
                let fix = format!("link nodes inside {site} to each other or to {site}");
                return Err(wrong(&link, place, &format!("it leaves site {site}"), &fix));
            }
            if let Some(part) = parts.get_mut(&*site) {
                part.links.push(link);
            }
        }
        for job in jobs {
            let Some(workers) = job.texts("workers") else {
                outer.jobs.push(job);
                continue;
            };
            let site = inside_of(&job, &workers, &within)?.to_owned();
            if let Some(part) = parts.get_mut(&*site) {
                part.jobs.push(job);
            }
        }
        let (name, mtu) = (name.value, mtu.map(|mtu| mtu.value));
        let traces = entries(traces);
        let between = [
            ("nodes", &outer.nodes[..]),
            ("links", &outer.links[..]),
            ("traces", &traces[..]),
            ("jobs", &outer.jobs[..]),
        ];
        let mut overlay = Overlay::from_yaml(&text(&name, None, &between))?;
        overlay.align_chunks(CHUNK_UNIT_BYTES);
        let mut insides = Vec::new();
        for site in overlay.sites() {
            if let Some(part) = parts.remove(&**site) {
                insides.push(part.inside(site, &name, mtu.as_ref(), &nodes)?);
            }
        }
        Ok(Hierarchy { overlay, insides })
    }

    /// The inside of a site, if it has one.
    pub fn inside_of(&self, site: &str) -> Option<&Inside> {
        self.insides.iter().find(|inside| inside.site == site)
    }

    /// Who gives a gradient of its own, in order: of each site of the job its workers, or the site itself
    /// where nothing is inside.
    pub fn contributors(&self, job: &SiteJob) -> Vec<Contributor> {
        let mut all = Vec::new();
        for &site in &job.sites {
            let site = self.overlay.site_name(site);
            let of = |worker| Contributor { site: site.to_owned(), worker };
            match self.inside_of(site).map(|inside| (&inside.topology, &inside.topology.jobs()[0])) {
                Some((topology, job)) => {
                    let name = |&worker| topology.node(worker).name.clone();
                    all.extend(job.workers.iter().map(name).map(Some).map(of));
                }
                None => all.push(of(None)),
            }
        }
        all
    }

    /// The network for another gradient, as [`Overlay::scaled`] makes it, with the rates inside sites
    /// multiplied by the same factor, and the factor of time. Delays inside sites stay.
    pub fn scaled(&self, job: &SiteJob, gradient_bytes: u64, rate: f64) -> (Hierarchy, f64) {
        let (overlay, time) = self.overlay.scaled(job, gradient_bytes, rate);
        let scaled = |inside: &Inside| {
            let topology = inside.topology.scaled(rate);
            let jobs = topology.jobs().iter().cloned();
            let jobs = jobs.map(|job| Job { gradient_bytes: None, ..job }).collect();
            Inside { site: inside.site.clone(), topology: topology.with_jobs(jobs) }
        };
        (Hierarchy { overlay, insides: self.insides.iter().map(scaled).collect() }, time)
    }

    /// Whether every inside sums the gradient of this job between sites.
    ///
    /// # Errors
    /// An inside job with a gradient of another size.
    pub fn fits(&self, job: &SiteJob) -> Result<(), HierarchyError> {
        for Inside { site, topology } in &self.insides {
            let inner = &topology.jobs()[0];
            let outer = job.gradient_bytes();
            if inner.gradient_bytes.is_some_and(|bytes| bytes != outer) {
                let outer = display_size(outer as f64);
                let problem = format!("its gradient is not that of job {}, {outer}", job.name);
                let fix = format!("write `gradient: {outer}`, or leave it out");
                let error = TopologyError::new(None, format!("job {}", inner.name), problem, fix);
                return Err(HierarchyError::Inside { site: site.clone(), error });
            }
        }
        Ok(())
    }
}

/// Each node's site, of those that are inside one.
fn sites(nodes: &[Entry]) -> Result<BTreeMap<String, Option<String>>, HierarchyError> {
    let mut all = BTreeMap::new();
    for node in nodes {
        let place = format!("node {}", node.text("name").unwrap_or("without a name"));
        if let Some(site) = node.fields.get("site") {
            let is_site =
                |other: &&Entry| other.text("kind") == Some("site") && other.fields.get("name") == Some(site);
            if !nodes.iter().any(|other| is_site(&other)) {
                let fix = "name a node of `kind: site`";
                return Err(wrong(node, place, &format!("there is no site {site}"), fix));
            }
            if node.text("kind") == Some("server") {
                let fix = "leave it out: the site itself is the parameter server of its workers";
                return Err(wrong(node, place, "a server inside a site", fix));
            }
        } else if matches!(node.text("kind"), Some("switch" | "worker" | "server")) {
            let fix = "say in which: `site: n1`";
            return Err(wrong(node, place, "it is in no site, and this is a network of sites", fix));
        }
        let site = node.text("site").map(str::to_owned);
        all.insert(node.text("name").unwrap_or_default().to_owned(), site);
    }
    Ok(all)
}

/// The site that all workers of a job are in, which has to be its server.
fn inside_of<'a>(
    job: &Entry,
    workers: &[&str],
    within: &impl Fn(&str) -> Option<&'a str>,
) -> Result<&'a str, HierarchyError> {
    let place = format!("job {}", job.text("name").unwrap_or("without a name"));
    let site = workers.first().and_then(|worker| within(worker));
    let Some(site) = site.filter(|site| workers.iter().all(|worker| within(worker) == Some(site))) else {
        let fix = "name workers that have the same `site`";
        return Err(wrong(job, place, "its workers are not inside one site", fix));
    };
    match job.texts("servers") {
        Some(servers) if servers != [site] => {
            let fix = format!("write `servers: [{site}]`, or leave it out");
            Err(wrong(job, place, "its servers are not the site alone, where the sum leaves", &fix))
        }
        _ => Ok(site),
    }
}

/// Who gives a gradient of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contributor {
    /// The site.
    pub site: String,
    /// The worker inside it; none where the site itself is meant.
    pub worker: Option<String>,
}

/// The entries of one level's network.
#[derive(Default)]
struct Parts {
    nodes: Vec<Entry>,
    links: Vec<Entry>,
    jobs: Vec<Entry>,
}

impl Parts {
    fn inside(
        mut self,
        site: &str,
        network: &str,
        mtu: Option<&Value>,
        nodes: &[Entry],
    ) -> Result<Inside, HierarchyError> {
        let mut own = nodes.iter().filter(|node| node.text("name") == Some(site)).cloned();
        if let Some(mut gateway) = own.next() {
            gateway.fields.insert("kind".to_owned(), "server".into());
            self.nodes.insert(0, gateway);
        }
        if self.jobs.len() != 1 {
            let problem = format!("it has {} jobs", self.jobs.len());
            let fix = format!("give it one: `{{name: {site}-inside, workers: [...], servers: [{site}]}}`");
            return Err(TopologyError::new(None, format!("site {site}"), problem, fix).into());
        }
        self.jobs[0].fields.insert("servers".to_owned(), vec![site].into());
        let sections = [("nodes", &self.nodes[..]), ("links", &self.links[..]), ("jobs", &self.jobs[..])];
        let topology = Topology::from_yaml(&text(&format!("{network}-{site}"), mtu, &sections))
            .map_err(|error| HierarchyError::Inside { site: site.to_owned(), error })?;
        let job = &topology.jobs()[0];
        let cannot = [
            (job.exact, "sum: exact", "sites round the sums that they exchange"),
            (job.elastic, "elastic: true", "the workers of a site cannot join or leave"),
        ];
        if let Some((_, key, why)) = cannot.into_iter().find(|(given, ..)| *given) {
            let problem = format!("`{key}`, but {why}");
            let error =
                TopologyError::new(None, format!("job {}", job.name), problem, format!("leave out `{key}`"));
            return Err(HierarchyError::Inside { site: site.to_owned(), error });
        }
        Ok(Inside { site: site.to_owned(), topology })
    }
}
