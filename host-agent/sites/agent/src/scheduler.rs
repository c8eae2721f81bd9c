//! Scheduler: estimates rates from the sites' measurements, computes plans, and offers them. No site waits
//! for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use inart_planner_sites::{Options, PlanError, Table};
use inart_protocol_sites::{SiteNo, TransmissionPolicy};
use inart_terms::{Terms, TermsError};
use inart_topologies::sites::{ArcId, Overlay, Rates, SiteJob};

use crate::agreed::plan_terms;
use crate::message::Report;
use crate::version::{count_of, version};

/// Maximum number of plans: at ten per second they last six years. A report of a later version belongs to no
/// plan, and later versions would soon be exhausted.
const MOST_PLANS: u32 = u32::MAX / 2;

/// Possible link rates, in bit/s.
const RATES_BPS: std::ops::RangeInclusive<f64> = 1.0..=1e15;

/// Estimates of a scheduler, and its offers.
#[derive(Debug)]
pub struct Scheduler {
    overlay: Arc<Overlay>,
    job: SiteJob,
    options: Options,
    table: Table,
    /// Known rates, which override measurements.
    known: Option<Rates>,
    /// Links that a site at one of their ends reports as down: from, to.
    down: BTreeMap<SiteNo, BTreeSet<SiteNo>>,
    /// Number of plans offered, including those of earlier schedulers that sites reported.
    count: u32,
    /// Plan for which the newest offer was made.
    offered: Option<Arc<TransmissionPolicy>>,
    /// Links that were down at the last planning; `None` before.
    planned_for: Option<BTreeSet<(SiteNo, SiteNo)>>,
    /// Whether samples have arrived since the last plan.
    has_news: bool,
    strange: u64,
}

/// Inputs of a plan, so that another thread can compute it.
#[derive(Debug, Clone)]
pub struct Task {
    overlay: Arc<Overlay>,
    job: SiteJob,
    options: Options,
    rates: Rates,
}

impl Task {
    /// Computes the plan; takes from milliseconds on nine sites to more than a minute on some large networks.
    ///
    /// # Errors
    /// Errors of the planner, such as failed links that separate sites.
    pub fn plan(&self) -> Result<TransmissionPolicy, PlanError> {
        let made =
            inart_planner_sites::plan_and_policy(&self.overlay, &self.job, &self.rates, &self.options)?;
        Ok(made.1)
    }

    /// Returns the rates of the plan.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }
}

impl Scheduler {
    /// Creates a scheduler without measurements: it assumes that all links have a rate of `prior_bps`.
    pub fn new(overlay: Arc<Overlay>, job: SiteJob, options: Options, prior_bps: f64) -> Self {
        let table = Table::received(&overlay, prior_bps);
        let (down, offered, planned_for) = Default::default();
        let known = None;
        Scheduler {
            overlay,
            job,
            options,
            table,
            known,
            down,
            count: 0,
            offered,
            planned_for,
            has_news: false,
            strange: 0,
        }
    }

    /// Creates a scheduler that knows the rates, and replans only when links fail or recover.
    pub fn knowing(overlay: Arc<Overlay>, job: SiteJob, options: Options, rates: Rates) -> Self {
        Scheduler { known: Some(rates), ..Scheduler::new(overlay, job, options, 1.0) }
    }

    /// Returns the terms that sites must share with this scheduler: the inputs of plans.
    ///
    /// # Errors
    /// Terms that do not fit in a hello; not for networks of a document.
    pub fn terms(&self) -> Result<Terms, TermsError> {
        plan_terms(&self.overlay, &self.job, &self.options)
    }

    /// Returns the name of a site; empty if the network has no site of that number.
    pub fn name(&self, site: SiteNo) -> &str {
        self.overlay.sites().get(site.index()).map_or("", String::as_str)
    }

    /// Handles a report of a site. A site with a newer policy than any of this scheduler's received it from
    /// an earlier scheduler: versions continue from that one.
    pub fn report(&mut self, from: SiteNo, report: &Report) {
        match count_of(report.version) {
            count if count <= MOST_PLANS => self.count = self.count.max(count),
            _ => self.strange += 1,
        }
        let site = |number: u32| self.overlay.site_ids().nth(number as usize);
        let me = site(from.0.into());
        for sample in &report.samples {
            let arc = site(sample.from).zip(me).and_then(|(from, to)| self.overlay.arc_between(from, to));
            let is_good = sample.bits > 0.0 && sample.seconds > 0.0;
            let is_good = is_good && RATES_BPS.contains(&(sample.bits / sample.seconds));
            self.strange += u64::from(arc.is_none() || !is_good);
            if let Some(arc) = arc.filter(|_| is_good) {
                self.table.learn_one(arc, sample.bits, sample.seconds);
                self.has_news = self.known.is_none();
            }
        }
        let down = report.down.iter().filter_map(|&number| u16::try_from(number).ok()).map(SiteNo);
        self.down.insert(from, down.collect());
    }

    /// Returns the newest offer, for a site that has just connected.
    pub fn offered(&self) -> Option<&Arc<TransmissionPolicy>> {
        self.offered.as_ref()
    }

    /// Returns the pending planning task: when samples have arrived, or links have failed or recovered.
    pub fn task(&mut self) -> Option<Task> {
        let down = self.links_down();
        if !std::mem::take(&mut self.has_news) && self.planned_for.as_ref() == Some(&down) {
            return None;
        }
        self.planned_for = Some(down.clone());
        let mut rates = self.believed();
        for arc in self.overlay.arcs().collect::<Vec<ArcId>>() {
            let (a, b) = self.overlay.ends(arc);
            let [a, b] = [a, b].map(|site| SiteNo(site.index() as u16));
            if down.contains(&(a.min(b), a.max(b))) {
                rates.0[arc.index()] = 0.0;
            }
        }
        let (overlay, job, options) = (self.overlay.clone(), self.job.clone(), self.options.clone());
        Some(Task { overlay, job, options, rates })
    }

    /// Handles a new plan. Returns the plan if it must be offered to all sites: not if it equals the newest
    /// offer.
    pub fn planned(&mut self, mut policy: TransmissionPolicy) -> Option<Arc<TransmissionPolicy>> {
        let same = |last: &&Arc<TransmissionPolicy>| {
            let last = &***last;
            last.trees == policy.trees
                && last.chunk_trees == policy.chunk_trees
                && last.routes == policy.routes
                && last.auxiliary == policy.auxiliary
        };
        if self.offered.as_ref().filter(same).is_some() {
            return None;
        }
        self.count = self.count.saturating_add(1);
        policy.version = version(self.count, &policy);
        let policy = Arc::new(policy);
        self.offered = Some(policy.clone());
        Some(policy)
    }

    /// Returns the number of dropped samples: of unknown links, of impossible rates, or with versions that no
    /// scheduler has reached.
    pub fn strange_samples(&self) -> u64 {
        self.strange
    }

    /// Returns the estimated rate of every directed link, in bit/s.
    pub fn believed(&self) -> Rates {
        self.known.clone().unwrap_or_else(|| self.table.rates())
    }

    /// Returns the links that both ends report as down. A failed site reports nothing, and its links stay,
    /// because otherwise no tree would exist.
    fn links_down(&self) -> BTreeSet<(SiteNo, SiteNo)> {
        let says = |a: &SiteNo, b: &SiteNo| self.down.get(a).is_some_and(|down| down.contains(b));
        let all = self.down.iter().flat_map(|(&a, down)| down.iter().map(move |&b| (a, b)));
        all.filter(|(a, b)| a < b && says(a, b) && says(b, a)).collect()
    }
}
