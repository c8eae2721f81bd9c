//! Sites with their insides.

use std::collections::BTreeMap;

use super::network::{Overlay, SiteJob};
use super::validate;
use crate::document::{At, Document, JobEntry, LinkEntry, NodeEntry, required};
use crate::error::{NetworkError, Result};
use crate::switched::entries::Detail;
use crate::switched::validate::build;
use crate::switched::{Job, Topology};
use crate::units::{counted, display_size};

/// The network inside a data center: switches, workers, and the site itself as their parameter server.
#[derive(Debug, Clone)]
pub struct Inside {
    /// The site.
    pub site: String,
    /// The network, with one job.
    pub topology: Topology,
}

/// A network of sites, with the networks inside them.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    /// The sites and the links between them.
    pub overlay: Overlay,
    /// The insides of those sites that have one, in the order of the sites.
    pub insides: Vec<Inside>,
}

/// Chunks between sites are whole multiples of this number of bytes, so that they are whole frames of every
/// length that frames inside sites may have.
pub const CHUNK_UNIT_BYTES: u64 = 8192;

/// The site that each node is inside, by the node's name.
type Places = BTreeMap<String, String>;

impl Hierarchy {
    /// Builds the network of a document that has nodes inside sites.
    pub(super) fn build(document: Document) -> Result<Hierarchy> {
        let places = places(document.nodes())?;
        let Document { name, mtu, nodes, links, background, traces, jobs } = document;
        let mut parts: BTreeMap<String, Parts> = BTreeMap::new();
        let mut outer = Parts::default();
        let mut gateways = BTreeMap::new();
        for node in entries(nodes) {
            match node.value.site.as_ref().map(|site| site.value.clone()) {
                Some(site) => {
                    let value = NodeEntry { site: None, ..node.value };
                    parts.entry(site).or_default().nodes.push(At { line: node.line, value });
                }
                None => {
                    gateways.insert(node.value.named().unwrap_or_default().to_owned(), node.clone());
                    outer.nodes.push(node);
                }
            }
        }
        for link in entries(links) {
            match inside_of_link(&link, &places)?.and_then(|site| parts.get_mut(&site)) {
                Some(part) => part.links.push(link),
                None => outer.links.push(link),
            }
        }
        for job in entries(jobs) {
            match inside_of_job(&job, &places)?.and_then(|site| parts.get_mut(&site)) {
                Some(part) => part.jobs.push(job),
                None => outer.jobs.push(job),
            }
        }
        let between = Document {
            name: name.clone(),
            mtu: None,
            nodes: list(outer.nodes),
            links: list(outer.links),
            background,
            traces,
            jobs: list(outer.jobs),
        };
        let mut overlay = validate::build(between)?;
        overlay.align_chunks(CHUNK_UNIT_BYTES);
        let mut insides = Vec::new();
        for site in overlay.sites() {
            let Some((part, gateway)) = parts.remove(site).zip(gateways.remove(site)) else { continue };
            insides.push(part.inside(site, overlay.name(), mtu, gateway)?);
        }
        Ok(Hierarchy { overlay, insides })
    }

    /// Writes the document that [`Hierarchy::from_yaml`] reads back to the same network.
    pub fn to_yaml(&self) -> String {
        self.document().to_yaml()
    }

    /// Returns the document that reads back to the same network.
    pub(crate) fn document(&self) -> Document {
        let mut all = self.overlay.document();
        for Inside { site, topology } in &self.insides {
            let Document { mtu, nodes, links, jobs, .. } = topology.document(Detail::WhatDiffers);
            let inside = entries(nodes).into_iter().filter(|node| node.value.named() != Some(site));
            let inside = inside.map(|node| {
                let value = NodeEntry { site: Some(At::new(site.clone())), ..node.value };
                At::new(value)
            });
            all.nodes.get_or_insert_default().value.extend(inside);
            let mtu_of = |link: At<LinkEntry>| {
                let value = LinkEntry { mtu: link.value.mtu.or(mtu), ..link.value };
                At::new(value)
            };
            all.links.get_or_insert_default().value.extend(entries(links).into_iter().map(mtu_of));
            all.jobs.get_or_insert_default().value.extend(entries(jobs));
        }
        all
    }

    /// Returns the inside of a site, if it has one.
    pub fn inside_of(&self, site: &str) -> Option<&Inside> {
        self.insides.iter().find(|inside| inside.site == site)
    }

    /// Returns all that have a gradient of their own: of each site of the job its workers, or the site itself
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

    /// Returns the network for another gradient, as [`Overlay::scaled`] makes it, with the rates inside sites
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

    /// Rejects an inside whose job has another gradient than this job between sites.
    ///
    /// # Errors
    /// Returns the first such inside.
    pub fn fits(&self, job: &SiteJob) -> Result<()> {
        for Inside { site, topology } in &self.insides {
            let inner = &topology.jobs()[0];
            let outer = job.gradient_bytes();
            if inner.gradient_bytes.is_some_and(|bytes| bytes != outer) {
                let outer = display_size(outer as f64);
                let problem = format!("its gradient is not that of job {}, {outer}", job.name);
                let fix = format!("write `gradient: {outer}`, or leave it out");
                let error = NetworkError::new(None, format!("job {}", inner.name), problem, fix);
                return Err(error.within(&format!("inside site {site}")));
            }
        }
        Ok(())
    }
}

