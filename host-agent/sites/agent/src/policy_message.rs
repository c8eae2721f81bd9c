//! //! Encoding of transmission policies as messages.

use std::collections::BTreeMap;

use inart_protocol_sites::{SiteNo, TransmissionPolicy, Tree, TreeNo};

use crate::message_error::{MessageError, site, sites};

/// Transmission policy on the wire.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PolicyMessage {
    /// Version of the policy.
    #[prost(uint64, tag = "1")]
    pub version: u64,
    /// Sites of the job, in order.
    #[prost(uint32, repeated, tag = "2")]
    pub sites: Vec<u32>,
    /// Trees of the policy.
    #[prost(message, repeated, tag = "3")]
    pub trees: Vec<TreeMessage>,
    /// Index of the tree of each chunk.
    #[prost(uint32, repeated, tag = "4")]
    pub chunk_trees: Vec<u32>,
    /// Routes for tree neighbors without a direct link.
    #[prost(message, repeated, tag = "5")]
    pub routes: Vec<RouteMessage>,
    /// Auxiliary paths; several of one pair are ordered best first.
    #[prost(message, repeated, tag = "6")]
    pub auxiliary: Vec<RouteMessage>,
}

/// Tree on the wire. A parent is a site number plus one, or 0 if the site has no parent.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TreeMessage {
    /// Root of the tree.
    #[prost(uint32, tag = "1")]
    pub root: u32,
    /// Site that each site sends its sums to.
    #[prost(uint32, repeated, tag = "2")]
    pub up: Vec<u32>,
    /// Site that each site receives results from; empty if equal to `up`.
    #[prost(uint32, repeated, tag = "3")]
    pub down: Vec<u32>,
}

/// Route on the wire, including both ends.
#[derive(Clone, PartialEq, prost::Message)]
pub struct RouteMessage {
    /// Sites of the route, in order.
    #[prost(uint32, repeated, tag = "1")]
    pub sites: Vec<u32>,
}

/// Encodes a policy as a message.
pub fn policy_message(policy: &TransmissionPolicy) -> PolicyMessage {
    let parents = |parents: &[Option<SiteNo>]| -> Vec<u32> {
        parents.iter().map(|parent| parent.map_or(0, |site| u32::from(site.0) + 1)).collect()
    };
    let numbers = |sites: &[SiteNo]| -> Vec<u32> { sites.iter().map(|site| site.0.into()).collect() };
    let tree = |tree: &Tree| TreeMessage {
        root: tree.root.0.into(),
        up: parents(&tree.up),
        down: if tree.down == tree.up { Vec::new() } else { parents(&tree.down) },
    };
    let route = |route: &Vec<SiteNo>| RouteMessage { sites: numbers(route) };
    PolicyMessage {
        version: policy.version,
        sites: numbers(&policy.sites),
        trees: policy.trees.iter().map(tree).collect(),
        chunk_trees: policy.chunk_trees.iter().map(|tree| tree.0.into()).collect(),
        routes: policy.routes.values().map(route).collect(),
        auxiliary: policy.auxiliary.values().flatten().map(route).collect(),
    }
}

/// Decodes a policy. The caller must [check](TransmissionPolicy::check) its consistency.
///
/// # Errors
/// A field out of range, or a route without ends.
pub fn policy(message: PolicyMessage) -> Result<TransmissionPolicy, MessageError> {
    let parents = |values: Vec<u32>| -> Result<Vec<Option<SiteNo>>, MessageError> {
        values
            .into_iter()
            .map(|value| value.checked_sub(1).map(|at| site("parent", at)).transpose())
            .collect()
    };
    let tree = |tree: TreeMessage| -> Result<Tree, MessageError> {
        let up = parents(tree.up)?;
        let down = if tree.down.is_empty() { up.clone() } else { parents(tree.down)? };
        Ok(Tree { root: site("root", tree.root)?, up, down })
    };
    let tree_number = |value: u32| {
        let number = u16::try_from(value).map(TreeNo);
        number.map_err(|_| MessageError::Field { field: "tree", value: value.into(), most: 65_535 })
    };
    let route = |route: RouteMessage| -> Result<((SiteNo, SiteNo), Vec<SiteNo>), MessageError> {
        let route = sites("route", route.sites)?;
        match route[..] {
            [first, .., last] => Ok(((first, last), route)),
            _ => Err(MessageError::Field { field: "length of a route", value: 1, most: 65_535 }),
        }
    };
    let mut auxiliary: BTreeMap<(SiteNo, SiteNo), Vec<Vec<SiteNo>>> = BTreeMap::new();
    for message in message.auxiliary {
        let (ends, route) = route(message)?;
        auxiliary.entry(ends).or_default().push(route);
    }
    Ok(TransmissionPolicy {
        version: message.version,
        sites: sites("site", message.sites)?,
        trees: message.trees.into_iter().map(tree).collect::<Result<_, _>>()?,
        chunk_trees: message.chunk_trees.into_iter().map(tree_number).collect::<Result<_, _>>()?,
        routes: message.routes.into_iter().map(route).collect::<Result<_, _>>()?,
        auxiliary,
    })
}
