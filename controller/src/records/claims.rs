//! Hosts that have run under a job's live plan version.

use std::collections::{BTreeMap, BTreeSet};

use inart_wire::Incarnation;
use serde::{Deserialize, Serialize};

/// Hosts that have run under a plan version, by role, such as worker-3.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Claims(BTreeMap<String, u32>);

/// Representation in the file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    /// Incarnation per role; 0 if unknown.
    Incarnations(BTreeMap<String, u32>),
    /// Roles only, as older versions wrote them.
    Roles(BTreeSet<String>),
}

impl From<Kept> for Claims {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Incarnations(incarnations) => Claims(incarnations),
            Kept::Roles(roles) => Claims(roles.into_iter().map(|role| (role, 0)).collect()),
        }
    }
}

impl Claims {
    /// Returns whether no host has run.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the granted roles, sorted.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns whether that incarnation was granted the role.
    pub fn has(&self, role: &str, incarnation: Incarnation) -> bool {
        incarnation != Incarnation::UNKNOWN && self.0.get(role) == Some(&incarnation.get())
    }

    /// Grants the role to that incarnation, unless another incarnation has it. An incarnation repeats its
    /// request if the answer was lost.
    pub(super) fn grant(&mut self, role: String, incarnation: Incarnation) -> bool {
        match self.0.get(&role) {
            Some(granted) => incarnation != Incarnation::UNKNOWN && *granted == incarnation.get(),
            None => {
                self.0.insert(role, incarnation.get());
                true
            }
        }
    }

    /// Returns the incarnation that was granted the role, if known.
    pub fn incarnation(&self, role: &str) -> Option<Incarnation> {
        self.0
            .get(role)
            .copied()
            .map(Incarnation::new)
            .filter(|incarnation| *incarnation != Incarnation::UNKNOWN)
    }

    /// Grants roles to incarnations of hosts in place of all others.
    pub(super) fn replace(&mut self, granted: impl IntoIterator<Item = (String, Incarnation)>) {
        self.0 = granted.into_iter().map(|(role, incarnation)| (role, incarnation.get())).collect();
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
