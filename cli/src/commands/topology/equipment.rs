//! Equipment of generated networks.

use inart_topologies::NetworkError;
use inart_topologies::switched::generate::{Equipment, deal_jobs};
use inart_topologies::switched::ranges::{Ranges, RateRange};
use inart_topologies::switched::{DEFAULT_MTU, MTUS, Topology};
use inart_topologies::units::{Rate, Seconds, Size};

use crate::commands::values::time;

/// Equipment of generated networks.
#[derive(clap::Args)]
pub struct Equip {
    /// Number of parameter servers, placed at random by seed.
    #[arg(long, default_value_t = 4)]
    servers: usize,
    /// Number of workers, placed at random by seed.
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// Rate of every link.
    #[arg(long, default_value = "10Gbps", value_parser = positive)]
    rate: Rate,
    /// Aggregation capacity of every switch, C(v); 0 for switches that only forward.
    #[arg(long, default_value = "10Gbps", value_parser = not_negative)]
    aggregation: Rate,
    /// Ingress capacity of every server, B(s) [default: the links' rate].
    #[arg(long, value_parser = positive)]
    ingress: Option<Rate>,
    /// Range of rates of links between switches, such as 10Mbps..30Mbps, drawn by seed.
    #[arg(long, value_name = "LOW..HIGH")]
    link_range: Option<RateRange>,
    /// Range of rates of links to hosts, drawn by seed.
    #[arg(long, value_name = "LOW..HIGH")]
    access_range: Option<RateRange>,
    /// Range of aggregation capacities of switches, C(v), drawn by seed.
    #[arg(long, value_name = "LOW..HIGH", conflicts_with = "aggregation")]
    aggregation_range: Option<RateRange>,
    /// Propagation delay of every link.
    #[arg(long, default_value = "0", value_parser = time)]
    delay: Seconds,
    /// MTU of every link in bytes; 9000 for jumbo frames.
    #[arg(long, default_value_t = DEFAULT_MTU, value_parser = mtu())]
    mtu: u16,
    /// Size of the job's gradient.
    #[arg(long, default_value = "100MB")]
    gradient: Size,
    /// Random seed of host placement, wiring and drawn rates.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of jobs; the servers are divided evenly among them.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Workers of each job; the rest are idle [default: all workers, divided evenly].
    #[arg(long, value_name = "N")]
    workers_per_job: Option<usize>,
}

/// Returns the parser of an MTU of links.
pub fn mtu() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(i64::from(*MTUS.start())..=i64::from(*MTUS.end()))
}

/// Reads a rate above 0.
pub fn positive(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse()?;
    if rate.0 > 0.0 { Ok(rate) } else { Err("give a positive rate like \"20 Mbps\"".to_owned()) }
}

/// Reads a rate, 0 included.
pub fn not_negative(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse()?;
    if rate.0 >= 0.0 { Ok(rate) } else { Err("give a rate, or 0 for switches that only forward".to_owned()) }
}

impl Equip {
    /// Returns a network with this equipment and random draws.
    pub fn build(
        &self,
        make: impl FnOnce(&Equipment) -> Result<Topology, NetworkError>,
    ) -> Result<Topology, NetworkError> {
        let topology = make(&Equipment {
            servers: self.servers,
            workers: self.workers,
            rate_bps: self.rate.0,
            aggregation_bps: self.aggregation.0,
            ingress_bps: self.ingress.unwrap_or(self.rate).0,
            delay_seconds: self.delay.0,
            gradient_bytes: self.gradient.0.round() as u64,
            seed: self.seed,
        })?;
        let ranges = Ranges {
            fabric: self.link_range,
            access: self.access_range,
            aggregation: self.aggregation_range,
        };
        let topology = topology.with_drawn_rates(&ranges, self.seed).with_mtu(self.mtu);
        match (self.jobs, self.workers_per_job) {
            (1, None) => Ok(topology),
            (jobs, None) => deal_jobs(&topology, jobs, self.workers.checked_div(jobs).unwrap_or(0)),
            (jobs, Some(each)) => deal_jobs(&topology, jobs, each),
        }
    }
}
