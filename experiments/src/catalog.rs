//! The InArt paper's figures as experiments.

use inart_planner_aggregation::schemes;

use crate::network::{LinkRates, Network};
use crate::quantity::Quantity;
use crate::series::Series;

/// An experiment: a figure of the InArt paper, or a question of our own.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Name on the command line.
    pub name: &'static str,
    /// Title of its chart.
    pub title: &'static str,
    /// The figure's number in the published paper (doi 10.1145/3589334.3645394), if there is one; the names
    /// follow an earlier version.
    pub figure: Option<u32>,
    /// Panels, in the order of tables and charts.
    pub panels: Vec<Panel>,
}

/// One panel of a figure.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Short name in files.
    pub key: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// The InArt paper's panel to compare with, by its short name.
    pub paper: Option<&'static str>,
    /// Quantity on the y axis.
    pub quantity: Quantity,
    /// Meaning of the x axis.
    pub axis: Axis,
    /// Schemes and bounds compared.
    pub series: &'static [Series],
    /// The places on the axis.
    pub points: Vec<Point>,
}

impl Panel {
    /// Returns the name that the InArt paper gives a series of ours, if it shows one.
    ///
    /// Two schemes stand for ATP. On its testbed the InArt paper shows the one that respects C(v). In its
    /// emulation it shows the one that ignores C(v), because only that one gives the published rates.
    pub fn published_name(&self, series: Series) -> Option<&'static str> {
        let testbed = self.points.iter().any(|point| matches!(point.network, Network::Testbed { .. }));
        let Series::Scheme(scheme) = series else { return None };
        let promises = scheme.promises();
        let name = promises.stands_for?;
        let like = schemes::ALL.iter().filter(|other| other.promises().stands_for == Some(name));
        (like.count() < 2 || promises.ignores.is_empty() == testbed).then_some(name)
    }
}

/// An x axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Number of workers.
    Workers,
    /// Number of parameter servers.
    Servers,
    /// The model trained.
    Model,
}

impl Axis {
    /// Returns the name of the axis.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Workers => "workers",
            Axis::Servers => "servers",
            Axis::Model => "model",
        }
    }
}

/// A place on an x axis.
#[derive(Debug, Clone)]
pub struct Point {
    /// Label.
    pub x: String,
    /// Network planned on.
    pub network: Network,
    /// Size of the gradient.
    pub gradient_bytes: f64,
}

/// Models and gradient sizes of the emulation (§5.3.1), bytes.
const MODELS: [(&str, f64); 3] = [("resnet-50", 97e3), ("vgg19", 548e3), ("lstm", 1627e3)];
const LSTM: f64 = 1627e3;
/// Models of the testbed (§5.2.1): size in bytes, and seconds of local training per iteration. The latter
/// is the difference between Figs. 4 and 5 of the InArt paper, which is the same at every bar.
const TESTBED: [(&str, &str, f64, f64); 2] =
    [("vgg19", "VGG19", 548e6, 0.4), ("resnet-50", "ResNet-50", 97e6, 0.07)];
const BATCH: f64 = 32.0;
/// Number of workers where the InArt paper states none. Its figures of LBMM (4 · 20 Mbps / W, W · size)
/// imply 40.
const WORKERS: usize = 40;
const SERVERS: usize = 4;

const MBPS: Quantity = Quantity::SendingRate { unit_bps: 1e6 };
const SECONDS: Quantity = Quantity::CommunicationTime { passes: 1.0 };

/// Scenarios of the emulation: short name, title, links.
const SCENARIOS: [(&str, &str, LinkRates); 3] = [
    ("hom", "homogeneous network", LinkRates::Equal),
    ("het", "heterogeneous network, fabric links drawn", LinkRates::DrawnInFabric),
    ("het-all", "heterogeneous network, all links drawn", LinkRates::Drawn),
];

