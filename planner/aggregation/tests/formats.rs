//! Formats of plans: written first, read where they are known, and refused before everything else.

use inart_planner_aggregation::{JobPlans, Options, Order, PLAN_FORMAT, Plan, plan, plan_jobs, schemes};
use inart_topologies::switched::Topology;

const NEWER: &str = "format 3 is newer than this version of inart reads (1 to 2); use a newer inart, or make the \
                     plan again with inart plan";

fn topology() -> Topology {
    let text = "{name: pair, nodes: [{name: v, kind: switch, aggregation_capacity: 2 Gbps}, \
                {name: s, kind: server}, {name: a, kind: worker}, {name: b, kind: worker}], \
                links: [{ends: [a, v], rate: 1 Gbps}, {ends: [b, v], rate: 1 Gbps}, {ends: [v, s], rate: 1 Gbps}]}";
    Topology::from_yaml(text).unwrap()
}

/// Checks a document: `read` returns whether the text is the document again, or the error.
fn is_numbered(text: &str, read: &dyn Fn(&str) -> Result<bool, String>) {
    let newest = format!("{{\"format\":{},", PLAN_FORMAT.newest);
    assert!(text.starts_with(&newest), "{text}");
    assert_eq!(read(text), Ok(true));
    assert_eq!(read(&text.replacen(&newest, "{", 1)), Ok(true), "written before there was a number");
    assert_eq!(read(&text.replacen(&newest, "{\"format\":1,", 1)), Ok(true));
    for newer in ["{\"format\":3,", "{\"more\":[1],\"format\":3,"] {
        assert_eq!(read(&text.replacen(&newest, newer, 1)), Err(NEWER.to_owned()));
    }
    assert_eq!(read("{\"scheme\":7,\"format\":3}"), Err(NEWER.to_owned()));
    let other = read(&text.replacen(&newest, "{\"format\":\"2\",", 1)).unwrap_err();
    assert!(other.starts_with("format \"2\" is not a number of a format (1 to 2); make the plan"), "{other}");
}

#[test]
fn a_plan_carries_its_format() {
    let topology = topology();
    let made = plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap();
    let read = |text: &str| match Plan::from_json(text) {
        Ok(read) => Ok(read == made),
        Err(error) => Err(error.to_string()),
    };
    is_numbered(&made.to_json(), &read);
}

/// Users put plans that were printed one by one into a list.
#[test]
fn plans_in_a_list_may_carry_their_format() {
    let topology = topology();
    let options = Options::new(schemes::OPTIMIZED);
    let jobs: Vec<_> = topology.jobs().iter().collect();
    let made = plan_jobs(&topology, &jobs, &options, Order::InTurn).unwrap();
    let of_list =
        |format: &str| made.to_json().replacen("[{\"scheme\"", &format!("[{{{format}\"scheme\""), 1);
    assert_eq!(JobPlans::from_json(&of_list("\"format\":2,")).unwrap(), made);
    let error = JobPlans::from_json(&of_list("\"format\":3,")).unwrap_err().to_string();
    assert!(error.contains("format 3 is newer"), "{error}");
}

#[test]
fn plans_of_several_jobs_carry_one_format() {
    let topology = topology();
    let jobs: Vec<_> = topology.jobs().iter().collect();
    let made = plan_jobs(&topology, &jobs, &Options::new(schemes::OPTIMIZED), Order::InTurn).unwrap();
    assert_eq!(made.to_json().matches("\"format\"").count(), 1);
    let read = |text: &str| match JobPlans::from_json(text) {
        Ok(read) => Ok(read == made),
        Err(error) => Err(error.to_string()),
    };
    is_numbered(&made.to_json(), &read);
}
