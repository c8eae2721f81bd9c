//! The BFRuntime server, through the client: written entries apply to frames and are read back.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::bf_rt;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use inart_bfruntime::bfrt_proto::bf_runtime_client::BfRuntimeClient;
use inart_bfruntime::bfrt_proto::stream_message_response::Update;
use inart_bfruntime::bfrt_proto::{Entity, ReadRequest, ReadResponse, TargetDevice};
use inart_bfruntime::{
    Batch, Change, Client, ClientError, ClientId, Code, DeviceId, Entry, Fec, Group, Info, Match, OwnError,
    PortSettings, Profile, Program, Speed, Target, Value,
};
use inart_p4runtime::Schema;
use inart_switch::bfrt::Server;
use inart_switch::{Port, Sink, Switch};
use prost::Message;
use tokio::net::TcpListener;
use tonic::Status;

const JSON: &[u8] = include_bytes!("programs/everything.json");
const P4INFO: &str = include_str!("programs/everything.txtpb");
const DEVICE: DeviceId = DeviceId(3);
const NAME: &str = "everything";
/// Ends a hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// The ports that frames left by.
#[derive(Default)]
struct Sent(Vec<u32>);

impl Sink for Sent {
    fn packet(&mut self, port: Port, _: &[u8]) {
        self.0.push(port.0);
    }
}

struct Rig {
    address: String,
    switch: Arc<Mutex<Switch>>,
}

fn program() -> Program {
    let info = bf_rt::bf_rt(&Schema::from_text(P4INFO).unwrap()).into_bytes();
    let profiles = vec![Profile { name: "pipe".into(), binary: JSON.to_vec(), ..Profile::default() }];
    Program { name: NAME.into(), info, profiles }
}

