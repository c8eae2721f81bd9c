//! A user's trees: completed, followed, and refused with their location.
#![allow(clippy::unwrap_used)]

use inart_planner_sites::{
    Disjoint, Options, OwnPlan, PLAN_FORMAT, Plan, Scheme, check, complete, plan, plan_and_policy,
    predicted_seconds,
};
use inart_topologies::sites::Overlay;
use serde_json::{Value, json};

use crate::support::equal;

/// A triangle with a slow link, and two jobs.
const NETWORK: &str = "
name: triangle
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}, {name: d, kind: site}]
links:
  - {ends: [a, b], rate: 100 Mbps, delay: 10 ms}
  - {ends: [b, c], rate: [80 Mbps, 40 Mbps], delay: 10 ms}
  - {ends: [a, c], rate: 8 Mbps, delay: 10 ms}
  - {ends: [c, d], rate: 8 Mbps, delay: 10 ms}
jobs:
  - {name: three, sites: [a, b, c], gradient: 1 MB, chunk: 1 MB}
  - {name: four, gradient: 1 MB, chunk: 1 MB}
";

/// Change of a document, and the expected text of the error.
type Case<'c, T> = (&'c dyn Fn(&mut T), &'c str);

fn overlay() -> Overlay {
    Overlay::from_yaml(NETWORK).unwrap()
}

fn own(document: &Value) -> OwnPlan {
    serde_json::from_value(document.clone()).unwrap()
}

/// One tree with root b.
fn star() -> Value {
    json!({"chunk_bytes": 1_000_000, "trees": [{"root": "b", "parents": {"a": "b", "c": "b"}}]})
}

