//! Figs. 1 and 4 to 6: bulk synchronous training.

use inart_planner_peers::{Multicast, Scheme};

use super::case::{Case, Line, Metric, Panel, Round, number};

const TIME: &str = "Time of a round over p v / b";

/// Schemes of the SELMCAST paper, by its names.
const SCHEMES: [(&str, Scheme); 3] =
    [("SELMCAST", Scheme::Selmcast), ("Orpheus", Scheme::Orpheus), ("Optimal", Scheme::Optimal)];

pub fn fig1() -> Vec<Panel> {
    let line = |receivers: usize| {
        let peers = 200;
        let scheme = |scheme| number(Case::Balanced { peers, receivers, scheme }, Metric::Value);
        let drawn = Line::new(format!("p = {receivers}"), scheme(Scheme::Orpheus), scheme(Scheme::Optimized));
        let chance = number(Case::Chance { peers, receivers }, Metric::Value);
        let chance = Line { x: format!("p = {receivers}"), here: Some(chance), optimized: None };
        (chance, drawn)
    };
    let (chance, drawn): (Vec<Line>, Vec<Line>) =
        [1, 10, 17, 18, 50, 100, 150, 181, 182, 190, 198].into_iter().map(line).unzip();
    vec![
        Panel {
            key: "chance",
            title: "Eq. (1) with m = p, 200 peers",
            quantity: "Probability of a balanced load",
            unit: "probability",
            axis: "receivers",
            lines: chance,
        },
        Panel {
            key: "drawn",
            title: "as drawn by Orpheus, 200 peers",
            quantity: "Share of peers that receive exactly p updates",
            unit: "share",
            axis: "receivers",
            lines: drawn,
        },
    ]
}

/// Returns a line per scheme and setting, with ours next to each.
fn lines(settings: &[(String, Round)], metric: Metric) -> Vec<Line> {
    let figure = |round: Round, scheme| number(Case::Round(Round { scheme, ..round }), metric);
    let of_setting = |(x, round): &(String, Round)| {
        SCHEMES.map(|(name, scheme)| {
            Line::new(format!("{x}, {name}"), figure(*round, scheme), figure(*round, Scheme::Optimized))
        })
    };
    settings.iter().flat_map(of_setting).collect()
}

fn round(peers: usize, receivers: usize, multicast: Multicast) -> Round {
    Round { peers, receivers, lambda: 0.25, mu: 1.0, multicast, scheme: Scheme::Optimized }
}

fn panel(
    key: &'static str,
    title: &'static str,
    metric: Metric,
    axis: &'static str,
    settings: &[(String, Round)],
) -> Panel {
    let (quantity, unit) = match metric {
        Metric::Value => (TIME, "times"),
        Metric::Receivers => ("Receivers per update over p", "times"),
    };
    Panel { key, title, quantity, unit, axis, lines: lines(settings, metric) }
}

pub fn fig4() -> Vec<Panel> {
    let sizes = |multicast, lambda| -> Vec<(String, Round)> {
        [50, 100, 150, 200]
            .map(|n| (format!("n = {n}"), Round { lambda, ..round(n, n * 3 / 10, multicast) }))
            .into()
    };
    let (switch, hosts) = (Multicast::Switch, Multicast::Hosts);
    vec![
        panel("switch", "copies by the switch (L3)", Metric::Value, "peers", &sizes(switch, 0.25)),
        panel("hosts", "copies by the hosts (L7)", Metric::Value, "peers", &sizes(hosts, 0.25)),
        panel("switch-scale", "copies by the switch (L3)", Metric::Receivers, "peers", &sizes(switch, 0.25)),
        panel("hosts-scale", "copies by the hosts (L7)", Metric::Receivers, "peers", &sizes(hosts, 0.25)),
        panel(
            "switch-half",
            "L3, with the printed lambda of 0.5",
            Metric::Value,
            "peers",
            &sizes(switch, 0.5),
        ),
        panel("hosts-half", "L7, with the printed lambda of 0.5", Metric::Value, "peers", &sizes(hosts, 0.5)),
    ]
}

pub fn fig5() -> Vec<Panel> {
    let parts = |multicast| -> Vec<(String, Round)> {
        [1, 2, 3, 4, 5].map(|tenths| (format!("p = 0.{tenths} n"), round(200, tenths * 20, multicast))).into()
    };
    vec![
        panel("switch", "200 peers, L3", Metric::Value, "receivers", &parts(Multicast::Switch)),
        panel("hosts", "200 peers, L7", Metric::Value, "receivers", &parts(Multicast::Hosts)),
    ]
}

pub fn fig6() -> Vec<Panel> {
    let sizes: Vec<(String, Round)> = [50, 100, 150, 200]
        .map(|n| {
            let receivers = n * 3 / 10;
            let mu = 1.0 / receivers as f64;
            (format!("n = {n}"), Round { mu, ..round(n, receivers, Multicast::Switch) })
        })
        .into();
    vec![
        panel("receivers", "mu = 1/p, L3", Metric::Receivers, "peers", &sizes),
        panel("time", "mu = 1/p, L3", Metric::Value, "peers", &sizes),
    ]
}
