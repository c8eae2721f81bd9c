//! Capacity of a network that active plans leave.

use crate::plan::Plan;
use inart_topologies::switched::{BackgroundRates, Topology};

/// Networks that plans use.
pub trait Occupied {
    /// Returns the network with these plans' `load` as background traffic. Resources that the network does
    /// not have are left out.
    fn occupied_by<'a>(&self, plans: impl IntoIterator<Item = &'a Plan>) -> Topology;
}

impl Occupied for Topology {
    fn occupied_by<'a>(&self, plans: impl IntoIterator<Item = &'a Plan>) -> Topology {
        let mut background = self.background();
        for load in plans.into_iter().flat_map(|plan| &plan.load) {
            occupy(self, &mut background, &load.resource, load.used_bps);
        }
        self.with_background(&background)
    }
}

fn occupy(topology: &Topology, background: &mut BackgroundRates, resource: &str, bps: f64) {
    let Some((kind, name)) = resource.split_once(' ') else { return };
    if kind != "link" {
        if let Some(node) = topology.node_named(name) {
            background.nodes[node.index()] += bps;
        }
        return;
    }
    // Names may hold arrows themselves.
    let ends = name.match_indices("->").find_map(|(at, arrow)| {
        let from = topology.node_named(&name[..at])?;
        let to = topology.node_named(&name[at + arrow.len()..])?;
        Some((from, topology.link_between(from, to)?))
    });
    if let Some((from, link)) = ends {
        background.links[link.index()][usize::from(topology.link(link).ends[0] != from)] += bps;
    }
}

#[cfg(test)]
mod tests {
    use super::Occupied as _;
    use crate::{Options, plan, schemes};
    use inart_topologies::switched::Topology;

    #[test]
    fn what_a_plan_uses_is_background_for_the_next() {
        let topology = Topology::from_yaml(
            "{name: pair, nodes: [{name: v, kind: switch}, {name: s, kind: server},
              {name: a, kind: worker}, {name: b, kind: worker}],
              links: [{ends: [a, v], rate: 3 Gbps}, {ends: [v, b], rate: 3 Gbps},
               {ends: [s, v], rate: 9 Gbps}],
              jobs: [{name: one, workers: [a], servers: [s]}, {name: two, workers: [b], servers: [s]}]}",
        )
        .expect("valid");
        let options = Options::new(schemes::LBMM);
        let one = plan(&topology, &topology.jobs()[0], &options).expect("planned");
        let left = topology.occupied_by([&one]);
        assert_eq!(left.links()[0].background_bps, [one.rate_bps, one.rate_bps]);
        assert_eq!(left.links()[1].background_bps, [0.0, 0.0]);
        let alone = plan(&topology, &topology.jobs()[1], &options).expect("planned").rate_bps;
        assert_eq!(
            plan(&left, &left.jobs()[1], &options).expect("planned").rate_bps,
            alone,
            "capacity is left"
        );
        let full = left.occupied_by([&one, &one]);
        assert!(plan(&full, &full.jobs()[1], &options).is_err(), "nothing is left at the server");
    }
}
