//! `$pre.mgid` and `$pre.node`: groups of nodes of ports. No I/O: the switch is told whole groups.

use std::collections::BTreeMap;

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::{Entry, Match, Value};
use tonic::Status;

use super::status::{invalid, unserved};
use crate::control::{Port, Replica};
use crate::server::limits;

const NODE_ID: &str = "$MULTICAST_NODE_ID";

/// What controllers wrote.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Multicast {
    groups: BTreeMap<u32, Entry>,
    nodes: BTreeMap<u32, Entry>,
}

/// What becomes of a group: its copies, or `None` when it goes.
pub(super) type Changed = (u32, Option<Vec<Replica>>);

impl Multicast {
    /// The groups, or the one of a key.
    pub fn groups(&self, filter: &Entry) -> Vec<Entry> {
        selected(&self.groups, filter, "$MGID")
    }

    /// The nodes, or the one of a key.
    pub fn nodes(&self, filter: &Entry) -> Vec<Entry> {
        selected(&self.nodes, filter, NODE_ID)
    }

    /// Changes a group; says what the switch is to be told.
    pub fn write_group(&mut self, kind: Type, entry: &Entry) -> Result<Vec<Changed>, Status> {
        let id = key(entry, "$MGID")?;
        if id == 0 {
            return Err(invalid("$pre.mgid: group 0 copies nothing, take another number"));
        }
        for node in numbers(entry, NODE_ID) {
            if !self.nodes.contains_key(&node) {
                return Err(Status::not_found(format!(
                    "$pre.mgid {id}: there is no node {node}; insert it first"
                )));
            }
        }
        change(&mut self.groups, kind, id, entry, "$pre.mgid")?;
        Ok(vec![self.group(id)])
    }

    /// Changes a node; says what the switch is to be told.
    pub fn write_node(&mut self, kind: Type, entry: &Entry) -> Result<Vec<Changed>, Status> {
        let id = key(entry, NODE_ID)?;
        let used: Vec<u32> = self
            .groups
            .iter()
            .filter(|(_, group)| numbers(group, NODE_ID).contains(&id))
            .map(|(id, _)| *id)
            .collect();
        if let (Type::Delete, Some(group)) = (kind, used.first()) {
            return Err(Status::already_exists(format!(
                "$pre.node {id}: group {group} has it; change that first"
            )));
        }
        if !numbers(entry, "$MULTICAST_LAG_ID").is_empty() {
            return Err(unserved(format!("$pre.node {id}: link aggregation groups are not served")));
        }
        let mut room = limits::REPLICAS;
        let others = self.nodes.iter().filter(|(other, _)| **other != id).map(|(_, node)| node);
        for node in others.chain([entry]) {
            let ports = numbers(node, "$DEV_PORT").len();
            room =
                room.checked_sub(ports).ok_or_else(|| limits::beyond("$pre.node: too many ports in all"))?;
        }
        change(&mut self.nodes, kind, id, entry, "$pre.node")?;
        Ok(used.into_iter().map(|group| self.group(group)).collect())
    }

    /// A group as the switch has it.
    fn group(&self, id: u32) -> Changed {
        let replicas = self.groups.get(&id).map(|group| {
            let nodes = numbers(group, NODE_ID);
            nodes.iter().filter_map(|node| self.nodes.get(node)).flat_map(replicas).collect()
        });
        (id, replicas)
    }
}

fn replicas(node: &Entry) -> Vec<Replica> {
    let instance = node.number("$MULTICAST_RID").and_then(|rid| u16::try_from(rid).ok()).unwrap_or(0);
    numbers(node, "$DEV_PORT").into_iter().map(|port| Replica { port: Port(port), instance }).collect()
}

