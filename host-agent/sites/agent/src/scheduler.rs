//! The scheduler: believes what sites measure, plans by it, and offers its plans. Nobody waits for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use inart_planner_sites::{Options, PlanError, Table};
use inart_protocol_sites::{SiteNo, TransmissionPolicy};
use inart_terms::{Terms, TermsError};
use inart_topologies::sites::{ArcId, Overlay, Rates, SiteJob};

use crate::agreed::plan_terms;
use crate::message::Report;
use crate::version::{count_of, version};

/// No scheduler has made more plans: at ten per second they take six years. A report of a later version is of
/// no plan, and versions after it would soon be used up.
const MOST_PLANS: u32 = u32::MAX / 2;

/// Rates that a link can have, in bit/s.
const RATES_BPS: std::ops::RangeInclusive<f64> = 1.0..=1e15;

/// What it knows, and what it has offered.
#[derive(Debug)]
pub struct Scheduler {
    overlay: Arc<Overlay>,
    job: SiteJob,
    options: Options,
    table: Table,
    /// Rates that are known, whatever is measured.
    known: Option<Rates>,
    /// Links that a site at one of their ends says are down: from, to.
    down: BTreeMap<SiteNo, BTreeSet<SiteNo>>,
    /// How many plans it has offered, and those of schedulers before it that sites told of.
    count: u32,
    /// What the plan in the newest offer was made for.
    offered: Option<Arc<TransmissionPolicy>>,
    /// Links that were down when it planned last; none before.
    planned_for: Option<BTreeSet<(SiteNo, SiteNo)>>,
    /// There are samples that no plan has been made by.
    has_news: bool,
    strange: u64,
}

/// All that a plan is made from, so that it can be made elsewhere.
#[derive(Debug, Clone)]
pub struct Task {
    overlay: Arc<Overlay>,
    job: SiteJob,
    options: Options,
    rates: Rates,
}

impl Task {
    /// Makes the plan; takes from milliseconds on nine sites to more than a minute on some large networks.
    ///
    /// # Errors
    /// What the planner says, such as that links which are down leave sites apart.
    pub fn plan(&self) -> Result<TransmissionPolicy, PlanError> {
        let made =
            inart_planner_sites::plan_and_policy(&self.overlay, &self.job, &self.rates, &self.options)?;
        Ok(made.1)
    }

    /// The rates that it is made for.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }
}

impl Scheduler {
    /// A scheduler that has heard nothing: all links count as `prior_bps`.
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

    /// A scheduler that knows the rates, and plans anew only when links go or come back.
    pub fn knowing(overlay: Arc<Overlay>, job: SiteJob, options: Options, rates: Rates) -> Self {
        Scheduler { known: Some(rates), ..Scheduler::new(overlay, job, options, 1.0) }
    }

    /// Returns what sites must share with this scheduler: what plans follow from.
    ///
    /// # Errors
    /// None of a document's networks: their terms are within the bounds.
    pub fn terms(&self) -> Result<Terms, TermsError> {
        plan_terms(&self.overlay, &self.job, &self.options)
    }

    /// Returns the name of a site; empty if the network has none of that number.
    pub fn name(&self, site: SiteNo) -> &str {
        self.overlay.sites().get(site.index()).map_or("", String::as_str)
    }

    /// A site has told something. A site with a newer policy than any of this scheduler's has it from one
    /// that ran before: versions go on from there.
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

    /// The newest offer, for a site that has just connected.
    pub fn offered(&self) -> Option<&Arc<TransmissionPolicy>> {
        self.offered.as_ref()
    }

    /// What is to be planned now: when sites have measured something, or links have gone or come back.
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

    /// A plan has been made. Returns it if it is to be offered to all sites: not if it says what the newest
    /// offer says.
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

    /// Samples of links that there are not, samples of rates that no link can have, and versions that no
    /// scheduler has come to: they were dropped.
    pub fn strange_samples(&self) -> u64 {
        self.strange
    }

    /// What it believes of every directed link, in bit/s.
    pub fn believed(&self) -> Rates {
        self.known.clone().unwrap_or_else(|| self.table.rates())
    }

    /// Links that both ends say are down: a site that is gone says nothing, and its links stay, or there
    /// would be no tree.
    fn links_down(&self) -> BTreeSet<(SiteNo, SiteNo)> {
        let says = |a: &SiteNo, b: &SiteNo| self.down.get(a).is_some_and(|down| down.contains(b));
        let all = self.down.iter().flat_map(|(&a, down)| down.iter().map(move |&b| (a, b)));
        all.filter(|(a, b)| a < b && says(a, b) && says(b, a)).collect()
    }
}
