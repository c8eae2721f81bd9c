//! Ports over BFRuntime: `$PORT`, `$PORT_STAT` and `$PORT_HDL_INFO`, through the client.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use inart_bfruntime::{
    Batch, Change, Client, ClientError, Code, DeviceId, Entry, Fec, PortCounts, PortSettings, Profile,
    Program, Speed, Target,
};
use inart_switch::bfrt::{FrontPorts, Interfaces, Server};
use inart_switch::control::{ActionCall, Entry as Row, EntryAction, Match, Port};
use inart_switch::ports::PortStatistics;
use inart_switch::{Sink, Switch};

const DEVICE: DeviceId = DeviceId(0);

/// A TNA program that sends to the port in its table `route`; see `tna.rs`.
const PROGRAM: &[u8] = include_bytes!("tna/externs.json");

/// Port 8 has an interface.
#[derive(Default)]
struct Wire {
    linked: AtomicBool,
    frames: AtomicU64,
}

impl Interfaces for Wire {
    fn ports(&self) -> Vec<Port> {
        vec![Port(8)]
    }

    fn traffic(&self, port: Port) -> PortStatistics {
        let frames = if port == Port(8) { self.frames.load(Ordering::Relaxed) } else { 0 };
        PortStatistics {
            received: frames,
            received_bytes: 100 * frames,
            sent: 2 * frames,
            sent_bytes: 300 * frames,
            ..PortStatistics::default()
        }
    }

    fn has_carrier(&self, port: Port) -> Option<bool> {
        (port == Port(8)).then(|| self.linked.load(Ordering::Relaxed))
    }
}

struct Rig {
    /// Bound to the program.
    client: Client,
    /// Configures ports next to that one.
    other: Client,
    switch: Arc<Mutex<Switch>>,
    wire: Arc<Wire>,
}

