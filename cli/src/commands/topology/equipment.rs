//! What the generated networks are equipped with.

use inart_topologies::NetworkError;
use inart_topologies::switched::generate::{Equipment, deal_jobs};
use inart_topologies::switched::ranges::{Ranges, RateRange};
use inart_topologies::switched::{DEFAULT_MTU, MTUS, Topology};
use inart_topologies::units::{Rate, Seconds, Size};

use crate::commands::values::time;

/// What the generated networks are equipped with.
#[derive(clap::Args)]
pub struct Equip {
    /// Parameter servers, placed by a seeded draw.
    #[arg(long, default_value_t = 4)]
    servers: usize,
    /// Workers, placed by a seeded draw.
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// Rate of every link.
    #[arg(long, default_value = "10Gbps", value_parser = positive)]
    rate: Rate,
    /// C(v) of every switch; 0 for switches that only forward.
    #[arg(long, default_value = "10Gbps", value_parser = not_negative)]
    aggregation: Rate,
    /// B(s) of every server; the links' rate if not given.
    #[arg(long, value_parser = positive)]
    ingress: Option<Rate>,
    /// Draw the rate of each link between switches from a range such as 10Mbps..30Mbps.
    #[arg(long, value_name = "LOW..HIGH")]
    link_range: Option<RateRange>,
    /// Draw the rate of each link to a host from a range.
    #[arg(long, value_name = "LOW..HIGH")]
    access_range: Option<RateRange>,
    /// Draw C(v) of each switch from a range.
    #[arg(long, value_name = "LOW..HIGH", conflicts_with = "aggregation")]
    aggregation_range: Option<RateRange>,
    /// Propagation delay of every link.
    #[arg(long, default_value = "0", value_parser = time)]
    delay: Seconds,
    /// MTU of every link in bytes; 9000 is for jumbo frames.
    #[arg(long, default_value_t = DEFAULT_MTU, value_parser = mtu())]
    mtu: u16,
    /// Size of the job's gradient.
    #[arg(long, default_value = "100MB")]
    gradient: Size,
    /// Seed of the hosts' places, of random wiring and of rates drawn from ranges.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Jobs; each has an equal number of the servers.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Workers of each job, the rest being in none [default: an equal number of all].
    #[arg(long, value_name = "N")]
    workers_per_job: Option<usize>,
}

/// An MTU that links may have.
pub fn mtu() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(i64::from(*MTUS.start())..=i64::from(*MTUS.end()))
}

/// A rate above 0.
pub fn positive(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse()?;
    if rate.0 > 0.0 { Ok(rate) } else { Err("give a positive rate like \"20 Mbps\"".to_owned()) }
}

/// A rate, 0 included.
pub fn not_negative(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse()?;
    if rate.0 >= 0.0 { Ok(rate) } else { Err("give a rate, or 0 for switches that only forward".to_owned()) }
}

impl Equip {
    /// Makes a network with this equipment, and draws what is to be drawn.
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
