//! Setup of a site, known before it starts.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use inart_planner_sites::{Options, PlanError, chunk_sizes};
use inart_protocol_aggregation::exact_sum::EXACT_VALUES;
use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_protocol_sites::{AuxiliaryUse, Sending, SiteNo, TransmissionPolicy};
use inart_terms::{Terms, TermsError};
use inart_topologies::sites::{Overlay, SiteJob};

use crate::agreed::plan_terms;
use crate::gradient::VALUE_BYTES;
use crate::version::fingerprint;

/// Maximum number of chunks that a site hands to a link before they have arrived. The connection sends them
/// in order, so the limit only keeps the connection busy.
const ON_LINK: u32 = 16;

/// Error of creating a setup.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// First policy that cannot be computed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Unknown site.
    #[error("site \"{name}\" is not in job {job}; name one of {known}")]
    UnknownSite {
        /// Name of the site.
        name: String,
        /// The job.
        job: String,
        /// Sites of the job.
        known: String,
    },
    /// Terms that do not fit in a hello.
    #[error(transparent)]
    Terms(#[from] TermsError),
}

/// Job from the view of one of its sites. All sites of a job create it from the same network document.
#[derive(Debug, Clone)]
pub struct Setup {
    /// This site.
    pub me: SiteNo,
    /// Sites of the job, ascending.
    pub sites: Vec<SiteNo>,
    /// Names of all sites of the network.
    pub names: Vec<String>,
    /// For each site of the network: its neighbors within the job, ascending.
    pub neighbors: Vec<Vec<SiteNo>>,
    /// Values of each tensor of a gradient.
    pub tensors: Vec<usize>,
    /// Values of each chunk. None spans two tensors.
    pub chunk_values: Vec<usize>,
    /// Direction of handing chunks to links.
    pub sending: Sending,
    /// Policy of the first round: the scheme's plan for the document's rates at the start, or the plan that
    /// was given. All sites compute the same one, independent of the scheduler.
    pub first_policy: Arc<TransmissionPolicy>,
    /// Terms that all sites must share; [`with_training`](Self::with_training) adds more.
    pub terms: Terms,
    /// Terms that the scheduler must share with the sites.
    pub plan_terms: Terms,
    /// Whether a restarted site may rejoin the others. Workers inside sites cannot: their programs hold the
    /// state that the site would have to load.
    pub can_rejoin: bool,
    /// Maximum wait for the scheduler's first offer before the first round.
    pub offer_wait: Duration,
    /// Time without arrivals after which a site requests missing chunks.
    pub quiet: Duration,
    /// Longest time until all neighbors have connected, before the job ends.
    pub meeting_patience: Duration,
    /// Longest time without progress of a round, such as when a site has failed, before the job ends.
    pub patience: Duration,
}

impl Setup {
    /// Creates the setup of a site from a network and a job of it, and plans for the rates at the start,
    /// which may take some time on large networks. `options`: how it and the scheduler plan; `auxiliary`: how
    /// auxiliary paths are used, where there are any.
    ///
    /// # Errors
    /// A site that the job does not have; invalid options.
    pub fn new(
        overlay: &Overlay,
        job: &SiteJob,
        name: &str,
        options: &Options,
        auxiliary: AuxiliaryUse,
    ) -> Result<Self, SetupError> {
        let number = |index: usize| SiteNo(index as u16);
        let me = site_of(overlay, job, name)?;
        let mut neighbors = vec![Vec::new(); overlay.sites().len()];
        for arc in overlay.arcs() {
            let (from, to) = overlay.ends(arc);
            if job.sites.contains(&from) && job.sites.contains(&to) {
                neighbors[from.index()].push(number(to.index()));
            }
        }
        neighbors.iter_mut().for_each(|list| list.sort_unstable());
        let (plan, policy) =
            inart_planner_sites::plan_and_policy(overlay, job, &overlay.rates_at(0.0), options)?;
        let plan_terms = plan_terms(overlay, job, options)?;
        let first_plan = ("first plan".to_owned(), format!("{:08x}", fingerprint(&policy)));
        let values = |bytes: &u64| *bytes as usize / VALUE_BYTES;
        Ok(Setup {
            me,
            sites: policy.sites.clone(),
            names: overlay.sites().to_vec(),
            can_rejoin: job.unit_bytes == VALUE_BYTES as u64,
            neighbors,
            tensors: job.tensors_bytes.iter().map(values).collect(),
            chunk_values: chunk_sizes(job, &plan).iter().map(values).collect(),
            sending: sending(options, auxiliary),
            first_policy: Arc::new(policy),
            terms: extended(&plan_terms, [first_plan])?,
            plan_terms,
            offer_wait: Duration::from_secs(2),
            quiet: Duration::from_secs(5),
            meeting_patience: Duration::from_secs(300),
            patience: Duration::from_secs(600),
        })
    }

