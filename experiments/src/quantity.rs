//! Quantities of a plan that figures show.

use crate::outcome::Outcome;

/// A quantity on a figure's y axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// f, the rate at which every worker sends.
    SendingRate {
        /// Unit, in bit/s.
        unit_bps: f64,
    },
    /// From the first gradient sent until the gradients are summed (emulation) or the result is back
    /// (testbed): once or twice size / f, in seconds.
    CommunicationTime {
        /// Number of times that the gradient passes the worker's link.
        passes: f64,
    },
    /// Local training plus communication, there and back, in seconds.
    IterationTime {
        /// Local training per iteration, seconds.
        training_seconds: f64,
    },
    /// Images that all workers together train on per second.
    TrainingThroughput {
        /// Local training per iteration, seconds.
        training_seconds: f64,
        /// Images per worker and iteration.
        batch: f64,
    },
    /// W · f in Mbps: what all workers together send.
    SentThroughput,
    /// The traffic of all links together in Mbps.
    LinkThroughput,
    /// Traffic into all servers per iteration, in MB.
    ServerIngress,
}

impl Quantity {
    /// Returns the name on axes and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::SendingRate { .. } => "Sending rate",
            Quantity::CommunicationTime { .. } => "Communication time",
            Quantity::IterationTime { .. } => "Time per iteration",
            Quantity::TrainingThroughput { .. } => "Training throughput",
            Quantity::SentThroughput => "Network throughput",
            Quantity::LinkThroughput => "Traffic of all links",
            Quantity::ServerIngress => "Into the servers per iteration",
        }
    }

    /// Returns the unit.
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::SendingRate { unit_bps } if unit_bps >= 1e9 => "Gbps",
            Quantity::SendingRate { .. } | Quantity::SentThroughput | Quantity::LinkThroughput => "Mbps",
            Quantity::CommunicationTime { .. } | Quantity::IterationTime { .. } => "s",
            Quantity::TrainingThroughput { .. } => "images/s",
            Quantity::ServerIngress => "MB",
        }
    }

    /// Reports whether a larger value is better.
    pub fn larger_is_better(self) -> bool {
        match self {
            Quantity::SendingRate { .. }
            | Quantity::TrainingThroughput { .. }
            | Quantity::SentThroughput
            | Quantity::LinkThroughput => true,
            Quantity::CommunicationTime { .. } | Quantity::IterationTime { .. } | Quantity::ServerIngress => {
                false
            }
        }
    }

    /// Returns the value for a plan, a gradient of `bytes` bytes and this number of workers.
    pub fn of_plan(self, outcome: &Outcome, bytes: f64, workers: usize) -> f64 {
        match self {
            Quantity::LinkThroughput => outcome.rate_bps * outcome.over_links / 1e6,
            Quantity::ServerIngress => outcome.into_servers * bytes / 1e6,
            _ => self.of_rate(outcome.rate_bps, bytes, workers).unwrap_or(f64::NAN),
        }
    }

    /// Returns the value that follows from a rate alone, if one does. A bound on the rate bounds such a
    /// value.
    pub fn of_rate(self, rate_bps: f64, bytes: f64, workers: usize) -> Option<f64> {
        let there_and_back = 2.0 * bytes * 8.0 / rate_bps;
        match self {
            Quantity::SendingRate { unit_bps } => Some(rate_bps / unit_bps),
            Quantity::CommunicationTime { passes } => Some(passes * bytes * 8.0 / rate_bps),
            Quantity::IterationTime { training_seconds } => Some(training_seconds + there_and_back),
            Quantity::TrainingThroughput { training_seconds, batch } => {
                Some(workers as f64 * batch / (training_seconds + there_and_back))
            }
            Quantity::SentThroughput => Some(workers as f64 * rate_bps / 1e6),
            Quantity::LinkThroughput | Quantity::ServerIngress => None,
        }
    }
}
