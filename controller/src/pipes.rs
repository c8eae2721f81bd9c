//! Pipes of a Tofino have registers of their own: all frames of one sum must arrive through one pipe.

use std::collections::BTreeMap;

use crate::plan_error::PlanError;
use crate::ports::PortMap;
use crate::requirements::{Hop, Requirements, Roles};

/// Refuses requirements of a sum with frames from several pipes. Where the topology does not state the
/// ports of a switch, the target's session refuses such entries.
pub fn check(
    ports: &PortMap,
    roles: &Roles,
    requirements: &BTreeMap<String, Requirements>,
) -> Result<(), PlanError> {
    for (switch, requirements) in requirements {
        let mut first = BTreeMap::new();
        for (&(shard, _, ingress), hop) in &requirements.steer {
            let Hop::Add { expected, .. } = hop else { continue };
            let Some(pipe) = ports.pipe(switch, ingress) else { continue };
            let (other, theirs) = *first.entry((shard, expected.group)).or_insert((ingress, pipe));
            if theirs != pipe {
                let peer = |port| ports.peer(switch, port).unwrap_or_default().to_owned();
                return Err(PlanError::Pipes {
                    switch: switch.clone(),
                    server: roles.servers[shard.index()].to_owned(),
                    peers: [peer(other), peer(ingress)],
                    pipes: [theirs, pipe],
                });
            }
        }
    }
    Ok(())
}
