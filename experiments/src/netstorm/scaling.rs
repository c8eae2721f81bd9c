//! Figs. 19 and 20 of the NETSTORM paper: scale and sensitivity.

use inart_planner_sites::{Scheme, Tuning};

use crate::comparison::{ComparisonPanel, ComparisonRow, Entry};
use crate::models::Model;
use crate::published::{PublishedEntry, PublishedValue};

use super::case::{Case, Line, Method, Number, Panel};
use super::figures::SPEEDUP;
use super::job::{Job, Network, PARAMETER_BYTES};

/// CHUNK_SIZE of Table II.
const CHUNK: u64 = 1_000_000;

fn of_model(model: Model, method: Method) -> Case {
    Case { network: Network::Dynamic, job: Job::Model(model, CHUNK), method }
}

/// Returns the speed-up over MXNET per site, divided by the speed-up per site with 5 sites.
fn per_site(sites: usize, [star_5, case_5, star, case]: [Case; 4]) -> Number {
    let number =
        Number::new(vec![star_5, case_5, star, case], |times| times[2] / times[3] / (times[0] / times[1]));
    Number { factor: 5.0 / sites as f64, ..number }
}

pub fn fig19() -> Vec<Panel> {
    let ours = Method::new(Scheme::Optimized);
    let star = Method::new(Scheme::Star);
    let name = |model: Model| format!("{} ({:.1} million)", model.name(), model.parameters() as f64 / 1e6);
    let models = |number: &dyn Fn(Model, Method) -> Number, method: Method| -> Vec<Line> {
        Model::ALL.map(|model| Line::new(name(model), number(model, method), number(model, ours))).into()
    };
    let seconds = |model, method| Number::measured(of_model(model, method));
    let speedup = |model, method| Number::times(of_model(model, star), of_model(model, method));
    let sizes = [5, 7, 9, 11, 13, 15];
    let at = |sites, method| Case::new(Network::Ring(sites), method);
    let by_sites = |number: &dyn Fn(usize, Method) -> Number| -> Vec<Line> {
        sizes.map(|n| Line::new(n.to_string(), number(n, Method::pro()), number(n, ours))).into()
    };
    let model =
        |key, title, quantity, unit, lines| Panel { key, title, quantity, unit, axis: "model", lines };
    let sites =
        |key, title, quantity, lines| Panel { key, title, quantity, unit: "times", axis: "sites", lines };
    vec![
        model("mxnet", "MXNET, dynamic network", "Mean time of a round", "s", models(&seconds, star)),
        model(
            "netstorm",
            "NETSTORM (pro), dynamic network",
            "Mean time of a round",
            "s",
            models(&seconds, Method::pro()),
        ),
        model("model", "NETSTORM (pro), dynamic network", SPEEDUP, "times", models(&speedup, Method::pro())),
        sites(
            "cluster",
            "NETSTORM (pro), drawn rings with chords",
            SPEEDUP,
            by_sites(&|n, method| Number::times(at(n, star), at(n, method))),
        ),
        sites(
            "efficiency",
            "samples per second and site, drawn rings with chords",
            "Throughput per site over that of 5 sites",
            by_sites(&|n, method| Number::times(at(5, method), at(n, method))),
        ),
        sites(
            "efficiency-mxnet",
            "speed-up over MXNET per site, drawn rings with chords",
            "Normalized throughput per site over that of 5 sites",
            by_sites(&|n, method| per_site(n, [at(5, star), at(5, method), at(n, star), at(n, method)])),
        ),
    ]
}

/// Returns throughput over MXNET's with the default chunks, by setting.
fn sensitivity(
    key: &'static str,
    axis: &'static str,
    settings: impl Iterator<Item = (String, u64, Tuning)>,
) -> Panel {
    let line = |(x, chunk, tuning): (String, u64, Tuning)| {
        let case = |scheme_or: Method| Case {
            network: Network::Dynamic,
            job: Job::Model(Model::AlexNet, chunk),
            method: scheme_or,
        };
        let star = Case { job: Job::Model(Model::AlexNet, CHUNK), ..case(Method::new(Scheme::Star)) };
        let times = |method: Method| Number::times(star, case(method));
        let own = Method { tuning, ..Method::new(Scheme::Optimized) };
        Line::new(x, times(Method { tuning, ..Method::pro() }), times(own))
    };
    Panel {
        key,
        title: "NETSTORM (pro), AlexNet, dynamic network",
        quantity: SPEEDUP,
        unit: "times",
        axis,
        lines: settings.map(line).collect(),
    }
}

pub fn fig20() -> Vec<Panel> {
    let millions = |parameters: f64| (parameters * 1e6) as u64;
    let chunks = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
    let updates = [5u32, 30, 60, 120, 300, 600, 1800];
    let numbers = [1usize, 2, 4, 8, 16, 32, 64, 128];
    let default = Tuning::default();
    let probes = [0.01, 0.1, 0.5, 0.8, 1.0, 2.0, 4.0];
    vec![
        sensitivity(
            "chunk-size",
            "CHUNK_SIZE, million parameters",
            chunks.into_iter().map(|size| (size.to_string(), millions(size), default)),
        ),
        sensitivity(
            "update-time",
            "UPDATE_TIME, s",
            updates
                .into_iter()
                .map(|time| (time.to_string(), CHUNK, Tuning { update_s: f64::from(time), ..default })),
        ),
        sensitivity(
            "probe-chunk-num",
            "PROBE_CHUNK_NUM",
            numbers.into_iter().map(|samples| (samples.to_string(), CHUNK, Tuning { samples, ..default })),
        ),
        sensitivity(
            "probe-chunk-size",
            "PROBE_CHUNK_SIZE, million parameters",
            probes.into_iter().map(|size| {
                let least_bytes = millions(size) * PARAMETER_BYTES;
                (size.to_string(), CHUNK, Tuning { least_bytes, ..default })
            }),
        ),
    ]
}

/// Settings within this factor of the best one also count as best.
const NEAR: f64 = 0.98;

/// Returns the settings that the NETSTORM paper recommends, and the best settings here.
pub fn best(panels: &[ComparisonPanel]) -> ComparisonPanel {
    let recommended = ["0.5 to 1", "5", "4 to 32", "0.01 to 4"];
    let near = |panel: &ComparisonPanel, of: fn(&ComparisonRow) -> &Option<Entry>| {
        let mean = |row: &ComparisonRow| match of(row) {
            Some(Entry::Number(statistics)) => statistics.mean,
            _ => 0.0,
        };
        let best = panel.rows.iter().map(mean).fold(0.0, f64::max);
        let names = panel.rows.iter().filter(|row| mean(row) >= NEAR * best).map(|row| row.x.clone());
        Some(Entry::Words(names.collect::<Vec<_>>().join(", ")))
    };
    let row = |(panel, words): (&ComparisonPanel, &str)| ComparisonRow {
        x: panel.axis.to_owned(),
        paper: Some(PublishedEntry { entry: PublishedValue::Words(words.to_owned()), source: "text" }),
        here: near(panel, |row| &row.here),
        optimized: near(panel, |row| &row.optimized),
    };
    ComparisonPanel {
        key: "best",
        title: "what the text recommends, and what is within 2 % of the best here".to_owned(),
        quantity: "Best settings",
        unit: "",
        axis: "setting",
        rows: panels.iter().zip(recommended).map(row).collect(),
    }
}