impl Rig {
    async fn start() -> Self {
        let switch = Arc::new(Mutex::new(Switch::new(1)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(Server::new(DEVICE, switch.clone()).serve(listener, std::future::pending()));
        Rig { address, switch }
    }

    async fn client(&self) -> Client {
        Client::connect(Target::new(&self.address, DEVICE)).await.unwrap()
    }

    /// Returns a client that knows the program's names.
    async fn knowing(&self) -> Client {
        let client = self.client().await;
        let device = client.configs().await.unwrap().device_info().unwrap();
        let info = Info::from_json(&program().info).unwrap().with(&device).unwrap();
        client.use_program(NAME, Arc::new(info));
        client
    }

    /// Returns a client that loaded the program and is bound to it.
    async fn loaded(&self) -> Client {
        let client = self.knowing().await;
        client.set_program(program()).await.unwrap();
        client.bind(NAME, Duration::ZERO).await.unwrap();
        client
    }

    /// Returns the ports by which a frame leaves: source 9, body as given.
    fn send(&self, port: u32, dst: u64, a: u32, b: u16, c: u8, d: u8) -> Vec<u32> {
        let mut frame = dst.to_be_bytes()[2..].to_vec();
        frame.extend(&9u64.to_be_bytes()[2..]);
        frame.extend(0x1234u16.to_be_bytes());
        frame.extend(a.to_be_bytes());
        frame.extend(b.to_be_bytes());
        frame.extend([c, d]);
        frame.extend([0; 40]);
        let mut sent = Sent::default();
        self.switch.lock().unwrap().process(Port(port), &frame, 0, &mut sent);
        sent.0
    }
}

fn exact(dst: u64, port: u16, out: u16) -> Entry {
    Entry::new("exact_table")
        .exact("hdr.ethernet.dst", dst)
        .exact("std.ingress_port", port)
        .action("exact_send")
        .with("port", out)
}

fn ternary(priority: u32, out: u16) -> Entry {
    Entry::new("ternary_table")
        .matching("hdr.body.a", Match::Ternary { value: 0x0a00_0000, mask: 0xff00_0000 })
        .matching("hdr.body.b", Match::Range { low: 10, high: 20 })
        .matching("hdr.body.c", Match::Optional(None))
        .exact("hdr.body.d", 4u8)
        .exact("$MATCH_PRIORITY", priority)
        .action("send")
        .with("port", out)
}

fn code(result: Result<(), ClientError>) -> Code {
    match result {
        Ok(()) => Code::Ok,
        Err(ClientError::Write(error)) => error.failures[0].code,
        Err(ClientError::Rpc { code, .. }) => code,
        Err(error) => panic!("{error}"),
    }
}

async fn insert(client: &Client, entry: Entry) -> Code {
    code(client.write(&[Change::insert(entry)], Batch::Continue).await)
}

#[tokio::test]
async fn entries_of_every_match_apply_to_frames_and_are_read_back() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    assert_eq!(insert(&client, exact(1, 2, 500)).await, Code::Ok);
    assert_eq!(insert(&client, exact(1, 2, 500)).await, Code::AlreadyExists);
    assert_eq!(rig.send(2, 1, 0, 0, 0, 0), [500]);
    let lpm = Entry::new("lpm_table")
        .matching("hdr.body.a", Match::Lpm { value: 0x0a00_0000, prefix_len: 8 })
        .action("send")
        .with("port", 3u8);
    assert_eq!(insert(&client, lpm.clone()).await, Code::Ok);
    assert_eq!(rig.send(2, 1, 0x0a01_0203, 0, 0, 0), [3]);
    // The least priority wins, as on the chip.
    assert_eq!(insert(&client, ternary(20, 5)).await, Code::Ok);
    assert_eq!(insert(&client, ternary(10, 6)).await, Code::Ok);
    assert_eq!(rig.send(2, 1, 0x0a01_0203, 15, 99, 4), [6]);
    assert_eq!(rig.send(2, 1, 0x0a01_0203, 21, 99, 4), [3], "b is out of range");

    assert_eq!(client.read_table("lpm_table").await.unwrap(), [lpm]);
    let mut found = client.read_table("ternary_table").await.unwrap();
    found.sort_by(|a, b| a.key["$MATCH_PRIORITY"].cmp(&b.key["$MATCH_PRIORITY"]));
    assert_eq!(found, [ternary(10, 6), ternary(20, 5)]);
    let found = client.read_table("exact_table").await.unwrap();
    assert_eq!(found[0].number("$COUNTER_SPEC_PKTS"), Some(4));
    assert_eq!(found[0].number("$COUNTER_SPEC_BYTES"), Some(4 * 62));

    assert_eq!(code(client.write(&[Change::delete(ternary(10, 6))], Batch::Continue).await), Code::Ok);
    assert_eq!(rig.send(2, 1, 0x0a01_0203, 15, 99, 4), [5]);
    let gone = client.write(&[Change::delete(ternary(10, 6))], Batch::Continue).await;
    assert_eq!(code(gone), Code::NotFound);
    let full: Vec<_> = (10..14).map(|dst| Change::insert(exact(dst, 2, 1))).collect();
    let error = client.write(&full, Batch::Continue).await.unwrap_err();
    let ClientError::Write(error) = error else { panic!("{error}") };
    assert_eq!((error.total, error.failures.len(), error.failures[0].index), (4, 1, 3));
    assert_eq!(error.failures[0].code, Code::ResourceExhausted);
    assert!(error.failures[0].update.starts_with("insert exact_table["), "{error}");
}

#[tokio::test]
async fn a_transaction_that_fails_leaves_everything_as_it_was() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    assert_eq!(insert(&client, exact(1, 2, 500)).await, Code::Ok);
    assert_eq!(insert(&client, exact(2, 2, 501)).await, Code::Ok);
    rig.send(2, 1, 0, 0, 0, 0);
    let before = client.read_table("exact_table").await.unwrap();
    let changes = [
        Change::modify(exact(1, 2, 9)),
        Change::delete(exact(2, 2, 501)),
        Change::insert(exact(3, 2, 7)),
        Change::modify(Entry::default_of("exact_table").action("exact_send").with("port", 8u8)),
        Change::insert(exact(3, 2, 7)),
        Change::insert(exact(4, 2, 7)),
    ];
    let error = client.write(&changes, Batch::Rollback).await.unwrap_err();
    let ClientError::Write(error) = error else { panic!("{error}") };
    assert_eq!((error.undone, error.failures.len(), error.failures[0].index), (true, 1, 4));
    let mut after = client.read_table("exact_table").await.unwrap();
    let by_key = |entry: &Entry| entry.key["hdr.ethernet.dst"].clone();
    let mut before = before;
    before.sort_by_key(by_key);
    after.sort_by_key(by_key);
    assert_eq!(after, before, "counts too");
    assert_eq!(rig.send(2, 99, 0, 0, 0, 0), [0u32; 0], "the default drops again");
    let default = client.read_default("exact_table").await.unwrap().unwrap();
    assert_eq!(default.action.as_deref(), Some("exact_drop"));
    client.write(&changes[..4], Batch::Rollback).await.unwrap();
    assert_eq!((rig.send(2, 1, 0, 0, 0, 0), rig.send(2, 99, 0, 0, 0, 0)), (vec![9], vec![8]));
    // The device's own tables take part in none.
    let group = Group { id: 5, ports: [1].into() };
    assert_eq!(
        code(client.write(&[Change::insert(group.node())], Batch::Rollback).await),
        Code::Unimplemented
    );
}

