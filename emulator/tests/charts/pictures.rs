//! The charts that are tested: every kind, with as much in them as may come.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use inart_emulator::aggregation::chart;
use inart_emulator::aggregation::figures::{JobFigures, Planned, SchemeFigures, SingleHost, Summary};
use inart_emulator::aggregation::timeline::{Event, JobLine, RoundPoint, Timeline};
use inart_emulator::machine::scale::Scaling;
use inart_emulator::{peers, ps, sites};
use inart_experiments::{
    Comparison, ComparisonPanel, ComparisonRow, Entry, PublishedEntry, PublishedValue, Statistics,
    comparison_svg, experiment, run, study, svg,
};
use inart_planner_aggregation::{Options, draw, plan, schemes};
use inart_report::Trained;
use inart_topologies::sites::Overlay;
use inart_topologies::switched::Topology;

const LONG: &str =
    "a-network-whose-name-is-as-long-as-a-name-can-be-and-longer-than-any-line-of-a-chart-is-wide-or-so";
const SCALE: Scaling = Scaling { rates: 1.0 / 80.2, times: 1.0 / 15.0 };

/// By name.
pub fn all() -> &'static [(String, String)] {
    static ALL: LazyLock<Vec<(String, String)>> = LazyLock::new(draw_all);
    &ALL
}

fn draw_all() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, svg: String| all.push((name.to_owned(), svg));
    let seven = ["optimized", "inart", "r-inart", "atp-unlimited", "atp", "lbmm", "optimal"];
    for (name, schemes, jobs) in [
        ("aggregation", &seven[..4], 1),
        ("aggregation-two-jobs", &seven[..1], 2),
        ("aggregation-three-jobs", &seven[..], 3),
        ("aggregation-nine-jobs", &seven[..], 9),
    ] {
        add(name, chart::draw(&summary(schemes, jobs)));
    }
    add("timeline", timeline(2, &[10.0, 10.5, 10.52, 11.0, 19.9]).draw("live"));
    let many: Vec<f64> = (0..40).map(|at| f64::from(at * at) / 80.0).collect();
    add("timeline-long", timeline(9, &many).draw(LONG));
    add("sites", sites::chart(&sites("geo9", &SITES, 1.0), &overlay()));
    add("sites-long", sites::chart(&sites(LONG, &SITES, 137.0), &overlay()));
    add("peers", peers::chart(&peers("mesh16", "hosts")).unwrap());
    let mut both = peers(LONG, "hosts");
    both.append(peers(LONG, "switch"));
    add("peers-both", peers::chart(&both).unwrap());
    add("orders", ps::chart(&orders("ps16", &ORDERS, 1.0)));
    add("orders-long", ps::chart(&orders(LONG, &ORDERS, 250.0)));
    for name in ["inart-fig4", "inart-fig9", "inart-fig13"] {
        add(name, figure(name, 3, 2));
    }
    add("inart-levels", figure("inart-levels", 1, 1));
    for (study, rows) in COMPARED {
        add(study, comparison_svg(&comparison(study, rows)));
    }
    let fig1 = Topology::from_yaml(include_str!("../../../topologies/fig1.yaml")).unwrap();
    let tree = include_str!("../../../topologies/fat-tree-k4-16.yaml");
    let tree = Topology::from_yaml(tree).unwrap();
    add("topology", draw::svg(&fig1, None));
    for (name, topology) in [("plan", &fig1), ("plan-of-fat-tree", &tree)] {
        let plan = plan(topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap();
        add(name, draw::svg(topology, Some(&plan)));
    }
    all
}

/// A figure of InArt's paper with the first places of its axes.
fn figure(name: &str, places: usize, seeds: u64) -> String {
    let mut figure = experiment(name).unwrap();
    figure.panels.iter_mut().for_each(|panel| panel.points.truncate(places));
    svg(&run(&[figure], seeds, &|_, _| ()).unwrap()[0])
}

const COMPARED: [(&str, &[&str]); 4] = [
    ("netstorm-fig14", &["STAR", "BKT", "MST", "FAPT, one root", "NETSTORM (pro)", "n1"]),
    ("selmcast-fig4", &["n = 50, SELMCAST", "n = 50, Orpheus", "n = 50, Optimal"]),
    ("r2sp-fig8", &["VGG16, bsp", "VGG16, asp", "VGG16, ssp", "VGG16, safa", "VGG16, r2sp"]),
    ("r2sp-fig15", &["CNN, bsp", "CNN, fl-r2sp", "CNN, asp"]),
];

