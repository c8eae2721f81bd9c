//! From a document to a network of sites: every name known and unique, every rate above 0 in both directions,
//! every job connected.

use std::collections::HashMap;

use petgraph::unionfind::UnionFind;

use super::network::{MOST_CHUNK_BYTES, MOST_CHUNKS, Overlay, SiteId, SiteJob};
use crate::document::{At, Document, JobEntry, NodeEntry, needed, required, unknown, usable};
use crate::error::{NetworkError, Result};
use crate::kind::Kind;
use crate::units::{Size, counted, display_size};

/// Longest chunk of a job that states none, in bytes.
const CHUNK_BYTES: u64 = 4_000_000;
/// Bytes of a parameter, a float32.
const PARAMETER_BYTES: u64 = 4;
/// Most sites of a network.
const MOST_SITES: usize = 1024;

/// Builds the network between the sites of a document.
pub(super) fn build(document: Document) -> Result<Overlay> {
    for node in document.nodes() {
        is_site(node)?;
    }
    document.refuse_keys_of_others(Kind::Sites)?;
    let name = needed(0, "document", "name", document.name)?;
    let at = name.line;
    usable(at, "document", &name.value)?;
    let mut overlay = Overlay {
        name: name.value,
        sites: Vec::new(),
        links: Vec::new(),
        jobs: Vec::new(),
        by_name: HashMap::new(),
    };
    for entry in document.nodes.into_iter().flat_map(|nodes| nodes.value) {
        overlay.add_site(entry)?;
    }
    if overlay.sites.len() > MOST_SITES {
        let problem = format!("it has {}", counted(overlay.sites.len(), "site"));
        return Err(NetworkError::new(at, "document", problem, format!("at most {MOST_SITES} are planned")));
    }
    for entry in document.links.into_iter().flat_map(|links| links.value) {
        overlay.add_link(entry)?;
    }
    for entry in document.traces.into_iter().flat_map(|traces| traces.value) {
        overlay.add_trace(entry)?;
    }
    let jobs = document.jobs.map_or_else(Vec::new, |jobs| jobs.value);
    if jobs.is_empty() {
        let fix = "add one: `jobs: [{name: alexnet, gradient: 244 MB, chunk: 4 MB}]`";
        return Err(NetworkError::new(at, "document", "it has no job", fix));
    }
    for entry in jobs {
        overlay.add_job(entry.value, entry.line)?;
    }
    Ok(overlay)
}

impl Overlay {
    fn add_site(&mut self, entry: At<NodeEntry>) -> Result<()> {
        let at = entry.line;
        let name = required(at, "node", "name", entry.value.name)?;
        usable(at, "node", &name)?;
        let place = format!("node {name}");
        let id = SiteId(self.sites.len() as u32);
        if self.by_name.insert(name.clone(), id).is_some() {
            let fix = "give each site its own name";
            return Err(NetworkError::new(at, place, "this name is taken already", fix));
        }
        self.sites.push(name);
        Ok(())
    }

    fn add_job(&mut self, entry: JobEntry, at: u64) -> Result<()> {
        let JobEntry { name, sites, gradient, tensors, chunk, .. } = entry;
        let name = required(at, "job", "name", name)?;
        usable(at, "job", &name)?;
        let place = format!("job {name}");
        if self.job_named(&name).is_some() {
            let fix = "give each job its own name";
            return Err(NetworkError::new(at, place, "this name is taken already", fix));
        }
        let sites = self.sites_of_job(at, &place, sites.map(|names| names.value))?;
        let tensors_bytes = match (gradient.map(|size| size.value), tensors.map(|sizes| sizes.value)) {
            (Some(size), None) => vec![whole(at, &place, "gradient", size)?],
            (None, Some(sizes)) if !sizes.is_empty() => {
                let each = sizes.into_iter().map(|size| whole(at, &place, "a tensor", size));
                each.collect::<Result<Vec<_>>>()?
            }
            _ => {
                let problem = "it needs either `gradient` or `tensors`";
                let fix = "write `gradient: 244 MB`, or `tensors: [31 KB, 256 B]`";
                return Err(NetworkError::new(at, place, problem, fix));
            }
        };
        let chunk_bytes = chunk.map_or(Ok(CHUNK_BYTES), |size| whole(at, &place, "chunk", size.value))?;
        // A chunk is of one tensor.
        let longest = tensors_bytes.iter().copied().max().unwrap_or(0).min(chunk_bytes);
        if longest > MOST_CHUNK_BYTES {
            let most = display_size(MOST_CHUNK_BYTES as f64);
            let problem = format!(
                "chunk {} gives chunks of {}, and a chunk has at most {most}, so that any sum of it fits a \
                 message of 1 GiB",
                display_size(chunk_bytes as f64),
                display_size(longest as f64)
            );
            return Err(NetworkError::new(at, place, problem, "write `chunk: 4 MB`"));
        }
        let chunks = tensors_bytes.iter().map(|bytes| bytes.div_ceil(chunk_bytes));
        let chunks = chunks.fold(0u64, u64::saturating_add);
        if chunks > MOST_CHUNKS {
            let problem = format!(
                "chunk {} cuts it into {chunks}",
                display_size(chunk_bytes as f64),
                chunks = counted(chunks, "chunk")
            );
            let fix = format!("at most {MOST_CHUNKS} are carried; give longer chunks");
            return Err(NetworkError::new(at, place, problem, fix));
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
                return Err(NetworkError::new(at, place, problem, "list it once"));
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
        Err(NetworkError::new(at, place, problem, "name at least two: one alone has nothing to sum"))
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
        Err(NetworkError::new(at, place, problem, "link them over sites of the job"))
    }

    pub(super) fn known(&self, at: u64, place: &str, name: &str) -> Result<SiteId> {
        let names = self.sites.iter().map(String::as_str);
        self.site_named(name).ok_or_else(|| unknown(at, place, "site", name, names))
    }
}

/// Refuses a node between sites that is not one.
fn is_site(node: &At<NodeEntry>) -> Result<()> {
    let (at, place) = (node.line, node.value.place());
    let kind = node.value.kind.clone();
    let kind = required(at, &place, "kind", kind)?;
    let (problem, fix) = match &*kind {
        "site" => return Ok(()),
        "switch" | "server" | "worker" => (
            format!("a {kind} in a network of sites"),
            "give its site, `site: n1`; `inart plan` and `inart simulate` take both levels",
        ),
        "peer" => ("peers and sites in one network".to_owned(), "keep sites here"),
        _ => (format!("kind is \"{kind}\""), "write `kind: site`"),
    };
    Err(NetworkError::new(at, place, problem, fix))
}

/// Returns a size in whole parameters.
fn whole(at: u64, place: &str, what: &str, size: Size) -> Result<u64> {
    let bytes = size.0.round();
    if !(PARAMETER_BYTES as f64..1e18).contains(&bytes) {
        let problem = format!("{what} is {} bytes", size.0);
        return Err(NetworkError::new(at, place, problem, "give a size like \"244 MB\""));
    }
    let bytes = bytes as u64;
    if !bytes.is_multiple_of(PARAMETER_BYTES) {
        let problem = format!("{what} is {bytes} bytes, and parameters have {PARAMETER_BYTES}");
        let fix = format!("write {}", bytes.next_multiple_of(PARAMETER_BYTES));
        return Err(NetworkError::new(at, place, problem, fix));
    }
    Ok(bytes)
}