#[test]
fn a_plan_carries_its_format() {
    let made = complete(&overlay(), &overlay().jobs()[0], &own(&star()), Scheme::Own).unwrap();
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
fn derived_fields_are_computed() {
    let overlay = overlay();
    let job = overlay.job_named("three").unwrap();
    let made = complete(&overlay, job, &own(&star()), Scheme::Own).unwrap();
    // One chunk of 8 Mbit: up at 100 and 40 Mbps (c to b), down at 100 and 80 Mbps, 10 ms each. c is last.
    let by_hand = 8.0 / 40.0 + 0.01 + 8.0 / 80.0 + 0.01;
    assert!((made.predicted_s - by_hand).abs() < 1e-9, "{} {by_hand}", made.predicted_s);
    assert_eq!((&*made.scheme, made.trees[0].chunks, made.trees[0].share), ("own", 1, 1.0));
    assert!((made.trees[0].quality_mbps - 40.0).abs() < 1e-9);
    assert_eq!(check(&overlay, job, &made), Vec::<String>::new());
}

/// Plans of every scheme, reparsed as a user's choices, give equal plans.
#[test]
fn a_printed_plan_is_read_back() {
    let overlay = equal(50, 40);
    let (job, rates) = (&overlay.jobs()[0], overlay.rates_at(0.0));
    let with_paths = Options { auxiliary: Some(Disjoint::Nodes), ..Options::new(Scheme::Netstorm) };
    for options in Scheme::ALL.map(Options::new).into_iter().chain([with_paths]) {
        let made = plan(&overlay, job, &rates, &options).unwrap();
        let scheme = options.scheme;
        assert_eq!(complete(&overlay, job, &OwnPlan::of(&made), scheme).unwrap(), made, "{scheme}");
        let read: OwnPlan = serde_json::from_str(&serde_json::to_string(&made).unwrap()).unwrap();
        assert_eq!(read, OwnPlan::of(&made));
        let following = Options::following(made.clone()).unwrap();
        assert_eq!(plan(&overlay, job, &rates, &following).unwrap(), made, "{scheme}");
    }
}

/// A tree keeps its edges while a link is down: its chunks take the remaining path.
#[test]
fn an_edge_whose_link_is_down_takes_another_way() {
    let overlay = overlay();
    let job = overlay.job_named("three").unwrap();
    let made = complete(&overlay, job, &own(&star()), Scheme::Own).unwrap();
    let mut rates = overlay.rates_at(0.0);
    let site = |name| overlay.site_named(name).unwrap();
    for (from, to) in [("b", "c"), ("c", "b")] {
        rates.0[overlay.arc_between(site(from), site(to)).unwrap().index()] = 0.0;
    }
    let options = Options::following(made.clone()).unwrap();
    let (_, policy) = plan_and_policy(&overlay, job, &rates, &options).unwrap();
    let routes: Vec<Vec<u16>> =
        policy.routes.values().map(|route| route.iter().map(|site| site.0).collect()).collect();
    assert_eq!(routes, [[1, 0, 2], [2, 0, 1]]);
    // Up c to a to b, and down again: 8 Mbit four times, at 8 and 100 Mbps. On b to a, the chunk for a may go
    // first.
    let by_hand = 2.0 * (1.0 + 0.08 + 0.02);
    let seconds = predicted_seconds(&overlay, job, &rates, &made).unwrap();
    assert!(by_hand - 1e-9 < seconds && seconds < by_hand + 0.08 + 1e-9, "{seconds} {by_hand}");
}

#[test]
fn mismatches_are_named_with_location_and_fix() {
    let overlay = overlay();
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut document = star();
        change(&mut document);
        let job = overlay.job_named("three").unwrap();
        complete(&overlay, job, &own(&document), Scheme::Own).unwrap_err().to_string()
    };
    let two = |share: [Value; 2]| {
        move |plan: &mut Value| {
            let tree = plan["trees"][0].clone();
            plan["trees"] = json!([tree, tree]);
            for (at, share) in share.iter().enumerate().filter(|(_, share)| !share.is_null()) {
                plan["trees"][at]["share"] = share.clone();
            }
        }
    };
    let cases: [Case<'_, Value>; 15] = [
        (&|plan| plan["topology"] = "net".into(), "topology: it is for \"net\", and this is \"triangle\""),
        (&|plan| plan["job"] = "four".into(), "job: it is for \"four\", and this is \"three\""),
        (&|plan| plan["trees"] = json!([]), "trees: it has 0; give from 1"),
        (
            &|plan| plan["trees"][0]["root"] = "x".into(),
            "trees[0].root: job three has no site \"x\"; name some of a, b, c",
        ),
        (&|plan| plan["trees"][0]["root"] = "d".into(), "no site \"d\""),
        (&|plan| plan["trees"][0]["parents"] = json!({"a": "b"}), "trees[0].parents: site c has no parent"),
        (&|plan| plan["trees"][0]["parents"]["b"] = "a".into(), "trees[0].parents: the root b has a parent"),
        (
            &|plan| plan["trees"][0]["parents"] = json!({"a": "c", "c": "a"}),
            "trees[0].parents: from a they lead in a circle",
        ),
        (
            &|plan| plan["trees"][0]["parents"]["x"] = "a".into(),
            "trees[0].parents: job three has no site \"x\"",
        ),
        (
            &|plan| plan["trees"][0]["broadcast"] = json!({"a": "c"}),
            "trees[0].broadcast: site c has no parent",
        ),
        (&two([json!(0.5), json!(0.25)]), "trees: their shares sum to 0.75; give shares that sum to 1"),
        (&two([json!(0.5), Value::Null]), "trees[1].share: it is missing"),
        (&two([json!(1.5), json!(-0.5)]), "trees[0].share: 1.5; give a part from 0 to 1"),
        (&|plan| plan["chunk_bytes"] = 6.into(), "chunk_bytes: 6; give a multiple of 4"),
        (
            &|plan| plan["auxiliary"] = json!([{"from": "a", "to": "b", "paths": [["a", "b"]]}]),
            "auxiliary: chunks of a user's own trees take no auxiliary paths; leave it out",
        ),
    ];
    for (change, expected) in cases {
        let said = refused(change);
        assert!(said.starts_with("the plan's ") && said.contains(expected), "{said}\n{expected}");
    }
    // A link that the network does not have.
    let job = overlay.job_named("four").unwrap();
    let document = json!({"trees": [{"root": "b", "parents": {"a": "b", "c": "b", "d": "b"}}]});
    let said = complete(&overlay, job, &own(&document), Scheme::Own).unwrap_err().to_string();
    assert_eq!(said, "the plan's trees[0].parents: d to b: no such link; d has links to c");
    // Numbers that JSON cannot represent, and unknown fields.
    for text in [
        r#"{"trees": [{"root": "b", "parents": {}, "share": NaN}]}"#,
        r#"{"trees": [{"root": "b", "parents": {}, "share": 1e999}]}"#,
        r#"{"trees": [{"root": "b", "parents": {}, "part": 1}]}"#,
        r#"{"trees": [], "chunk_bytes": -4}"#,
    ] {
        serde_json::from_str::<OwnPlan>(text).unwrap_err();
    }
    assert!(matches!(
        plan(&overlay, job, &overlay.rates_at(0.0), &Options::new(Scheme::Own)),
        Err(inart_planner_sites::PlanError::NoTrees)
    ));
}

/// The checker refuses invalid statements of a whole plan, independent of the code that makes plans.
#[test]
fn a_whole_plan_that_does_not_hold_is_refused() {
    let overlay = overlay();
    let job = overlay.job_named("three").unwrap();
    let good = complete(&overlay, job, &own(&star()), Scheme::Own).unwrap();
    let wrong = |change: &dyn Fn(&mut inart_planner_sites::Plan)| {
        let mut plan = good.clone();
        change(&mut plan);
        check(&overlay, job, &plan).join("; ")
    };
    let cases: [Case<'_, inart_planner_sites::Plan>; 6] = [
        (&|plan| plan.trees[0].share = f64::NAN, "trees[0].share: NaN"),
        (&|plan| plan.trees[0].chunks = u64::MAX, "chunks, and the job has 1"),
        (&|plan| plan.chunk_bytes = 2, "chunk_bytes: 2 is not a multiple of 4"),
        (&|plan| plan.chunk_bytes = 4, "the trees have 1 chunk, and the job has 250000"),
        (&|plan| plan.predicted_s = 0.001, "predicted_s"),
        (&|plan| plan.trees[0].quality_mbps = 41.0, "quality_mbps"),
    ];
    for (change, expected) in cases {
        let said = wrong(change);
        assert!(said.contains(expected), "{said}\n{expected}");
    }
    let mut two = good.clone();
    two.trees.push(good.trees[0].clone());
    (two.trees[0].chunks, two.trees[1].chunks) = (u64::MAX, 2);
    assert!(check(&overlay, job, &two).join("; ").contains("and the job has 1"));
}