#[tokio::test]
async fn groups_copy_to_their_ports() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    assert_eq!(insert(&client, exact(1, 2, 500)).await, Code::Ok);
    let to_group = ternary(1, 0).action("to_group");
    let to_group = Entry { data: [("group".into(), Value::Number(5))].into(), ..to_group };
    assert_eq!(insert(&client, to_group).await, Code::Ok);
    let copies = || {
        let mut ports = rig.send(2, 1, 0x0a00_0000, 15, 0, 4);
        ports.sort_unstable();
        ports
    };
    let mut group = Group { id: 5, ports: [1, 7, 300].into() };
    client.insert_group(&group).await.unwrap();
    assert_eq!(copies(), [1, 7, 300]);
    assert_eq!(client.read_groups().await.unwrap(), [group.clone()]);
    assert_eq!(code(client.insert_group(&group).await), Code::AlreadyExists);
    group.ports = [2].into();
    client.modify_group(&group).await.unwrap();
    assert_eq!(copies(), [2]);
    client.delete_group(&group).await.unwrap();
    assert!(client.read_groups().await.unwrap().is_empty() && copies().is_empty());
    // The remainder of a broken insert, a node without a group, disturbs no client.
    client.write(&[Change::insert(group.node())], Batch::Continue).await.unwrap();
    assert!(client.read_groups().await.unwrap().is_empty());
    client.insert_group(&Group { ports: [6].into(), ..group }).await.unwrap();
    assert_eq!(copies(), [6]);
}

#[tokio::test]
async fn counters_and_registers_are_read_and_set() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    rig.send(2, 1, 0, 0, 0, 0);
    rig.send(2, 1, 0, 0, 0, 0);
    client.sync("seen").await.unwrap();
    let seen = client.read_table("seen").await.unwrap();
    let packets: Vec<_> = seen.iter().map(|cell| cell.number("$COUNTER_SPEC_PKTS").unwrap()).collect();
    assert_eq!(packets, [0, 0, 2, 0, 0, 0, 0, 0]);
    let cell = Entry::new("seen").exact("$COUNTER_INDEX", 2u8);
    let zero = cell.clone().with("$COUNTER_SPEC_PKTS", 0u8).with("$COUNTER_SPEC_BYTES", 0u8);
    client.write(&[Change::modify(zero)], Batch::Continue).await.unwrap();
    let read = client.read(&[cell]).await.unwrap();
    assert_eq!((read.len(), read[0].number("$COUNTER_SPEC_PKTS")), (1, Some(0)));
    let beyond = Entry::new("seen").exact("$COUNTER_INDEX", 8u8);
    let error = client.read(&[beyond]).await.unwrap_err().to_string();
    assert!(error.contains("INVALID_ARGUMENT") && error.contains("8 cells"), "{error}");

    let cell = Entry::new("cells").exact("$REGISTER_INDEX", 3u8);
    let set = cell.clone().with("I.cells.f1", 0x1_2345u32);
    client.write(&[Change::modify(set.clone())], Batch::Continue).await.unwrap();
    assert_eq!(client.read(&[cell]).await.unwrap(), [set]);
    assert_eq!(client.read_table("cells").await.unwrap().len(), 16);
    assert_eq!(rig.switch.lock().unwrap().register("I.cells", 3).unwrap(), [1, 0x23, 0x45]);
}

