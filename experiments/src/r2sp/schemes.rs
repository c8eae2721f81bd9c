//! Figs. 8, 9, 10 and 12: sixteen workers and four servers (cluster A) under each scheme.

use super::models::Model;
use super::numbers::{Line, Number, Panel, only, over, percent};
use super::workers::{Case as Run, Measure, Sync};

const R2SP: Sync = Sync::R2sp(0.8);
const SCHEMES: [(&str, Sync); 5] =
    [("bsp", Sync::Bsp), ("asp", Sync::Asp), ("ssp", Sync::Ssp), ("safa", Sync::Safa), ("r2sp", R2SP)];

/// Returns a row of a scheme; the row of R²SP also has R²SP that tunes r.
fn line(x: String, sync: Sync, number: impl Fn(Sync) -> Number) -> Line {
    let optimized = (sync == R2SP).then(|| number(Sync::Tuned));
    Line { x, here: Some(number(sync)), optimized }
}

/// Returns a row for each model of Table I and scheme.
fn lines(number: impl Fn(Model, Sync) -> Number) -> Vec<Line> {
    let of = |model: Model| {
        let number = &number;
        SCHEMES.map(move |(name, sync)| {
            line(format!("{}, {name}", model.name()), sync, |sync| number(model, sync))
        })
    };
    Model::TABLE_1.into_iter().flat_map(of).collect()
}

pub fn fig8() -> Vec<Panel> {
    let number = |model, sync| over(Run::new(model, Sync::Bsp), Run::new(model, sync));
    vec![Panel {
        key: "iteration",
        title: "16 workers",
        quantity: "Mean time of an iteration over BSP's",
        unit: "times",
        axis: "model and scheme",
        lines: lines(number),
    }]
}

/// Coefficients of variation of compute times.
const VARIATIONS: [(&str, f64); 7] = [
    ("0.01 %", 0.0001),
    ("0.1 %", 0.001),
    ("0.5 %", 0.005),
    ("1 %", 0.01),
    ("2 %", 0.02),
    ("10 %", 0.1),
    ("20 %", 0.2),
];

pub fn fig9() -> Vec<Panel> {
    let run = |sync| Run::new(Model::Vgg16, sync).measuring(Measure::ZeroGaps);
    let panel = |key, title, axis, lines: Vec<Line>| {
        let quantity = "Gaps between pushes that are zero";
        Panel { key, title, quantity, unit: "%", axis, lines }
    };
    let noisy = SCHEMES.map(|(name, sync)| line(name.into(), sync, |sync| percent(run(sync))));
    let even = SCHEMES.map(|(name, sync)| line(name.into(), sync, |sync| percent(run(sync).even())));
    let asp = VARIATIONS.map(|(text, cv)| only(text, percent(run(Sync::Asp).varying(cv))));
    vec![
        panel("noise", "VGG16, 16 workers, compute times vary by 5 %", "scheme", noisy.into()),
        panel("even", "VGG16, 16 workers, compute times do not vary", "scheme", even.into()),
        panel("variation", "VGG16, 16 workers, asp", "variation of compute times", asp.into()),
    ]
}

pub fn fig10() -> Vec<Panel> {
    let panel = |key, title, measure| {
        let run = move |model, sync| Run::new(model, sync).measuring(measure);
        // The longer a transfer takes, the lower its rate.
        let number = move |model, sync| over(run(model, sync), run(model, Sync::Bsp));
        let (quantity, unit) = ("Mean rate of a worker's transfer over BSP's", "times");
        Panel { key, title, quantity, unit, axis: "model and scheme", lines: lines(number) }
    };
    vec![
        panel("push", "16 workers, into the servers", Measure::Push),
        panel("pull", "16 workers, out of the servers", Measure::Pull),
    ]
}

pub fn fig12() -> Vec<Panel> {
    const RATES: [(&str, f64); 4] =
        [("10 Gbit/s", 1.0), ("5 Gbit/s", 0.5), ("2 Gbit/s", 0.2), ("1 Gbit/s", 0.1)];
    let of = |model: Model| {
        RATES.map(|(text, rate)| {
            let run = |sync| Run::new(model, sync).at(rate);
            let gain = |sync| over(run(sync), run(Sync::Bsp));
            Line::new(format!("{}, {text}", model.name()), gain(R2SP), gain(Sync::Tuned))
        })
    };
    vec![Panel {
        key: "speed-up",
        title: "16 workers, all ports throttled",
        quantity: "BSP's iteration over that of R²SP",
        unit: "times",
        axis: "model and rate",
        lines: [Model::AlexNet, Model::Vgg16].into_iter().flat_map(of).collect(),
    }]
}
