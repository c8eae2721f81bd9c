//! Measurements of an emulation at the points that figures show: rows of a CSV file, each written as soon
//! as it exists.

use inart_formats::{Format, FormatError, UNNUMBERED};
use inart_planner_aggregation::{Scheme, schemes};
use serde::{Deserialize, Serialize};

use crate::catalog::{Axis, Experiment, Panel, Point};
use crate::network::{LinkRates, Network};
use crate::quantity::Quantity;
use crate::series::Series;

/// Schemes that are measured by default: the default scheme, and those of the InArt paper. (`r-inart` is
/// `inart` where all servers have the same capacity.)
pub const MEASURED_SCHEMES: [&dyn Scheme; 5] =
    [schemes::OPTIMIZED, schemes::INART, schemes::ATP_UNLIMITED, schemes::ATP, schemes::LBMM];

/// Seed of the measured network.
pub const MEASURED_SEED: u64 = 1;

/// Name of the embedded switch in the file of measurements.
pub const EMBEDDED_SWITCH: &str = "inart";

/// Identity of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasurementKey {
    /// Switch program; [`EMBEDDED_SWITCH`] for the embedded one.
    pub switch: String,
    /// Link rates of the fat-tree: `hom`, `het` or `het-all`.
    pub links: String,
    /// Parameter servers.
    pub servers: usize,
    /// Workers.
    pub workers: usize,
    /// Size of each gradient, in bytes.
    pub gradient_bytes: u64,
    /// Scheme.
    pub scheme: String,
}

/// One measurement. Rates and times are at the topology's own rates; the emulated links were slower by
/// `scale`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Switch program; [`EMBEDDED_SWITCH`] for the embedded one.
    pub switch: String,
    /// Link rates of the fat-tree: `hom`, `het` or `het-all`.
    pub links: String,
    /// Parameter servers.
    pub servers: usize,
    /// Workers.
    pub workers: usize,
    /// Size of each gradient, in bytes.
    pub gradient_bytes: u64,
    /// Scheme.
    pub scheme: String,
    /// Seed of the network, and of the plan's rounding.
    pub seed: u64,
    /// Factor on the topology's rates.
    pub scale: f64,
    /// Values per frame.
    pub values: usize,
    /// Rounds; times are those of the median one.
    pub rounds: u32,
    /// Number of tries; the row is the best of them.
    pub tries: u32,
    /// Sums compared bit for bit, all tries together.
    pub sums: u64,
    /// Rate at which each worker got its gradient summed, in bits of frames per second.
    pub rate_bps: f64,
    /// Planned rate, in bits per second.
    pub planned_rate_bps: f64,
    /// Time of an all-reduce, results included, in seconds.
    pub comm_seconds: f64,
    /// Planned time, size / f, in seconds.
    pub planned_comm_seconds: f64,
    /// Traffic into all servers in a round, in bytes of frames.
    pub ingress_bytes: f64,
    /// Planned traffic into all servers in a round, in bytes of values.
    pub planned_ingress_bytes: f64,
    /// Chunks that workers retransmitted.
    pub sent_again: u64,
}

impl Measurement {
    /// Returns the identity of the measurement.
    pub fn key(&self) -> MeasurementKey {
        MeasurementKey {
            switch: self.switch.clone(),
            links: self.links.clone(),
            servers: self.servers,
            workers: self.workers,
            gradient_bytes: self.gradient_bytes,
            scheme: self.scheme.clone(),
        }
    }

    /// Returns the quantity as measured, and as planned for the same network; `None` of a quantity that is
    /// not measured.
    pub fn figures(&self, quantity: Quantity) -> Option<[f64; 2]> {
        let mbps = |rate_bps: f64| rate_bps / 1e6;
        let workers = self.workers as f64;
        match quantity {
            Quantity::SendingRate { unit_bps } => {
                Some([self.rate_bps, self.planned_rate_bps].map(|rate| rate / unit_bps))
            }
            Quantity::CommunicationTime { .. } => Some([self.comm_seconds, self.planned_comm_seconds]),
            Quantity::SentThroughput => {
                Some([self.rate_bps, self.planned_rate_bps].map(|rate| mbps(workers * rate)))
            }
            Quantity::ServerIngress => {
                Some([self.ingress_bytes, self.planned_ingress_bytes].map(|bytes| bytes / 1e6))
            }
            Quantity::IterationTime { .. }
            | Quantity::TrainingThroughput { .. }
            | Quantity::LinkThroughput => None,
        }
    }
}

impl LinkRates {
    /// Returns the short name in files.
    pub fn key(self) -> &'static str {
        match self {
            LinkRates::Equal => "hom",
            LinkRates::DrawnInFabric => "het",
            LinkRates::Drawn => "het-all",
        }
    }
}

impl Point {
    /// Returns the identity of a measurement of the point; `None` where the capacities of the network are not
    /// known (the testbed).
    pub fn key(&self, switch: &str, scheme: &dyn Scheme) -> Option<MeasurementKey> {
        let Network::FatTree { links, servers, workers } = self.network else { return None };
        Some(MeasurementKey {
            switch: switch.to_owned(),
            links: links.key().to_owned(),
            servers,
            workers,
            gradient_bytes: self.gradient_bytes as u64,
            scheme: scheme.name().to_owned(),
        })
    }
}