/// Papers' marks at, before and behind the ends of bars.
fn comparison(name: &str, rows: &[&str]) -> Comparison {
    let row = |(at, x): (usize, &&str)| {
        let here = 1.0 + at as f64;
        let number = |value: f64| Some(Entry::Number(Statistics::of(&[value, 1.3 * value])));
        let paper = PublishedEntry {
            entry: PublishedValue::Value(here * [1.2, 1.25, 0.4, 3.0][at % 4]),
            source: "text",
        };
        ComparisonRow {
            x: (*x).to_owned(),
            paper: Some(paper),
            here: number(here),
            optimized: number(here + 0.5),
        }
    };
    let panel = ComparisonPanel {
        key: "key",
        title: "a panel of this figure with a title".into(),
        quantity: "Throughput over MXNET's",
        unit: "times",
        axis: "what",
        rows: rows.iter().enumerate().map(row).collect(),
    };
    let study = *study(name).unwrap();
    Comparison { study, seeds: 2, command: Some("the command".into()), panels: vec![panel.clone(), panel] }
}

fn summary(names: &[&str], jobs: usize) -> Summary {
    let losses: Vec<f32> = (0..60).map(|round| 2.4 * (-0.07 * round as f32).exp() + 0.06).collect();
    let job_name = |at: usize| {
        ["vision", "a-job-with-a-long-name", "speech"]
            .get(at)
            .map_or(format!("j{at}"), |name| (*name).to_owned())
    };
    let job = |at: usize, rate_bps: f64| JobFigures {
        job: job_name(at),
        bit_exact: true,
        rate_bps: rate_bps * 0.97,
        planned_rate_bps: rate_bps,
        throughput_bps: rate_bps * 5.8,
        planned: Planned { comm_seconds: 1e-3, throughput_bps: rate_bps * 6.0, ps_ingress_bytes: 1.0 },
        goodput_bps: rate_bps * 0.9,
        comm_seconds: 1.6e6 / rate_bps,
        comm_seconds_mean: 1.6e6 / rate_bps,
        wall_comm_seconds: 1.6e8 / rate_bps,
        ps_ingress_bytes: (1e17 / rate_bps) as u64,
        retransmissions: 0,
        runs: None,
        trained: Some(Trained { loss: 0.1, accuracy: 0.975 - 0.009 * at as f64, digest: "00".into() }),
        losses: losses.clone(),
    };
    let figures = |(at, name): (usize, &&str)| {
        let rate_bps = 2.5e9 / (1.0 + 0.1 * at as f64);
        let jobs = (0..jobs).map(|at| job(at, rate_bps)).collect();
        SchemeFigures::of_jobs(schemes::named(name).unwrap(), 60, jobs)
    };
    let host = |at: usize| SingleHost {
        job: job_name(at),
        loss: 0.1,
        accuracy: 0.978 - 0.009 * at as f64,
        losses: losses.clone(),
    };
    Summary {
        topology: if jobs > 1 { LONG.into() } else { "fig1".into() },
        bit_exact: true,
        rounds: 60,
        sums_checked: 1_144_800,
        scale: 0.005,
        seed: 1,
        drop: 0.01,
        target: "v1model",
        values: 256,
        window: 64,
        elapsed_seconds: 1.0,
        single_host: (0..jobs).map(host).collect(),
        changes: None,
        schemes: names.iter().enumerate().map(figures).collect(),
    }
}

fn timeline(jobs: usize, events: &[f64]) -> Timeline {
    let point = |seconds, goodput_bps| RoundPoint { seconds, goodput_bps };
    let line = |at: usize| JobLine {
        job: format!("job-{at}-with-a-name"),
        rounds: (0..100).map(|i| point(f64::from(i) / 5.0, if i < 50 { 2e9 } else { 1e9 })).collect(),
    };
    let event =
        |seconds: &f64| Event { seconds: *seconds, rounds_audited: 0, what: "link a-b down ".repeat(14) };
    Timeline { jobs: (0..jobs).map(line).collect(), events: events.iter().map(event).collect() }
}

const SITES: [&str; 8] = ["optimized", "netstorm", "netstorm+", "fapt", "mst", "bkt", "star", "gloo"];

fn overlay() -> Overlay {
    Overlay::from_yaml(include_str!("../../../topologies/geo9.yaml")).unwrap()
}