    /// Returns the setup of another site of the job, without planning again.
    ///
    /// # Errors
    /// A site that the job does not have.
    pub fn at(&self, overlay: &Overlay, job: &SiteJob, name: &str) -> Result<Self, SetupError> {
        Ok(Setup { me: site_of(overlay, job, name)?, ..self.clone() })
    }

    /// Adds the terms of the training itself, as names and values: `rounds`, `seed`, or a SHA-256 digest of
    /// the state before the first round ([`inart_terms::digest_of_values`]). Sites with different first
    /// weights stay different, so every training program should add that digest.
    ///
    /// # Errors
    /// Terms that do not fit in a hello: too many, or a duplicate name.
    pub fn with_training<N: Into<String>, V: Display>(
        self,
        training: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, SetupError> {
        let named = training.into_iter().map(|(name, value)| (name.into(), value.to_string()));
        Ok(Setup { terms: extended(&self.terms, named)?, ..self })
    }

    /// Returns the number of values of a gradient.
    pub fn values(&self) -> usize {
        self.chunk_values.iter().sum()
    }

    /// Returns the number of values of the tensor that contains a chunk, if the chunk can be rounded by
    /// itself: no other chunk has values of its blocks, or nothing is rounded.
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

    /// Returns the name of a site.
    pub fn name(&self, site: SiteNo) -> String {
        self.names.get(site.index()).cloned().unwrap_or_else(|| site.0.to_string())
    }

    /// Returns this site's neighbors.
    pub fn my_neighbors(&self) -> &[SiteNo] {
        &self.neighbors[self.me.index()]
    }

    /// Returns how many chunks for other sites a link may hold: those of two rounds of all sites, up and
    /// down. No plan sends more over one link at a time.
    pub(crate) fn most_on_link(&self) -> usize {
        4 * self.chunk_values.len() * self.sites.len()
    }
}

/// Adds terms to these terms.
fn extended(terms: &Terms, more: impl IntoIterator<Item = (String, String)>) -> Result<Terms, TermsError> {
    let before = terms.message().into_iter().map(|term| (term.name, term.value));
    Terms::new(before.chain(more))
}

fn site_of(overlay: &Overlay, job: &SiteJob, name: &str) -> Result<SiteNo, SetupError> {
    let site = overlay.site_named(name).filter(|site| job.sites.contains(site));
    site.map(|site| SiteNo(site.index() as u16)).ok_or_else(|| {
        let known: Vec<_> = job.sites.iter().map(|&site| overlay.site_name(site)).collect();
        let (name, job) = (name.to_owned(), job.name.clone());
        SetupError::UnknownSite { name, job, known: known.join(", ") }
    })
}

fn sending(options: &Options, auxiliary: AuxiliaryUse) -> Sending {
    match options.has_auxiliary() {
        _ if options.scheme.sends_in_order() => Sending::InOrder { on_link: ON_LINK },
        true => Sending::Auxiliary(auxiliary),
        false => Sending::AtOnce,
    }
}
