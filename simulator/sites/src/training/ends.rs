//! Trainings that cannot continue: every site ends and names the cause.

use inart_protocol_sites::SiteNo;
use inart_sites_agent::DriverError;

use super::{Options, Training};
use crate::agent::Agent;
use crate::error::SimulationError;
use crate::fault::{Fault, PlannedFault, Setting};

impl Training {
    /// Returns the settings of a site's training, as in hellos.
    pub(super) fn terms(
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

    /// Returns the fault that ends the training early, if there is one.
    fn cause(&self) -> Option<(SiteNo, Fault)> {
        let of = |planned: &PlannedFault| Some((planned.ends_because_of()?, planned.fault));
        self.faults.iter().find_map(of)
    }

    /// Whether each site has the sum of the last round, has ended early, or has failed permanently.
    pub(super) fn are_all_over(&self, machines: &[Option<Agent>]) -> bool {
        let is_gone = |at: usize| {
            let site = Fault::Site(SiteNo(at as u16));
            let for_good = |planned: &PlannedFault| planned.fault == site && planned.lasts_s.is_none();
            machines[at].is_none() && self.faults.iter().any(for_good)
        };
        (0..self.setups.len()).all(|at| self.done.contains(&at) || self.ended.contains(&at) || is_gone(at))
    }

    /// Handles a site that ends early: its error must name the causing site.
    pub(super) fn ends_early(&mut self, at: usize, error: DriverError) -> Result<(), SimulationError> {
        let site = self.site_name(at);
        let Some((cause, fault)) = self.cause() else { return Err(SimulationError::Site { site, error }) };
        let error = error.to_string();
        if !self.does_name(&error, at, cause, fault) {
            return Err(SimulationError::Culprit { site, error, cause: self.site_name(cause.index()) });
        }
        self.ended.insert(at);
        self.outcome.ended.get_or_insert(error);
        Ok(())
    }

    /// Whether an error names the cause: a site with other terms by both values, any other site after the
    /// words that introduce the awaited sites.
    fn does_name(&self, error: &str, at: usize, cause: SiteNo, fault: Fault) -> bool {
        let name = self.site_name(cause.index());
        if let Fault::OtherTerms(site, setting) = fault {
            let value = |at: usize| self.setups[at].terms.value(setting.name());
            let other = (0..self.setups.len()).find(|other| *other != site.index());
            let values = [Some(site.index()), other].map(|at| value(at?));
            let says = |value: Option<&str>| {
                value.is_some_and(|value| error.contains(&format!("has {} {value}", setting.name())))
            };
            return values.into_iter().all(says) && (at == site.index() || error.contains(&name));
        }
        let waits = ["while waiting for ", "no connection to "];
        let awaited = waits.into_iter().find_map(|words| error.split_once(words));
        awaited.is_some_and(|(_, awaited)| awaited.contains(&name))
    }

    /// Checks how the training has ended, and the memory that sites keep.
    ///
    /// # Errors
    /// A defect.
    pub fn check_ends(&self, machines: &[Option<Agent>]) -> Result<(), SimulationError> {
        if let Some((cause, Fault::OtherTerms(..))) = self.cause()
            && let Some(&at) = self.ends.values().flat_map(|end| &end.sites).next()
        {
            let (site, cause) = (self.site_name(at), self.site_name(cause.index()));
            return Err(SimulationError::Unnoticed { site, cause });
        }
        for (at, machine) in machines.iter().enumerate().take(self.setups.len()) {
            let driver = machine.as_ref().and_then(Agent::driver);
            let kept = driver.map_or(0, |driver| driver.counters().0.early);
            let most = self.early[at].len() as u64;
            if self.does_repeat() && kept > most {
                return Err(SimulationError::Early { site: self.site_name(at), kept, most });
            }
        }
        Ok(())
    }
}
