//! Table I, Figs. 1 and 2: eight workers and two servers crowd the servers' ports (Sections II and III).

use super::case::Case;
use super::models::Model;
use super::numbers::{Line, Number, Panel, extreme_saved, figure, percent, percent_of, saved};
use super::workers::{Case as Run, Fleet, Measure, Sync};

fn run(model: Model, sync: Sync) -> Run {
    Run::new(model, sync).of(Fleet::Alike(8))
}

pub fn table_1() -> Vec<Panel> {
    let even = |model, sync, measure| run(model, sync).even().measuring(measure);
    let lines = |measure| {
        let line = |model: Model| {
            let [bsp, tuned] = [Sync::Bsp, Sync::Tuned].map(|sync| figure(even(model, sync, measure)));
            Line::new(model.name(), bsp, tuned)
        };
        Model::TABLE_1.map(line).into()
    };
    let overhead = |model: Model| {
        let part = |sync| {
            percent_of(even(model, sync, Measure::Iteration), even(model, sync, Measure::Communication))
        };
        Line::new(model.name(), part(Sync::Bsp), part(Sync::Tuned))
    };
    let panel = |key, quantity, unit, lines| Panel {
        key,
        title: "8 workers, bsp",
        quantity,
        unit,
        axis: "model",
        lines,
    };
    vec![
        panel("iteration", "Mean time of an iteration", "s", lines(Measure::Iteration)),
        panel("communication", "Iteration without computing", "s", lines(Measure::Communication)),
        panel(
            "overhead",
            "Share of the iteration without computing",
            "%",
            Model::TABLE_1.map(overhead).into(),
        ),
    ]
}

pub fn fig1() -> Vec<Panel> {
    let of = |sync, measure| run(Model::Vgg16, sync).measuring(measure);
    let idle = |x, measure| Line::new(x, percent(of(Sync::Bsp, measure)), percent(of(Sync::Tuned, measure)));
    let share = |x, measure| {
        let part = |sync| {
            let pass = |times: &[f64]| Model::Vgg16.pass_s() / times[0];
            Number { factor: 100.0, ..Number::new(vec![of(sync, measure).into()], pass) }
        };
        Line::new(x, part(Sync::Bsp), part(Sync::Tuned))
    };
    let panel = |key, quantity, axis, lines| {
        let title = "VGG16, 8 workers, bsp";
        Panel { key, title, quantity, unit: "%", axis, lines: Vec::from(lines) }
    };
    vec![
        panel(
            "idle",
            "Part of the servers' rate that is not used",
            "direction",
            [idle("into the servers", Measure::IdleIn), idle("out of them", Measure::IdleOut)],
        ),
        panel(
            "share",
            "Part of the servers' rate that a worker has while it transfers",
            "transfer",
            [share("push", Measure::Push), share("pull", Measure::Pull)],
        ),
    ]
}

pub fn fig2() -> Vec<Panel> {
    let bsp = |model| run(model, Sync::Bsp).even();
    let alone = |model| Run::new(model, Sync::Bsp).of(Fleet::Alike(1)).even();
    let tuned = |model| run(model, Sync::Tuned).even();
    let line = |model: Model| {
        Line::new(model.name(), saved(bsp(model), alone(model)), saved(bsp(model), tuned(model)))
    };
    let extreme = |x, is_greatest| {
        let pairs = |other: &dyn Fn(Model) -> Run| {
            let pair = |model| [bsp(model), other(model)].map(Case::from);
            extreme_saved(Model::TABLE_1.map(pair).into_iter(), is_greatest)
        };
        Line::new(x, pairs(&alone), pairs(&tuned))
    };
    let mut lines: Vec<Line> = Model::TABLE_1.map(line).into();
    lines.extend([extreme("least of the four", false), extreme("greatest of the four", true)]);
    vec![Panel {
        key: "saved",
        title: "one of 8 workers, the others off",
        quantity: "Time of an iteration that is saved over bsp of all 8",
        unit: "%",
        axis: "model",
        lines,
    }]
}
