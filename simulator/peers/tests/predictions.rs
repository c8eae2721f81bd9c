//! Predicted rounds and trainings of all schemes.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use inart_planner_peers::{Multicast, Options, OwnPlan, Reading, Scheme, Sharing, plan, receivers};
use inart_simulator_peers::ideal::{Draw, SspOptions, run_rounds, run_ssp};
use inart_topologies::peers::Mesh;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::Instance;

/// Returns three peers at one switch; p1's incoming port is slow.
fn mesh() -> Mesh {
    Instance {
        up: vec![1.0, 1.0, 1.0],
        down: vec![0.5, 1.0, 1.0],
        updates: vec![1.0, 2.0, 1.0],
        receivers: 1,
        required: vec![(0, 2)],
        ..Instance::default()
    }
    .mesh()
}

fn ring() -> Value {
    json!({"tasks": [{"from": "p0", "to": ["p1", "p2"]}, {"from": "p1", "to": ["p0"]}, {"from": "p2", "to": ["p1"]}]})
}

fn own(document: &Value) -> OwnPlan {
    serde_json::from_value(document.clone()).unwrap()
}

/// Every round has the receivers of the plan, and lasts as long as planned.
#[test]
fn rounds_have_the_receivers_of_the_plan() {
    let mesh = mesh();
    let job = &mesh.jobs()[0];
    let given = Some(Arc::new(receivers(&mesh, job, &own(&ring())).unwrap()));
    let options = Options { given, ..Options::new(Scheme::Own, Multicast::Hosts) };
    let run = run_rounds(&mesh, job, &options, Draw::Random, Sharing::Fair, 3).unwrap();
    assert!((run.receivers_mean - 4.0 / 3.0).abs() < 1e-9 && (run.seconds - 4.0).abs() < 1e-6, "{run:?}");
    let ssp = SspOptions {
        plan: options,
        reading: Reading::default(),
        draw: Draw::Random,
        staleness: Some(4),
        sharing: Sharing::Fair,
        duration_s: 100.0,
    };
    let run = run_ssp(&mesh, job, &ssp).unwrap();
    assert!(run.rounds > 10 && run.longest_wait > 3, "p0 gets no update of p2: {run:?}");
    let none = Options::new(Scheme::Own, Multicast::Hosts);
    assert!(run_ssp(&mesh, job, &SspOptions { plan: none, ..ssp }).is_err());
}

prop_compose! {
    fn instances(most: usize)(n in 3..=most)(
        n in Just(n),
        up in prop::collection::vec(0.5..1.5f64, n),
        down in prop::collection::vec(0.5..1.5f64, n),
        updates in prop::collection::vec(0.2..1.8f64, n),
        is_equal in any::<bool>(),
        receivers in 1..n,
        pairs in prop::collection::btree_set((0..n, 0..n), 0..n),
    ) -> Instance {
        Instance {
            up,
            down,
            updates: if is_equal { vec![1.0; n] } else { updates },
            receivers,
            required: pairs.into_iter().filter(|(from, to)| from != to).collect(),
            waited: Vec::new(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// With equal updates and max-min shares a round ends when its fullest port does; with `optimized`, which
    /// paces, for any updates.
    #[test]
    fn rounds_take_as_long_as_planned(instance in instances(7)) {
        let mesh = instance.mesh();
        let job = &mesh.jobs()[0];
        let is_equal = instance.updates.iter().all(|bits| *bits == instance.updates[0]);
        for multicast in [Multicast::Switch, Multicast::Hosts] {
            for scheme in Scheme::ALL {
                let options = Options::new(scheme, multicast);
                let planned = plan(&mesh, job, &options).unwrap().seconds;
                let played =
                    |sharing| run_rounds(&mesh, job, &options, Draw::Random, sharing, 1).unwrap().seconds;
                let (fair, split) = (played(Sharing::Fair), played(Sharing::Split));
                prop_assert!(fair >= planned * (1.0 - 1e-9) && split >= planned * (1.0 - 1e-9));
                if is_equal || scheme == Scheme::Optimized {
                    prop_assert!(fair <= planned * (1.0 + 1e-9), "{} {} {}", scheme, fair, planned);
                }
            }
        }
    }
}

fn twelve() -> Instance {
    let rates = |step: usize| (0..12).map(|at| 1.0 + ((at * step) % 7) as f64 / 10.0).collect();
    Instance {
        up: rates(3),
        down: rates(5),
        updates: vec![1.0; 12],
        receivers: 4,
        required: vec![(0, 11), (3, 4)],
        waited: Vec::new(),
    }
}

/// No peer waits for more rounds than the fairness bound k, in all schemes.
#[test]
fn receivers_that_have_waited_are_forced() {
    let mut instance = twelve();
    instance.waited = vec![(5, 6, 4), (5, 7, 3)];
    let mesh = instance.mesh();
    for scheme in Scheme::ALL {
        for draw in [Draw::Random, Draw::Fixed] {
            let options = Options { force_after: Some(3), ..Options::new(scheme, Multicast::Switch) };
            let run = run_rounds(&mesh, &mesh.jobs()[0], &options, draw, Sharing::Fair, 12).unwrap();
            assert!(run.longest_wait <= 4, "{scheme} {run:?}");
        }
    }
    let options = Options::new(Scheme::Orpheus, Multicast::Switch);
    let run = run_rounds(&mesh, &mesh.jobs()[0], &options, Draw::Fixed, Sharing::Fair, 12).unwrap();
    assert!(run.longest_wait >= 12 && (run.receivers_mean - 4.0).abs() < 1e-12, "{run:?}");
}
