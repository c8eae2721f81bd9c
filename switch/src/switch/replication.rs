//! Control of multicast groups and clone sessions.

use std::sync::Arc;

use super::Switch;
use crate::control::{CloneSession, ControlError, Replica, Result};

/// Highest clone session, as in simple_switch.
const MAX_SESSION: u32 = 0x7fff;
/// Highest multicast group: `mcast_grp` has 16 bits.
const MAX_GROUP: u32 = 0xffff;

impl Switch {
    /// Adds a multicast group, or replaces one if `replace`.
    ///
    /// # Errors
    /// For a number out of range, a replica listed twice, or a group that is (or with `replace` is not)
    /// there.
    pub fn put_multicast_group(&mut self, group: u32, replicas: Vec<Replica>, replace: bool) -> Result<()> {
        if group == 0 || group > MAX_GROUP {
            return Err(ControlError::InvalidArgument(format!(
                "multicast group {group}: use 1 to {MAX_GROUP}"
            )));
        }
        refuse_repeats(&replicas, &format!("multicast group {group}"))?;
        match (self.groups.contains_key(&group), replace) {
            (true, false) => {
                Err(ControlError::AlreadyExists(format!("multicast group {group} exists already")))
            }
            (false, true) => Err(ControlError::NotFound(format!("there is no multicast group {group}"))),
            _ => {
                self.groups.insert(group, replicas);
                Ok(())
            }
        }
    }

    /// Removes a multicast group.
    ///
    /// # Errors
    /// If there is no such group.
    pub fn delete_multicast_group(&mut self, group: u32) -> Result<()> {
        let removed = self.groups.remove(&group);
        removed
            .map(drop)
            .ok_or_else(|| ControlError::NotFound(format!("there is no multicast group {group}")))
    }

    /// Returns whether there is a multicast group of that number.
    pub fn has_multicast_group(&self, group: u32) -> bool {
        self.groups.contains_key(&group)
    }

    /// Returns all multicast groups.
    pub fn multicast_groups(&self) -> impl Iterator<Item = (u32, &[Replica])> {
        self.groups.iter().map(|(&group, replicas)| (group, replicas.as_slice()))
    }

    /// Adds a clone session, or replaces one if `replace`.
    ///
    /// # Errors
    /// For a number out of range, a replica listed twice, or a session that is (or with `replace` is not)
    /// there.
    pub fn put_clone_session(&mut self, session: u32, config: CloneSession, replace: bool) -> Result<()> {
        if session > MAX_SESSION {
            return Err(ControlError::InvalidArgument(format!(
                "clone session {session}: use 0 to {MAX_SESSION}"
            )));
        }
        refuse_repeats(&config.replicas, &format!("clone session {session}"))?;
        match (self.sessions.contains_key(&session), replace) {
            (true, false) => {
                Err(ControlError::AlreadyExists(format!("clone session {session} exists already")))
            }
            (false, true) => Err(ControlError::NotFound(format!("there is no clone session {session}"))),
            _ => {
                self.sessions.insert(session, Arc::new(config));
                Ok(())
            }
        }
    }

    /// Removes a clone session.
    ///
    /// # Errors
    /// If there is no such session.
    pub fn delete_clone_session(&mut self, session: u32) -> Result<()> {
        let removed = self.sessions.remove(&session);
        removed
            .map(drop)
            .ok_or_else(|| ControlError::NotFound(format!("there is no clone session {session}")))
    }
}

fn refuse_repeats(replicas: &[Replica], what: &str) -> Result<()> {
    let mut seen = rustc_hash::FxHashSet::default();
    match replicas.iter().find(|&replica| !seen.insert(*replica)) {
        Some(twice) => Err(ControlError::InvalidArgument(format!(
            "{what}: port {} with instance {} is given twice",
            twice.port, twice.instance
        ))),
        None => Ok(()),
    }
}
