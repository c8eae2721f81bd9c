//! `inart push NETWORK` on a network of peers: the entries by which its switches copy updates.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use inart_controller::multicast::{PeerGroup, network as entries};
use inart_controller::{PeerChange, PortMap, push_peers};
use inart_targets::{Access, DEFAULT, Precedence, Target, open_all};
use inart_topologies::peers::{Mesh, PeerJob};
use inart_wire::{Epoch, JobId, ValuesPerPacket};
use serde_json::json;

use crate::commands::control::{block_on, parse_switch, parse_target, place, program_word};
use crate::commands::output::print;
use crate::commands::security::ClientArgs;
use crate::line::section::{PEERS, Section};
use crate::line::{Asked, OnNetwork};

/// What peers have in their frames.
const EPOCH: u16 = 1;

/// Arguments of `inart push` on a network of peers.
#[derive(clap::Args)]
pub struct Args {
    /// Where a switch is reached, such as s1=127.0.0.1:9559 or s1=127.0.0.1:9559,device=1; once per switch.
    #[arg(long = "switch", value_name = "NAME=HOST:PORT[,device=ID]", value_parser = parse_switch)]
    switches: Vec<(String, String)>,
    /// Kind of the switches: v1model, or tofino, driven by BFRuntime.
    #[arg(long, value_name = "NAME", default_value = DEFAULT.name(), value_parser = parse_target)]
    target: &'static dyn Target,
    /// Values per frame, for which the switches' program is compiled: 32, 64, 256, 1024 or 2048 (on Tofino:
    /// 256).
    #[arg(long, default_value_t = ValuesPerPacket::N256)]
    values: ValuesPerPacket,
    /// Precedence among controllers: the greatest is primary and may write.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    election_id: u64,
    /// Load our program even where another one runs; clears that switch's tables and stops the jobs on it.
    #[arg(long)]
    replace_program: bool,
    #[command(flatten)]
    security: ClientArgs,
}

impl OnNetwork for Args {
    type Network = Mesh;
    const SECTION: &'static Section = &PEERS;

    fn run(self, network: Mesh, asked: &Asked) -> anyhow::Result<ExitCode> {
        run(&self, &network, asked.json)
    }
}

fn run(args: &Args, mesh: &Mesh, json: bool) -> anyhow::Result<ExitCode> {
    ensure!(!args.switches.is_empty(), "--switch is not there: give each switch, as s1=127.0.0.1:9559");
    let ports = PortMap::of_mesh(mesh)?;
    ports.check_ports(args.target.ports())?;
    let mut places = BTreeMap::new();
    for (name, address) in &args.switches {
        let place = place(address, args.security.security()?).with_context(|| format!("switch {name}"))?;
        ensure!(places.insert(name.clone(), place).is_none(), "--switch {name} is there twice; give it once");
    }
    let named = ports.check_names(mesh.name(), places.keys().map(String::as_str));
    named.map_err(|error| anyhow::anyhow!("--switch: {error}"))?;
    let names = |job: &PeerJob| -> Vec<String> {
        (0..job.peers.len()).map(|rank| mesh.name_of(job, rank).to_owned()).collect()
    };
    let names: Vec<Vec<String>> = mesh.jobs().iter().map(names).collect();
    let peers: Vec<Vec<&str>> =
        names.iter().map(|names| names.iter().map(String::as_str).collect()).collect();
    let group = |(job, peers)| PeerGroup { job: JobId::from(job), epoch: Epoch::from(EPOCH), peers };
    let groups: Vec<_> = (0u16..).zip(peers.iter().map(Vec::as_slice)).map(group).collect();
    let wanted = entries(&ports, &groups)?;
    let program = args.target.multicast_program(args.values)?;
    let changes = block_on(async {
        let access = Access::Write(Precedence(args.election_id.into()));
        let mut switches = open_all(&*program, places, access).await?;
        Ok(push_peers(&mut switches, &wanted, args.replace_program).await?)
    })?;
    print(&if json { document(&changes) } else { table(&changes) })?;
    Ok(ExitCode::SUCCESS)
}

fn document(changes: &BTreeMap<String, PeerChange>) -> String {
    let entry = |(name, change): (&String, &PeerChange)| {
        let PeerChange { running, updates, unchanged } = change;
        let change = json!({ "program": program_word(running), "updates": updates, "unchanged": unchanged });
        (name.clone(), change)
    };
    let switches: serde_json::Map<_, _> = changes.iter().map(entry).collect();
    let updates: usize = changes.values().map(|change| change.updates).sum();
    json!({ "updates": updates, "switches": switches }).to_string() + "\n"
}

fn table(changes: &BTreeMap<String, PeerChange>) -> String {
    let width = changes.keys().map(String::len).max().unwrap_or(0).max(6);
    let mut out = format!("{:width$}  program   written  unchanged\n", "switch");
    for (name, change) in changes {
        let PeerChange { running, updates, unchanged } = change;
        let _ = writeln!(out, "{name:width$}  {:8}  {updates:>7}  {unchanged:>9}", program_word(running));
    }
    out
}
