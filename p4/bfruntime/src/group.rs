//! Multicast groups. The driver has groups (`$pre.mgid`) of nodes (`$pre.node`) of ports: each group here has
//! one node, of its own number.

use std::collections::{BTreeMap, BTreeSet};

use crate::entry::{Entry, Value};

/// The driver's table of groups.
pub const GROUPS: &str = "$pre.mgid";
/// The driver's table of nodes.
pub const NODES: &str = "$pre.node";
/// Value of `egress_rid` in copies.
const COPY: u16 = 1;

/// A multicast group: a copy to each port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Number, never 0.
    pub id: u16,
    /// The device's numbers of its ports.
    pub ports: BTreeSet<u32>,
}

impl Group {
    /// Returns the entry of the group's node.
    pub fn node(&self) -> Entry {
        Entry::new(NODES)
            .exact("$MULTICAST_NODE_ID", self.id)
            .with("$MULTICAST_RID", COPY)
            .with("$MULTICAST_LAG_ID", Vec::<u32>::new())
            .with("$DEV_PORT", self.ports.iter().copied().collect::<Vec<u32>>())
    }

    /// Returns the entry of the group itself.
    pub fn entry(&self) -> Entry {
        Entry::new(GROUPS)
            .exact("$MGID", self.id)
            .with("$MULTICAST_NODE_ID", vec![u32::from(self.id)])
            .with("$MULTICAST_NODE_L1_XID_VALID", vec![false])
            .with("$MULTICAST_NODE_L1_XID", vec![0u32])
    }

    /// Returns the groups of the entries of both tables. A node without a group is left over from an
    /// interrupted write, and is ignored.
    ///
    /// # Errors
    /// Returns the place and the problem of an entry that is not part of a group of this kind.
    pub fn of_entries(groups: &[Entry], nodes: &[Entry]) -> Result<Vec<Self>, (String, String)> {
        let node_ports = nodes.iter().map(node_ports).collect::<Result<BTreeMap<_, _>, _>>()?;
        groups.iter().map(|group| of_entry(group, &node_ports)).collect()
    }
}

/// Returns a node's number and ports.
fn node_ports(node: &Entry) -> Result<(u32, BTreeSet<u32>), (String, String)> {
    let id = key_number(node, "$MULTICAST_NODE_ID")?;
    let place = format!("{NODES} {id}");
    match node.data.get("$MULTICAST_LAG_ID") {
        None => {}
        Some(Value::Numbers(lags)) if lags.is_empty() => {}
        Some(_) => return Err((place, "it has link aggregation groups".to_owned())),
    }
    Ok((id, numbers(node, "$DEV_PORT").into_iter().collect()))
}

fn of_entry(group: &Entry, nodes: &BTreeMap<u32, BTreeSet<u32>>) -> Result<Group, (String, String)> {
    let id = key_number(group, "$MGID")?;
    let place = || format!("{GROUPS} {id}");
    let wrong = |what: String| (place(), what);
    let mut ports = BTreeSet::new();
    for node in numbers(group, "$MULTICAST_NODE_ID") {
        let of_node = nodes.get(&node).ok_or_else(|| wrong(format!("its node {node} does not exist")))?;
        ports.extend(of_node);
    }
    let id = u16::try_from(id).map_err(|_| wrong("its number has more than 16 bits".to_owned()))?;
    Ok(Group { id, ports })
}

fn key_number(entry: &Entry, field: &str) -> Result<u32, (String, String)> {
    let number = match entry.key.get(field) {
        Some(crate::entry::Match::Exact(number)) => u32::try_from(*number).ok(),
        _ => None,
    };
    number.ok_or_else(|| (entry.table.clone(), format!("an entry has no {field} of 32 bits")))
}

fn numbers(entry: &Entry, field: &str) -> Vec<u32> {
    match entry.data.get(field) {
        Some(Value::Numbers(list)) => list.clone(),
        _ => Vec::new(),
    }
}