#[tokio::test]
async fn one_client_writes_and_others_read() {
    let rig = Rig::start().await;
    let early = rig.knowing().await;
    assert_eq!(code(early.bind(NAME, Duration::ZERO).await), Code::NotFound, "nothing is loaded yet");
    let client = rig.loaded().await;
    assert_eq!(insert(&client, exact(1, 2, 500)).await, Code::Ok);
    assert_eq!(early.read_table("exact_table").await.unwrap().len(), 1);
    assert_eq!(insert(&early, exact(2, 2, 500)).await, Code::FailedPrecondition);
    let owned = early.bind(NAME, Duration::ZERO).await.unwrap_err();
    assert!(
        matches!(&owned, ClientError::Own(OwnError::Owned { program, .. }) if program == NAME),
        "{owned}"
    );
    // A waiting client is bound when the other disconnects.
    let waiting = early.bind(NAME, Duration::from_secs(20));
    let (bound, ()) = tokio::join!(waiting, async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        drop(client);
    });
    bound.unwrap();
    assert_eq!(insert(&early, exact(2, 2, 500)).await, Code::Ok);

    let id = early.target().client;
    let twin = Client::connect(Target { client: id, ..Target::new(&rig.address, DEVICE) }).await;
    assert!(matches!(twin.err(), Some(ClientError::Rpc { code: Code::InvalidArgument, .. })));
    let wrong =
        Client::connect(Target { client: ClientId(1), ..Target::new(&rig.address, DeviceId(9)) }).await;
    let wrong = wrong.err().unwrap().to_string();
    assert!(wrong.contains("there is no device 9 here, only 3"), "{wrong}");
}

#[tokio::test]
async fn another_program_disconnects_clients_bound_to_the_previous_one() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    assert_eq!(insert(&client, exact(1, 2, 500)).await, Code::Ok);
    let other = rig.knowing().await;
    // The same again: its tables are empty, its client stays.
    other.set_program(program()).await.unwrap();
    assert!(client.read_table("exact_table").await.unwrap().is_empty());
    assert_eq!(insert(&client, exact(1, 2, 500)).await, Code::Ok);
    other.set_program(Program { name: "another".into(), ..program() }).await.unwrap();
    let lost = tokio::time::timeout(Duration::from_secs(20), client.lost()).await.unwrap();
    assert!(matches!(lost, ClientError::Rpc { code: Code::Cancelled, .. }), "{lost}");
    let configs = other.configs().await.unwrap();
    assert_eq!(configs.programs.len(), 1);
    assert!(configs.program("another").is_some_and(|found| found.profiles == program().profiles));
}

