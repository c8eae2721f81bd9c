//! Tables II, IV and V, Figs. 16 to 18: clients in groups (Sections II-B and VI-B).

use super::clients::{CLIENTS, Case as Run, Measure};
use super::models::ClientModel;
use super::numbers::{Line, Number, Panel, figure, only, over, percent, percent_of, saved};

/// Returns a row for each model and scheme.
fn both(number: impl Fn(&dyn Fn(Measure) -> Run) -> Number) -> Vec<Line> {
    let of = |model: ClientModel| {
        [
            only(format!("{}, bsp", model.name()), number(&|measure| Run::bsp(model, measure))),
            only(format!("{}, fl-r2sp", model.name()), number(&|measure| Run::fl(model, measure))),
        ]
    };
    ClientModel::ALL.into_iter().flat_map(of).collect()
}

/// Returns a row for each model.
fn each(number: impl Fn(ClientModel) -> Number) -> Vec<Line> {
    ClientModel::ALL.map(|model| only(model.name(), number(model))).into()
}

/// Returns the time that groups save, by model.
fn saving(measure: Measure) -> Vec<Line> {
    each(|model| saved(Run::bsp(model, measure), Run::fl(model, measure)))
}

fn panel(
    key: &'static str,
    quantity: &'static str,
    unit: &'static str,
    axis: &'static str,
    lines: Vec<Line>,
) -> Panel {
    Panel { key, title: "128 clients in 8 groups, or in one (bsp)", quantity, unit, axis, lines }
}

pub fn table_2() -> Vec<Panel> {
    let slowdown = |model| over(Run::of_table_2(model, 1), Run::of_table_2(model, CLIENTS));
    let times = |model: ClientModel| {
        [("128 clients", CLIENTS), ("1 client", 1)].map(|(name, clients)| {
            only(format!("{}, {name}", model.name()), figure(Run::of_table_2(model, clients)))
        })
    };
    let title = "128 clients or one, bsp, 50 iterations a round";
    vec![
        Panel {
            title,
            ..panel(
                "slowdown",
                "Time of push and pull over that of one client",
                "times",
                "model",
                each(slowdown),
            )
        },
        Panel {
            title,
            ..panel(
                "time",
                "Time of push and pull",
                "s",
                "model and clients",
                ClientModel::ALL.into_iter().flat_map(times).collect(),
            )
        },
    ]
}

/// Coefficients of variation of compute times.
const VARIATIONS: [(&str, f64); 4] = [("0 %", 0.0), ("10 %", 0.1), ("20 %", 0.2), ("30 %", 0.3)];

pub fn table_4() -> Vec<Panel> {
    let rounds = both(|run| figure(run(Measure::Round)));
    let varying = |model: ClientModel| {
        VARIATIONS.map(|(text, cv)| {
            let [bsp, fl] = [Run::bsp, Run::fl].map(|run| run(model, Measure::Round).varying(cv));
            only(format!("{}, {text}", model.name()), saved(bsp, fl))
        })
    };
    vec![
        panel("round", "Mean time of a round", "s", "model and scheme", rounds),
        panel("saved", "Time of a round that groups save", "%", "model", saving(Measure::Round)),
        panel(
            "variation",
            "Time of a round that groups save",
            "%",
            "model and variation of compute times",
            ClientModel::ALL.into_iter().flat_map(varying).collect(),
        ),
    ]
}

pub fn table_5() -> Vec<Panel> {
    let [pushes, pulls] = [Measure::Push, Measure::Pull].map(|measure| both(|run| figure(run(measure))));
    let saved = saving(Measure::Communication);
    vec![
        panel("push", "Mean time of a push", "s", "model and scheme", pushes),
        panel("pull", "Mean time of a pull", "s", "model and scheme", pulls),
        panel("saved", "Time of push and pull that groups save", "%", "model", saved),
    ]
}

/// Returns the part of a client's round in which it pulls: an area in the R²SP paper's charts.
pub fn fig16() -> Vec<Panel> {
    let lines = both(|run| percent_of(run(Measure::Round), run(Measure::Pull)));
    vec![panel("pulling", "Mean time of a pull over that of a round", "%", "model and scheme", lines)]
}

/// Windows over which Fig. 17 averages rates, in seconds.
const WINDOWS_S: [u32; 4] = [1, 2, 5, 10];

pub fn fig17() -> Vec<Panel> {
    let ratio = |model, window_s| {
        let measure = Measure::Peak(window_s);
        over(Run::fl(model, measure), Run::bsp(model, measure))
    };
    let peaks = both(|run| percent(run(Measure::Peak(1))));
    let by_window = |window_s| only(format!("{window_s} s"), ratio(ClientModel::ResNet20, window_s));
    const PEAK: &str = "Greatest rate out of the server over a second";
    vec![
        panel("ratio", "BSP's greatest rate out of the server over that of groups", "times", "model", {
            each(|model| ratio(model, 1))
        }),
        panel("peak", PEAK, "%", "model and scheme", peaks),
        Panel {
            title: "ResNet20, rates are means over a window",
            ..panel(
                "window",
                "BSP's greatest rate out of the server over that of groups",
                "times",
                "window",
                WINDOWS_S.map(by_window).into(),
            )
        },
    ]
}

const SIZES: [usize; 6] = [2, 4, 8, 16, 32, 64];

pub fn fig18() -> Vec<Panel> {
    let of = |model: ClientModel| {
        SIZES.map(|size| only(format!("{}, {size}", model.name()), figure(Run::sized(model, size))))
    };
    let best = |model| {
        let cases = SIZES.map(|size| Run::sized(model, size).into());
        Number::new(cases.into(), |times| {
            let least = times.iter().zip(SIZES).min_by(|a, b| a.0.total_cmp(b.0));
            least.map_or(0.0, |(_, size)| size as f64)
        })
    };
    let lines = ClientModel::ALL.into_iter().flat_map(of).collect();
    let title = "128 clients";
    vec![
        Panel { title, ..panel("round", "Mean time of a round", "s", "model and group size", lines) },
        Panel {
            title,
            ..panel("best", "The group size of the shortest round", "clients", "model", each(best))
        },
    ]
}
