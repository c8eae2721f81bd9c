//! `$pre.mgid` and `$pre.node`: groups of nodes of ports. No I/O: the switch receives whole groups.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::{Entry, Match, Value};
use tonic::Status;

use super::status::{invalid, unserved};
use crate::control::{Port, Replica};
use crate::server::limits;

const NODE_ID: &str = "$MULTICAST_NODE_ID";
const PORTS: &str = "$DEV_PORT";

/// The highest group: a packet's group has 16 bits.
const MAX_GROUP: u32 = 0xffff;
/// Numbers of ports have 9 bits.
const MAX_PORT: u32 = 0x1ff;

/// Groups and nodes that controllers wrote.
#[derive(Debug, Default)]
pub(super) struct Multicast {
    groups: BTreeMap<u32, Entry>,
    nodes: BTreeMap<u32, Entry>,
    /// The groups that have each node.
    users: BTreeMap<u32, BTreeSet<u32>>,
    /// Copies of the frames of all groups.
    copies: usize,
    /// Numbers in the lists of all groups and nodes.
    listed: usize,
}

/// Change of a group: its copies, or `None` if it is deleted.
pub(super) type Changed = (u32, Option<Vec<Replica>>);

impl Multicast {
    /// Returns the groups from a number on, or the one of a key; by number.
    pub fn groups(&self, filter: &Entry, from: u32) -> impl Iterator<Item = (u32, &Entry)> {
        selected(&self.groups, filter, "$MGID", from)
    }

    /// Returns the nodes from a number on, or the one of a key; by number.
    pub fn nodes(&self, filter: &Entry, from: u32) -> impl Iterator<Item = (u32, &Entry)> {
        selected(&self.nodes, filter, NODE_ID, from)
    }

    /// Changes a group. Returns the changes for the switch, whose cost is taken from `work`.
    pub fn write_group(&mut self, kind: Type, entry: &Entry, work: &mut u64) -> Result<Vec<Changed>, Status> {
        let id = key(entry, "$MGID")?;
        if id == 0 {
            return Err(invalid("$pre.mgid: group 0 copies nothing, take another number"));
        }
        if id > MAX_GROUP {
            return Err(invalid(format!(
                "$pre.mgid {id}: groups have at most 16 bits, take 1 to {MAX_GROUP}"
            )));
        }
        if let Some(node) = numbers(entry, NODE_ID).iter().find(|node| !self.nodes.contains_key(node)) {
            return Err(Status::not_found(format!(
                "$pre.mgid {id}: there is no node {node}; insert it first"
            )));
        }
        let before = self.groups.get(&id).cloned();
        change(&mut self.groups, kind, id, entry, "$pre.mgid")?;
        let (old, new) = (self.copies_of(before.as_ref()), self.copies_of(self.groups.get(&id)));
        let listed = (before.as_ref().map_or(0, listed), self.groups.get(&id).map_or(0, listed));
        let outcome = self.count((old, new), listed, work).and_then(|counts| Ok((counts, self.group(id)?)));
        let ((copies, listed), changed) = match outcome {
            Ok(outcome) => outcome,
            Err(status) => {
                put(&mut self.groups, id, before);
                return Err(status);
            }
        };
        (self.copies, self.listed) = (copies, listed);
        for node in before.iter().flat_map(|before| numbers(before, NODE_ID)) {
            if let Some(groups) = self.users.get_mut(node) {
                groups.remove(&id);
                if groups.is_empty() {
                    self.users.remove(node);
                }
            }
        }
        for node in self.groups.get(&id).into_iter().flat_map(|after| numbers(after, NODE_ID)) {
            self.users.entry(*node).or_default().insert(id);
        }
        Ok(vec![changed])
    }

    /// Changes a node. Returns the changes for the switch, whose cost is taken from `work`.
    pub fn write_node(&mut self, kind: Type, entry: &Entry, work: &mut u64) -> Result<Vec<Changed>, Status> {
        let id = key(entry, NODE_ID)?;
        let used: Vec<u32> = self.users.get(&id).into_iter().flatten().copied().collect();
        if let (Type::Delete, Some(group)) = (kind, used.first()) {
            return Err(Status::already_exists(format!(
                "$pre.node {id}: group {group} has it; change that first"
            )));
        }
        if !numbers(entry, "$MULTICAST_LAG_ID").is_empty() {
            return Err(unserved(format!("$pre.node {id}: link aggregation groups are not served")));
        }
        check_ports(id, entry)?;
        if !self.nodes.contains_key(&id) && self.nodes.len() >= limits::GROUPS {
            return Err(limits::beyond(format!(
                "$pre.node {id}: there are {} nodes already",
                limits::GROUPS
            )));
        }
        let before = self.nodes.get(&id).cloned();
        change(&mut self.nodes, kind, id, entry, "$pre.node")?;
        let ports = |node: Option<&Entry>| node.map_or(0, |node| numbers(node, PORTS).len());
        let (old, new) = (ports(before.as_ref()) * used.len(), ports(self.nodes.get(&id)) * used.len());
        let listed = (before.as_ref().map_or(0, listed), self.nodes.get(&id).map_or(0, listed));
        let outcome = self.count((old, new), listed, work).and_then(|counts| {
            Ok((counts, used.into_iter().map(|group| self.group(group)).collect::<Result<_, Status>>()?))
        });
        match outcome {
            Ok(((copies, listed), changed)) => {
                (self.copies, self.listed) = (copies, listed);
                Ok(changed)
            }
            Err(status) => {
                put(&mut self.nodes, id, before);
                Err(status)
            }
        }
    }