#[tokio::test]
async fn what_is_no_program_is_refused_and_the_one_that_runs_stays() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    assert_eq!(insert(&client, exact(1, 2, 500)).await, Code::Ok);
    let with_info = |from: &str, to: &str| {
        let info = String::from_utf8(program().info).unwrap();
        assert!(info.contains(from), "{from}");
        Program { info: info.replacen(from, to, 1).into_bytes(), ..program() }
    };
    let binary = |binary: &[u8]| {
        let profile = Profile { binary: binary.to_vec(), ..program().profiles[0].clone() };
        Program { profiles: vec![profile], ..program() }
    };
    for (wrong, expected) in [
        (Program { info: b"{".to_vec(), ..program() }, "not a bf-rt.json"),
        (Program { profiles: Vec::new(), ..program() }, "0 profiles"),
        (Program { name: String::new(), ..program() }, "no p4_name"),
        (binary(b"\x7fELF"), "not a tofino.bin"),
        (with_info("pipe.I.exact_table", "pipe.I.other_table"), "no table pipe.I.other_table"),
        (with_info("I.exact_send", "I.other_send"), "no action I.other_send"),
    ] {
        let error = client.set_program(wrong).await.unwrap_err().to_string();
        assert!(error.contains("INVALID_ARGUMENT") && error.contains(expected), "{error}");
    }
    assert_eq!(client.read_table("exact_table").await.unwrap().len(), 1);
}

#[tokio::test]
async fn ports_are_added_enabled_and_reported() {
    let rig = Rig::start().await;
    let mut client = rig.loaded().await;
    let mut events = client.take_events().unwrap();
    let port = |number, enabled| PortSettings {
        number,
        speed: Speed::G100,
        fec: Fec::ReedSolomon,
        enabled,
        loopback: false,
    };
    let added = |port: PortSettings| Change::insert(port.entry());
    let both = [added(port(4, true)), added(port(132, false))];
    client.write(&both, Batch::Continue).await.unwrap();
    let found = client.read_ports().await.unwrap();
    let states: Vec<_> = found.iter().map(|state| (state.settings, state.up)).collect();
    assert_eq!(states, [(port(4, true), true), (port(132, false), false)]);
    assert_eq!(code(client.write(&[added(port(4, true))], Batch::Continue).await), Code::AlreadyExists);
    // 72 and 127 are no ports of a pipe.
    assert_eq!(code(client.write(&[added(port(72, true))], Batch::Continue).await), Code::InvalidArgument);
    client.write(&[Change::delete(PortSettings::key(4))], Batch::Continue).await.unwrap();
    assert_eq!(client.read_ports().await.unwrap().len(), 1);
    let mut changes = Vec::new();
    while changes.len() < 2 {
        let event = tokio::time::timeout(Duration::from_secs(20), events.recv()).await.unwrap().unwrap();
        if let Update::PortStatusChangeNotification(change) = event {
            changes.push(change.port_up);
        }
    }
    assert_eq!(changes, [true, false]);
    let read_only = PortSettings::key(132).with("$PORT_UP", true);
    let error = client.write(&[Change::modify(read_only)], Batch::Continue).await.unwrap_err().to_string();
    assert!(error.contains("$PORT_UP") && error.contains("the device only"), "{error}");
}

/// Returns the program with a register array of that many cells, and tables of 5,000 entries.
fn with_cells(cells: usize) -> Program {
    let pipeline = crate::rig::with_cells(cells);
    let info = bf_rt::bf_rt(&Schema::new(pipeline.p4info).unwrap()).into_bytes();
    let mut json: serde_json::Value = serde_json::from_slice(&pipeline.device_config).unwrap();
    let pipelines = json["pipelines"].as_array_mut().unwrap().iter_mut();
    for table in pipelines.flat_map(|pipeline| pipeline["tables"].as_array_mut().unwrap()) {
        table["max_size"] = 5000.into();
    }
    let profile = Profile { binary: json.to_string().into_bytes(), ..program().profiles[0].clone() };
    Program { info, profiles: vec![profile], ..program() }
}

/// Loads the program with that many cells, and is bound to it.
async fn with_many_cells(rig: &Rig, cells: usize) -> Client {
    let client = rig.client().await;
    let device = client.configs().await.unwrap().device_info().unwrap();
    let program = with_cells(cells);
    let info = Info::from_json(&program.info).unwrap().with(&device).unwrap();
    client.use_program(NAME, Arc::new(info));
    client.set_program(program).await.unwrap();
    client.bind(NAME, Duration::ZERO).await.unwrap();
    client
}