fn change(
    all: &mut BTreeMap<u32, Entry>,
    kind: Type,
    id: u32,
    entry: &Entry,
    what: &str,
) -> Result<(), Status> {
    match (kind, all.get_mut(&id)) {
        (Type::Insert, Some(_)) => {
            return Err(Status::already_exists(format!("{what} {id} is there already")));
        }
        (Type::Modify | Type::Delete, None) => {
            return Err(Status::not_found(format!("there is no {what} {id}")));
        }
        (Type::Insert | Type::InsertOrModify, None) => {
            all.insert(id, entry.clone());
        }
        (Type::Modify | Type::InsertOrModify, Some(present)) => present.data.extend(entry.data.clone()),
        (Type::Delete, Some(_)) => {
            all.remove(&id);
        }
        (Type::Unspecified | Type::ModifyInc | Type::Reset, _) => {
            return Err(unserved(format!("{what}: {} is not served", kind.as_str_name())));
        }
    }
    Ok(())
}

fn selected(all: &BTreeMap<u32, Entry>, filter: &Entry, field: &str) -> Vec<Entry> {
    match filter.key.get(field) {
        Some(Match::Exact(id)) => {
            u32::try_from(*id).ok().and_then(|id| all.get(&id)).cloned().into_iter().collect()
        }
        _ => all.values().cloned().collect(),
    }
}

fn key(entry: &Entry, field: &str) -> Result<u32, Status> {
    match entry.key.get(field) {
        Some(Match::Exact(id)) => {
            u32::try_from(*id).map_err(|_| invalid(format!("{field} has more than 32 bits")))
        }
        _ => Err(invalid(format!("{}: the entry has no {field}", entry.table))),
    }
}

fn numbers(entry: &Entry, field: &str) -> Vec<u32> {
    match entry.data.get(field) {
        Some(Value::Numbers(list)) => list.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tonic::Code;

    use super::*;

    fn node(id: u32, rid: u16, ports: &[u32]) -> Entry {
        Entry::new("$pre.node")
            .exact(NODE_ID, id)
            .with("$MULTICAST_RID", rid)
            .with("$DEV_PORT", ports.to_vec())
    }

    fn group(id: u32, nodes: &[u32]) -> Entry {
        Entry::new("$pre.mgid").exact("$MGID", id).with(NODE_ID, nodes.to_vec())
    }

    /// Port and instance of each copy of a group.
    type Plain = (u32, Option<Vec<(u32, u16)>>);

    fn copies(changed: &[Changed]) -> Vec<Plain> {
        let plain =
            |replicas: &Vec<Replica>| replicas.iter().map(|copy| (copy.port.0, copy.instance)).collect();
        changed.iter().map(|(id, replicas)| (*id, replicas.as_ref().map(plain))).collect()
    }

    #[test]
    fn a_group_copies_to_the_ports_of_all_its_nodes() {
        let mut multicast = Multicast::default();
        assert_eq!(multicast.write_group(Type::Insert, &group(5, &[1])).unwrap_err().code(), Code::NotFound);
        assert!(multicast.write_node(Type::Insert, &node(1, 7, &[2, 3])).unwrap().is_empty());
        multicast.write_node(Type::Insert, &node(2, 8, &[3])).unwrap();
        let made = multicast.write_group(Type::Insert, &group(5, &[1, 2])).unwrap();
        assert_eq!(copies(&made), [(5, Some(vec![(2, 7), (3, 7), (3, 8)]))]);
        let changed = multicast.write_node(Type::Modify, &node(1, 7, &[4])).unwrap();
        assert_eq!(copies(&changed), [(5, Some(vec![(4, 7), (3, 8)]))]);
        let held = multicast.write_node(Type::Delete, &node(1, 0, &[]));
        assert_eq!(held.unwrap_err().code(), Code::AlreadyExists);
        assert_eq!(copies(&multicast.write_group(Type::Delete, &group(5, &[])).unwrap()), [(5, None)]);
        assert!(multicast.write_node(Type::Delete, &node(1, 0, &[])).unwrap().is_empty());
        assert_eq!(
            (multicast.groups(&Entry::default()).len(), multicast.nodes(&Entry::default()).len()),
            (0, 1)
        );
    }
}
