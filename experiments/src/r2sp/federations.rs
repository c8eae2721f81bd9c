//! Fig. 15, and the convergence times of Table IV: trainings of clients with uneven data (Section VI-B).

use super::federated_model::Outliers;
use super::federation::{Case as Training, Measure, Scheme};
use super::models::ClientModel;
use super::numbers::{Line, Number, Panel, figure, only, over, percent, saved};

const TITLE: &str = "128 clients, one in four an outlier";

/// The schemes of Fig. 15, in its order.
const SCHEMES: [(&str, Scheme, bool); 5] = [
    ("bsp", Scheme::Bsp, true),
    ("bsp, no filter", Scheme::Bsp, false),
    ("asp", Scheme::Asp, false),
    ("fl-r2sp", Scheme::FlR2sp, true),
    ("fl-r2sp, no filter", Scheme::FlR2sp, false),
];

/// Rows of outliers that push the opposite of the learned change.
const OPPOSITE: &str = "CNN, opposite";

/// Schemes with the filter.
const FILTERED: [(&str, Scheme); 2] = [("bsp", Scheme::Bsp), ("fl-r2sp", Scheme::FlR2sp)];

fn training(model: ClientModel, scheme: Scheme, is_filtered: bool, measure: Measure) -> Training {
    let training = Training::new(model, scheme, measure);
    if is_filtered { training } else { training.unfiltered() }
}

/// Returns a row for each model and scheme with the filter.
fn filtered(number: impl Fn(ClientModel, Scheme) -> Number) -> Vec<Line> {
    let of = |model: ClientModel| {
        FILTERED.map(|(name, scheme)| only(format!("{}, {name}", model.name()), number(model, scheme)))
    };
    ClientModel::ALL.into_iter().flat_map(of).collect()
}

fn panel(key: &'static str, quantity: &'static str, unit: &'static str, lines: Vec<Line>) -> Panel {
    Panel { key, title: TITLE, quantity, unit, axis: "model and scheme", lines }
}

pub fn fig15() -> Vec<Panel> {
    let accuracies = |model: ClientModel| {
        SCHEMES.map(|(name, scheme, is_filtered)| {
            let accuracy = training(model, scheme, is_filtered, Measure::Accuracy);
            only(format!("{}, {name}", model.name()), percent(accuracy))
        })
    };
    let loss = |model, scheme, outliers| {
        let of = |is| training(model, scheme, is, Measure::Accuracy).with(outliers).into();
        let cases = [true, false].map(of);
        Number { factor: 100.0, ..Number::new(cases.into(), |accuracies| accuracies[0] - accuracies[1]) }
    };
    let slower = |model, scheme, outliers| {
        let [with, without] =
            [true, false].map(|is| training(model, scheme, is, Measure::ToTarget).with(outliers));
        over(with, without)
    };
    let opposite = |number: &dyn Fn(Scheme) -> Number| {
        FILTERED.map(|(name, scheme)| only(format!("{OPPOSITE}, {name}"), number(scheme)))
    };
    let with_opposite = |mut lines: Vec<Line>, number: &dyn Fn(Scheme) -> Number| {
        lines.extend(opposite(number));
        lines
    };
    let out = |measure| filtered(|model, scheme| percent(Training::new(model, scheme, measure)));
    vec![
        panel(
            "accuracy",
            "Accuracy at convergence",
            "%",
            ClientModel::ALL.into_iter().flat_map(accuracies).collect(),
        ),
        panel(
            "loss",
            "Accuracy lost without the filter",
            "points",
            with_opposite(filtered(|model, scheme| loss(model, scheme, Outliers::Skewed)), &|scheme| {
                loss(ClientModel::Cnn, scheme, Outliers::Opposite)
            }),
        ),
        panel(
            "slower",
            "Time until an accuracy of 95 % without the filter over that with it",
            "times",
            with_opposite(filtered(|model, scheme| slower(model, scheme, Outliers::Skewed)), &|scheme| {
                slower(ClientModel::Cnn, scheme, Outliers::Opposite)
            }),
        ),
        panel("outliers", "Part of the outliers that is left out", "%", out(Measure::OutliersOut)),
        panel("others", "Part of the other clients that is left out", "%", out(Measure::OthersOut)),
    ]
}

pub fn table_4_convergence() -> Vec<Panel> {
    let of = |measure| filtered(|model, scheme| figure(Training::new(model, scheme, measure)));
    let saved = |measure| {
        ClientModel::ALL.map(|model| {
            let [bsp, fl] = [Scheme::Bsp, Scheme::FlR2sp].map(|scheme| Training::new(model, scheme, measure));
            only(model.name(), saved(bsp, fl))
        })
    };
    let savings = |key, quantity, measure| Panel {
        axis: "model",
        ..panel(key, quantity, "%", Vec::from(saved(measure)))
    };
    vec![
        savings("saved", "Time until convergence that groups save", Measure::Seconds),
        savings("saved-95", "Time until an accuracy of 95 % that groups save", Measure::ToTarget),
        panel("time", "Time until convergence", "s", of(Measure::Seconds)),
        panel("rounds", "Rounds until convergence", "rounds", of(Measure::Rounds)),
    ]
}
