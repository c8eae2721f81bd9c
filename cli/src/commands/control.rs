//! Parts that `inart apply`, `diff`, `rollback` and `remove` share: addresses of switches, their program, and
//! printed reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use inart_controller::{Controller, InstallReport, JobPlan, PortsError, Records, SwitchChange, ValuesChoice};
use inart_controller_api::assignment_to_json;
use inart_protocol_aggregation::Assignment;
use inart_tables::Op;
use inart_targets::{Access, Endpoint, Precedence, Program, Running, Session, Target, open_all};
use inart_tls::Security;
use inart_topologies::Network;
use inart_topologies::peers::Mesh;
use inart_topologies::switched::Topology;
use inart_topologies::units::counted;
use inart_wire::ValuesPerFrame;
use serde::Deserialize;

use crate::commands::network;
use crate::commands::security::ClientArgs;

/// A network with switches: one of switches, servers and workers, or one of peers.
pub struct SwitchNetwork {
    /// Switches and hosts; without jobs in a network of peers.
    pub topology: Topology,
    /// The network of peers, if it is one.
    pub peers: Option<Mesh>,
}

impl SwitchNetwork {
    /// Reads a document.
    ///
    /// # Errors
    /// The file, the document, or a network of sites.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        Self::of(network::read(path)?).with_context(|| path.display().to_string())
    }

    /// Reads a document of the records.
    ///
    /// # Errors
    /// A document that is not a network with switches.
    pub fn recorded(text: &str) -> anyhow::Result<Self> {
        Self::of(Network::from_yaml(text)?)
    }

    fn of(network: Network) -> anyhow::Result<Self> {
        match network {
            Network::Switched(switched) => Ok(Self { topology: switched.topology, peers: None }),
            Network::Peers(mesh) => Ok(Self { topology: mesh.as_topology()?, peers: Some(mesh) }),
            Network::Sites(_) => bail!("this is a network of sites; name a network of switches or of peers"),
        }
    }
}

/// Values per frame that processes of peers have by default.
const PEERS_VALUES: ValuesPerFrame = ValuesPerFrame::N256;

/// Arguments of every command that talks to switches.
#[derive(clap::Args)]
pub struct ControlArgs {
    /// Address of a switch, such as v1=127.0.0.1:9559 or v1=127.0.0.1:9559,device=1.
    ///
    /// Repeat for each switch [default: the addresses of the last push].
    #[arg(long = "switch", value_name = "NAME=HOST:PORT[,device=ID]", value_parser = parse_switch)]
    switch: Vec<(String, String)>,
    /// File with the switches' addresses: a YAML or JSON map from names to HOST:PORT.
    #[arg(long, value_name = "FILE")]
    switches: Option<PathBuf>,
    /// Kind of the switches: v1model (bmv2), tofino or tofino2.
    #[arg(long, value_name = "NAME", default_value = inart_targets::DEFAULT.name(), value_parser = parse_target)]
    pub target: &'static dyn Target,
    /// Folder with a P4 program and its p4c output, in place of the built-in program.
    #[arg(long, value_name = "DIR")]
    p4: Option<PathBuf>,
    /// Folder of the records of earlier pushes [default: $XDG_STATE_HOME/inart, or .inart].
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Election ID: the controller with the greatest is primary and may write [default: 1; of `inart
    /// controller`, the time].
    #[arg(long, value_name = "NUMBER")]
    pub election_id: Option<u64>,
    /// Replace a foreign P4 program; clears the switch's tables and stops the jobs on the switch.
    #[arg(long)]
    pub replace_program: bool,
    #[command(flatten)]
    security: ClientArgs,
}

pub fn parse_switch(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, address)) if !name.is_empty() => {
            place(address, Security::Local).map_err(|error| error.to_string())?;
            Ok((name.to_owned(), address.to_owned()))
        }
        _ => Err("write NAME=HOST:PORT, such as v1=127.0.0.1:9559".to_owned()),
    }
}

