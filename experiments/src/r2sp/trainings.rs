//! Figs. 8b, 8c, 11, 14b and 14c: iterations and time until a training converges.

use super::models::Model;
use super::numbers::{Line, Number, Panel, figure, over, saved};
use super::training::{Case as Training, Measure};
use super::workers::{Case as Run, Fleet, Sync};

/// Schemes by name, with our counterpart in the row of the R²SP paper's scheme.
type Schemes = [(&'static str, Sync, Option<Sync>); 5];

const CLUSTER_A: Schemes = [
    ("bsp", Sync::Bsp, None),
    ("asp", Sync::Asp, None),
    ("ssp", Sync::Ssp, None),
    ("safa", Sync::Safa, None),
    ("r2sp", Sync::R2sp(0.8), Some(Sync::Tuned)),
];

const DELAYED: Schemes = [
    ("bsp", Sync::Bsp, None),
    ("asp", Sync::Asp, None),
    ("ssp", Sync::Ssp, None),
    ("safa", Sync::Safa, None),
    ("r2sp, batches tuned", Sync::R2spBatches(0.8), Some(Sync::TunedBatches)),
];

/// Workers of a figure, and the schemes that it compares.
#[derive(Clone, Copy)]
struct Figure {
    fleet: Fleet,
    title: &'static str,
    models: &'static [Model],
    schemes: Schemes,
}

const FIG_8: Figure =
    Figure { fleet: Fleet::Alike(16), title: "16 workers", models: &Model::TABLE_1, schemes: CLUSTER_A };

const FIG_14: Figure = Figure {
    fleet: Fleet::Delayed,
    title: "8 workers, four of them delayed, compute time 1 s (assumed)",
    models: &Model::NLP,
    schemes: DELAYED,
};

impl Figure {
    fn training(&self, model: Model, sync: Sync, measure: Measure) -> Training {
        Training::new(Run::new(model, sync).of(self.fleet), measure)
    }

    /// Returns the quantity divided by BSP's, by model and scheme.
    fn panel(&self, key: &'static str, quantity: &'static str, measure: Measure) -> Panel {
        let of = |&model: &Model| {
            let number =
                |sync| over(self.training(model, Sync::Bsp, measure), self.training(model, sync, measure));
            self.schemes.map(|(name, sync, optimized)| Line {
                x: format!("{}, {name}", model.name()),
                here: Some(number(sync)),
                optimized: optimized.map(number),
            })
        };
        let lines = self.models.iter().flat_map(of).collect();
        Panel { key, title: self.title, quantity, unit: "times", axis: "model and scheme", lines }
    }

    /// Returns how much sooner the R²SP paper's scheme converges than the best other one, by model.
    fn second(&self) -> Panel {
        let of = |&model: &Model| {
            let all = |own: Sync| {
                let others = self.schemes[..4].iter().map(|(_, sync, _)| *sync);
                let cases =
                    others.chain([own]).map(|sync| self.training(model, sync, Measure::Seconds).into());
                Number { factor: 100.0, ..Number::new(cases.collect(), sooner) }
            };
            let (_, own, optimized) = self.schemes[4];
            Line { x: model.name().to_owned(), here: Some(all(own)), optimized: optimized.map(all) }
        };
        let quantity = "Time to converge that is saved over the best other scheme";
        let lines = self.models.iter().map(of).collect();
        Panel { key: "second", title: self.title, quantity, unit: "%", axis: "model", lines }
    }
}

/// Returns how much lower the last time is than the least of the others.
fn sooner(times: &[f64]) -> f64 {
    let (own, others) = times.split_last().map_or((1.0, &[][..]), |(own, others)| (*own, others));
    1.0 - own / others.iter().copied().fold(f64::INFINITY, f64::min)
}

const STEPS: &str = "Iterations until convergence over BSP's";
const TIME: &str = "Time until convergence over BSP's";

pub fn fig8b() -> Vec<Panel> {
    vec![FIG_8.panel("iterations", STEPS, Measure::Steps)]
}

pub fn fig8c() -> Vec<Panel> {
    vec![FIG_8.panel("time", TIME, Measure::Seconds)]
}

pub fn fig14b() -> Vec<Panel> {
    vec![FIG_14.panel("iterations", STEPS, Measure::Steps)]
}

pub fn fig14c() -> Vec<Panel> {
    vec![FIG_14.panel("time", TIME, Measure::Seconds), FIG_14.second()]
}

pub fn fig11() -> Vec<Panel> {
    let title = "ResNet32, 8 workers of three kinds, r2sp";
    let run = |sync, measure| Training::new(Run::new(Model::ResNet32, sync).of(Fleet::ByBlocking), measure);
    let line = |of: &dyn Fn(Sync) -> Training| {
        let number = |fixed, tuned| saved(of(fixed), of(tuned));
        let optimized = number(Sync::Tuned, Sync::TunedBatches);
        vec![Line::new("batches tuned", number(Sync::R2sp(0.8), Sync::R2spBatches(0.8)), optimized)]
    };
    let seconds = |x: &str, sync, optimized| {
        Line::new(x, figure(run(sync, Measure::Seconds)), figure(run(optimized, Measure::Seconds)))
    };
    let times = vec![
        seconds("batches equal", Sync::R2sp(0.8), Sync::Tuned),
        seconds("batches tuned", Sync::R2spBatches(0.8), Sync::TunedBatches),
    ];
    const SAVED: &str = "Time until convergence that is saved";
    const SMALL: &str = "Time until convergence that is saved with a step of 0.05";
    let panel = |key, quantity, unit, lines| Panel { key, title, quantity, unit, axis: "batches", lines };
    vec![
        panel("saved", SAVED, "%", line(&|sync| run(sync, Measure::Seconds))),
        panel("saved-small", SMALL, "%", line(&|sync| run(sync, Measure::Seconds).with_small_steps())),
        panel(
            "iterations",
            "Iterations until convergence that are saved",
            "%",
            line(&|sync| run(sync, Measure::Steps)),
        ),
        panel("time", "Time until convergence", "s", times),
    ]
}