#[tokio::test]
async fn a_write_of_all_cells_many_times_over_is_refused() {
    let rig = Rig::start().await;
    let client = with_many_cells(&rig, 1 << 25).await;
    let all = || Change::modify(Entry::new("cells").with("I.cells.f1", 7u8));
    let written = client.write(&[all(), all(), all()], Batch::Continue).await;
    let ClientError::Write(error) = written.unwrap_err() else { panic!("the third is too much") };
    let failed: Vec<_> = error.failures.iter().map(|failure| (failure.index, failure.code)).collect();
    assert_eq!(failed, [(2, Code::ResourceExhausted)]);
    assert_eq!(rig.switch.lock().unwrap().register("I.cells", (1 << 25) - 1).unwrap(), [7]);
}

/// Returns the answers of a read of all readable tables by the program's name, one after the other.
async fn answers(rig: &Rig, client: &Client, wanted: &[Entry]) -> tonic::Streaming<ReadResponse> {
    let info = client.info().unwrap();
    let entities = wanted.iter().map(|entry| info.encode(entry).unwrap().into());
    let request = ReadRequest {
        target: Some(TargetDevice { device_id: DEVICE.0, pipe_id: 0xffff, direction: 0xff, prsr_id: 0xff }),
        entities: entities.collect(),
        p4_name: NAME.into(),
        ..Default::default()
    };
    let channel = inart_tls::connect_channel(&rig.address, &inart_tls::Security::Local, PATIENCE);
    let mut raw = BfRuntimeClient::new(channel.await.unwrap());
    raw.read(request).await.unwrap().into_inner()
}

async fn soon<T>(answer: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, answer).await.expect("in time")
}

/// Returns the entities of the answers that are left, and the most entities and bytes of one answer.
async fn rest(answers: &mut tonic::Streaming<ReadResponse>) -> Result<(Vec<Entity>, usize, usize), Status> {
    let (mut all, mut most, mut longest) = (Vec::new(), 0, 0);
    while let Some(answer) = soon(answers.message()).await? {
        most = most.max(answer.entities.len());
        longest = longest.max(answer.encoded_len());
        all.extend(answer.entities);
    }
    Ok((all, most, longest))
}

#[tokio::test]
async fn a_read_of_many_cells_is_answered_in_parts() {
    let rig = Rig::start().await;
    let client = with_many_cells(&rig, 1 << 19).await;
    let all = Entry::new("cells");
    let (found, most, longest) = rest(&mut answers(&rig, &client, &[all.clone(), all]).await).await.unwrap();
    assert_eq!(found.len(), 2 << 19);
    assert!(most <= 1024 + 64 && longest < 300 << 10, "{most} entities, {longest} B");
    let found = client.read_table("cells").await.unwrap();
    let cells: Vec<_> = found.iter().filter_map(|cell| cell.key.get("$REGISTER_INDEX")).collect();
    let expected: Vec<_> = (0..1u128 << 19).map(Match::Exact).collect();
    assert!(cells.iter().zip(&expected).all(|(cell, expected)| *cell == expected), "in order, each once");
    assert_eq!(cells.len(), expected.len());
}

#[tokio::test]
async fn entries_that_were_deleted_leave_no_gap_in_the_parts_of_a_read() {
    let rig = Rig::start().await;
    let client = with_many_cells(&rig, 16).await;
    let entry = |dst: u64| exact(dst, 2, 500);
    let many: Vec<_> = (0..4000).map(|dst| Change::insert(entry(dst))).collect();
    client.write(&many, Batch::Continue).await.unwrap();
    // One of two goes, and all of some thousand.
    let gone = |dst: &u64| dst % 2 == 1 || (1000..3000).contains(dst);
    let deleted: Vec<_> = (0..4000).filter(gone).map(|dst| Change::delete(entry(dst))).collect();
    client.write(&deleted, Batch::Continue).await.unwrap();
    let (found, most, _) =
        rest(&mut answers(&rig, &client, &[Entry::new("exact_table")]).await).await.unwrap();
    assert!(most <= 1024 + 64, "{most} entities");
    let keys: std::collections::HashSet<_> = found.iter().map(Message::encode_to_vec).collect();
    assert_eq!((found.len(), keys.len()), (1000, 1000), "each once");
}

