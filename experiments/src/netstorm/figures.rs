//! Figs. 13 to 18 of the NETSTORM paper: comparison and ablation.

use inart_planner_sites::{Scheme, Sharing};
use inart_simulator_sites::ideal::Knowledge;

use super::case::{Case, Line, Method, Number, Panel};
use super::job::Network;

pub const SPEEDUP: &str = "Throughput over MXNET's";
const SECONDS: &str = "Mean time of a round";

fn star(network: Network) -> Case {
    Case::new(network, Method::new(Scheme::Star))
}

fn optimized(network: Network) -> Case {
    Case::new(network, Method::new(Scheme::Optimized))
}

/// Returns throughput over MXNET's: a row per method, next to `optimized` with the same knowledge.
fn over_star(network: Network, x: &str, method: Method) -> Line {
    let ours = Case::new(network, Method::new(Scheme::Optimized).knowing(method.knowledge));
    let times = |case| Number::times(star(network), case);
    Line::new(x, times(Case::new(network, method)), times(ours))
}

pub fn fig13() -> Vec<Panel> {
    let systems = [
        ("MXNET (star)", Method::new(Scheme::Star)),
        ("MLNET (bkt)", Method::new(Scheme::Bkt)),
        ("TSEngine (mst)", Method::new(Scheme::Mst)),
        ("NETSTORM (pro)", Method::pro()),
    ];
    let panel = |key, title, network| Panel {
        key,
        title,
        quantity: SPEEDUP,
        unit: "times",
        axis: "system",
        lines: systems.iter().map(|(x, method)| over_star(network, x, *method)).collect(),
    };
    let places = (0..9).map(|at| {
        let star = Case::new(Network::Static, Method { root: Some(at), ..Method::new(Scheme::Star) });
        let times = |case| Number::times(star, case);
        let pro = Case::new(Network::Static, Method::pro());
        Line::new(format!("n{}", at + 1), times(pro), times(optimized(Network::Static)))
    });
    vec![
        panel("static", "static network", Network::Static),
        panel("dynamic", "dynamic network", Network::Dynamic),
        Panel {
            key: "places",
            title: "NETSTORM (pro), static network, by where MXNET's server is",
            quantity: SPEEDUP,
            unit: "times",
            axis: "server",
            lines: places.collect(),
        },
    ]
}

pub fn fig14() -> Vec<Panel> {
    let schemes = [
        ("STAR", Scheme::Star),
        ("BKT", Scheme::Bkt),
        ("MST", Scheme::Mst),
        ("FAPT, one root", Scheme::Fapt),
    ];
    let panel = |key, title, network, knowledge| Panel {
        key,
        title,
        quantity: SPEEDUP,
        unit: "times",
        axis: "topology",
        lines: schemes
            .iter()
            .map(|(x, scheme)| over_star(network, x, Method::new(*scheme).knowing(knowledge)))
            .collect(),
    };
    let fixed = |scheme| Case::new(Network::Static, Method::new(scheme).knowing(Knowledge::Static));
    let adaptive = |scheme| Case::new(Network::Dynamic, Method::new(scheme));
    let better = |scheme| {
        Number::new(
            vec![star(Network::Static), fixed(scheme), star(Network::Dynamic), adaptive(scheme)],
            |times| (times[0] / times[1]).max(times[2] / times[3]),
        )
    };
    let bkt = |network| Case::new(network, Method::new(Scheme::Bkt));
    let over_bkt = |network, case: &dyn Fn(Scheme) -> Case| {
        let times = |scheme| Number::times(bkt(network), case(scheme));
        (times(Scheme::Fapt), times(Scheme::Optimized))
    };
    let (in_static, ours_in_static) = over_bkt(Network::Static, &fixed);
    let (in_dynamic, ours_in_dynamic) = over_bkt(Network::Dynamic, &adaptive);
    vec![
        panel("static", "static network, rates known", Network::Static, Knowledge::Static),
        panel("dynamic", "dynamic network, rates measured", Network::Dynamic, Knowledge::Passive),
        panel("oracle", "dynamic network, rates known", Network::Dynamic, Knowledge::Oracle),
        Panel {
            key: "ratios",
            title: "the ratios that the text states",
            quantity: "Throughput over another's",
            unit: "times",
            axis: "what",
            lines: vec![
                Line::new(
                    "FAPT over STAR, the better network",
                    better(Scheme::Fapt),
                    better(Scheme::Optimized),
                ),
                Line::new("FAPT over BKT, static network", in_static, ours_in_static),
                Line::new("FAPT over BKT, dynamic network", in_dynamic, ours_in_dynamic),
            ],
        },
    ]
}

pub fn fig15() -> Vec<Panel> {
    let roots = |count| Case::new(Network::Dynamic, Method { roots: Some(count), ..Method::pro() });
    let over = |other: Case| {
        let times = |case| Number::times(other, case);
        (1..=9)
            .map(|count| {
                Line::new(count.to_string(), times(roots(count)), times(optimized(Network::Dynamic)))
            })
            .collect()
    };
    let panel =
        |key, title, quantity, lines| Panel { key, title, quantity, unit: "times", axis: "roots", lines };
    vec![
        panel("mxnet", "dynamic network, auxiliary paths", SPEEDUP, over(star(Network::Dynamic))),
        panel(
            "one-root",
            "dynamic network, auxiliary paths",
            "Throughput over that with one root",
            over(roots(1)),
        ),
    ]
}

