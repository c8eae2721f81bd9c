//! How groups are made and what they wait for.

use std::time::Duration;

use super::outliers::OutlierRule;
use crate::part::Part;

/// How a server of groups runs.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupOptions {
    /// How many clients there may be.
    pub clients: usize,
    /// M: client i is in group i mod M.
    pub groups: usize,
    /// C: the part of a group that is waited for; above 0.
    pub fraction: Part,
    /// r: aggregations are r T/M apart at least.
    pub relaxation: Part,
    /// How long a client may take for a round before it is given up; for ever unless told.
    pub patience: Option<Duration>,
    /// Who is left out for its data; nobody unless told.
    pub outliers: Option<OutlierRule>,
}

/// What is wrong with groups.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum GroupError {
    /// No group, or one without a client.
    #[error("{groups} groups of {clients} clients: give from 1 to {clients} groups, so that none is empty")]
    Groups {
        /// M.
        groups: usize,
        /// Clients.
        clients: usize,
    },
    /// C is nothing.
    #[error("a fraction of 0: give a part above 0, at most 1")]
    Fraction,
    /// No cosine can be compared with it.
    #[error("an outlier threshold of {0}: give a cosine from -1 to 1")]
    Threshold(f64),
    /// Nobody would ever be an outlier, or at once.
    #[error("an outlier after 0 rounds: give at least 1")]
    Rounds,
}

impl GroupOptions {
    /// Whether they hold together.
    ///
    /// # Errors
    /// What does not.
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