    /// Copies and numbers in lists after a change of some of them, if there is room.
    fn count(
        &self,
        copies: (usize, usize),
        listed: (usize, usize),
        work: &mut u64,
    ) -> Result<(usize, usize), Status> {
        let after = |all: usize, (old, new): (usize, usize)| (all + new).saturating_sub(old);
        let (copies_after, listed_after) = (after(self.copies, copies), after(self.listed, listed));
        for (all, what) in [(copies_after, "copies"), (listed_after, "numbers")] {
            let hint = "remove groups or nodes";
            limits::at_most(all, limits::REPLICAS, &format!("$pre: {what} of all groups and nodes"), hint)?;
        }
        limits::spend(work, copies.1 as u64 + 1)?;
        Ok((copies_after, listed_after))
    }

    fn copies_of(&self, group: Option<&Entry>) -> usize {
        let nodes = group.into_iter().flat_map(|group| numbers(group, NODE_ID));
        nodes.filter_map(|node| self.nodes.get(node)).map(|node| numbers(node, PORTS).len()).sum()
    }

    /// Returns a group as the switch has it.
    fn group(&self, id: u32) -> Result<Changed, Status> {
        let Some(group) = self.groups.get(&id) else { return Ok((id, None)) };
        let nodes = numbers(group, NODE_ID).iter().filter_map(|node| self.nodes.get(node));
        let all: Vec<Replica> = nodes.flat_map(replicas).collect();
        let mut seen = HashSet::new();
        match all.iter().find(|copy| !seen.insert(**copy)) {
            Some(twice) => Err(invalid(format!(
                "$pre.mgid {id}: it copies twice to port {} with $MULTICAST_RID {}",
                twice.port, twice.instance
            ))),
            None => Ok((id, Some(all))),
        }
    }
}

fn check_ports(id: u32, node: &Entry) -> Result<(), Status> {
    let mut seen = HashSet::new();
    match numbers(node, PORTS).iter().find(|port| **port > MAX_PORT || !seen.insert(**port)) {
        Some(port) if *port > MAX_PORT => {
            Err(invalid(format!("$pre.node {id}: port {port} is above {MAX_PORT}")))
        }
        Some(port) => Err(invalid(format!("$pre.node {id}: port {port} is listed twice"))),
        None => Ok(()),
    }
}

/// Puts a row back as it was.
fn put(rows: &mut BTreeMap<u32, Entry>, id: u32, row: Option<Entry>) {
    match row {
        Some(row) => drop(rows.insert(id, row)),
        None => drop(rows.remove(&id)),
    }
}

/// Numbers, flags and texts in the lists of a row.
fn listed(row: &Entry) -> usize {
    let count = |value: &Value| match value {
        Value::Numbers(list) => list.len(),
        Value::Flags(list) => list.len(),
        Value::Texts(list) => list.iter().map(|text| 1 + text.len() / 4).sum(),
        Value::PerPipe(list) => 4 * list.len(),
        Value::Text(text) => text.len() / 4,
        Value::Number(_) | Value::Flag(_) | Value::Float(_) => 0,
    };
    row.data.values().map(count).sum()
}

