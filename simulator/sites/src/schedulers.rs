//! Schedulers: the right one, and those with another document.

use std::sync::Arc;
use std::time::Duration;

use inart_planner_sites::{Options as PlanOptions, Scheme};
use inart_protocol_sites::SiteNo;
use inart_sites_agent::{Scheduler, SchedulerProcess};
use inart_terms::TermsError;
use inart_topologies::sites::{Overlay, SiteJob};

use crate::agent::Agent;
use crate::fault::OtherDocument;
use crate::options::{Knowledge, Options};
use crate::stranger::Stranger;

/// Creates the process of the sites' scheduler, or of one with another document.
///
/// # Errors
/// Terms that do not fit in a hello.
pub(crate) fn start(
    overlay: &Arc<Overlay>,
    options: &Options,
    other: Option<OtherDocument>,
) -> Result<Agent, TermsError> {
    let sites = overlay.sites().len();
    let (overlay, job, plan) = (overlay.clone(), overlay.jobs()[0].clone(), options.plan.clone());
    let (overlay, job, plan) = match other {
        Some(other) => changed(overlay, job, plan, other),
        None => (overlay, job, plan),
    };
    let scheduler = match options.knowledge {
        Knowledge::Passive => Scheduler::new(overlay, job, plan, options.prior_bps),
        Knowledge::Static => {
            let rates = overlay.rates_at(0.0);
            Scheduler::knowing(overlay, job, plan, rates)
        }
    };
    // A plan takes no virtual time.
    let process = SchedulerProcess::new(scheduler, (0..sites).map(|site| SiteNo(site as u16)))?
        .with_pause(Duration::ZERO);
    Ok(match other {
        Some(_) => Agent::Stranger(Box::new(Stranger::new(process, sites))),
        None => Agent::Scheduler(Box::new(process)),
    })
}

/// Returns the network and options of another scheduler. If its document cannot be changed as asked, its
/// scheme is changed.
fn changed(
    overlay: Arc<Overlay>,
    job: SiteJob,
    plan: PlanOptions,
    other: OtherDocument,
) -> (Arc<Overlay>, SiteJob, PlanOptions) {
    let text = overlay.to_yaml();
    let text = match other {
        OtherDocument::Link => with_a_link(&overlay, &text),
        OtherDocument::Chunks => {
            let chunk_bytes =
                if job.chunk_bytes >= 8 { job.chunk_bytes / 8 * 4 } else { 2 * job.chunk_bytes };
            with_chunks(&text, chunk_bytes)
        }
        OtherDocument::Scheme => None,
    };
    match text.and_then(|text| Overlay::from_yaml(&text).ok()) {
        Some(other) => {
            debug_assert_ne!(other.to_yaml(), overlay.to_yaml(), "another document");
            let job = other.jobs()[0].clone();
            (Arc::new(other), job, plan)
        }
        None => {
            let schemes = Scheme::ALL;
            let at = schemes.iter().position(|scheme| *scheme == plan.scheme).unwrap_or(0);
            (overlay, job, PlanOptions::new(schemes[(at + 1) % schemes.len()]))
        }
    }
}

/// Returns the document with chunks of this size.
fn with_chunks(text: &str, chunk_bytes: u64) -> Option<String> {
    let (before, size) = text.split_once("chunk: ")?;
    let after = size.find([',', '}', '\n']).map_or("", |end| &size[end..]);
    Some(format!("{before}chunk: {chunk_bytes} B{after}"))
}

/// Returns the document with a link between the first two sites without a link, ten times as fast as all
/// others.
fn with_a_link(overlay: &Overlay, text: &str) -> Option<String> {
    let sites: Vec<_> = overlay.site_ids().collect();
    let pairs = sites.iter().enumerate().flat_map(|(at, a)| sites[at + 1..].iter().map(move |b| (*a, *b)));
    let (a, b) = pairs.into_iter().find(|(a, b)| overlay.arc_between(*a, *b).is_none())?;
    let fastest = overlay.links().iter().flat_map(|link| link.rates_bps).fold(0.0, f64::max);
    let [a, b] = [a, b].map(|site| overlay.site_name(site));
    let link = format!("links:\n  - {{ends: [\"{a}\", \"{b}\"], rate: {} bps}}\n", 10.0 * fastest);
    Some(text.replacen("links:\n", &link, 1))
}
