//! From a document to a network of sites: every name known and unique, every rate above 0 in both directions,
//! every job connected.

use std::collections::HashMap;

use inart_planner::TopologyError;
use inart_planner::units::{Size, display_size};
use petgraph::unionfind::UnionFind;
use serde_saphyr::Spanned;

use super::entries::{Document, JobEntry, NodeEntry};
use crate::network::{MOST_CHUNK_BYTES, MOST_CHUNKS, Overlay, SiteId, SiteJob};

type Result<T> = std::result::Result<T, TopologyError>;

/// Longest chunk of a job that states none, in bytes.
const CHUNK_BYTES: u64 = 4_000_000;
/// Bytes of a parameter, a float32.
const PARAMETER_BYTES: u64 = 4;
/// Most sites of a network.
const MOST_SITES: usize = 1024;

fn line<T>(entry: &Spanned<T>) -> u64 {
    entry.referenced.line()
}

pub(super) fn build(document: Document) -> Result<Overlay> {
    let at = line(&document.name);
    usable(at, "document", &document.name.value)?;
    let mut overlay = Overlay {
        name: document.name.value,
        sites: Vec::new(),
        links: Vec::new(),
        jobs: Vec::new(),
        by_name: HashMap::new(),
    };
    for entry in document.nodes {
        overlay.add_site(entry)?;
    }
    if overlay.sites.len() > MOST_SITES {
        let problem = format!("it has {} sites", overlay.sites.len());
        return Err(TopologyError::new(at, "document", problem, format!("at most {MOST_SITES} are planned")));
    }
    for entry in document.links {
        overlay.add_link(entry)?;
    }
    for entry in document.traces {
        overlay.add_trace(entry)?;
    }
    if document.jobs.is_empty() {
        let fix = "add one: `jobs: [{name: alexnet, gradient: 244 MB, chunk: 4 MB}]`";
        return Err(TopologyError::new(at, "document", "it has no job", fix));
    }
    for entry in document.jobs {
        let at = line(&entry);
        overlay.add_job(entry.value, at)?;
    }
    Ok(overlay)
}

impl Overlay {
    fn add_site(&mut self, entry: Spanned<NodeEntry>) -> Result<()> {
        let at = line(&entry);
        let NodeEntry { name, kind, site, aggregation, ingress, board } = entry.value;
        usable(at, "node", &name)?;
        let place = format!("node {name}");
        if kind != "site" {
            let (problem, fix) = match &*kind {
                "switch" | "server" | "worker" => (
                    format!("a {kind} in a network of sites"),
                    "say in which site it is, `site: n1`; `inart plan` and `inart simulate` take both levels"
                        .to_owned(),
                ),
                "peer" => ("peers and sites in one network".to_owned(), "keep sites here".to_owned()),
                _ => (format!("kind is \"{kind}\""), "write `kind: site`".to_owned()),
            };
            return Err(TopologyError::new(at, place, problem, fix));
        }
        if site.is_some() || aggregation.is_some() || ingress.is_some() || board.is_some() {
            let problem = "a site has no `site`, `aggregation`, `ingress` or `board`";
            return Err(TopologyError::new(at, place, problem, "leave them out"));
        }
        let id = SiteId(self.sites.len() as u32);
        if self.by_name.insert(name.clone(), id).is_some() {
            let fix = "give each site its own name";
            return Err(TopologyError::new(at, place, "this name is taken already", fix));
        }
        self.sites.push(name);
        Ok(())
    }

