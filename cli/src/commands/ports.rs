//! `inart ports`: the ports of switches that the topology's links are at.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use inart_controller::PortMap;
use inart_controller::link_ports::{LinkPort, elsewhere, link_ports, to_set_up};
use inart_targets::{Endpoint, Fec, PortStatus};
use inart_topologies::switched::{SwitchPort, Topology};
use inart_topologies::units::counted;
use serde_json::{Value, json};

use crate::commands::control;
use crate::commands::control::ControlArgs;

/// Arguments of `inart ports`.
#[derive(clap::Args)]
pub struct Args {
    /// Network (YAML or JSON).
    topology: PathBuf,
    /// Add and enable the ports of all links at the links' rates; correct ports stay as they are.
    #[arg(long)]
    bring_up: bool,
    /// With --bring-up: error correction: none, fc or rs [default: rs at 100 Gbps, else none].
    #[arg(long, value_name = "FEC", requires = "bring_up")]
    fec: Option<Fec>,
    #[command(flatten)]
    control: ControlArgs,
}

/// A switch's ports.
struct SwitchPorts {
    wanted: Vec<LinkPort>,
    ports: BTreeMap<u64, PortStatus>,
    pipes: Vec<u64>,
    changed: usize,
    /// Front ports that are not where the topology's board has them.
    elsewhere: Vec<String>,
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let topology = crate::commands::topology::read(&args.topology)?;
    control::block_on(async {
        let mut records = control::open_records(&args.control.state(), topology.name())?;
        let places = args.control.places(&topology, &mut records)?;
        let map = PortMap::new(&topology)?;
        map.check_ports(args.control.target.ports())?;
        let mut all = BTreeMap::new();
        for (switch, place) in places {
            let found = args.look(&topology, &map, &switch, place).await;
            all.insert(switch.clone(), found.with_context(|| format!("switch {switch}"))?);
        }
        let elsewhere =
            all.iter().flat_map(|(switch, found)| found.elsewhere.iter().map(move |line| (switch, line)));
        elsewhere.for_each(|(switch, line)| eprintln!("warning: switch {switch}: {line}"));
        crate::commands::output::print(&if json { document(&all) } else { table(&all) })?;
        Ok(ExitCode::SUCCESS)
    })
}

impl Args {
    /// Reads the ports of one switch, and brings them up if requested.
    async fn look(
        &self,
        topology: &Topology,
        map: &PortMap,
        switch: &str,
        place: Endpoint,
    ) -> anyhow::Result<SwitchPorts> {
        let target = self.control.target;
        let Some(mut table) = target.open_ports(place).await? else {
            bail!("ports of target {} need no setting up: give --target tofino", target.name())
        };
        let wanted = link_ports(topology, map, switch, target);
        let elsewhere = elsewhere(&wanted, &table.front_ports().await?);
        let mut ports = table.read().await?;
        let mut changed = 0;
        if self.bring_up {
            if let Some(first) = elsewhere.first() {
                bail!("{first}");
            }
            let setups = to_set_up(&wanted, &ports, self.fec)?;
            table.set_up(&setups).await?;
            changed = setups.len();
            ports = table.read().await?;
            // Settings that the switch accepted but did not apply.
            let left = to_set_up(&wanted, &ports, self.fec)?;
            let first = wanted.iter().find(|link| left.contains_key(&link.number));
            ensure!(
                left.is_empty(),
                "{} is not as it was set up",
                first.map_or_else(String::new, LinkPort::to_string)
            );
        }
        let pipes = wanted.iter().map(|link| table.pipe(link.number)).collect();
        Ok(SwitchPorts { wanted, ports, pipes, changed, elsewhere })
    }
}

impl SwitchPorts {
    fn rows(&self) -> impl Iterator<Item = (&LinkPort, u64, Option<&PortStatus>)> {
        let rows = self.wanted.iter().zip(&self.pipes);
        rows.map(|(link, pipe)| (link, *pipe, self.ports.get(&link.number)))
    }
}

/// Returns the front port that the switch reports, else the topology's.
fn front(link: &LinkPort, status: Option<&PortStatus>) -> Option<String> {
    let theirs = status.and_then(|status| status.front).map(|(front, lane)| format!("{front}/{lane}"));
    theirs.or_else(|| match link.stated {
        Some(front @ SwitchPort::Front { .. }) => Some(front.to_string()),
        _ => None,
    })
}

fn table(all: &BTreeMap<String, SwitchPorts>) -> String {
    let mut out = String::new();
    for (switch, found) in all {
        let _ = match found.changed {
            0 => writeln!(out, "{switch}:"),
            changed => writeln!(out, "{switch}: set up {}", counted(changed, "port")),
        };
        let width = found.wanted.iter().map(|link| link.peer.len()).max().unwrap_or(0).max(4);
        let _ = writeln!(
            out,
            "  port  {:width$}  front  dev_port  pipe  speed  FEC   enabled  up         frames in        frames out",
            "to"
        );
        for (link, pipe, status) in found.rows() {
            let front = front(link, status).unwrap_or_else(|| "-".to_owned());
            let _ = write!(
                out,
                "  {:4}  {:width$}  {front:5}  {:8}  {pipe:4}  ",
                link.port.get(),
                link.peer,
                link.number
            );
            let _ = match status {
                None => writeln!(out, "not added"),
                Some(PortStatus { setup, up, frames: [received, sent], .. }) => {
                    let speed = if setup.gbps == 0 { "-".to_owned() } else { format!("{}G", setup.gbps) };
                    let enabled = yes(setup.enabled);
                    let up = if setup.loopback { "loopback" } else { yes(*up) };
                    writeln!(out, "{speed:5}  {:4}  {enabled:7}  {up:8}  {received:12}  {sent:16}", setup.fec)
                }
            };
        }
    }
    out
}

fn yes(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

fn document(all: &BTreeMap<String, SwitchPorts>) -> String {
    let port = |(link, pipe, status): (&LinkPort, u64, Option<&PortStatus>)| {
        let mut entry = json!({
            "port": link.port.get(), "peer": link.peer, "front": front(link, status), "dev_port": link.number,
            "pipe": pipe, "added": status.is_some(),
        });
        if let Some(status) = status {
            let ([received, sent], [received_bytes, sent_bytes]) = (status.frames, status.bytes);
            entry["speed_gbps"] = status.setup.gbps.into();
            entry["fec"] = status.setup.fec.name().into();
            entry["enabled"] = status.setup.enabled.into();
            entry["loopback"] = status.setup.loopback.into();
            entry["up"] = status.up.into();
            entry["received"] = json!({"frames": received, "bytes": received_bytes});
            entry["sent"] = json!({"frames": sent, "bytes": sent_bytes});
        }
        entry
    };
    let of_switch = |(switch, found): (&String, &SwitchPorts)| {
        let ports: Vec<Value> = found.rows().map(port).collect();
        (switch.clone(), json!({"changed": found.changed, "ports": ports}))
    };
    let switches: serde_json::Map<String, Value> = all.iter().map(of_switch).collect();
    format!("{}\n", json!({"switches": switches}))
}
