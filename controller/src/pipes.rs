//! Each pipe of a Tofino has registers of its own: what is added to one sum has to come in by one pipe.

use std::collections::BTreeMap;

use crate::plan_error::PlanError;
use crate::ports::PortMap;
use crate::requirements::{Hop, Requirements, Roles};

/// Refuses requirements that add up on a switch what comes in by several pipes. Where the topology does not
/// say the ports of a switch, the target's session refuses such entries.
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
