//! Runs both on a network and reads their measurements.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use inart_wire::ValuesPerFrame;
use serde_json::Value;
use tempfile::TempDir;

use crate::network::Network;

/// Program of Gloo's ranks.
const RING: &str = include_str!("ring.py");

/// The programs that are run.
pub struct Commands {
    inart: String,
    python: String,
    values: ValuesPerFrame,
    repeats: u32,
    folder: TempDir,
}

/// One tensor, summed by both.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Network.
    pub network: Network,
    /// Length of the tensor.
    pub values: usize,
    /// InArt's median time.
    pub seconds: f64,
    /// Gloo's.
    pub gloo_seconds: f64,
    /// The least time that the links allow InArt.
    pub limit_seconds: f64,
    /// Sums of InArt's that were compared bit for bit: one per round, block and worker.
    pub sums_checked: u64,
    /// Values of Gloo's that were compared.
    pub gloo_values_checked: u64,
}

impl Commands {
    /// With this `inart` and this Python.
    pub fn new(inart: &str, python: &str, values: ValuesPerFrame, repeats: u32) -> Result<Self> {
        let mut import = Command::new(python);
        let import = import.args(["-c", "import torch.distributed"]).stderr(Stdio::null());
        let found = import.status().with_context(|| format!("--python {python}: cannot run it"))?;
        ensure!(
            found.success(),
            "--python {python}: it has no PyTorch; install Debian's package python3-torch"
        );
        ensure!(
            Path::new(inart).is_file(),
            "--inart {inart}: it is not there; build it by cargo build --release -p inart-cli"
        );
        let folder = TempDir::new().context("making a folder")?;
        std::fs::write(folder.path().join("ring.py"), RING).context("writing a program")?;
        Ok(Self { inart: inart.into(), python: python.into(), values, repeats, folder })
    }

    /// Both on one network, a tensor of each length.
    pub fn measure(&self, network: &Network, lengths: &[usize]) -> Result<Vec<Pair>> {
        std::fs::write(self.folder.path().join("network.yaml"), &network.topology)?;
        let gloo = self.gloo(network, lengths).context("Gloo")?;
        let pair = |(&values, gloo): (&usize, &Value)| {
            let inart = self.inart(network, values).with_context(|| format!("InArt, {values} values"))?;
            let scheme = &inart["schemes"]["optimized"];
            let planned = number(scheme, "planned_rate_bps")? * number(&inart, "scale")?;
            ensure!(
                inart["bit_exact"] == true && gloo["values"] == values,
                "the results are not those requested"
            );
            Ok(Pair {
                network: network.clone(),
                values,
                seconds: number(scheme, "wall_comm_seconds")?,
                gloo_seconds: number(gloo, "seconds")?,
                limit_seconds: network.limit_seconds(values, self.values, planned),
                sums_checked: inart["sums_checked"].as_u64().context("no sums_checked")?,
                gloo_values_checked: gloo["values_checked"].as_u64().context("no values_checked")?,
            })
        };
        lengths.iter().zip(&gloo).map(pair).collect()
    }

    fn inart(&self, network: &Network, values: usize) -> Result<Value> {
        let mut command = self.emulate(network);
        command.args(["--gradient", &format!("{}B", 4 * values), "--rounds", &self.repeats.to_string()]);
        command.args(["--schemes", "optimized", "--chart"]).arg(self.folder.path().join("chart.svg"));
        document(command)
    }

    fn gloo(&self, network: &Network, lengths: &[usize]) -> Result<Vec<Value>> {
        let results = self.folder.path().join("gloo.json");
        let mut command = self.emulate(network);
        command.arg("--").arg(&self.python).arg(self.folder.path().join("ring.py"));
        command.arg(&results).arg(self.repeats.to_string()).args(lengths.iter().map(ToString::to_string));
        document(command)?;
        let text = std::fs::read_to_string(&results).context("its results")?;
        let rows: Vec<Value> = serde_json::from_str(&text).context("its results")?;
        ensure!(rows.len() == lengths.len(), "it has {} results of {}", rows.len(), lengths.len());
        Ok(rows)
    }

    fn emulate(&self, network: &Network) -> Command {
        let mut command = Command::new(&self.inart);
        command.arg("emulate").arg(self.folder.path().join("network.yaml"));
        command.args(["--scale", &network.scale, "--json", "--values", &self.values.to_string()]);
        command
    }
}

/// Returns the document that a command prints.
fn document(mut command: Command) -> Result<Value> {
    let output = command.output().context("starting inart")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("its output")
}

fn number(figures: &Value, name: &str) -> Result<f64> {
    figures[name].as_f64().with_context(|| format!("no number {name} in {figures}"))
}