impl Panel {
    /// Reports whether an emulation measures the panel. Sweeps over the number of servers are planned only:
    /// measuring them would take as long as all other figures together.
    pub fn is_measurable(&self) -> bool {
        let of_schemes = MEASURED_SCHEMES.iter().all(|&scheme| self.series.contains(&Series::Scheme(scheme)));
        let measured = matches!(
            self.quantity,
            Quantity::SendingRate { .. }
                | Quantity::CommunicationTime { .. }
                | Quantity::SentThroughput
                | Quantity::ServerIngress
        );
        let axis = self.axis != Axis::Servers;
        of_schemes
            && measured
            && axis
            && self.points.iter().all(|point| matches!(point.network, Network::FatTree { .. }))
    }
}

impl Experiment {
    /// Returns the points that an emulation can measure, each once.
    pub fn measurable_points(&self) -> impl Iterator<Item = &Point> {
        self.panels.iter().filter(|panel| panel.is_measurable()).flat_map(|panel| &panel.points)
    }
}

/// Formats of files with measurements. Format 1 has no number.
pub const MEASURED_FORMAT: Format = Format {
    kind: "measurements of an experiment",
    oldest: 1,
    newest: 2,
    fix: "name another file to measure again",
};

/// The start of the line with a file's format.
const FORMAT_LINE: &str = "# format: ";

/// A reason that a file with measurements cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MeasuredError {
    /// A format that this version does not read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A row that is not a measurement.
    #[error(transparent)]
    Row(#[from] csv::Error),
}

/// Reads the rows of a CSV file that [`write_measured`] wrote.
///
/// # Errors
/// A format that this version does not read; the first row that is not a measurement.
pub fn read_measured(text: &str) -> Result<Vec<Measurement>, MeasuredError> {
    let number = text.lines().take_while(|line| line.starts_with('#')).find_map(|line| {
        let number = line.strip_prefix(FORMAT_LINE)?;
        Some(number.trim().parse().unwrap_or(u64::MAX))
    });
    MEASURED_FORMAT.check(number.unwrap_or(UNNUMBERED.into()))?;
    Ok(rows_of(text)?)
}

fn rows_of(text: &str) -> Result<Vec<Measurement>, csv::Error> {
    csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes()).deserialize().collect()
}

/// Returns rows as a CSV file, below the command that produces them.
///
/// # Errors
/// A row that CSV cannot hold.
pub fn write_measured(command: &str, rows: &[Measurement]) -> Result<String, csv::Error> {
    let mut file = format!("{FORMAT_LINE}{}\n# {command}\n", MEASURED_FORMAT.newest).into_bytes();
    let mut writer = csv::Writer::from_writer(&mut file);
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    writer.flush()?;
    drop(writer);
    Ok(String::from_utf8(file).expect("only text was written"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let point = &experiment("inart-fig9").expect("known").panels[1].points[0];
        let row = Measurement {
            switch: "inart".into(),
            links: "het".into(),
            servers: 4,
            workers: 10,
            gradient_bytes: 1_627_000,
            scheme: "atp-unlimited".into(),
            seed: 1,
            scale: 0.2,
            values: 256,
            rounds: 3,
            tries: 1,
            sums: 12_345,
            rate_bps: 15_900_000.0,
            planned_rate_bps: 16e6,
            comm_seconds: 0.25,
            planned_comm_seconds: 0.8135,
            ingress_bytes: 7e6,
            planned_ingress_bytes: 6.5e6,
            sent_again: 0,
        };
        assert_eq!(Some(row.key()), point.key(EMBEDDED_SWITCH, schemes::ATP_UNLIMITED));
        let text = write_measured("the command", std::slice::from_ref(&row)).expect("in memory");
        assert!(text.starts_with("# format: 2\n# the command\nswitch,links,"), "{text}");
        assert!(
            text.contains("\ninart,het,4,10,1627000,atp-unlimited,1,0.2,256,3,1,12345,15900000.0,"),
            "{text}"
        );
        assert_eq!(read_measured(&text).expect("readable"), std::slice::from_ref(&row));
        let before = text.replacen("# format: 2\n", "", 1);
        assert_eq!(read_measured(&before).expect("written before there was a number"), [row]);
        for newer in ["# format: 3\n# the command\nother\n1\n", "# format: 3\n"] {
            let error = read_measured(newer).expect_err("a newer format").to_string();
            let named = "format 3 is newer than this version of inart reads (1 to 2); use a newer inart, or name \
                         another file to measure again";
            assert_eq!(error, named);
        }
    }

    #[test]
    fn points_on_the_testbed_are_not_measured() {
        let points = |name| experiment(name).expect("known").measurable_points().count();
        assert_eq!(["inart-fig2", "inart-fig8", "inart-fig12", "inart-levels"].map(points), [0, 9, 15, 0]);
    }
}
