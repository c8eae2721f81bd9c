//! Who has run under a job's live epoch.

use std::collections::{BTreeMap, BTreeSet};

use inart_wire::Incarnation;
use serde::{Deserialize, Serialize};

/// Hosts that have run under an epoch, by role, such as worker-3.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Claims(BTreeMap<String, u32>);

/// What is in the file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    /// The incarnation of who was granted each role; 0 if it is not known.
    Lives(BTreeMap<String, u32>),
    /// Of versions before, which noted the roles only.
    Roles(BTreeSet<String>),
}

impl From<Kept> for Claims {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Lives(lives) => Claims(lives),
            Kept::Roles(roles) => Claims(roles.into_iter().map(|role| (role, 0)).collect()),
        }
    }
}

impl Claims {
    /// Whether nobody has run.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The roles that were granted, sorted.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether that life of a host was granted the role.
    pub fn has(&self, role: &str, life: Incarnation) -> bool {
        life != Incarnation::UNKNOWN && self.0.get(role) == Some(&life.get())
    }

    /// Grants the role to that life of a host, unless another life has it. One that asks again did not get
    /// the answer.
    pub(super) fn grant(&mut self, role: String, life: Incarnation) -> bool {
        match self.0.get(&role) {
            Some(granted) => life != Incarnation::UNKNOWN && *granted == life.get(),
            None => {
                self.0.insert(role, life.get());
                true
            }
        }
    }

    /// The life that was granted the role, if that is known.
    pub fn life(&self, role: &str) -> Option<Incarnation> {
        self.0.get(role).copied().map(Incarnation::new).filter(|life| *life != Incarnation::UNKNOWN)
    }

    /// Grants roles to lives of hosts in place of all others.
    pub(super) fn replace(&mut self, granted: impl IntoIterator<Item = (String, Incarnation)>) {
        self.0 = granted.into_iter().map(|(role, life)| (role, life.get())).collect();
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
