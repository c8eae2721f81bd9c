//! `simple_switch_grpc` with its frames over gRPC: no interfaces, no root.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use inart_p4::{Artifact, CASES_FOR, artifact};
use inart_p4runtime::p4::v1::Update;
use inart_p4runtime::{Client, DeviceId, Entry, Pipeline, PipelineAction, Schema, Target};
use inart_tables::{SwitchTables, diff};
use inart_targets::v1model;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Streaming};

use super::frame::ordinary;
use super::network::{self, FLOODED, MARKER_PORT};
use super::program::Built;
use super::run::Switch;

const PROGRAM: &str = "simple_switch_grpc";
const BROADCAST: [u8; 6] = [0xff; 6];
/// Longest wait for an expected frame.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time to wait for unexpected frames.
const QUIET: Duration = Duration::from_millis(50);

/// `PacketStreamRequest` and `PacketStreamResponse` of bmv2's `dataplane_interface.proto`, which are equal.
#[derive(Clone, PartialEq, prost::Message)]
struct Packet {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    device_id: u64,
    #[prost(uint32, tag = "3")]
    port: u32,
    #[prost(bytes = "vec", tag = "4")]
    packet: Vec<u8>,
}

pub struct Bmv2 {
    _process: Process,
    client: Client,
    channel: Channel,
    /// Open once bmv2 has a program.
    frames: Option<(mpsc::Sender<Packet>, Streaming<Packet>)>,
    markers: u64,
}

impl Bmv2 {
    /// `None` when bmv2 is not on the PATH.
    pub async fn start() -> Option<Self> {
        Command::new(PROGRAM).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        let [control, frames, thrift] = [free_address(), free_address(), free_address()];
        // A bmv2 with a Thrift server ends when another one has its port, 9090 unless stated.
        let (_, thrift) = thrift.rsplit_once(':').expect("an address has a port");
        let process = Command::new(PROGRAM)
            .args(["--no-p4", "--device-id", "1", "--log-level", "off", "--thrift-port", thrift, "--"])
            .args(["--grpc-server-addr", &control, "--dp-grpc-server-addr", &frames])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it answered --version");
        let process = Process(process);
        let channel = connect(&frames).await;
        // It listens there later, under load by much.
        drop(connect(&control).await);
        let client =
            Client::connect(Target::new(control, DeviceId(1))).await.expect("bmv2 takes a controller");
        Some(Self { _process: process, client, channel, frames: None, markers: 0 })
    }

    /// Starts any program afresh, and writes entries of its tables.
    pub async fn load_with(&mut self, program: &Artifact, entries: Vec<Entry>) -> Result<(), String> {
        if self.frames.is_none() {
            // The stream of frames begins with one that is flooded.
            self.load(Built::V1model(CASES_FOR)).await;
            unload(&self.client).await;
        }
        let schema = Schema::from_text(&program.p4info).map_err(|error| error.to_string())?;
        let p4info = schema.info().clone();
        let pipeline = Pipeline { p4info, device_config: program.json.to_vec(), cookie: None };
        let done = self.client.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline)).await;
        done.map_err(|error| error.to_string())?;
        let updates = entries.iter().map(|entry| schema.encode(entry).map(Update::insert));
        let updates = updates.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        self.client.write(updates).await.map_err(|error| error.to_string())
    }

    /// Sends some frames and returns all output, in any order: as many frames as are expected, and those
    /// shortly after. bmv2 may end at a frame.
    pub async fn send_all(
        &mut self,
        frames: &[(u16, Vec<u8>)],
        expected: usize,
    ) -> Result<Vec<(u16, Vec<u8>)>, String> {
        let (to_switch, from_switch) = self.frames.as_mut().expect("loaded before");
        for (port, bytes) in frames {
            to_switch.send(packet(*port, bytes)).await.map_err(|_| format!("{PROGRAM} ended"))?;
        }
        let mut out = Vec::new();
        loop {
            let patience = if out.len() < expected { PATIENCE } else { QUIET };
            let Ok(answer) = tokio::time::timeout(patience, from_switch.message()).await else {
                return Ok(out);
            };
            let Ok(Some(answer)) = answer else { return Err(format!("{PROGRAM} ended")) };
            out.push((answer.port as u16, answer.packet));
        }
    }
}

