//! `inart switch`: the embedded switch with the command line of `simple_switch_grpc`.

mod ignored;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use clap::Parser;
use inart_p4runtime::DeviceId;
use inart_switch::bfrt::FrontPorts;
use inart_switch::ports::{self, Options};
use inart_switch::server::{Server, Wiring};
use inart_switch::{Architecture, DROP_PORT, Port, Program, Switch, bfrt, conformance};
use inart_tls::ServerTls;
use inart_topologies::switched::Board;
use inart_topologies::switched::board::DEVICE_PORTS;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::commands::security::ServerArgs;
use ignored::Ignored;

/// Default address of P4Runtime. `simple_switch_grpc` listens on every interface by default; here users must
/// name such an address.
const DEFAULT_ADDRESS: &str = "127.0.0.1:9559";

/// Packets and digests for controllers that wait while those are slow; more are dropped.
const EVENT_QUEUE: usize = 4096;

/// An architecture of P4 programs.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Arch {
    /// bmv2 JSON, by p4c-bm2-ss.
    V1model,
    /// p4c's intermediate form, by p4test --toJSON.
    Tna,
}

impl From<Arch> for Architecture {
    fn from(arch: Arch) -> Architecture {
        match arch {
            Arch::V1model => Architecture::V1model,
            Arch::Tna => Architecture::Tna,
        }
    }
}

/// Arguments of `inart switch`.
#[derive(clap::Args)]
#[command(
    after_help = "Options of simple_switch_grpc for logging, Thrift and queues are accepted and ignored."
)]
pub struct Args {
    /// Program to start with: bmv2 JSON, or p4c's intermediate form of a TNA program.
    ///
    /// P4Runtime still needs a pipeline with P4Info.
    #[arg(value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Start without a program; a controller sends one.
    #[arg(long)]
    no_p4: bool,
    /// Port and its interface, such as 1@veth0; repeat for each port.
    #[arg(short = 'i', long = "interface", value_name = "PORT@IF", value_parser = interface)]
    interfaces: Vec<(Port, String)>,
    /// Device number in P4Runtime or BFRuntime.
    #[arg(long, default_value_t = 0)]
    device_id: u64,
    /// Serve BFRuntime at this address, as Tofino's driver does, in place of P4Runtime.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "grpc_server_addr")]
    bfrt: Option<String>,
    /// Board of BFRuntime's front ports, such as wedge100bf-32x [default: numbered by pipe].
    #[arg(long, value_name = "NAME", value_parser = board, requires = "bfrt")]
    board: Option<Board>,
    /// Network namespace of the ports: a name of `ip netns`, or a path.
    ///
    /// P4Runtime stays in the namespace of the process.
    #[arg(long, value_name = "NAME")]
    port_netns: Option<String>,
    /// Folder of STF cases to run in place of a switch; prints which pass.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["program", "no_p4", "interfaces"])]
    conformance: Option<PathBuf>,
    /// With --conformance: architecture of the cases [default: as each pipeline states].
    #[arg(long, value_enum, requires = "conformance")]
    arch: Option<Arch>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    ignored: Ignored,
    /// Options of the target after `--`, as simple_switch_grpc has them.
    #[arg(last = true, value_name = "TARGET OPTIONS")]
    after: Vec<String>,
}

/// Options that `simple_switch_grpc` takes after a `--`; here they may stand before it as well.
#[derive(clap::Args, Default)]
struct Target {
    /// Address of P4Runtime; port 0 picks a free port [default: 127.0.0.1:9559].
    #[arg(long, value_name = "HOST:PORT")]
    grpc_server_addr: Option<String>,
    /// Port of packets to and from the controller (packet-in and packet-out).
    #[arg(long, value_name = "PORT", value_parser = port)]
    cpu_port: Option<Port>,
    /// The port by which programs drop frames, as simple_switch takes it; here always 511.
    #[arg(long, hide = true, value_name = "PORT")]
    drop_port: Option<u32>,
    #[command(flatten)]
    security: ServerArgs,
}

