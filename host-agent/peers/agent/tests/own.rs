//! User-defined receivers, while peers leave.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use inart_peers_agent::{Schemes, Selector};
use inart_planner_peers::{Multicast, Pairs, Problem, Reading, Scheme, Waits};
use inart_topologies::peers::Ports;

/// Peers 0, 2 and 3 of five take part; 0 sends to 1 and 3, 2 to 0 and 1, 3 to 1.
#[test]
fn peers_that_left_are_replaced() {
    let given = Pairs::of(5, [(0, 1), (0, 3), (2, 0), (2, 1), (3, 1)]);
    let schemes = Schemes::new(Scheme::Optimized, Reading::default(), 1, "job");
    let mut schemes = schemes.following(Some(Arc::new(given)));
    let problem = Problem {
        ports: Ports { up_bps: vec![1e6; 3], down_bps: vec![1e6, 1e6, 2e6] },
        bits: vec![1e6; 3],
        receivers: 1,
        required: Pairs::of(3, [(1, 2)]),
        waited: Waits::none(3),
        multicast: Multicast::Hosts,
    };
    let chosen = schemes.round(&problem, &[0, 2, 3]).unwrap();
    // By number: 0 to 3; 2 to 0 and, required, to 3; 3 has no receiver left and takes the lighter port.
    assert_eq!(chosen, Pairs::of(3, [(0, 2), (1, 0), (1, 2), (2, 1)]));
}