    fn add_job(&mut self, entry: JobEntry, at: u64) -> Result<()> {
        let JobEntry { name, sites, gradient, tensors, chunk, workers, servers, peers, clients } = entry;
        usable(at, "job", &name)?;
        let place = format!("job {name}");
        if self.job_named(&name).is_some() {
            let fix = "give each job its own name";
            return Err(TopologyError::new(at, place, "this name is taken already", fix));
        }
        if workers.is_some() || servers.is_some() || peers.is_some() || clients.is_some() {
            let problem = "it has workers, servers, peers or clients, and this is a network of sites";
            return Err(TopologyError::new(
                at,
                place,
                problem,
                "name `sites: [n1, n2]`, or leave it out for all",
            ));
        }
        let sites = self.sites_of_job(at, &place, sites)?;
        let tensors_bytes = match (gradient, tensors) {
            (Some(size), None) => vec![whole(at, &place, "gradient", size)?],
            (None, Some(sizes)) if !sizes.is_empty() => {
                let each = sizes.into_iter().map(|size| whole(at, &place, "a tensor", size));
                each.collect::<Result<Vec<_>>>()?
            }
            _ => {
                let problem = "it needs either `gradient` or `tensors`";
                let fix = "write `gradient: 244 MB`, or `tensors: [31 KB, 256 B]`";
                return Err(TopologyError::new(at, place, problem, fix));
            }
        };
        let chunk_bytes = chunk.map_or(Ok(CHUNK_BYTES), |size| whole(at, &place, "chunk", size))?;
        // A chunk is of one tensor.
        let longest = tensors_bytes.iter().copied().max().unwrap_or(0).min(chunk_bytes);
        if longest > MOST_CHUNK_BYTES {
            let most = display_size(MOST_CHUNK_BYTES as f64);
            let problem = format!(
                "chunk {} gives chunks of {}, and a chunk has at most {most}, so that any sum of it fits a message of 1 GiB",
                display_size(chunk_bytes as f64),
                display_size(longest as f64)
            );
            return Err(TopologyError::new(at, place, problem, "write `chunk: 4 MB`"));
        }
        let chunks = tensors_bytes.iter().map(|bytes| bytes.div_ceil(chunk_bytes));
        let chunks = chunks.fold(0u64, u64::saturating_add);
        if chunks > MOST_CHUNKS {
            let problem = format!("chunk {} cuts it into {chunks} chunks", display_size(chunk_bytes as f64));
            let fix = format!("at most {MOST_CHUNKS} are carried; give longer chunks");
            return Err(TopologyError::new(at, place, problem, fix));
        }
        self.is_connected(at, &place, &sites)?;
        self.jobs.push(SiteJob { name, sites, tensors_bytes, chunk_bytes, unit_bytes: 4 });
        Ok(())
    }

    fn sites_of_job(&self, at: u64, place: &str, names: Option<Vec<String>>) -> Result<Vec<SiteId>> {
        let Some(names) = names else { return self.at_least_two(at, place, self.site_ids().collect()) };
        let mut sites = Vec::with_capacity(names.len());
        for name in names {
            let id = self.known(at, place, &name)?;
            if sites.contains(&id) {
                let problem = format!("\"{name}\" is listed twice");
                return Err(TopologyError::new(at, place, problem, "list it once"));
            }
            sites.push(id);
        }
        sites.sort_unstable();
        self.at_least_two(at, place, sites)
    }

    fn at_least_two(&self, at: u64, place: &str, sites: Vec<SiteId>) -> Result<Vec<SiteId>> {
        if sites.len() >= 2 {
            return Ok(sites);
        }
        let problem = format!("it has {} site", sites.len());
        Err(TopologyError::new(at, place, problem, "name at least two: one alone has nothing to sum"))
    }

    /// Sites reach each other over sites of the job.
    fn is_connected(&self, at: u64, place: &str, sites: &[SiteId]) -> Result<()> {
        let mut joined = UnionFind::<u32>::new(self.sites.len());
        for link in self.links.iter().filter(|link| link.ends.iter().all(|end| sites.contains(end))) {
            joined.union(link.ends[0].0, link.ends[1].0);
        }
        let apart = sites.iter().find(|site| joined.find(site.0) != joined.find(sites[0].0));
        let Some(&apart) = apart else { return Ok(()) };
        let (apart, first) = (self.site_name(apart), self.site_name(sites[0]));
        let problem = format!("site {apart} has no way to site {first}");
        Err(TopologyError::new(at, place, problem, "link them over sites of the job"))
    }

    pub(super) fn known(&self, at: u64, place: &str, name: &str) -> Result<SiteId> {
        self.site_named(name).ok_or_else(|| {
            let near = self.sites.iter().find(|known| known.eq_ignore_ascii_case(name));
            let fix = match near {
                Some(near) => format!("did you mean \"{near}\"? Else add it under nodes"),
                None => "add it under nodes".to_owned(),
            };
            TopologyError::new(at, place, format!("unknown site \"{name}\""), fix)
        })
    }
}

fn usable(at: u64, place: &str, name: &str) -> Result<()> {
    if !name.is_empty() && name.chars().all(|c| !c.is_whitespace() && !c.is_control()) {
        return Ok(());
    }
    let problem = format!("the name {name:?} is empty or holds blanks");
    Err(TopologyError::new(at, place, problem, "give it a name without blanks"))
}

/// A size in whole parameters.
fn whole(at: u64, place: &str, what: &str, size: Size) -> Result<u64> {
    let bytes = size.0.round();
    if !(PARAMETER_BYTES as f64..1e18).contains(&bytes) {
        let problem = format!("{what} is {} bytes", size.0);
        return Err(TopologyError::new(at, place, problem, "give a size like \"244 MB\""));
    }
    let bytes = bytes as u64;
    if !bytes.is_multiple_of(PARAMETER_BYTES) {
        let problem = format!("{what} is {bytes} bytes, and parameters have {PARAMETER_BYTES}");
        let fix = format!("write {}", bytes.next_multiple_of(PARAMETER_BYTES));
        return Err(TopologyError::new(at, place, problem, fix));
    }
    Ok(bytes)
}