fn sites(network: &str, names: &[&str], slower: f64) -> sites::Report {
    let scheme = |(at, name): (usize, &&str)| {
        let seconds = 28.5 * slower * (1.0 + at as f64);
        let round =
            |round: u32| sites::RoundTime { start_s: seconds * f64::from(round), seconds, version: 0 };
        sites::SchemeReport {
            scheme: (*name).to_owned(),
            rounds: (0..4).map(round).collect(),
            mean_s: seconds,
            after_first_s: seconds,
            simulated: Some(sites::PerRound { mean_s: seconds, after_first_s: seconds }),
            compute_s: 0.2,
            bound_s: 17.8,
            accuracy: Some(0.9),
            sums_checked: 1,
            relayed: 1,
            asks: 0,
            frames_lost: 0,
        }
    };
    let schemes = names.iter().enumerate().map(scheme).collect();
    sites::Report { network: network.into(), scale: SCALE, gradient_bytes: 203_304, schemes }
}

fn peers(network: &str, multicast: &'static str) -> peers::Report {
    let scheme = |(at, name): (usize, &&'static str)| {
        let seconds = 12.5 * (1.0 + at as f64);
        let round = |round: u32| peers::RoundTime {
            start_s: seconds * f64::from(round),
            whole_s: seconds,
            seconds,
            planned_s: 1.1 * seconds,
            receivers_mean: 11.9,
        };
        let figures = peers::BspFigures {
            seconds,
            planned_s: seconds,
            simulated_s: seconds,
            receivers_mean: 11.9,
            round_s: seconds,
            rounds: 8,
            each_round: (0..8).map(round).collect(),
        };
        peers::SchemeReport {
            scheme: name,
            multicast,
            figures: peers::Figures::Bsp(figures),
            accuracy: Some(0.973),
            accuracy_least: Some(0.9),
            updates_checked: 1,
            given_up: 0,
            gone: 0,
            rounds_with_previous_receivers: 0,
            sent_again: 0,
            port_load: 0.8,
            port_load_most: 0.9,
            payload_share: 0.9,
            frames_lost: 0,
            dropped: BTreeMap::new(),
            switches: Vec::new(),
        }
    };
    peers::Report {
        network: network.into(),
        scale: SCALE,
        sync: "bsp",
        multicast: multicast.into(),
        update_bytes: 203_304.0,
        schemes: ["optimized", "selmcast", "orpheus", "optimal"].iter().enumerate().map(scheme).collect(),
    }
}

const ORDERS: [&str; 6] = ["bsp", "asp", "ssp", "safa", "r2sp", "fl-r2sp"];

fn orders(network: &str, names: &[&str], slower: f64) -> ps::Report {
    let scheme = |(at, name): (usize, &&str)| {
        let iteration_s = 8.75 * slower / (1.0 + at as f64);
        let evaluations = |now: u32| ps::Evaluation {
            at_s: iteration_s * f64::from(now),
            accuracy: 0.95 - 0.9 / f64::from(1 + now),
            loss: 1.0,
        };
        ps::SchemeReport {
            scheme: (*name).to_owned(),
            iteration_s,
            bunched_arrivals: 0.1,
            gap_quantiles_s: [("0.5", 1.0)].into(),
            staleness_mean: 3.0,
            staleness_max: 37,
            staleness_counts: (0..38 * slower as u64).map(|staleness| (staleness, 5)).collect(),
            blocking_s: 0.1,
            relaxation: None,
            batches: BTreeMap::new(),
            late: 0,
            left_out: Vec::new(),
            utilization_in: 0.8,
            utilization_out: 0.8,
            seconds: iteration_s * 40.0,
            updates_checked: 1,
            wasted_updates: 0,
            lost: 0,
            killed: 0,
            returned: 0,
            server_restarts: 0,
            frames_lost: 0,
            refused: 0,
            given_up: 0,
            dropped: 0,
            accuracy: 0.942,
            to_90_s: Some(iteration_s * 20.0),
            evaluations: (0..40).map(evaluations).collect(),
            simulated: ps::Simulated { iteration_s, staleness_mean: None, bunched_arrivals: None },
        }
    };
    ps::Report {
        network: network.into(),
        scale: SCALE,
        workers: 16,
        model_bytes: 203_304.0,
        schemes: names.iter().enumerate().map(scheme).collect(),
    }
}
