//! Trainings that cannot go on: every site ends, by the name of the cause.

use inart_protocol_sites::SiteNo;
use inart_sites_agent::DriverError;

use super::{Options, World};
use crate::error::SimulationError;
use crate::fault::{Fault, PlannedFault, Setting};

impl World<'_> {
    /// Returns the settings of a site's training, as hellos carry them.
    pub(super) fn training(
        options: &Options,
        faults: &[PlannedFault],
        site: SiteNo,
    ) -> [(&'static str, u64); 2] {
        [(Setting::Rounds, u64::from(options.rounds)), (Setting::Seed, options.seed)].map(
            |(setting, value)| {
                let fault = Fault::OtherTerms(site, setting);
                let is_other = faults.iter().any(|planned| planned.fault == fault);
                (setting.name(), if is_other { value.wrapping_add(1) } else { value })
            },
        )
    }

    /// The fault because of which the training ends early, if there is one.
    fn cause(&self) -> Option<(SiteNo, Fault)> {
        let of = |planned: &PlannedFault| Some((planned.ends_because_of()?, planned.fault));
        self.faults.iter().find_map(of)
    }

    fn name(&self, site: SiteNo) -> String {
        self.overlay.sites()[site.index()].clone()
    }

    /// Whether a site's process is gone for good.
    fn is_gone(&self, at: usize) -> bool {
        let site = Fault::Site(SiteNo(at as u16));
        let for_good = |planned: &PlannedFault| planned.fault == site && planned.lasts_s.is_none();
        self.sites[at].is_none() && self.faults.iter().any(for_good)
    }

    /// Whether each site has the sum of the last round, has ended early, or is gone for good.
    pub(super) fn is_over(&self) -> bool {
        (0..self.sites.len())
            .all(|at| self.done.contains(&at) || self.ended.contains(&at) || self.is_gone(at))
    }

    /// A site cannot go on: it has to name the site that is the cause.
    pub(super) fn ends_early(&mut self, at: usize, error: DriverError) {
        let Some((cause, fault)) = self.cause() else {
            let site = self.overlay.sites()[at].clone();
            self.failure = Some(SimulationError::Site { site, error });
            return;
        };
        let (told, name) = (error.to_string(), self.name(cause));
        if self.does_name(&told, at, cause, fault) {
            self.ended.insert(at);
            self.last_end_s = self.now_s();
            self.outcome.ended.get_or_insert(told);
            return;
        }
        let site = self.overlay.sites()[at].clone();
        self.failure = Some(SimulationError::Culprit { site, told, cause: name });
    }

    /// Whether an error names the cause: a site with other terms by both values, others behind the words that
    /// say for whom was waited.
    fn does_name(&self, told: &str, at: usize, cause: SiteNo, fault: Fault) -> bool {
        let name = self.name(cause);
        if let Fault::OtherTerms(site, setting) = fault {
            let value = |at: usize| self.setups[at].terms.value(setting.name());
            let other = (0..self.setups.len()).find(|other| *other != site.index());
            let values = [Some(site.index()), other].map(|at| value(at?));
            let says = |value: Option<&str>| {
                value.is_some_and(|value| told.contains(&format!("has {} {value}", setting.name())))
            };
            return values.into_iter().all(says) && (at == site.index() || told.contains(&name));
        }
        let waits = ["while waiting for ", "no connection to "];
        let awaited = waits.into_iter().find_map(|words| told.split_once(words));
        awaited.is_some_and(|(_, awaited)| awaited.contains(&name))
    }

    /// Checks how the training has ended, and what sites keep.
    pub(super) fn check_ends(&self) -> Result<(), SimulationError> {
        if let Some((cause, Fault::OtherTerms(..))) = self.cause()
            && let Some(&at) = self.ends.values().flat_map(|(sites, ..)| sites).next()
        {
            let site = self.overlay.sites()[at].clone();
            return Err(SimulationError::Unnoticed { site, cause: self.name(cause) });
        }
        for (at, site) in self.sites.iter().enumerate() {
            let kept = site.as_ref().map_or(0, |site| site.driver.counters().0.early);
            let most = self.early[at].len() as u64;
            if self.does_repeat() && kept > most {
                let site = self.overlay.sites()[at].clone();
                return Err(SimulationError::Early { site, kept, most });
            }
        }
        Ok(())
    }
}