/// Returns all experiments, in the InArt paper's order.
pub fn experiments() -> Vec<Experiment> {
    let figure = |name, figure, title, panels| Experiment { name, title, figure: Some(figure), panels };
    vec![
        figure(
            "inart-fig2",
            2,
            "Testbed: gradient sending rate",
            testbed(|_| Quantity::SendingRate { unit_bps: 1e9 }),
        ),
        figure(
            "inart-fig3",
            3,
            "Testbed: training throughput",
            testbed(|training_seconds| Quantity::TrainingThroughput { training_seconds, batch: BATCH }),
        ),
        figure(
            "inart-fig4",
            4,
            "Testbed: time per iteration",
            testbed(|training_seconds| Quantity::IterationTime { training_seconds }),
        ),
        figure(
            "inart-fig5",
            5,
            "Testbed: communication time",
            testbed(|_| Quantity::CommunicationTime { passes: 2.0 }),
        ),
        figure("inart-fig8", 7, "Emulation: gradient sending rate by model", by_model(MBPS)),
        figure("inart-fig9", 8, "Emulation: gradient sending rate", by_workers(MBPS)),
        figure("inart-fig10", 9, "Emulation: communication time by model", by_model(SECONDS)),
        figure("inart-fig11", 10, "Emulation: communication time, LSTM", by_workers(SECONDS)),
        figure("inart-fig12", 13, "Emulation: network throughput", throughput()),
        figure("inart-fig13", 14, "Emulation: traffic into the servers", by_model(Quantity::ServerIngress)),
        figure("inart-servers", 12, "Emulation: gradient sending rate by number of servers", by_servers()),
        Experiment {
            name: "inart-levels",
            title: "Emulation: sending rate with gradients summed once and twice",
            figure: None,
            panels: levels(),
        },
    ]
}

/// Returns the experiment of this name.
pub fn experiment(name: &str) -> Option<Experiment> {
    experiments().into_iter().find(|experiment| experiment.name == name)
}

fn testbed(quantity: impl Fn(f64) -> Quantity) -> Vec<Panel> {
    let panel = |(key, title, gradient_bytes, training_seconds)| Panel {
        key,
        title,
        paper: Some(key),
        quantity: quantity(training_seconds),
        axis: Axis::Workers,
        series: Series::schemes(),
        points: [4, 5, 6]
            .map(|workers| Point {
                x: workers.to_string(),
                network: Network::Testbed { workers },
                gradient_bytes,
            })
            .into(),
    };
    TESTBED.map(panel).into()
}

/// Returns a panel per scenario. Both readings of the heterogeneous scenario get the InArt paper's numbers.
fn scenarios(quantity: Quantity, axis: Axis, points: impl Fn(LinkRates) -> Vec<Point>) -> Vec<Panel> {
    let panel = |(key, title, links)| Panel {
        key,
        title,
        paper: Some(if links == LinkRates::Equal { "hom" } else { "het" }),
        quantity,
        axis,
        series: Series::schemes(),
        points: points(links),
    };
    SCENARIOS.map(panel).into()
}

fn by_model(quantity: Quantity) -> Vec<Panel> {
    scenarios(quantity, Axis::Model, |links| {
        let network = Network::FatTree { links, servers: SERVERS, workers: WORKERS };
        MODELS.map(|(model, gradient_bytes)| Point { x: model.to_owned(), network, gradient_bytes }).into()
    })
}

fn worker_points(links: LinkRates) -> Vec<Point> {
    let point = |workers: usize| Point {
        x: workers.to_string(),
        network: Network::FatTree { links, servers: SERVERS, workers },
        gradient_bytes: LSTM,
    };
    [10, 20, 30, 40, 50].map(point).into()
}

fn by_workers(quantity: Quantity) -> Vec<Panel> {
    scenarios(quantity, Axis::Workers, worker_points)
}

fn by_servers() -> Vec<Panel> {
    scenarios(MBPS, Axis::Servers, |links| {
        let point = |servers: usize| Point {
            x: servers.to_string(),
            network: Network::FatTree { links, servers, workers: 48 },
            gradient_bytes: LSTM,
        };
        [2, 3, 4, 5, 6].map(point).into()
    })
}

/// Returns panels of both readings of throughput: §5.1.1 defines the traffic of all links, but the
/// published numbers are near W · f.
fn throughput() -> Vec<Panel> {
    let mut panels = by_workers(Quantity::SentThroughput);
    panels.push(Panel {
        key: "hom-links",
        title: "homogeneous network, all links together",
        paper: None,
        quantity: Quantity::LinkThroughput,
        axis: Axis::Workers,
        series: Series::schemes(),
        points: worker_points(LinkRates::Equal),
    });
    panels
}

/// Returns panels on aggregation depth 2, which the InArt paper does not have.
fn levels() -> Vec<Panel> {
    let mut panels = by_workers(MBPS);
    panels.retain(|panel| panel.key != "het");
    for panel in &mut panels {
        panel.paper = None;
        panel.series = &Series::LEVELS;
    }
    panels
}