impl Switch for Bmv2 {
    async fn load(&mut self, program: Built) {
        assert!(!program.is_tofino(), "bmv2 runs v1model programs");
        if self.frames.is_some() {
            // bmv2 keeps the groups of the program before, and then copies twice.
            unload(&self.client).await;
        }
        load(&self.client, &artifact(program.values())).await;
        if self.frames.is_none() {
            self.frames = Some(packet_stream(self.channel.clone()).await);
        }
    }

    /// Sends a frame. A marker, flooded after the frame, shows when all output of the frame has left: queues
    /// keep order.
    async fn send(&mut self, port: u16, frame: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let (to_switch, from_switch) = self.frames.as_mut().expect("loaded before");
        self.markers += 1;
        let mut marker = ordinary(BROADCAST);
        marker.extend(self.markers.to_be_bytes());
        for (port, bytes) in [(port, frame), (MARKER_PORT, &marker)] {
            to_switch.send(packet(port, bytes)).await.expect("bmv2 takes frames");
        }
        let mut out = Vec::new();
        let mut markers_due = FLOODED.count();
        while markers_due > 0 {
            let answer = from_switch.message().await.expect("bmv2 runs").expect("bmv2 runs");
            if answer.packet == marker {
                markers_due -= 1;
            } else {
                out.push((answer.port as u16, answer.packet));
            }
        }
        out
    }

    async fn counter(&mut self, name: &str) -> Vec<u64> {
        let cells = self.client.read_counter(name).await.expect("the counter can be read");
        cells.into_iter().map(|cell| cell.packets as u64).collect()
    }

    fn sends_markers(&self) -> bool {
        true
    }

    async fn slots(&mut self) -> Option<Vec<Vec<u8>>> {
        None
    }
}

/// Removes the multicast groups, which outlive a program.
async fn unload(client: &Client) {
    let groups = SwitchTables { groups: network::tables().groups, ..SwitchTables::default() };
    write(client, &diff(&groups, &SwitchTables::default())).await;
}

async fn write(client: &Client, updates: &[inart_tables::Update]) {
    let schema = client.schema().expect("a program was set");
    let updates = updates.iter().map(|update| v1model::update(&schema, update).expect("it fits the program"));
    client.write(updates.collect()).await.expect("the switch takes the updates");
}

/// Starts the program afresh, with empty slots and zero counters, and writes the tables.
async fn load(client: &Client, artifact: &Artifact) {
    let schema = Schema::from_text(&artifact.p4info).expect("p4c printed P4Info");
    let pipeline =
        Pipeline { p4info: schema.info().clone(), device_config: artifact.json.to_vec(), cookie: None };
    client.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline)).await.expect("the program loads");
    write(client, &diff(&SwitchTables::default(), &network::tables())).await;
}

/// Stopped when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener.local_addr().expect("it is bound").to_string()
}

async fn connect(address: &str) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    for _ in 0..100 {
        if let Ok(channel) = endpoint.connect().await {
            return channel;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{PROGRAM} did not listen on {address}");
}

/// bmv2 answers the call with its first frame, so one is flooded to begin with. It takes none until its
/// packet threads run, which may be a moment after it has a program.
async fn packet_stream(channel: Channel) -> (mpsc::Sender<Packet>, Streaming<Packet>) {
    let mut grpc = tonic::client::Grpc::new(channel);
    for _ in 0..100 {
        let (to_switch, queue) = mpsc::channel(16);
        to_switch.send(packet(MARKER_PORT, &ordinary(BROADCAST))).await.expect("the queue is ours");
        grpc.ready().await.expect("bmv2 listens");
        let path =
            tonic::codegen::http::uri::PathAndQuery::from_static("/p4.bm.DataplaneInterface/PacketStream");
        let codec = tonic_prost::ProstCodec::<Packet, Packet>::default();
        let mut from_switch =
            match grpc.streaming(Request::new(ReceiverStream::new(queue)), path, codec).await {
                Ok(answer) => answer.into_inner(),
                Err(status) if status.code() == tonic::Code::Unavailable => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
                Err(status) => panic!("bmv2 streams no frames: {status}"),
            };
        for _ in FLOODED {
            from_switch.message().await.expect("bmv2 floods");
        }
        return (to_switch, from_switch);
    }
    panic!("{PROGRAM} takes no frames");
}

fn packet(port: u16, bytes: &[u8]) -> Packet {
    Packet { id: 0, device_id: 1, port: port.into(), packet: bytes.to_vec() }
}
