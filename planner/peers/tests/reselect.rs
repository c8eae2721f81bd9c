//! New receivers of active multicasts.
#![allow(clippy::unwrap_used)]

use inart_planner_peers::{Guard, Multicast, Pairs, Reading, Setting, Task, Waits, reselect};
use inart_topologies::peers::Ports;

/// A sender that is later than its peers can wait is first to choose and gets as many receivers as all; its
/// deadline is when it can be done, not a past time.
#[test]
fn a_deadline_in_the_past_is_as_urgent_as_now_and_no_time_to_be_held_to() {
    let ports = Ports { up_bps: vec![4e6; 5], down_bps: vec![1e6, 2e6, 4e6, 8e6, 16e6] };
    let (bits, none, waited) = (vec![1e6; 5], Pairs::none(5), Waits::none(5));
    for multicast in [Multicast::Switch, Multicast::Hosts] {
        for guard in [Guard::Own, Guard::All] {
            let setting = Setting {
                ports: &ports,
                bits: &bits,
                receivers: 2,
                multicast,
                required: &none,
                waited: &waited,
            };
            let at = |wait_s: f64| {
                let task = |from: usize, wait_s: f64| {
                    let to = (0..5).filter(|&to| to != from).collect();
                    Task { from, to, left_bits: 1e6, wait_s }
                };
                let tasks = [task(0, 7.0), task(1, wait_s), task(2, 0.5)];
                reselect(&setting, &tasks, &Reading { guard, ..Reading::default() })
            };
            let now = at(0.0);
            // The first to choose has the two fastest ports to itself.
            assert!(now.to[1].contains(&3) && now.to[1].contains(&4), "{now:?}");
            for past in [-1e-9, -3.0, -1e300, f64::NEG_INFINITY] {
                let found = at(past);
                assert_eq!(found, now, "{past} s");
                assert!(found.to.iter().all(|to| to.len() >= 2), "{found:?}");
                let least = multicast.copies(2) as f64 * 1e6 / 4e6;
                assert!(found.deadlines_s.iter().all(|deadline| *deadline >= least), "{found:?}");
            }
        }
    }
}