/// Options behind the `--`.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct TrailingOptions {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    ignored: Ignored,
}

fn port(text: &str) -> Result<Port, String> {
    match text.parse() {
        Ok(number @ 0..=510) => Ok(Port(number)),
        _ => Err("a port is a number from 0 to 510".to_owned()),
    }
}

fn board(text: &str) -> Result<Board, String> {
    let known = Board::ALL.into_iter().filter(|board| board.front_ports().is_some());
    let known = known.map(Board::name).collect::<Vec<_>>().join(", ");
    let found = Board::named(text).filter(|board| board.front_ports().is_some());
    found.ok_or_else(|| format!("the front ports of this one are known: {known}"))
}

/// Returns the front ports of a board.
fn front_ports(board: Board) -> FrontPorts {
    let lane = |number| Some((number, board.front_port(number)?));
    let ports = (0..DEVICE_PORTS).filter_map(lane);
    ports.map(|(number, (front, lane))| (number, (front.into(), lane.into()))).collect()
}

fn interface(text: &str) -> Result<(Port, String), String> {
    match text.split_once('@') {
        Some((number, name)) if !name.is_empty() => Ok((port(number)?, name.to_owned())),
        _ => Err("write PORT@INTERFACE, such as 1@veth0".to_owned()),
    }
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    if let Some(folder) = &args.conformance {
        return conform(folder, args.arch.map(Architecture::from), json);
    }
    ensure!(
        args.program.is_some() || args.no_p4,
        "PROGRAM: none is given; name a compiled program, or give --no-p4 to get one from a controller"
    );
    let after = TrailingOptions::try_parse_from(&args.after)
        .map_err(|error| anyhow::anyhow!("after `--`: {}", first_line(&error.to_string())))?;
    let address = after.target.grpc_server_addr.or(args.target.grpc_server_addr);
    let cpu_port = after.target.cpu_port.or(args.target.cpu_port);
    let security = after.target.security.or(args.target.security);
    security.note().into_iter().for_each(|note| eprintln!("note: {note}"));
    let tls = security.tls()?;
    if let Some(port) = after.target.drop_port.or(args.target.drop_port) {
        ensure!(
            port == DROP_PORT.0,
            "--drop-port: {port} is not supported, this switch drops by port {DROP_PORT}"
        );
    }
    args.ignored.and(&after.ignored).notes().for_each(|note| eprintln!("note: {note}"));

    let mut switch = Switch::new(args.device_id);
    if let Some(path) = &args.program {
        let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let program = Program::compile(&text).with_context(|| path.display().to_string())?;
        switch.load(program)?;
    }
    let options = Options {
        interfaces: args.interfaces,
        namespace: args.port_netns.map(|name| namespace(&name)),
        cpu_port,
        bypass_queueing: false,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let protocol = Protocol::of(args.bfrt.is_some(), args.device_id, args.board)?;
    let address = args.bfrt.as_deref().or(address.as_deref()).unwrap_or(DEFAULT_ADDRESS);
    if tls.is_none() && !inart_tls::is_local(address) {
        eprintln!(
            "note: {} is not protected on {address}: any client can reprogram this switch; see --grpc-server-ssl",
            protocol.name()
        );
    }
    runtime.block_on(serve(switch, options, protocol, address, tls, json))?;
    Ok(ExitCode::SUCCESS)
}

/// Protocol of controllers, and the device's number in it.
#[derive(Clone, Copy)]
enum Protocol {
    P4Runtime(DeviceId),
    BfRuntime(inart_bfruntime::DeviceId, Option<Board>),
}

impl Protocol {
    fn of(bfrt: bool, device: u64, board: Option<Board>) -> anyhow::Result<Self> {
        if !bfrt {
            return Ok(Protocol::P4Runtime(DeviceId(device)));
        }
        let device = u32::try_from(device).context("--device-id: BFRuntime's devices have 32 bits")?;
        Ok(Protocol::BfRuntime(inart_bfruntime::DeviceId(device), board))
    }

    fn name(self) -> &'static str {
        match self {
            Protocol::P4Runtime(_) => "P4Runtime",
            Protocol::BfRuntime(..) => "BFRuntime",
        }
    }

    fn device(self) -> u64 {
        match self {
            Protocol::P4Runtime(device) => device.0,
            Protocol::BfRuntime(device, _) => device.0.into(),
        }
    }

    fn flag(self) -> &'static str {
        match self {
            Protocol::P4Runtime(_) => "--grpc-server-addr",
            Protocol::BfRuntime(..) => "--bfrt",
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_start_matches("error: ")
}

fn namespace(name: &str) -> PathBuf {
    if name.contains('/') { PathBuf::from(name) } else { PathBuf::from("/run/netns").join(name) }
}

async fn serve(
    switch: Switch,
    options: Options,
    protocol: Protocol,
    address: &str,
    tls: Option<ServerTls>,
    json: bool,
) -> anyhow::Result<()> {
    // From here on signals end the switch in order.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let listener = TcpListener::bind(address).await.map_err(|error| {
        anyhow::anyhow!(
            "cannot listen on {address} ({error}): give another one with {} HOST:PORT",
            protocol.flag()
        )
    })?;
    let (queue, events) = mpsc::channel(EVENT_QUEUE);
    let tell = move |event| {
        if let Err(mpsc::error::TrySendError::Full(_)) = queue.try_send(event) {
            tracing::warn!("a packet or digest for the controllers was dropped: they are slow");
        }
    };
    let started = Instant::now();
    let handle = Arc::new(ports::start(Arc::new(Mutex::new(switch)), &options, tell)?);
    announce(listener.local_addr()?, protocol.device(), &options, json);
    // To a controller, a switch that forwards nothing would look healthy.
    let (failed, mut failure) = (handle.failed(), None);
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            why = failed => failure = Some(why),
        }
    };
    match protocol {
        Protocol::P4Runtime(device) => {
            let running = handle.clone();
            let packet_out = Box::new(move |frame| running.packet_out(frame));
            let mut server = Server::new();
            tls.into_iter().for_each(|tls| server.set_tls(tls));
            server.add(device, Wiring { switch: handle.switch().clone(), started, packet_out, events });
            server.serve(listener, stop).await?;
        }
        // BFRuntime has no messages from the program to its controller, so `events` is not read.
        Protocol::BfRuntime(device, board) => {
            let mut server = bfrt::Server::new(device, handle.switch().clone());
            server.set_interfaces(handle.clone());
            board.into_iter().for_each(|board| server.set_front_ports(front_ports(board)));
            tls.into_iter().for_each(|tls| server.set_tls(tls));
            server.serve(listener, stop).await?;
        }
    }
    match failure {
        Some(why) => bail!("the switch's forwarding thread ended: {why}; start the switch again"),
        None => Ok(()),
    }
}

/// Prints the address as the first line on standard output, for users that chose port 0.
#[allow(clippy::print_stdout)]
fn announce(address: std::net::SocketAddr, device: u64, options: &Options, json: bool) {
    if json {
        let ports: Vec<_> = options
            .interfaces
            .iter()
            .map(|(port, interface)| serde_json::json!({"port": port.0, "interface": interface}))
            .collect();
        let document = serde_json::json!({"address": address, "device_id": device, "ports": ports});
        println!("{document}");
    } else {
        println!("listening on {address}");
    }
}

#[allow(clippy::print_stdout)]
fn conform(folder: &std::path::Path, arch: Option<Architecture>, json: bool) -> anyhow::Result<ExitCode> {
    let report = conformance::run_directory_for(folder, arch)
        .with_context(|| format!("cannot read the cases in {}", folder.display()))?;
    ensure!(report.total > 0, "{}: no cases there (pairs of NAME.stf and NAME.json)", folder.display());
    if json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        report.failed.iter().for_each(|failure| println!("{}: {}", failure.name, failure.why));
        println!("{} of {} cases pass", report.passed, report.total);
    }
    Ok(if report.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
