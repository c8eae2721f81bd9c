//! Table III, Figs. 13 and 14: batches, the relaxation, and unequal workers.

use super::models::Model;
use super::numbers::{Line, Number, Panel, figure, only, over};
use super::workers::{Case as Run, Fleet, Measure, Sync};

/// Kinds of worker in cluster B, and the position of a worker of each kind.
const KINDS: [(&str, usize); 3] = [("g2.2xlarge", 0), ("p2.xlarge", 2), ("g3.4xlarge", 4)];

pub fn table_3() -> Vec<Panel> {
    let run = |fleet, sync, measure| Run::new(Model::ResNet32, sync).of(fleet).even().measuring(measure);
    let lines = |fleet, sync, measure: fn(usize) -> Measure| {
        let line = |(x, at)| {
            let of = |sync| figure(run(fleet, sync, measure(at)));
            Line::new(x, of(sync), of(Sync::TunedBatches))
        };
        Vec::from(KINDS.map(line))
    };
    let blocking = |fleet| lines(fleet, Sync::R2sp(0.8), Measure::BlockingOf);
    let batch = |fleet| lines(fleet, Sync::R2spBatches(0.8), Measure::BatchOf);
    let gain = |sync| {
        let [fixed, tuned] =
            [Sync::R2sp(0.8), sync].map(|sync| run(Fleet::ByBlocking, sync, Measure::Samples).into());
        Number::gain(tuned, fixed)
    };
    let samples = Line::new("by tuning", gain(Sync::R2spBatches(0.8)), gain(Sync::TunedBatches));
    const PRINTED: &str = "compute time is reduced by the blocking of Table III";
    const SPEED: &str = "workers compute for batch / speed";
    let panel =
        |key, title, quantity, unit, lines| Panel { key, title, quantity, unit, axis: "instance", lines };
    const BLOCKED: &str = "Time blocked per iteration";
    const BATCH: &str = "Tuned batch";
    vec![
        panel("blocking", PRINTED, BLOCKED, "s", blocking(Fleet::ByBlocking)),
        panel("batch", PRINTED, BATCH, "samples", batch(Fleet::ByBlocking)),
        Panel { axis: "what", ..panel("gain", PRINTED, "Gain in samples a second", "%", vec![samples]) },
        panel("blocking-speed", SPEED, BLOCKED, "s", blocking(Fleet::BySpeed)),
        panel("batch-speed", SPEED, BATCH, "samples", batch(Fleet::BySpeed)),
    ]
}

const TENTHS: [u32; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

fn relaxed(model: Model, tenths: u32) -> Run {
    Run::new(model, Sync::R2sp(f64::from(tenths) / 10.0))
}

/// Returns the r, in tenths, of the shortest iterations.
fn best(model: Model) -> Number {
    let cases = TENTHS.map(|tenths| relaxed(model, tenths).into());
    Number::new(cases.into(), |times| {
        let least = times.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        least.map_or(0.0, |(at, _)| at as f64 / 10.0)
    })
}

pub fn fig13() -> Vec<Panel> {
    let panel = |key, quantity, measure| {
        let line = |tenths: u32| {
            let run = relaxed(Model::Vgg16, tenths).measuring(measure);
            only(format!("{:.1}", f64::from(tenths) / 10.0), figure(run))
        };
        let tuned = figure(Run::new(Model::Vgg16, Sync::Tuned).measuring(measure));
        let mut lines: Vec<Line> = TENTHS.map(line).into();
        lines.push(Line { x: "tuned".to_owned(), here: None, optimized: Some(tuned) });
        Panel { key, title: "VGG16, 16 workers", quantity, unit: "s", axis: "r", lines }
    };
    vec![
        panel("iteration", "Mean time of an iteration", Measure::Iteration),
        panel("blocking", "Time blocked per iteration", Measure::Blocking),
        Panel {
            key: "best",
            title: "16 workers",
            quantity: "Relaxation of the shortest iteration",
            unit: "r",
            axis: "model",
            lines: Model::TABLE_1.map(|model| only(model.name(), best(model))).into(),
        },
    ]
}

pub fn fig14() -> Vec<Panel> {
    const BATCHES: Sync = Sync::R2spBatches(0.8);
    const SCHEMES: [(&str, Sync); 5] = [
        ("bsp", Sync::Bsp),
        ("asp", Sync::Asp),
        ("ssp", Sync::Ssp),
        ("safa", Sync::Safa),
        ("r2sp, batches tuned", BATCHES),
    ];
    let panel = |key, quantity, measure| {
        let of = |model: Model| {
            let run = move |sync| Run::new(model, sync).of(Fleet::Delayed).measuring(measure);
            let number = move |sync| over(run(Sync::Bsp), run(sync));
            SCHEMES.map(move |(name, sync)| Line {
                x: format!("{}, {name}", model.name()),
                here: Some(number(sync)),
                optimized: (sync == BATCHES).then(|| number(Sync::TunedBatches)),
            })
        };
        Panel {
            key,
            title: "8 workers, four of them delayed, compute time 1 s (assumed)",
            quantity,
            unit: "times",
            axis: "model and scheme",
            lines: Model::NLP.into_iter().flat_map(of).collect(),
        }
    };
    vec![
        panel("iteration", "Mean time of an iteration over BSP's", Measure::Iteration),
        panel("samples", "Samples a second over BSP's", Measure::Samples),
    ]
}
