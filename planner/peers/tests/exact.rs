//! Selections compared with exact values of a reference computation.
#![allow(clippy::unwrap_used)]

use inart_planner_peers::{
    Guard, Multicast, Options, Pairs, Plan, Reading, Scheme, Setting, Task, Waits, check, plan, reselect,
};
use inart_topologies::peers::{Drawn, Mesh, Ports, draw};
use serde_json::Value;
use support::{Instance, floats, numbers};

use crate::support;

fn close(is: f64, value: &Value) {
    let should = value.as_f64().unwrap();
    assert!((is - should).abs() <= 1e-9 * should, "{is} {should}");
}

fn layer(value: &Value) -> Multicast {
    if value["layer"] == 3 { Multicast::Switch } else { Multicast::Hosts }
}

fn planned(mesh: &Mesh, options: &Options) -> Plan {
    let plan = plan(mesh, &mesh.jobs()[0], options).unwrap();
    assert_eq!(check(mesh, &mesh.jobs()[0], &plan), Vec::<String>::new());
    plan
}

/// Returns the receivers by number.
fn receivers(plan: &Plan) -> Vec<Vec<usize>> {
    let number = |name: &String| name[1..].parse::<usize>().unwrap();
    plan.tasks.iter().map(|task| task.to.iter().map(number).collect()).collect()
}

fn lists(value: &Value) -> Vec<Vec<usize>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

#[test]
fn equal_updates_of_all_schemes() {
    let Some(data) = support::data() else { return };
    for value in data["instances"].as_array().unwrap() {
        let (instance, multicast) = (Instance::of(value), layer(value));
        let mesh = instance.mesh();
        let of =
            |scheme| Options { seed: value["seed"].as_u64().unwrap(), ..Options::new(scheme, multicast) };
        let selmcast = planned(&mesh, &of(Scheme::Selmcast));
        assert_eq!(receivers(&selmcast), lists(&value["plan"]));
        close(selmcast.seconds, &value["t_est"]);
        close(selmcast.seconds, &value["t_done"]);
        let first = planned(&mesh, &Options { second_pass: false, ..of(Scheme::Selmcast) });
        assert_eq!(receivers(&first), lists(&value["basic"]));
        let orpheus = planned(&mesh, &of(Scheme::Orpheus));
        assert_eq!(receivers(&orpheus), lists(&value["orpheus"]));
        close(orpheus.seconds, &value["orpheus_t"]);
        for scheme in [Scheme::Optimal, Scheme::Optimized] {
            let optimal = planned(&mesh, &of(scheme));
            close(optimal.seconds, &value["optimal"]["t"]);
            close(optimal.bounds.seconds, &value["optimal"]["t"]);
            let count: usize = receivers(&optimal).iter().map(Vec::len).sum();
            assert_eq!(count as u64, value["optimal"]["receivers"].as_u64().unwrap(), "{scheme}");
        }
    }
}

#[test]
fn instances_are_drawn_by_their_seeds() {
    let Some(data) = support::data() else { return };
    for value in data["instances"].as_array().unwrap() {
        let mesh = draw(&Drawn {
            name: "mesh".to_owned(),
            peers: value["n"].as_u64().unwrap() as usize,
            receivers: value["p"].as_u64().unwrap() as usize,
            lambda: value["lam"].as_f64().unwrap(),
            mu: 1.0,
            rate_bps: 1.0,
            update_bytes: 0.125,
            changes: None,
            compute: None,
            seed: value["seed"].as_u64().unwrap(),
        });
        let ports = mesh.ports_at(&mesh.jobs()[0], 0.0);
        assert_eq!((ports.up_bps, ports.down_bps), (floats(&value["b_ingress"]), floats(&value["b_egress"])));
    }
}

#[test]
fn forced_pairs_of_unequal_updates() {
    let Some(data) = support::data() else { return };
    for value in data["forced"].as_array().unwrap() {
        let (mesh, multicast) = (Instance::of(value).mesh(), layer(value));
        let selmcast = planned(&mesh, &Options::new(Scheme::Selmcast, multicast));
        assert_eq!(receivers(&selmcast), lists(&value["plan"]));
        close(selmcast.seconds, &value["t_est"]);
        let first = Options { second_pass: false, ..Options::new(Scheme::Selmcast, multicast) };
        assert_eq!(receivers(&planned(&mesh, &first)), lists(&value["basic"]));
        let optimal = planned(&mesh, &Options::new(Scheme::Optimal, multicast));
        close(optimal.seconds, &value["milp_t"]);
        let count: usize = receivers(&optimal).iter().map(Vec::len).sum();
        assert_eq!(count as u64, value["milp_receivers"].as_u64().unwrap());
        let ours = planned(&mesh, &Options::new(Scheme::Optimized, multicast));
        assert!(ours.seconds <= 1.03 * ours.bounds.seconds, "{} {}", ours.seconds, ours.bounds.seconds);
        assert!(ours.bounds.seconds <= optimal.seconds);
    }
}

#[test]
fn one_call_of_algorithm_2_in_four_readings() {
    let Some(data) = support::data() else { return };
    let value = &data["alg2"];
    let n = value["n"].as_u64().unwrap() as usize;
    let (group, newest) = (numbers(&value["G"]), value["kappa"].as_u64().unwrap() as usize);
    let mut waited = Waits::none(n);
    for (from, row) in lists(&value["c"]).into_iter().enumerate() {
        row.into_iter().enumerate().for_each(|(to, rounds)| waited.set(from, to, rounds as u32));
    }
    let task = |&from: &usize| Task {
        from,
        to: match from == newest {
            true => (0..n).filter(|&to| to != from).collect(),
            false => numbers(&value["x"][from.to_string()]),
        },
        left_bits: value["rem"][from].as_f64().unwrap(),
        wait_s: value["tau"][from.to_string()].as_f64().unwrap(),
    };
    let tasks: Vec<Task> = group.iter().map(task).collect();
    let ports = Ports { up_bps: floats(&value["b_ingress"]), down_bps: floats(&value["b_egress"]) };
    let required: Pairs = waited.forced(value["k"].as_u64().map(|k| k as u32));
    let bits = vec![value["vol"].as_f64().unwrap(); n];
    let setting = Setting {
        ports: &ports,
        bits: &bits,
        receivers: value["p"].as_u64().unwrap() as usize,
        multicast: Multicast::Switch,
        required: &required,
        waited: &waited,
    };
    let ours = Reading { eta: value["eta"].as_f64().unwrap(), ..Reading::default() };
    for (key, reading) in [
        ("recommended", ours.clone()),
        ("line13_nonincreasing", Reading { urgent_first: false, ..ours.clone() }),
        ("line32_x", Reading { new_loads: false, ..ours.clone() }),
        ("guard_all", Reading { guard: Guard::All, ..ours.clone() }),
    ] {
        let exact = &value["results"][key];
        let found = reselect(&setting, &tasks, &reading);
        for (at, from) in group.iter().enumerate() {
            assert_eq!(found.to[at], numbers(&exact["plan"][from.to_string()]), "{key} {from}");
            close(found.deadlines_s[at], &exact["t"][from.to_string()]);
        }
    }
}
