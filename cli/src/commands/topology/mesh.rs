//! `inart topology mesh`: a network of peers whose ports have rates drawn at random.

use anyhow::ensure;
use inart_topologies::peers::{Changes, Compute, Drawn, Mesh, draw};
use inart_topologies::units::{Rate, Seconds, Size};

use crate::commands::values::{link_rate, time};

/// Largest number of draws of rates.
const MOST_DRAWS: f64 = 10_000.0;

/// Arguments of `inart topology mesh`.
#[derive(clap::Args)]
pub struct Mesher {
    /// Number of peers.
    #[arg(long)]
    peers: usize,
    /// Least number of receivers per update.
    #[arg(long)]
    receivers: usize,
    /// Spread of rates: from 1 - LAMBDA to 1 + LAMBDA times the mean.
    #[arg(long = "rate-spread", default_value_t = 0.25)]
    lambda: f64,
    /// Ratio of mean rate up (ingress in the SELMCAST paper) to mean rate down (egress).
    #[arg(long = "up-down-ratio", default_value_t = 1.0)]
    mu: f64,
    /// Mean rate down.
    #[arg(long, default_value = "40Gbps", value_parser = link_rate)]
    rate: Rate,
    /// Size of each peer's update.
    #[arg(long, default_value = "200MB", value_parser = update_size)]
    update: Size,
    /// Mean compute time between two updates [default: not stated].
    #[arg(long, value_name = "TIME", value_parser = time)]
    compute: Option<Seconds>,
    /// With --compute: coefficient of variation of the compute time.
    #[arg(long, default_value_t = 0.0, requires = "compute")]
    cv: f64,
    /// Time between changes of the rates, such as 10s [default: rates are constant].
    #[arg(long, value_name = "TIME", requires = "until", value_parser = time)]
    every: Option<Seconds>,
    /// With --every: part of a rate that changes, from 0 to 1.
    #[arg(long = "changing-part", default_value_t = 1.0, requires = "every")]
    gamma: f64,
    /// With --every: time after which rates stay as they are.
    #[arg(long, value_name = "TIME", requires = "every", value_parser = time)]
    until: Option<Seconds>,
    /// Name of the network.
    #[arg(long, default_value = "mesh")]
    name: String,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Reads the size of an update.
fn update_size(text: &str) -> Result<Size, String> {
    let size: Size = text.parse()?;
    if (1.0..=1e18).contains(&size.0) { Ok(size) } else { Err("give a size of at least a byte".to_owned()) }
}

impl Mesher {
    /// Builds the network.
    pub fn build(&self) -> anyhow::Result<Mesh> {
        let (n, p) = (self.peers, self.receivers);
        ensure!((2..=4096).contains(&n), "--peers {n}: give a number from 2 to 4096");
        ensure!((1..n).contains(&p), "--receivers {p}: give a number from 1 to {}, the other peers", n - 1);
        ensure!(
            (0.0..1.0).contains(&self.lambda),
            "--rate-spread {}: give a part from 0 to below 1",
            self.lambda
        );
        ensure!(self.mu > 0.0 && self.mu <= 1e6, "--up-down-ratio {}: give a number above 0", self.mu);
        let changes =
            self.every.zip(self.until).map(|(every, until)| self.changes(every.0, until.0)).transpose()?;
        let mesh = draw(&Drawn {
            name: self.name.clone(),
            peers: n,
            receivers: p,
            lambda: self.lambda,
            mu: self.mu,
            rate_bps: self.rate.0,
            update_bytes: self.update.0,
            changes,
            compute: self.compute.map(|mean| Compute { mean_seconds: mean.0, cv: self.cv }),
            seed: self.seed,
        });
        // The reader of documents checks names and sizes.
        Ok(Mesh::from_yaml(&mesh.to_yaml())?)
    }

    fn changes(&self, every_seconds: f64, until: f64) -> anyhow::Result<Changes> {
        ensure!(every_seconds > 0.0, "--every {every_seconds}: give a time above 0, like 100ms");
        ensure!((0.0..=1.0).contains(&self.gamma), "--changing-part {}: give a part from 0 to 1", self.gamma);
        let draws = (until / every_seconds).ceil();
        ensure!(
            (1.0..=MOST_DRAWS).contains(&draws),
            "--until {until}: that is {draws} draws; give a time for 1 to {MOST_DRAWS}"
        );
        Ok(Changes { gamma: self.gamma, every_seconds, draws: draws as usize })
    }
}
