//! User-defined receivers: completed, used, and refused with their place; and `optimized` compared with other
//! schemes.
#![allow(clippy::unwrap_used)]

use inart_planner_peers::{Multicast, Options, OwnPlan, PLAN_FORMAT, Plan, Scheme, check, complete, plan};
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

/// A change of a document, and the expected error.
type Case<'c> = (&'c dyn Fn(&mut Value), &'c str);

fn own(document: &Value) -> OwnPlan {
    serde_json::from_value(document.clone()).unwrap()
}

#[test]
fn a_plan_carries_its_format() {
    let made = complete(&mesh(), &mesh().jobs()[0], &own(&ring()), Multicast::Switch).unwrap();
    let (text, newest) = (made.to_json(), format!("{{\"format\":{},", PLAN_FORMAT.newest));
    assert!(text.starts_with(&newest), "{text}");
    for known in [&*newest, "{", "{\"format\":1,"] {
        assert_eq!(Plan::from_json(&text.replacen(&newest, known, 1)).unwrap(), made, "{known}");
    }
    for newer in ["{\"format\":3,", "{\"more\":[1],\"job\":7,\"format\":3,"] {
        let error = Plan::from_json(&text.replacen(&newest, newer, 1)).unwrap_err().to_string();
        assert_eq!(
            error,
            "format 3 is newer than this version of inart reads (1 to 2); use a newer inart, or make the plan \
             again with inart plan"
        );
    }
}

#[test]
fn derived_fields_are_derived_again() {
    let mesh = mesh();
    let job = &mesh.jobs()[0];
    // 2 Gbit of p1 at p0's 0.5 Gbps; by hosts, p0's 1 Gbit twice at 1 Gbps is less.
    for multicast in [Multicast::Switch, Multicast::Hosts] {
        let made = complete(&mesh, job, &own(&ring()), multicast).unwrap();
        assert!((made.seconds - 4.0).abs() < 1e-9, "{}", made.seconds);
        assert!((made.receivers_mean - 4.0 / 3.0).abs() < 1e-9);
        assert_eq!((&*made.scheme, &*made.multicast), ("own", multicast.name()));
        assert_eq!(check(&mesh, job, &made), Vec::<String>::new());
        // In a parsed plan, the field `multicast` counts.
        let read: OwnPlan = serde_json::from_str(&serde_json::to_string(&made).unwrap()).unwrap();
        assert_eq!(complete(&mesh, job, &read, Multicast::Switch).unwrap(), made);
    }
}

#[test]
fn scheme_own_needs_receivers() {
    let mesh = mesh();
    let none = Options::new(Scheme::Own, Multicast::Hosts);
    let refused = plan(&mesh, &mesh.jobs()[0], &none).unwrap_err().to_string();
    assert_eq!(refused, "scheme own has no receivers of its own; give a plan with tasks");
}

#[test]
fn misfits_are_named_with_their_place_and_fix() {
    let mesh = mesh();
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut document = ring();
        change(&mut document);
        complete(&mesh, &mesh.jobs()[0], &own(&document), Multicast::Hosts).unwrap_err().to_string()
    };
    let cases: [Case<'_>; 10] = [
        (&|plan| plan["topology"] = "net".into(), "topology: the plan is for \"net\", and this is \"t\""),
        (&|plan| plan["job"] = "k".into(), "job: the plan is for \"k\", and this is \"j\""),
        (&|plan| plan["multicast"] = "all".into(), "multicast: \"all\"; write \"switch\" or \"hosts\""),
        (
            &|plan| plan["tasks"][0]["from"] = "x".into(),
            "tasks[0].from: job j has no peer \"x\"; name some of p0, p1, p2",
        ),
        (&|plan| plan["tasks"][1]["from"] = "p0".into(), "tasks[1].from: p0 has a task already"),
        (&|plan| plan["tasks"][1]["to"][0] = "x".into(), "tasks[1].to: job j has no peer \"x\""),
        (&|plan| plan["tasks"][1]["to"][0] = "p1".into(), "tasks[1].to: p1 sends to itself"),
        (&|plan| plan["tasks"][1]["to"] = json!(["p0", "p0"]), "tasks[1].to: p0 is named twice"),
        (&|plan| plan["tasks"][1]["to"] = json!([]), "tasks[1].to: 0 receivers; the job asks for at least 1"),
        (&|plan| drop(plan["tasks"].as_array_mut().unwrap().pop()), "tasks: peer p2 has none"),
    ];
    for (change, expected) in cases {
        let said = refused(change);
        assert!(said.starts_with("the plan's ") && said.contains(expected), "{said}\n{expected}");
    }
    let said = refused(&|plan| plan["tasks"][0]["to"] = json!(["p1"]));
    assert_eq!(said, "the plan's tasks: the network requires that p0 sends to p2; add p2");
    for text in [r#"{"tasks": [], "receivers": 2}"#, "{}", r#"{"tasks": [{"from": "p0"}]}"#] {
        serde_json::from_str::<OwnPlan>(text).unwrap_err();
    }
}

prop_compose! {
    /// Networks on which the least time is hard to find: updates and ports differ by up to 100 times, or by
    /// so little that the search ends before it has the least time.
    fn instances()(n in 3usize..=10, spread in prop::sample::select(vec![1.0, 0.01, 0.0004]))(
        up in prop::collection::vec(-spread..spread, n),
        down in prop::collection::vec(-spread..spread, n),
        updates in prop::collection::vec(-spread..spread, n),
        receivers in 1..n,
        pairs in prop::collection::btree_set((0..n, 0..n), 0..n),
    ) -> Instance {
        let powers = |of: Vec<f64>| of.into_iter().map(|exponent| 10f64.powf(exponent)).collect();
        Instance {
            up: powers(up),
            down: powers(down),
            updates: powers(updates),
            receivers,
            required: pairs.into_iter().filter(|(from, to)| from != to).collect(),
            waited: Vec::new(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// No round of another scheme is predicted to be shorter than one of `optimized`, except those of
    /// `optimal`, the exact reference for small networks.
    #[test]
    fn ours_is_the_best_of_all_schemes(instance in instances(), seed in 0u64..1000) {
        let mesh = instance.mesh();
        let job = &mesh.jobs()[0];
        for multicast in [Multicast::Switch, Multicast::Hosts] {
            let of = |scheme| plan(&mesh, job, &Options { seed, ..Options::new(scheme, multicast) }).unwrap();
            let ours = of(Scheme::Optimized);
            prop_assert_eq!(check(&mesh, job, &ours), Vec::<String>::new());
            for scheme in [Scheme::Selmcast, Scheme::Orpheus] {
                let other = of(scheme).seconds;
                prop_assert!(ours.seconds <= other * (1.0 + 1e-9), "{scheme} {} {other}", ours.seconds);
            }
        }
    }
}