fn entries<E>(section: Option<At<Vec<At<E>>>>) -> Vec<At<E>> {
    section.map_or_else(Vec::new, |entries| entries.value)
}

fn list<E>(entries: Vec<At<E>>) -> Option<At<Vec<At<E>>>> {
    Some(At::new(entries))
}

/// Returns the site of each node that is inside one.
fn places(nodes: &[At<NodeEntry>]) -> Result<Places> {
    let mut all = Places::new();
    for node in nodes {
        let (at, place) = (node.line, node.value.place());
        let wrong = |problem: &str, fix: &str| Err(NetworkError::new(at, &*place, problem, fix));
        let Some(site) = &node.value.site else {
            if ["switch", "worker", "server"].iter().any(|kind| node.value.is(kind)) {
                let fix = "give the site: `site: n1`";
                return wrong("it is in no site, and this is a network of sites", fix);
            }
            continue;
        };
        if node.value.is("site") {
            return wrong("a site inside a site", "leave `site` out");
        }
        if !nodes.iter().any(|other| other.value.is("site") && other.value.named() == Some(&site.value)) {
            return wrong(&format!("site {:?} does not exist", site.value), "name a node of `kind: site`");
        }
        if node.value.is("server") {
            let fix = "leave it out: the site itself is the parameter server of its workers";
            return wrong("a server inside a site", fix);
        }
        let name = required(at, "node", "name", node.value.name.clone())?;
        all.insert(name, site.value.clone());
    }
    Ok(all)
}

/// Returns the site that a link is inside.
fn inside_of_link(link: &At<LinkEntry>, places: &Places) -> Result<Option<String>> {
    let ends = link.value.end_names();
    let Some(site) = ends.iter().find_map(|end| places.get(*end)) else { return Ok(None) };
    if ends.iter().any(|end| end != site && places.get(*end) != Some(site)) {
        let fix = format!("link nodes inside {site} to each other or to {site}");
        let place = format!("link {}", ends.join(" to "));
        return Err(NetworkError::new(link.line, place, format!("it leaves site {site}"), fix));
    }
    Ok(Some(site.clone()))
}

/// Returns the site that all workers of a job are in, which is the job's server.
fn inside_of_job(job: &At<JobEntry>, places: &Places) -> Result<Option<String>> {
    let Some(workers) = &job.value.workers else { return Ok(None) };
    let place = job.value.place();
    let site = workers.value.first().and_then(|worker| places.get(worker));
    let Some(site) = site.filter(|site| workers.value.iter().all(|name| places.get(name) == Some(site)))
    else {
        let fix = "name workers that have the same `site`";
        return Err(NetworkError::new(job.line, place, "its workers are not inside one site", fix));
    };
    if job.value.servers.as_ref().is_some_and(|servers| servers.value != [site.as_str()]) {
        let fix = format!("write `servers: [{site}]`, or leave it out");
        let problem = "its servers are not the site alone, where the sum leaves";
        return Err(NetworkError::new(job.line, place, problem, fix));
    }
    Ok(Some(site.clone()))
}

/// A gradient of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contributor {
    /// The site.
    pub site: String,
    /// The worker inside the site; `None` for the site itself.
    pub worker: Option<String>,
}

/// The entries of one level's network.
#[derive(Default)]
struct Parts {
    nodes: Vec<At<NodeEntry>>,
    links: Vec<At<LinkEntry>>,
    jobs: Vec<At<JobEntry>>,
}

impl Parts {
    /// Returns the inside of a site; `gateway` is the site's own node.
    fn inside(
        self,
        site: &str,
        network: &str,
        mtu: Option<At<i64>>,
        gateway: At<NodeEntry>,
    ) -> Result<Inside> {
        let Parts { nodes, links, mut jobs } = self;
        if jobs.len() != 1 {
            let problem = format!("it has {}", counted(jobs.len(), "job"));
            let fix = format!("give it one: `{{name: {site}-inside, workers: [...], servers: [{site}]}}`");
            return Err(NetworkError::new(None, format!("site {site}"), problem, fix));
        }
        jobs[0].value.servers = Some(At::new(vec![site.to_owned()]));
        let gateway = At { line: gateway.line, value: NodeEntry::new(site, "server") };
        let topology = build(Document {
            name: Some(At::new(format!("{network}-{site}"))),
            mtu,
            nodes: list([vec![gateway], nodes].concat()),
            links: list(links),
            jobs: list(jobs),
            ..Document::default()
        });
        let place = format!("inside site {site}");
        let topology = topology.map_err(|error| error.within(&place))?;
        let job = &topology.jobs()[0];
        let cannot = [
            (job.exact, "sum: exact", "sites round the sums that they exchange"),
            (job.elastic, "elastic: true", "the workers of a site cannot join or leave"),
        ];
        if let Some((_, key, why)) = cannot.into_iter().find(|(given, ..)| *given) {
            let (problem, fix) = (format!("`{key}`, but {why}"), format!("leave out `{key}`"));
            let error = NetworkError::new(None, format!("job {}", job.name), problem, fix);
            return Err(error.within(&place));
        }
        Ok(Inside { site: site.to_owned(), topology })
    }
}
