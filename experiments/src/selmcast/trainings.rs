//! Figs. 7 to 13: stale synchronous training.

use inart_planner_peers::{Scheme, Sharing};

use super::case::{Case, Line, Metric, Metrics, Number, Panel, Training, number};

/// Workloads of the SELMCAST paper, with the variation of their compute times.
const MODELS: [(&str, f64); 3] = [("LSTM", 0.57), ("Transformer", 0.30), ("ResNet-50", 0.26)];
const SCHEMES: [(&str, Scheme); 2] = [("SELMCAST", Scheme::Selmcast), ("Orpheus", Scheme::Orpheus)];

/// A setting: its name, and its change to the SELMCAST paper's settings.
type Setting<'s> = (String, &'s dyn Fn(Training) -> Training);

/// Returns a panel per quantity: a line per setting, model and scheme, with ours next to each.
fn panels(
    title: &'static str,
    axis: &'static str,
    settings: &[Setting<'_>],
    models: &[(&str, f64)],
) -> Vec<Panel> {
    let quantities = [
        ("utilization", "Share of the time computing", Metric::Value),
        ("scale", "Receivers per update over n", Metric::Receivers),
    ];
    let panel = |(key, quantity, metric): (&'static str, &'static str, Metric)| {
        let mut lines = Vec::new();
        for (x, set) in settings {
            for &(model, cv) in models {
                let figure = |scheme| number(Case::Training(set(Training::new(scheme, cv))), metric);
                for (name, scheme) in SCHEMES {
                    let x = if x.is_empty() {
                        format!("{model}, {name}")
                    } else {
                        format!("{x}, {model}, {name}")
                    };
                    lines.push(Line::new(x, figure(scheme), figure(Scheme::Optimized)));
                }
            }
        }
        Panel { key, title, quantity, unit: "share", axis, lines }
    };
    quantities.map(panel).into()
}

pub fn fig7() -> Vec<Panel> {
    let mut all =
        panels("50 peers, ports split equally", "workload", &[(String::new(), &|one| one)], &MODELS);
    let fair: Setting<'_> = (String::new(), &|one| Training { sharing: Sharing::Fair, ..one });
    let keys = ["fair-utilization", "fair-scale"];
    let fair = panels("50 peers, max-min fair ports", "workload", &[fair], &MODELS);
    all.extend(fair.into_iter().zip(keys).map(|(panel, key)| Panel { key, ..panel }));
    all
}

pub fn fig8() -> Vec<Panel> {
    let set = |receivers| move |one| Training { receivers, ..one };
    let parts = [(0.05, 3), (0.1, 5), (0.2, 10), (0.3, 15), (0.4, 20)].map(|(part, p)| (part, set(p)));
    let settings: Vec<Setting<'_>> = parts
        .iter()
        .map(|(part, set)| (format!("p = {part} n"), set as &dyn Fn(Training) -> Training))
        .collect();
    panels("50 peers, by the fewest receivers", "receivers", &settings, &MODELS)
}

pub fn fig9() -> Vec<Panel> {
    let set = |force_after| move |one| Training { force_after, ..one };
    let rules = [Some(1), Some(2), Some(4), Some(8), Some(16), None].map(|k| (k, set(k)));
    let name = |k: &Option<u32>| k.map_or("no k".to_owned(), |k| format!("k = {k}"));
    let settings: Vec<Setting<'_>> =
        rules.iter().map(|(k, set)| (name(k), set as &dyn Fn(Training) -> Training)).collect();
    panels("50 peers, ssp = 4, by k", "k", &settings, &MODELS)
}

pub fn fig10() -> Vec<Panel> {
    let set = |k: u32| move |one| Training { force_after: Some(k), staleness: u64::from(k), ..one };
    let bounds = [1, 2, 4, 8, 16].map(|k| (k, set(k)));
    let settings: Vec<Setting<'_>> =
        bounds.iter().map(|(k, set)| (format!("ssp = {k}"), set as &dyn Fn(Training) -> Training)).collect();
    panels("50 peers, k = ssp", "ssp", &settings, &MODELS)
}

pub fn fig11() -> Vec<Panel> {
    let set = |eta| move |one| Training { eta, ..one };
    let etas = [0.0, 0.25, 0.5, 0.75, 1.0].map(|eta| (eta, set(eta)));
    let settings: Vec<Setting<'_>> = etas
        .iter()
        .map(|(eta, set)| (format!("eta = {eta}"), set as &dyn Fn(Training) -> Training))
        .collect();
    let mut all = panels("50 peers, by eta", "eta", &settings, &MODELS);
    // Only SELMCAST has it.
    all.iter_mut().for_each(|panel| panel.lines.retain(|line| line.x.ends_with("SELMCAST")));
    let gain = |(model, cv): (&str, f64)| {
        let case = |eta| Case::Training(Training { eta, ..Training::new(Scheme::Selmcast, cv) });
        let of = |runs: &[Metrics]| (runs[1].receivers / runs[0].receivers - 1.0) * 100.0;
        Line {
            x: model.to_owned(),
            here: Some(Number::new(vec![case(0.0), case(0.75)], of)),
            optimized: None,
        }
    };
    all.push(Panel {
        key: "gain",
        title: "eta = 0.75 over eta = 0",
        quantity: "Gain in receivers",
        unit: "%",
        axis: "workload",
        lines: MODELS.map(gain).into(),
    });
    all
}

pub fn fig12() -> Vec<Panel> {
    let set = |power: i32| move |one| Training { factor: f64::from(power).exp2(), ..one };
    let sizes = [-4, -2, 0, 2, 4].map(|power| (power, set(power)));
    let settings: Vec<Setting<'_>> = sizes
        .iter()
        .map(|(power, set)| (format!("2^{power} v"), set as &dyn Fn(Training) -> Training))
        .collect();
    panels("50 peers, by the size of updates", "size", &settings, &MODELS)
}

pub fn fig13() -> Vec<Panel> {
    let set = |gamma| move |one| Training { gamma: Some(gamma), ..one };
    let gammas = [0.0, 0.25, 0.5, 0.75, 1.0].map(|gamma| (gamma, set(gamma)));
    let settings: Vec<Setting<'_>> = gammas
        .iter()
        .map(|(gamma, set)| (format!("gamma = {gamma}"), set as &dyn Fn(Training) -> Training))
        .collect();
    let mut all = panels("rates drawn every 100 ms", "gamma", &settings, &MODELS);
    let scale =
        |scheme, gamma, cv| Case::Training(Training { gamma: Some(gamma), ..Training::new(scheme, cv) });
    let greatest = |scheme| {
        let pairs = MODELS.iter().flat_map(|&(_, cv)| [0.0, 0.25, 0.5, 0.75, 1.0].map(|gamma| (gamma, cv)));
        let cases =
            pairs.flat_map(|(gamma, cv)| [scale(scheme, gamma, cv), scale(Scheme::Orpheus, gamma, cv)]);
        let of: fn(&[Metrics]) -> f64 = |all| {
            all.chunks(2)
                .map(|pair| (pair[0].receivers / pair[1].receivers - 1.0) * 100.0)
                .fold(0.0, f64::max)
        };
        Number::new(cases.collect(), of)
    };
    all.push(Panel {
        key: "gain",
        title: "the greatest over workloads and gammas",
        quantity: "Gain in receivers over Orpheus",
        unit: "%",
        axis: "what",
        lines: vec![Line::new("greatest", greatest(Scheme::Selmcast), greatest(Scheme::Optimized))],
    });
    all
}
