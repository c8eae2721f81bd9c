//! Settings of groups.

use std::time::Duration;

use super::outliers::OutlierRule;
use crate::part::Part;

/// Settings of a server of groups.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupOptions {
    /// Largest number of clients.
    pub clients: usize,
    /// M: client i is in group i mod M.
    pub groups: usize,
    /// C: the part of a group that is awaited; above 0.
    pub fraction: Part,
    /// r: the least time between aggregations is r T/M.
    pub relaxation: Part,
    /// Longest time of a client for a round before it times out; `None` for no limit.
    pub patience: Option<Duration>,
    /// Rule for excluding clients by their data; `None` for no exclusion.
    pub outliers: Option<OutlierRule>,
}

/// Invalid setting of groups.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum GroupError {
    /// No group, or a group without clients.
    #[error("{groups} groups of {clients} clients: give from 1 to {clients} groups, so that none is empty")]
    Groups {
        /// M.
        groups: usize,
        /// Number of clients.
        clients: usize,
    },
    /// C of 0.
    #[error("a fraction of 0: give a part above 0, at most 1")]
    Fraction,
    /// Threshold that is not a cosine.
    #[error("an outlier threshold of {0}: give a cosine from -1 to 1")]
    Threshold(f64),
    /// Zero rounds before an exclusion.
    #[error("an outlier after 0 rounds: give at least 1")]
    Rounds,
}

impl GroupOptions {
    /// Checks the settings.
    ///
    /// # Errors
    /// A setting is invalid.
    pub fn check(&self) -> Result<(), GroupError> {
        if self.groups == 0 || self.groups > self.clients {
            return Err(GroupError::Groups { groups: self.groups, clients: self.clients });
        }
        if self.fraction == Part::NONE {
            return Err(GroupError::Fraction);
        }
        match &self.outliers {
            Some(rule) if !(-1.0..=1.0).contains(&rule.threshold) => {
                Err(GroupError::Threshold(rule.threshold))
            }
            Some(rule) if rule.rounds == 0 => Err(GroupError::Rounds),
            _ => Ok(()),
        }
    }
}