pub fn fig16() -> Vec<Panel> {
    let network = Network::Dynamic;
    let knowledge = [
        ("without: rates at the start", Knowledge::Static),
        ("without: nothing known", Knowledge::Uniform),
        ("with", Knowledge::Passive),
    ];
    let case = |method: Method, known| Case::new(network, method.knowing(known));
    let own = |known| case(Method::new(Scheme::Optimized), known);
    let panel = |key, title, method: Method| Panel {
        key,
        title,
        quantity: SECONDS,
        unit: "s",
        axis: "awareness",
        lines: knowledge
            .iter()
            .map(|&(x, known)| {
                Line::new(x, Number::measured(case(method, known)), Number::measured(own(known)))
            })
            .collect(),
    };
    let rows = [
        ("auxiliary paths, vs. rates at the start", Method::pro(), Knowledge::Static),
        ("auxiliary paths, vs. nothing known", Method::pro(), Knowledge::Uniform),
        ("trees' links only, vs. rates at the start", Method::std(), Knowledge::Static),
        ("trees' links only, vs. nothing known", Method::std(), Knowledge::Uniform),
    ];
    let saved = |(x, method, known): (&'static str, Method, Knowledge)| {
        let ours = Number::saved(case(method, known), case(method, Knowledge::Passive));
        Line::new(x, ours, Number::saved(own(known), own(Knowledge::Passive)))
    };
    vec![
        panel("auxiliary", "dynamic network, 9 roots, auxiliary paths", Method::pro()),
        panel("tree-links", "dynamic network, 9 roots, no auxiliary paths", Method::std()),
        Panel {
            key: "saved",
            title: "dynamic network, 9 roots",
            quantity: "Time saved by awareness",
            unit: "%",
            axis: "what",
            lines: rows.map(saved).into(),
        },
    ]
}

pub fn fig17() -> Vec<Panel> {
    let network = Network::Dynamic;
    let without = Case::new(network, Method::std());
    let with = |bound, queue| Case::new(network, Method::std().with_paths(bound, queue));
    let gain = |case| Number::gain(without, case);
    let grid: Vec<(u32, u32)> = (1..=5).flat_map(|bound| (1..=5).map(move |queue| (bound, queue))).collect();
    let name = |bound: u32, queue: u32| format!("bound {bound}, queue {queue}");
    let panel = |key, title, lines| Panel {
        key,
        title,
        quantity: "Gain of auxiliary paths in throughput",
        unit: "%",
        axis: "settings",
        lines,
    };
    let line = |&(bound, queue): &(u32, u32)| {
        Line::new(name(bound, queue), gain(with(bound, queue)), gain(optimized(network)))
    };
    let all = |of| {
        let cases = std::iter::once(without).chain(grid.iter().map(|&(bound, queue)| with(bound, queue)));
        Some(Number::new(cases.collect(), of))
    };
    let least: fn(&[f64]) -> f64 =
        |times| (times[0] / times[1..].iter().copied().fold(0.0, f64::max) - 1.0) * 100.0;
    let greatest: fn(&[f64]) -> f64 =
        |times| (times[0] / times[1..].iter().copied().fold(f64::INFINITY, f64::min) - 1.0) * 100.0;
    let eager = [(2, 1), (2, 5)].map(|(bound, queue)| {
        let case = Case::new(network, Method::std().with_paths(bound, queue).eagerly());
        Line::new(name(bound, queue), gain(case), gain(optimized(network)))
    });
    vec![
        panel("grid", "dynamic network, 9 roots, lazily", grid.iter().map(line).collect()),
        panel(
            "range",
            "dynamic network, 9 roots, lazily",
            vec![
                Line { x: "least of the grid".to_owned(), here: all(least), optimized: None },
                Line { x: "greatest of the grid".to_owned(), here: all(greatest), optimized: None },
            ],
        ),
        panel("eager", "dynamic network, 9 roots, eagerly (as printed)", eager.into()),
    ]
}

pub fn fig18() -> Vec<Panel> {
    let network = Network::Dynamic;
    let queue = Method { sharing: Sharing::Fifo, ..Method::pro() };
    let stages = [
        ("MXNET", Method::new(Scheme::Star)),
        ("NetStorm-lite", Method::lite()),
        ("NetStorm-std", Method::std()),
        ("NetStorm-pro", Method::pro()),
        ("NetStorm-pro, links first in, first out", queue),
    ];
    let case = |method| Case::new(network, method);
    let known = |knowledge| Case::new(network, Method::new(Scheme::Optimized).knowing(knowledge));
    let steps = vec![
        Line::new(
            "std over lite",
            Number::times(case(Method::lite()), case(Method::std())),
            Number::times(known(Knowledge::Static), known(Knowledge::Passive)),
        ),
        Line {
            x: "pro over std".to_owned(),
            here: Some(Number::times(case(Method::std()), case(Method::pro()))),
            optimized: None,
        },
    ];
    vec![
        Panel {
            key: "stages",
            title: "dynamic network",
            quantity: SPEEDUP,
            unit: "times",
            axis: "stage",
            lines: stages.iter().map(|(x, method)| over_star(network, x, *method)).collect(),
        },
        Panel {
            key: "steps",
            title: "dynamic network",
            quantity: "Throughput over the stage before",
            unit: "times",
            axis: "stage",
            lines: steps,
        },
    ]
}