fn replicas(node: &Entry) -> Vec<Replica> {
    let instance = node.number("$MULTICAST_RID").and_then(|rid| u16::try_from(rid).ok()).unwrap_or(0);
    numbers(node, PORTS).iter().map(|port| Replica { port: Port(*port), instance }).collect()
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
            return Err(Status::already_exists(format!("{what} {id} exists already")));
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

fn selected<'a>(
    all: &'a BTreeMap<u32, Entry>,
    filter: &Entry,
    field: &str,
    from: u32,
) -> impl Iterator<Item = (u32, &'a Entry)> + use<'a> {
    let (first, last) = match filter.key.get(field) {
        // No row has a number of more than 32 bits.
        Some(Match::Exact(id)) => u32::try_from(*id).map_or((1, 0), |id| (id.max(from), id)),
        _ => (from, u32::MAX),
    };
    let rows = (first <= last).then(|| all.range(first..=last));
    rows.into_iter().flatten().map(|(id, row)| (*id, row))
}

fn key(entry: &Entry, field: &str) -> Result<u32, Status> {
    match entry.key.get(field) {
        Some(Match::Exact(id)) => {
            u32::try_from(*id).map_err(|_| invalid(format!("{field} has more than 32 bits")))
        }
        _ => Err(invalid(format!("{}: the entry has no {field}", entry.table))),
    }
}

fn numbers<'e>(entry: &'e Entry, field: &str) -> &'e [u32] {
    match entry.data.get(field) {
        Some(Value::Numbers(list)) => list,
        _ => &[],
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

    /// A batch without an end to its work.
    struct Endless(Multicast);

    impl Endless {
        fn write_group(&mut self, kind: Type, entry: &Entry) -> Result<Vec<Changed>, Status> {
            self.0.write_group(kind, entry, &mut u64::MAX.clone())
        }

        fn write_node(&mut self, kind: Type, entry: &Entry) -> Result<Vec<Changed>, Status> {
            self.0.write_node(kind, entry, &mut u64::MAX.clone())
        }

        fn groups(&self) -> Vec<Entry> {
            self.0.groups(&Entry::default(), 0).map(|(_, group)| group.clone()).collect()
        }

        fn nodes(&self) -> Vec<Entry> {
            self.0.nodes(&Entry::default(), 0).map(|(_, node)| node.clone()).collect()
        }
    }

    #[test]
    fn a_group_copies_to_the_ports_of_all_its_nodes() {
        let mut multicast = Endless(Multicast::default());
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
        assert_eq!((multicast.groups().len(), multicast.nodes().len()), (0, 1));
    }
    #[test]
    fn groups_of_one_large_node_count_all_their_copies() {
        let mut multicast = Endless(Multicast::default());
        let all: Vec<u32> = (0..512).collect();
        multicast.write_node(Type::Insert, &node(1, 7, &all)).unwrap();
        let room = (limits::REPLICAS / 512) as u32;
        for id in 1..=room {
            multicast.write_group(Type::Insert, &group(id, &[1])).unwrap();
        }
        let refused = multicast.write_group(Type::Insert, &group(room + 1, &[1])).unwrap_err();
        assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
        // A node that grows grows in all of its groups.
        multicast.write_node(Type::Modify, &node(1, 7, &[3])).unwrap();
        multicast.write_group(Type::Insert, &group(room + 1, &[1])).unwrap();
        let refused = multicast.write_node(Type::Modify, &node(1, 7, &all)).unwrap_err();
        assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
        assert_eq!(multicast.nodes(), [node(1, 7, &[3])], "it is as it was");
        multicast.write_group(Type::Delete, &group(room + 1, &[])).unwrap();
        multicast.write_node(Type::Modify, &node(1, 7, &all)).unwrap();
    }

    #[test]
    fn a_change_that_one_group_refuses_changes_no_group() {
        let mut multicast = Endless(Multicast::default());
        multicast.write_node(Type::Insert, &node(1, 7, &[1])).unwrap();
        multicast.write_node(Type::Insert, &node(2, 7, &[2])).unwrap();
        multicast.write_group(Type::Insert, &group(5, &[1])).unwrap();
        multicast.write_group(Type::Insert, &group(6, &[1, 2])).unwrap();
        // Group 6 would copy twice to port 2.
        let refused = multicast.write_node(Type::Modify, &node(1, 7, &[2])).unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
        assert_eq!(multicast.nodes(), [node(1, 7, &[1]), node(2, 7, &[2])]);
        let changed = multicast.write_node(Type::Modify, &node(1, 8, &[2])).unwrap();
        assert_eq!(copies(&changed), [(5, Some(vec![(2, 8)])), (6, Some(vec![(2, 8), (2, 7)]))]);
    }

    #[test]
    fn ports_that_no_switch_has_or_that_are_there_twice_are_refused() {
        let mut multicast = Endless(Multicast::default());
        for ports in [&[512][..], &[4, 5, 4]] {
            let refused = multicast.write_node(Type::Insert, &node(1, 7, ports)).unwrap_err();
            assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
        }
        let beyond = multicast.write_group(Type::Insert, &group(0x1_0000, &[])).unwrap_err();
        assert_eq!(beyond.code(), Code::InvalidArgument, "{beyond}");
    }
}
