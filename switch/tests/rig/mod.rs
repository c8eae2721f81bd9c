//! A switch in this process with a P4Runtime server in front, and a client of it.
#![allow(dead_code)]

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use inart_p4runtime::p4::v1::p4_runtime_client::P4RuntimeClient;
use inart_p4runtime::p4::v1::{Entity, Update, entity};
use inart_p4runtime::{
    Client, ClientError, DeviceId, ElectionId, Entry, Event, Pipeline, PipelineAction, Schema, Target,
};
use inart_switch::ports;
use inart_switch::server::{Server, Wiring};
use inart_switch::{Digest, Port, Sink, Switch};
use inart_tls::{Security, connect_channel};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tonic::Code;
use tonic::transport::Channel;

pub const JSON: &[u8] = include_bytes!("../programs/everything.json");
pub const P4INFO: &str = include_str!("../programs/everything.txtpb");
pub const DEVICE: DeviceId = DeviceId(7);
pub const CPU_PORT: Port = Port(510);
/// Longer than anything here takes; only a failure waits for it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Keeps the frames that leave by ports, and forwards those to the controller.
pub struct Wires {
    sent: Vec<(u32, Vec<u8>)>,
    to_controller: mpsc::Sender<ports::Event>,
}

impl Wires {
    pub fn take(&mut self) -> Vec<(u32, Vec<u8>)> {
        std::mem::take(&mut self.sent)
    }
}

impl Sink for Wires {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        if port == CPU_PORT {
            self.to_controller.try_send(ports::Event::PacketIn(frame.to_vec())).expect("room");
        } else {
            self.sent.push((port.0, frame.to_vec()));
        }
    }

    fn digest(&mut self, digest: Digest) {
        self.to_controller.try_send(ports::Event::Digest(digest)).expect("room");
    }
}

pub struct Rig {
    pub address: String,
    pub switch: Arc<Mutex<Switch>>,
    pub wires: Arc<Mutex<Wires>>,
    started: Instant,
    _stop: oneshot::Sender<()>,
}

impl Rig {
    pub async fn start() -> Self {
        let switch = Arc::new(Mutex::new(Switch::new(1)));
        let started = Instant::now();
        let (to_controller, feed) = mpsc::channel(1024);
        let wires = Arc::new(Mutex::new(Wires { sent: Vec::new(), to_controller }));
        let packet_out = {
            let (switch, wires) = (switch.clone(), wires.clone());
            move |frame: Vec<u8>| {
                let now_us = started.elapsed().as_micros() as u64;
                let mut wires = wires.lock().unwrap();
                switch.lock().unwrap().process(CPU_PORT, &frame, now_us, &mut *wires);
                true
            }
        };
        let mut server = Server::new();
        server.add(
            DEVICE,
            Wiring { switch: switch.clone(), started, packet_out: Box::new(packet_out), events: feed },
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(server.serve(listener, async move {
            let _ = stopped.await;
        }));
        Rig { address, switch, wires, started, _stop: stop }
    }

    /// Sends a frame to a port. Returns the output frames so far.
    pub fn send(&self, port: u32, frame: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let now_us = self.started.elapsed().as_micros() as u64;
        let mut wires = self.wires.lock().unwrap();
        self.switch.lock().unwrap().process(Port(port), frame, now_us, &mut *wires);
        std::mem::take(&mut wires.sent)
    }

    pub fn target(&self, election: u128) -> Target {
        Target { election: Some(ElectionId(election)), ..Target::new(&self.address, DEVICE) }
    }

    /// Returns a primary client, the program not loaded yet.
    pub async fn client(&self) -> Client {
        let client = Client::connect(self.target(1)).await.unwrap();
        client.wait_primary(PATIENCE).await.unwrap();
        client
    }

    /// Returns a primary client with the program loaded.
    pub async fn loaded(&self) -> Client {
        let client = self.client().await;
        client.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline())).await.unwrap();
        client
    }

    /// Returns a client that sends requests unchanged.
    pub async fn raw(&self) -> P4RuntimeClient<Channel> {
        P4RuntimeClient::new(self.channel().await)
    }

    /// Returns a connection of its own.
    pub async fn channel(&self) -> Channel {
        connect_channel(&self.address, &Security::default(), PATIENCE).await.unwrap()
    }
}