/// Reads `HOST:PORT[,device=ID]`; without an id the device is 0, as simple_switch_grpc's is.
pub fn place(text: &str, security: Security) -> anyhow::Result<Endpoint> {
    let (address, device) = match text.split_once(',') {
        None => (text, 0),
        Some((address, option)) => {
            let id = option.strip_prefix("device=").and_then(|id| id.parse().ok());
            (
                address,
                id.with_context(|| format!("\"{option}\" in {text}: write device=ID with a whole number"))?,
            )
        }
    };
    if address.is_empty() {
        bail!("\"{text}\" has no address: write HOST:PORT, such as 127.0.0.1:9559");
    }
    Ok(Endpoint { security, ..Endpoint::local(address, device) })
}

/// Returns the kind of switch that has this name.
pub fn parse_target(name: &str) -> Result<&'static dyn Target, String> {
    let names = || inart_targets::ALL.iter().map(|target| target.name()).collect::<Vec<_>>().join(", ");
    inart_targets::named(name).ok_or_else(|| format!("give one of {}", names()))
}

/// Access of a command to the switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Read only.
    Read,
    /// Install or remove entries.
    Write,
}

/// A switch in a file.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a switch is neither an address nor a map of address and device")]
enum SwitchEntry {
    Address(String),
    Device { address: String, device: u64 },
}

impl ControlArgs {
    /// Returns the folder of the records.
    pub fn state(&self) -> PathBuf {
        let default = || match std::env::var_os("XDG_STATE_HOME").filter(|home| !home.is_empty()) {
            Some(home) => Path::new(&home).join("inart"),
            None => PathBuf::from(".inart"),
        };
        self.state.clone().unwrap_or_else(default)
    }

    /// Returns the addresses on the command line and in the file; without any, those of the records.
    fn addresses(&self, records: &Records) -> anyhow::Result<BTreeMap<String, String>> {
        let mut addresses = BTreeMap::new();
        if let Some(file) = &self.switches {
            let place = || format!("--switches {}", file.display());
            let text = crate::commands::document::read(file).with_context(place)?;
            let entries: BTreeMap<String, SwitchEntry> = serde_saphyr::from_str(&text).map_err(|error| {
                let reason = error.to_string();
                let reason = reason.lines().next().unwrap_or_default().trim_start_matches("error: ");
                anyhow::anyhow!("{}: {reason}; write lines like `v1: 127.0.0.1:9559`", place())
            })?;
            for (name, entry) in entries {
                let address = match entry {
                    SwitchEntry::Address(address) => address,
                    SwitchEntry::Device { address, device } => format!("{address},device={device}"),
                };
                addresses.insert(name, address);
            }
        }
        for (name, address) in &self.switch {
            if let Some(other) =
                addresses.insert(name.clone(), address.clone()).filter(|other| other != address)
            {
                bail!("switch {name} has two addresses, {other} and {address}: give one");
            }
        }
        Ok(if addresses.is_empty() { records.switches.clone() } else { addresses })
    }

    /// Returns the protection of connections.
    pub fn security(&self) -> anyhow::Result<Security> {
        self.security.security()
    }

    /// Returns the compiled program for this number of values. On switches that do not sum, the program
    /// copies updates.
    ///
    /// # Errors
    /// A number of values without a program.
    pub fn program_for(
        &self,
        values: ValuesPerFrame,
        peers: Option<&Mesh>,
        records: &Records,
    ) -> anyhow::Result<Arc<dyn Program>> {
        let is_summed = records.jobs.values().any(|record| record.live().is_some());
        let is_copied = peers.is_some() || !records.peers.is_empty();
        let copying = || self.target.multicast_program(values);
        match (is_copied && self.p4.is_none(), is_summed) {
            (true, false) => Ok(copying()?),
            // Where no program does both, the controller refuses either one with the jobs' names.
            (true, true) => self.program(values).or_else(|error| copying().map_err(|_| error)),
            (false, _) => self.program(values),
        }
    }

    /// Returns the compiled program for this number of values.
    pub fn program(&self, values: ValuesPerFrame) -> anyhow::Result<Arc<dyn Program>> {
        let program = self.target.program(values, self.p4.as_deref());
        match &self.p4 {
            Some(folder) => program.with_context(|| format!("--p4 {}", folder.display())),
            None => Ok(program?),
        }
    }

