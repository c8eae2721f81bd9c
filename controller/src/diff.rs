//! The updates that turn one state of a switch's tables into another.

use std::collections::{BTreeMap, BTreeSet};

use inart_wire::MacAddr;

use crate::entries::{GroupId, MacAction, ResultsAction, ResultsKey, SteerAction, SteerKey, SwitchTables};
use crate::ports::PortNo;

/// What to do with an [`Item`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Add it; it must not be there.
    Insert,
    /// Change it; it must be there.
    Modify,
    /// Remove it; it must be there.
    Delete,
}

/// One thing that the controller writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// An entry of `steer`.
    Steer(SteerKey, SteerAction),
    /// An entry of `results`.
    Results(ResultsKey, ResultsAction),
    /// An entry of `mac`.
    Mac(MacAddr, MacAction),
    /// The default action of `mac`; can only be modified.
    MacDefault(MacAction),
    /// An entry of `trunks`: can be there or not, never modified.
    Trunk(PortNo),
    /// A multicast group and its ports.
    Group(GroupId, BTreeSet<PortNo>),
}

/// One update of one switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// What to do.
    pub op: Op,
    /// With what; in a delete, what is there now.
    pub item: Item,
}

/// The updates that turn `from` into `to`, in an order in which every prefix is safe: what others refer to comes
/// first, what nobody needs any more goes last.
pub fn diff(from: &SwitchTables, to: &SwitchTables) -> Vec<Update> {
    let mut make = Vec::new();
    let mut remove = Vec::new();
    let trunks = |op, ports: &mut dyn Iterator<Item = &PortNo>| {
        ports.map(|port| Update { op, item: Item::Trunk(*port) }).collect::<Vec<_>>()
    };
    make.extend(trunks(Op::Insert, &mut to.trunks.difference(&from.trunks)));
    compare(&from.groups, &to.groups, &mut make, &mut remove, Item::Group);
    let mut remove_groups = std::mem::take(&mut remove);
    compare(&from.steer, &to.steer, &mut make, &mut remove, Item::Steer);
    compare(&from.results, &to.results, &mut make, &mut remove, Item::Results);
    compare(&from.mac, &to.mac, &mut make, &mut remove, Item::Mac);
    if from.mac_default != to.mac_default {
        make.push(Update { op: Op::Modify, item: Item::MacDefault(to.mac_default) });
    }
    make.append(&mut remove);
    make.extend(trunks(Op::Delete, &mut from.trunks.difference(&to.trunks)));
    make.append(&mut remove_groups);
    make
}

fn compare<K: Ord + Copy, V: PartialEq + Clone>(
    from: &BTreeMap<K, V>,
    to: &BTreeMap<K, V>,
    make: &mut Vec<Update>,
    remove: &mut Vec<Update>,
    item: impl Fn(K, V) -> Item,
) {
    for (key, value) in to {
        let op = match from.get(key) {
            Some(present) if present == value => continue,
            Some(_) => Op::Modify,
            None => Op::Insert,
        };
        make.push(Update { op, item: item(*key, value.clone()) });
    }
    for (key, value) in from {
        if !to.contains_key(key) {
            remove.push(Update { op: Op::Delete, item: item(*key, value.clone()) });
        }
    }
}

/// Why an update cannot be applied to tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// An insert of what is there.
    #[error("already there")]
    AlreadyThere,
    /// A modify or delete of what is not there.
    #[error("not there")]
    NotThere,
}

impl SwitchTables {
    /// Does to the tables what a switch does on `update`.
    pub fn apply(&mut self, update: &Update) -> Result<(), ApplyError> {
        fn one<K: Ord, V>(map: &mut BTreeMap<K, V>, op: Op, key: K, value: V) -> Result<(), ApplyError> {
            match (op, map.contains_key(&key)) {
                (Op::Insert, true) => return Err(ApplyError::AlreadyThere),
                (Op::Modify | Op::Delete, false) => return Err(ApplyError::NotThere),
                (Op::Delete, true) => {
                    map.remove(&key);
                }
                (Op::Insert, false) | (Op::Modify, true) => {
                    map.insert(key, value);
                }
            }
            Ok(())
        }
        match &update.item {
            Item::Steer(key, action) => one(&mut self.steer, update.op, *key, *action),
            Item::Results(key, action) => one(&mut self.results, update.op, *key, *action),
            Item::Mac(key, action) => one(&mut self.mac, update.op, *key, *action),
            Item::Group(key, ports) => one(&mut self.groups, update.op, *key, ports.clone()),
            Item::Trunk(port) => match update.op {
                Op::Insert if !self.trunks.insert(*port) => Err(ApplyError::AlreadyThere),
                Op::Delete if !self.trunks.remove(port) => Err(ApplyError::NotThere),
                Op::Modify if !self.trunks.contains(port) => Err(ApplyError::NotThere),
                Op::Insert | Op::Delete | Op::Modify => Ok(()),
            },
            Item::MacDefault(action) => {
                self.mac_default = *action;
                Ok(())
            }
        }
    }
}
