//! What a site knows before it begins.

use std::sync::Arc;
use std::time::Duration;

use inart_core::exact_sum::EXACT_VALUES;
use inart_core::scale::BLOCK_VALUES;
use inart_overlay::{Options, Overlay, Plan, PlanError, Scheme, SiteJob, chunk_sizes};
use inart_sites::{AuxiliaryUse, Policy, Sending, SiteNo};

use crate::gradient::VALUE_BYTES;

/// A site hands each link at most so many chunks before they have arrived. The connection sends them in
/// their order, so this is only to keep it busy.
const ON_LINK: u32 = 16;

/// What is wrong with a setup.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The first policy cannot be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No such site.
    #[error("site \"{name}\" is not in job {job}; name one of {known}")]
    UnknownSite {
        /// As given.
        name: String,
        /// The job.
        job: String,
        /// Its sites.
        known: String,
    },
}

/// A job as one of its sites takes part in it. All sites of a job make it from the same network document.
#[derive(Debug, Clone)]
pub struct Setup {
    /// This site.
    pub me: SiteNo,
    /// The job's sites, ascending.
    pub sites: Vec<SiteNo>,
    /// The names of all sites of the network.
    pub names: Vec<String>,
    /// Of each site of the network: those that it has a link to, within the job, ascending.
    pub neighbours: Vec<Vec<SiteNo>>,
    /// Values of each tensor of a gradient.
    pub tensors: Vec<usize>,
    /// Values of each chunk. None spans two tensors.
    pub chunk_values: Vec<usize>,
    /// How chunks are handed to links.
    pub sending: Sending,
    /// What the first round follows: the same at all sites, whatever the scheduler does.
    pub first_policy: Arc<Policy>,
    /// What all sites have to have in common, as a number.
    pub job: u64,
    /// Whether a site that has restarted may go on where others are. Workers inside sites cannot: their
    /// programs have what it would have to load.
    pub can_rejoin: bool,
    /// How long a site waits for the scheduler's first offer before the first round.
    pub offer_wait: Duration,
    /// When nothing has arrived for so long, a site asks for what it misses.
    pub quiet: Duration,
    /// Longest time until all neighbors have connected, before the job ends.
    pub meeting_patience: Duration,
    /// Longest time without progress of a round, such as when a site is gone, before the job ends.
    pub patience: Duration,
}

impl Setup {
    /// From a network and a job of it. `options`: how the scheduler plans; `auxiliary`: how auxiliary paths
    /// are used, where it plans any.
    ///
    /// # Errors
    /// A site that the job does not have; options that cannot be used.
    pub fn new(
        overlay: &Overlay,
        job: &SiteJob,
        name: &str,
        options: &Options,
        auxiliary: AuxiliaryUse,
    ) -> Result<Self, SetupError> {
        let number = |index: usize| SiteNo(index as u16);
        let me = overlay.site_named(name).filter(|site| job.sites.contains(site));
        let me = me.ok_or_else(|| {
            let known: Vec<_> = job.sites.iter().map(|&site| overlay.site_name(site)).collect();
            let (name, job) = (name.to_owned(), job.name.clone());
            SetupError::UnknownSite { name, job, known: known.join(", ") }
        })?;
        let mut neighbours = vec![Vec::new(); overlay.sites().len()];
        for arc in overlay.arcs() {
            let (from, to) = overlay.ends(arc);
            if job.sites.contains(&from) && job.sites.contains(&to) {
                neighbours[from.index()].push(number(to.index()));
            }
        }
        neighbours.iter_mut().for_each(|list| list.sort_unstable());
        // The scheme's chunks, on one tree that every site finds by itself.
        let chunk_bytes = inart_overlay::longest_chunk(job, options.scheme);
        let first = Options::new(Scheme::Mst);
        let rates = inart_overlay::Rates(vec![1e6; overlay.arcs().count()]);
        let plan = inart_overlay::plan_with_chunks(overlay, job, &rates, &first, chunk_bytes)?;
        let policy = inart_overlay::policy(overlay, job, &plan, 0)?;
        let values = |bytes: &u64| *bytes as usize / VALUE_BYTES;
        Ok(Setup {
            me: number(me.index()),
            sites: policy.sites.clone(),
            names: overlay.sites().to_vec(),
            can_rejoin: job.unit_bytes == VALUE_BYTES as u64,
            neighbours,
            tensors: job.tensors_bytes.iter().map(values).collect(),
            chunk_values: chunk_sizes(job, &plan).iter().map(values).collect(),
            sending: sending(options, auxiliary),
            first_policy: Arc::new(policy),
            job: fingerprint(overlay, job, &plan, options),
            offer_wait: Duration::from_secs(2),
            quiet: Duration::from_secs(5),
            meeting_patience: Duration::from_secs(300),
            patience: Duration::from_secs(600),
        })
    }

    /// Values of a gradient.
    pub fn values(&self) -> usize {
        self.chunk_values.iter().sum()
    }

    /// Values of the tensor that a chunk is of, if the chunk can be rounded by itself: no other has values of
    /// its blocks, or nothing is rounded.
    pub(crate) fn tensor_of_whole(&self, chunk: usize) -> Option<usize> {
        let start: usize = self.chunk_values[..chunk].iter().sum();
        let end = start + self.chunk_values[chunk];
        let mut first = 0;
        let mut tensors = self.tensors.iter().map(|tensor| {
            first += tensor;
            first - tensor..first
        });
        let tensor = tensors.find(|tensor| tensor.contains(&start))?;
        let is_bound = |at: usize| (at - tensor.start).is_multiple_of(BLOCK_VALUES) || at == tensor.end;
        let is_whole = tensor.len() <= EXACT_VALUES || is_bound(start) && is_bound(end);
        is_whole.then_some(tensor.len())
    }

    /// The name of a site.
    pub fn name(&self, site: SiteNo) -> String {
        self.names.get(site.index()).cloned().unwrap_or_else(|| site.0.to_string())
    }

    /// This site's neighbours.
    pub fn my_neighbours(&self) -> &[SiteNo] {
        &self.neighbours[self.me.index()]
    }
}

fn sending(options: &Options, auxiliary: AuxiliaryUse) -> Sending {
    match (options.scheme, options.auxiliary) {
        (Scheme::Inart, _) => Sending::InOrder { on_link: ON_LINK },
        (_, Some(_)) => Sending::Auxiliary(auxiliary),
        (_, None) => Sending::AtOnce,
    }
}

/// FNV-1a over what sites have to agree on.
fn fingerprint(overlay: &Overlay, job: &SiteJob, plan: &Plan, options: &Options) -> u64 {
    let links: Vec<_> =
        overlay.links().iter().map(|link| link.ends.map(inart_overlay::SiteId::index)).collect();
    let text = format!(
        "{:?} {links:?} {} {:?} {} {:?}",
        overlay.sites(),
        job.name,
        job.tensors_bytes,
        plan.chunk_bytes,
        options.scheme.name(),
    );
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