impl Rig {
    /// Creates a switch with a program, behind a server with these front ports.
    async fn start(front: Option<FrontPorts>) -> Self {
        let (switch, wire) = (Arc::new(Mutex::new(Switch::new(1))), Arc::new(Wire::default()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut server = Server::new(DEVICE, switch.clone());
        server.set_interfaces(wire.clone());
        front.into_iter().for_each(|front| server.set_front_ports(front));
        tokio::spawn(server.serve(listener, std::future::pending()));
        let connect = async || Client::connect(Target::new(&address, DEVICE)).await.unwrap();
        let (client, other) = (connect().await, connect().await);
        let profiles = vec![Profile { binary: PROGRAM.to_vec(), ..Profile::default() }];
        let program = Program { name: "externs".into(), info: br#"{"tables": []}"#.to_vec(), profiles };
        client.set_program(program).await.unwrap();
        let device = Arc::new(client.configs().await.unwrap().device_info().unwrap());
        [&client, &other].into_iter().for_each(|client| client.use_program("externs", device.clone()));
        client.bind("externs", Duration::ZERO).await.unwrap();
        Rig { client, other, switch, wire }
    }

    async fn write(&self, change: Change) -> Code {
        code(self.client.write(&[change], Batch::Continue).await)
    }

    /// Number, speed, whether enabled and whether up of each port.
    async fn ports(&self) -> Vec<(u32, Speed, bool, bool)> {
        let found = self.client.read_ports().await.unwrap();
        found.iter().map(|it| (it.settings.number, it.settings.speed, it.settings.enabled, it.up)).collect()
    }
}

fn code(result: Result<(), ClientError>) -> Code {
    match result {
        Ok(()) => Code::Ok,
        Err(ClientError::Write(error)) => error.failures[0].code,
        Err(ClientError::Rpc { code, .. }) => code,
        Err(error) => panic!("{error}"),
    }
}

fn settings(number: u32, speed: Speed) -> PortSettings {
    PortSettings { number, speed, fec: Fec::None, enabled: true, loopback: false }
}

#[tokio::test]
async fn a_port_with_an_interface_is_there_and_up_while_that_has_a_link() {
    let rig = Rig::start(None).await;
    assert_eq!(rig.ports().await, [(8, Speed::None, true, false)]);
    rig.wire.linked.store(true, Ordering::Relaxed);
    assert_eq!(rig.ports().await, [(8, Speed::None, true, true)]);
    // Added as any other, once.
    let added = || Change::insert(settings(8, Speed::G100).entry());
    assert_eq!(rig.write(added()).await, Code::Ok);
    assert_eq!(rig.ports().await, [(8, Speed::G100, true, true)]);
    assert_eq!(rig.write(added()).await, Code::AlreadyExists);
    let disabled = PortSettings::key(8).with("$PORT_ENABLE", false);
    assert_eq!(rig.write(Change::modify(disabled)).await, Code::Ok);
    assert_eq!(rig.ports().await, [(8, Speed::G100, false, false)]);
    // Another speed enables, as the driver does.
    assert_eq!(
        rig.write(Change::modify(PortSettings::key(8).with("$SPEED", "BF_SPEED_40G"))).await,
        Code::Ok
    );
    assert_eq!(rig.ports().await, [(8, Speed::G40, true, true)]);
    rig.wire.linked.store(false, Ordering::Relaxed);
    assert_eq!(rig.ports().await, [(8, Speed::G40, true, false)]);
}

#[tokio::test]
async fn ports_are_added_changed_and_removed() {
    let rig = Rig::start(None).await;
    assert_eq!(rig.write(Change::delete(PortSettings::key(8))).await, Code::Ok);
    let bare = |field: &str, value: &str| PortSettings::key(4).with(field, value);
    assert_eq!(rig.write(Change::insert(bare("$SPEED", "BF_SPEED_10G"))).await, Code::InvalidArgument);
    assert_eq!(rig.write(Change::insert(bare("$FEC", "BF_FEC_TYP_NONE"))).await, Code::InvalidArgument);
    assert_eq!(rig.write(Change::modify(bare("$SPEED", "BF_SPEED_10G"))).await, Code::NotFound);
    let read = rig.client.read(&[PortSettings::key(4)]).await;
    assert_eq!(code(read.map(drop)), Code::NotFound);
    // Two lanes, the other two, and a port that has no room next to them.
    rig.other.set_ports(&[settings(4, Speed::G50), settings(6, Speed::G50)]).await.unwrap();
    rig.other.set_ports(&[settings(6, Speed::G25)]).await.unwrap();
    for (number, speed) in [(5, Speed::G10), (4, Speed::G100), (9, Speed::G50), (13, Speed::G100)] {
        let refused = rig.other.set_ports(&[settings(number, speed)]).await;
        assert_eq!(code(refused), Code::InvalidArgument, "{number}");
    }
    assert_eq!(rig.ports().await, [(4, Speed::G50, true, true), (6, Speed::G25, true, true)]);
    let found = rig.client.read(&[PortSettings::key(6)]).await.unwrap().remove(0);
    assert_eq!((found.number("$CONN_ID"), found.number("$CHNL_ID")), (Some(2), Some(2)));
    assert_eq!((found.number("$N_LANES"), found.number("$TX_MTU")), (Some(1), Some(10240)));
    assert_eq!(rig.write(Change::delete(Entry::new("$PORT"))).await, Code::Ok, "all of them");
    assert!(rig.ports().await.is_empty());
}

#[tokio::test]
async fn frames_and_octets_are_counted_until_they_are_cleared() {
    let rig = Rig::start(None).await;
    let counts = async || rig.client.read_port_counts().await.unwrap();
    let of_frames = |frames: u64| PortCounts {
        received: frames,
        received_bytes: 100 * frames,
        sent: 2 * frames,
        sent_bytes: 300 * frames,
    };
    rig.wire.frames.store(5, Ordering::Relaxed);
    rig.other.set_ports(&[settings(4, Speed::G10)]).await.unwrap();
    assert_eq!(counts().await, BTreeMap::from([(4, of_frames(0)), (8, of_frames(5))]));
    let stat = |number: u32| Entry::new("$PORT_STAT").exact("$DEV_PORT", number);
    assert_eq!(
        rig.write(Change::modify(stat(8).with("$FramesReceivedOK", 3u64))).await,
        Code::InvalidArgument
    );
    assert_eq!(rig.write(Change::modify(stat(8).with("$FramesReceivedOK", 0u64))).await, Code::Ok);
    assert_eq!(counts().await[&8], PortCounts { received: 0, ..of_frames(5) });
    assert_eq!(rig.write(Change::modify(stat(8))).await, Code::Ok);
    rig.wire.frames.store(7, Ordering::Relaxed);
    assert_eq!(counts().await[&8], of_frames(2));
    assert_eq!(rig.write(Change::delete(Entry::new("$PORT_STAT"))).await, Code::Ok);
    assert_eq!(counts().await[&8], of_frames(0));
    assert_eq!(rig.write(Change::modify(stat(12))).await, Code::NotFound);
}

#[tokio::test]
async fn front_ports_are_those_of_the_board() {
    let rig = Rig::start(None).await;
    let front = rig.client.read_front_ports().await.unwrap();
    assert_eq!((front.len(), front[&(1, 0)], front[&(16, 3)], front[&(17, 0)]), (256, 0, 63, 128));
    let board: FrontPorts = [(56, (9, 0)), (57, (9, 1))].into_iter().collect();
    let rig = Rig::start(Some(board)).await;
    let front = rig.client.read_front_ports().await.unwrap();
    assert_eq!(front, BTreeMap::from([((9, 0), 56), ((9, 1), 57)]));
    let key = |front: u32| Entry::new("$PORT_HDL_INFO").exact("$CONN_ID", front).exact("$CHNL_ID", 1u8);
    let found = rig.client.read(&[key(9)]).await.unwrap();
    assert_eq!(found[0].number("$DEV_PORT"), Some(57));
    assert_eq!(code(rig.client.read(&[key(10)]).await.map(drop)), Code::NotFound);
    // Elsewhere than at the front.
    assert_eq!(rig.client.read_ports().await.unwrap()[0].front, None);
}

/// The ports that frames left by.
#[derive(Default)]
struct Sent(Vec<u32>);

impl Sink for Sent {
    fn packet(&mut self, port: Port, _: &[u8]) {
        self.0.push(port.0);
    }
}

#[tokio::test]
async fn frames_return_to_the_ingress_at_a_port_in_loopback_mode() {
    let rig = Rig::start(None).await;
    // All to port 9.
    let send = ActionCall { action: "Ingress.send".into(), params: vec![9u16.to_be_bytes().to_vec()] };
    let row = Row::new(vec![Match::Any], 1, EntryAction::Call(send));
    rig.switch.lock().unwrap().insert_entry("Ingress.route", row).unwrap();
    let sent = || {
        let (mut sent, mut switch) = (Sent::default(), rig.switch.lock().unwrap());
        // Operation 0, nothing else; the checksum of zeros.
        let frame = [0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0];
        switch.process(Port(3), &frame, 17, &mut sent);
        (sent.0, switch.statistics().runaway)
    };
    assert_eq!(sent(), (vec![9], 0));
    let looped = PortSettings { loopback: true, ..settings(9, Speed::G25) };
    rig.other.set_ports(&[looped]).await.unwrap();
    assert_eq!(sent(), (vec![], 1), "round and round, until it is given up");
    let state = rig.client.read_ports().await.unwrap();
    assert!(state.iter().any(|port| port.settings == looped && port.up));
    rig.other.set_ports(&[PortSettings { enabled: false, ..looped }]).await.unwrap();
    assert_eq!(sent(), (vec![9], 1), "only where it is enabled");
}