    /// Returns the number of values per frame on the topology. The number of the installed program, which
    /// `records` have, stays unless the program may be replaced. A network of peers has [`PEERS_VALUES`] if
    /// `choice` leaves the number open.
    pub fn values(
        &self,
        choice: ValuesChoice,
        topology: &Topology,
        for_peers: bool,
        records: &Records,
    ) -> anyhow::Result<ValuesPerFrame> {
        let running = if self.replace_program { None } else { records.installed_values() };
        let choice = match (choice, running) {
            (ValuesChoice::Auto, None) if for_peers => ValuesChoice::Exactly(PEERS_VALUES),
            _ => choice,
        };
        // The document of a network of peers has no MTU, so any number fits.
        if topology.jobs().is_empty() {
            return Ok(match choice {
                ValuesChoice::Exactly(values) => values,
                ValuesChoice::Auto => running.unwrap_or(PEERS_VALUES),
            });
        }
        let is_preferred = |values| self.target.prefers(values, self.p4.as_deref());
        choice.of(topology, running, is_preferred).context("--values")
    }

    /// Returns the places of the topology's switches, and notes their addresses in `records`.
    pub fn places(
        &self,
        topology: &Topology,
        records: &mut Records,
    ) -> anyhow::Result<BTreeMap<String, Endpoint>> {
        let addresses = self.addresses(records)?;
        let ports = inart_controller::PortMap::new(topology)?;
        ports.check_names(topology.name(), addresses.keys().map(String::as_str)).map_err(with_flag)?;
        let security = self.security.security()?;
        let places = addresses.iter().map(|(name, address)| {
            let place = place(address, security.clone()).with_context(|| format!("switch {name}"))?;
            Ok((name.clone(), Endpoint { ports: ports.numbers(name), ..place }))
        });
        let places = places.collect::<anyhow::Result<_>>()?;
        records.give_switches(addresses);
        Ok(places)
    }

    /// Opens the records of the topology and connects to all its switches, as [`ControlArgs::controller`]
    /// does.
    pub async fn connect(
        &self,
        topology: Topology,
        peers: Option<Mesh>,
        choice: ValuesChoice,
        purpose: Purpose,
    ) -> anyhow::Result<Controller<Box<dyn Session>>> {
        let records = open_records(&self.state(), topology.name())?;
        let for_peers = peers.is_some() || topology.jobs().is_empty();
        let values = self.values(choice, &topology, for_peers, &records)?;
        self.controller(topology, peers, values, records, purpose).await
    }

    /// Connects to all switches of the network: as primary to write, without an election id to read.
    /// Installs `peers`, if there are any, in place of those of the records.
    pub async fn controller(
        &self,
        topology: Topology,
        peers: Option<Mesh>,
        values: ValuesPerFrame,
        mut records: Records,
        purpose: Purpose,
    ) -> anyhow::Result<Controller<Box<dyn Session>>> {
        let access = match purpose {
            Purpose::Read => Access::Read,
            Purpose::Write => Access::Write(Precedence(self.election_id.unwrap_or(1).into())),
        };
        let places = self.places(&topology, &mut records)?;
        let program = self.program_for(values, peers.as_ref(), &records)?;
        let switches = open_all(&*program, places, access).await?;
        let mut controller = Controller::new(topology, values, program.limits(), switches, records)?;
        controller.replace_program(self.replace_program);
        if let Some(mesh) = peers {
            controller.give_peers(mesh)?;
        }
        Ok(controller)
    }
}

/// Runs a command's future to its end.
pub fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("starting")?.block_on(future)
}

/// Creates the folder of the assignments before the command writes to switches, so that a wrong path is
/// refused first.
pub fn prepare_assignments(dir: &Path) -> anyhow::Result<()> {
    let made = std::fs::create_dir_all(dir);
    made.with_context(|| format!("--assignments {}: choose another folder", dir.display()))
}

/// Writes one assignment per job, for the hosts: `DIR/JOB.json`. If the disk is full, the old files stay.
pub fn write_assignments(dir: &Path, assignments: &[Assignment]) -> anyhow::Result<()> {
    for assignment in assignments {
        let path = dir.join(inart_controller::file_name(&assignment.name));
        let fresh = path.with_extension("json.new");
        let text = assignment_to_json(assignment) + "\n";
        let written = std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, &path));
        written.with_context(|| format!("--assignments {}", path.display()))?;
    }
    Ok(())
}