#[tokio::test]
async fn long_entries_fill_an_answer_by_their_bytes() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let groups = (1..=1500).map(|id| Group { id, ports: (0..500).collect() });
    let changes: Vec<_> = groups.map(|group| Change::insert(group.node())).collect();
    client.write(&changes, Batch::Continue).await.unwrap();
    let (found, _, longest) =
        rest(&mut answers(&rig, &client, &[Entry::new("$pre.node")]).await).await.unwrap();
    assert_eq!(found.len(), 1500);
    assert!(longest < 300 << 10, "{longest} B");
}

#[tokio::test]
async fn a_write_waits_for_no_slow_reader_which_reads_again() {
    let rig = Rig::start().await;
    let client = with_many_cells(&rig, 1 << 19).await;
    let mut slow = answers(&rig, &client, &[Entry::new("cells")]).await;
    soon(slow.message()).await.unwrap().unwrap();
    assert_eq!(soon(insert(&client, exact(1, 2, 500))).await, Code::Ok);
    assert_eq!(rest(&mut slow).await.unwrap_err().code(), Code::Aborted);
    assert_eq!(client.read_table("exact_table").await.unwrap().len(), 1, "the next read has all of it");
}

#[tokio::test]
async fn a_read_that_asks_for_too_much_is_refused() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    for (filter, count, most) in [(exact(1, 2, 3), 20_000, "16384"), (ternary(1, 2), 16_000, "1048576 bytes")]
    {
        let refused = client.read(&vec![filter; count]).await.unwrap_err();
        let ClientError::Rpc { code, message, .. } = refused else { panic!("{refused}") };
        assert_eq!(code, Code::ResourceExhausted, "{message}");
        assert!(message.contains(most), "{message}");
    }
}

/// Checks that each node costs its own size, not a copy of all existing nodes.
#[tokio::test]
async fn many_nodes_and_groups_are_written_in_one_batch() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let groups = (1..=6_000).map(|id| Group { id, ports: [u32::from(id % 500)].into() });
    let changes: Vec<_> =
        groups.flat_map(|group| [group.node(), group.entry()]).map(Change::insert).collect();
    let written = tokio::time::timeout(Duration::from_secs(60), client.write(&changes, Batch::Continue));
    written.await.expect("in time").unwrap();
    assert_eq!(client.read_groups().await.unwrap().len(), 6_000);
}

/// A request that arrives slowly holds a place from its first byte on, so that few can be buffered.
#[tokio::test]
async fn calls_take_their_places_before_their_requests_are_read() {
    use inart_bfruntime::bfrt_proto::{WriteRequest, WriteResponse};
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let security = inart_tls::Security::Local;
    let channel = inart_tls::connect_channel(&rig.address, &security, Duration::from_secs(20));
    let channel = channel.await.unwrap();
    let mut slow = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let mut grpc = tonic::client::Grpc::new(channel.clone());
        slow.spawn(async move {
            grpc.ready().await.unwrap();
            // The request is there, its end is not.
            let first = tokio_stream::once(WriteRequest::default());
            let request = tokio_stream::StreamExt::chain(first, tokio_stream::pending());
            let path = tonic::codegen::http::uri::PathAndQuery::from_static("/bfrt_proto.BfRuntime/Write");
            let codec = tonic_prost::ProstCodec::<WriteRequest, WriteResponse>::default();
            grpc.client_streaming(tonic::Request::new(request), path, codec).await
        });
    }
    let taken = async {
        loop {
            if matches!(client.configs().await, Err(ClientError::Rpc { code: Code::ResourceExhausted, .. })) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), taken).await.expect("all places are taken");
    assert!(client.read_table("exact_table").await.unwrap().is_empty(), "reads have places of their own");
    drop(slow);
    let free = async {
        while client.configs().await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), free).await.expect("places are free again");
}
