//! R²SP between racks with InArt inside them, against either alone: Fig. 1 of the InArt paper, and fat-trees.

use super::numbers::{Line, Number, Panel, figure, only};
use super::racks::{Case, Measure, RackNetwork, Scheme};
use crate::network::LinkRates;

/// Compute times, as multiples of the push of InArt alone.
const COMPUTES: [f64; 6] = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0];

/// Returns how much shorter the third time is than the shorter of the other two, in percent.
fn saved(times: &[f64]) -> f64 {
    (1.0 - times[2] / times[0].min(times[1])) * 100.0
}

pub fn panels() -> Vec<Panel> {
    const FIG1: (RackNetwork, &str, [&str; 4]) =
        (RackNetwork::Fig1, "InArt's Fig. 1, 6 workers", ["fig1", "fig1-saved", "fig1-groups", "fig1-stale"]);
    const EQUAL: (RackNetwork, &str, [&str; 4]) = (
        RackNetwork::FatTree(LinkRates::Equal),
        "fat-tree of k = 6, 50 workers, equal links",
        ["fat-tree", "fat-tree-saved", "fat-tree-groups", "fat-tree-stale"],
    );
    const DRAWN: (RackNetwork, &str, [&str; 4]) = (
        RackNetwork::FatTree(LinkRates::DrawnInFabric),
        "fat-tree of k = 6, 50 workers, links between switches drawn",
        ["drawn", "drawn-saved", "drawn-groups", "drawn-stale"],
    );
    [FIG1, EQUAL, DRAWN].into_iter().flat_map(|(place, title, keys)| of(place, title, keys)).collect()
}

fn of(place: RackNetwork, title: &'static str, keys: [&'static str; 4]) -> [Panel; 4] {
    const ITERATION: &str = "Mean time of an iteration over the push of InArt alone";
    const SAVED: &str = "Time of an iteration that is saved over the better of InArt alone and R²SP alone";
    const STALE: &str = "Greatest staleness: R²SP alone (here) and groups by the rule (optimized)";
    let case = move |compute, scheme, measure| Case::new(place, scheme, compute, measure);
    let iteration = move |compute, scheme| case(compute, scheme, Measure::Iteration);
    let times = |compute: f64| -> [Line; 4] {
        let optimized =
            |x: String, scheme| Line { optimized: Some(figure(iteration(compute, scheme))), ..empty(x) };
        let alone = |x: String, scheme| only(x, figure(iteration(compute, scheme)));
        [
            alone(format!("{compute}, InArt alone"), Scheme::Together),
            alone(format!("{compute}, R²SP alone"), Scheme::InTurn),
            optimized(format!("{compute}, a group per rack"), Scheme::PerRack),
            optimized(format!("{compute}, groups by the rule"), Scheme::Chosen),
        ]
    };
    let gain = |compute: f64| {
        let number = |scheme| {
            let all = [Scheme::Together, Scheme::InTurn, scheme].map(|scheme| iteration(compute, scheme));
            Number::new(all.map(Into::into).into(), saved)
        };
        let [rack, rule] = [Scheme::PerRack, Scheme::Chosen].map(number);
        [
            Line { optimized: Some(rack), ..empty(format!("{compute}, a group per rack")) },
            Line { optimized: Some(rule), ..empty(format!("{compute}, groups by the rule")) },
        ]
    };
    let groups = |compute: f64| Line {
        optimized: Some(figure(case(compute, Scheme::Chosen, Measure::Groups))),
        ..empty(compute.to_string())
    };
    let stale = |compute: f64| {
        let of = |scheme| figure(case(compute, scheme, Measure::Staleness));
        Line::new(compute.to_string(), of(Scheme::InTurn), of(Scheme::Chosen))
    };
    let panel = |key, quantity, unit, axis, lines| Panel { key, title, quantity, unit, axis, lines };
    const AXIS: &str = "compute time and scheme";
    [
        panel(keys[0], ITERATION, "times", AXIS, COMPUTES.into_iter().flat_map(times).collect()),
        panel(keys[1], SAVED, "%", AXIS, COMPUTES.into_iter().flat_map(gain).collect()),
        panel(keys[2], "Groups by the rule", "groups", "compute time", COMPUTES.map(groups).into()),
        panel(keys[3], STALE, "versions", "compute time", COMPUTES.map(stale).into()),
    ]
}

fn empty(x: String) -> Line {
    Line { x, here: None, optimized: None }
}