pub fn program_word(running: &Running) -> &'static str {
    match running {
        Running::Ours => "kept",
        Running::Nothing => "loaded",
        Running::Other => "replaced",
    }
}

/// Returns the changes of an installation as a table.
pub fn table(report: &InstallReport) -> String {
    let mut out = String::new();
    let done = |job, was: &str| match report.updates_of(job) {
        0 => format!("{was} installed already"),
        _ => "installed and read back".to_owned(),
    };
    for assignment in &report.assignments {
        let done = done(assignment.job, "was");
        let _ = writeln!(out, "job {}: plan version {} {done}", assignment.name, assignment.plan_version);
    }
    for (job, name) in &report.peers {
        let (done, values) = (done(*job, "were"), report.values);
        let _ = writeln!(out, "job {name}: copies of updates {done}; its peers need --values {values}");
    }
    for name in report.removed.values() {
        let _ = writeln!(out, "job {name}: copies of updates removed and read back");
    }
    let width = report.switches.keys().map(String::len).max().unwrap_or(0).max(6);
    let _ = writeln!(out, "  {:width$}  program   inserted  modified  deleted  unchanged", "switch");
    for (switch, change) in &report.switches {
        let _ = writeln!(
            out,
            "  {switch:width$}  {:8}  {:8}  {:8}  {:7}  {:9}",
            program_word(&change.running),
            change.count(Op::Insert),
            change.count(Op::Modify),
            change.count(Op::Delete),
            change.unchanged
        );
    }
    out
}

fn counts(change: &SwitchChange) -> serde_json::Value {
    serde_json::json!({
        "program": program_word(&change.running),
        "inserted": change.count(Op::Insert),
        "modified": change.count(Op::Modify),
        "deleted": change.count(Op::Delete),
        "unchanged": change.unchanged,
    })
}

/// Returns the changes of an installation as JSON text.
pub fn json(report: &InstallReport) -> String {
    format!("{}\n", document(report))
}

/// Returns the changes of an installation as a document that callers extend.
pub fn document(report: &InstallReport) -> serde_json::Value {
    let switches: BTreeMap<_, _> =
        report.switches.iter().map(|(name, change)| (name, counts(change))).collect();
    let updates = report.updates();
    serde_json::json!({
        "updates": updates, "switches": switches, "assignments": report.assignments,
        "peers": report.peers.values().collect::<Vec<_>>(),
    })
}

/// Returns the planned changes, one per line.
pub fn lines(controller: &Controller<Box<dyn Session>>, jobs: &[JobPlan], report: &InstallReport) -> String {
    let names = controller.names(jobs);
    let mut out = String::new();
    for (switch, change) in &report.switches {
        let program = match change.running {
            Running::Ours => "",
            Running::Nothing => ", after loading the program",
            Running::Other => ", after replacing the program and its tables",
        };
        let _ = writeln!(
            out,
            "{switch}: {}{program}, {} unchanged",
            counted(change.updates.len(), "update"),
            change.unchanged
        );
        for update in &change.updates {
            let _ = writeln!(out, "  {}", names.describe(switch, update));
        }
    }
    out
}

/// Returns the planned changes as JSON: the document of an installation, with each update as text.
pub fn lines_json(
    controller: &Controller<Box<dyn Session>>,
    jobs: &[JobPlan],
    report: &InstallReport,
) -> String {
    let names = controller.names(jobs);
    let switches = report.switches.iter().map(|(switch, change)| {
        let lines = change.updates.iter().map(|update| names.describe(switch, update));
        let mut entry = counts(change);
        entry["updates"] = lines.collect::<Vec<_>>().into();
        (switch.clone(), entry)
    });
    let switches: BTreeMap<_, _> = switches.collect();
    format!("{}\n", serde_json::json!({"updates": report.updates(), "switches": switches}))
}

/// Adds the flag that supplies the missing ports to an error.
fn with_flag(error: PortsError) -> anyhow::Error {
    match &error {
        PortsError::MissingSwitch { switch, .. } => anyhow!("{error}; add --switch {switch}=HOST:PORT"),
        _ => error.into(),
    }
}

/// Opens the records of a network in the folder of `--state`.
pub fn open_records(state: &Path, network: &str) -> anyhow::Result<Records> {
    Records::open(state, network).with_context(|| format!("--state {}", state.display()))
}