pub fn schema() -> Schema {
    Schema::from_text(P4INFO).unwrap()
}

pub fn pipeline() -> Pipeline {
    Pipeline { p4info: schema().info().clone(), device_config: JSON.to_vec(), cookie: Some(42) }
}

/// Returns the program with a register array of that many cells.
pub fn with_cells(cells: usize) -> Pipeline {
    let mut json: serde_json::Value = serde_json::from_slice(JSON).unwrap();
    json["register_arrays"][0]["size"] = cells.into();
    let mut made = pipeline();
    made.device_config = json.to_string().into_bytes();
    made.p4info.registers[0].size = cells as i32;
    made
}

/// Returns the code of the first failed update, or of the call.
pub fn code(result: Result<(), ClientError>) -> Code {
    match result {
        Ok(()) => Code::Ok,
        Err(ClientError::Write(error)) => error.failures[0].code,
        Err(ClientError::Rpc { code, .. }) => code,
        Err(error) => panic!("{error}"),
    }
}

pub async fn insert(client: &Client, entry: &Entry) -> Code {
    code(client.write(vec![Update::insert(encode(entry))]).await)
}

pub fn encode(entry: &Entry) -> Entity {
    schema().encode(entry).unwrap().into()
}

/// Waits for something that must happen.
pub async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it happens in time")
}

pub async fn next(events: &mut mpsc::Receiver<Event>) -> Event {
    soon(events.recv()).await.expect("the stream is open")
}

/// Returns an Ethernet frame with the program's body header.
pub fn frame(dst: u64, src: u64, a: u32, b: u16, c: u8, d: u8) -> Vec<u8> {
    let mut frame = dst.to_be_bytes()[2..].to_vec();
    frame.extend(&src.to_be_bytes()[2..]);
    frame.extend(0x1234u16.to_be_bytes());
    frame.extend(a.to_be_bytes());
    frame.extend(b.to_be_bytes());
    frame.extend([c, d]);
    frame.extend([0xee; 40]);
    frame
}

pub fn exact_entry(dst: u64, port: u16, out: u16) -> Entry {
    Entry::new("exact_table")
        .exact("hdr.ethernet.dst", dst)
        .exact("std.ingress_port", port)
        .action("exact_send", [("port", out)])
}

pub fn ternary_entry(priority: i32) -> Entry {
    Entry::new("ternary_table")
        .ternary("hdr.body.a", 0x0a00_0000u32, 0xff00_0000u32)
        .range("hdr.body.b", 10u8, 20u8)
        .optional("hdr.body.c", 3u8)
        .exact("hdr.body.d", 4u8)
        .priority(priority)
        .action("send", [("port", 6u8)])
}

pub fn lpm_entry(value: u32, length: u32, out: u8) -> Entry {
    Entry::new("lpm_table").lpm("hdr.body.a", value, length).action("send", [("port", out)])
}

/// The frame goes through the tables behind `exact_table` only if that does not drop it.
pub async fn let_through(client: &Client) {
    assert_eq!(insert(client, &exact_entry(1, 1, 500)).await, Code::Ok);
}

pub async fn write(client: &Client, update: Update) -> Code {
    code(client.write(vec![update]).await)
}

pub async fn read_one(client: &Client, filter: impl Into<Entity>) -> Vec<entity::Entity> {
    let found = client.read(vec![filter.into()]).await.unwrap();
    found.into_iter().map(|entity| entity.entity.unwrap()).collect()
}

pub fn out(sent: Vec<(u32, Vec<u8>)>) -> Vec<u32> {
    sent.into_iter().map(|(port, _)| port).collect()
}
