//! P4Runtime and BFRuntime for our programs for Tofino: entries written by either apply to frames, and both
//! read the same.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::rig;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use inart_bfruntime as bfrt;
use inart_p4::Variant;
use inart_p4runtime::p4::v1::{
    Entity, Index, MulticastGroupEntry, P4Data, P4StructLike, PacketReplicationEngineEntry, RegisterEntry,
    Replica, Update, entity, p4_data, packet_replication_engine_entry, replica,
};
use inart_p4runtime::{Entry, Pipeline, PipelineAction, Schema};
use inart_switch::{Port, Sink, Switch};
use inart_wire::ValuesPerFrame;
use rig::Rig;

const GROUP: u32 = 3;
const SLOT: u32 = 16;

fn json(variant: Variant) -> Vec<u8> {
    inart_p4::tofino_artifact(variant).unwrap().json.into_owned()
}

fn pipeline(variant: Variant) -> Pipeline {
    let p4info = inart_p4::tofino_artifact(variant).unwrap().p4info;
    let p4info = Schema::from_text(&p4info).unwrap().info().clone();
    Pipeline { p4info, device_config: json(variant), cookie: None }
}

/// Keys and parameters of two entries that add: worker, port.
const WORKERS: [(u16, u16); 2] = [(0, 1), (1, 2)];

/// Returns the gradient of a worker.
fn gradient(values: ValuesPerFrame, worker: u16, value: i32) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 9, 0x88, 0xb5, 0x31, 0];
    [1, 1, 0, worker].iter().for_each(|field: &u16| frame.extend(field.to_be_bytes()));
    frame.extend(5u32.to_be_bytes());
    frame.extend((1u64 << worker).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend((values.get() as u16).to_be_bytes());
    frame.extend([0, 0, 0, 7]);
    (0..values.get()).for_each(|_| frame.extend(value.to_be_bytes()));
    frame
}

/// Returns a frame without a known receiver, which is flooded.
fn stray() -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 0x77, 2, 0, 0, 0, 0, 9, 8, 0][..], &[5; 46]].concat()
}

/// Feeds the frames that both servers' switches get. Returns the output with its ports.
fn feed(values: ValuesPerFrame, mut send: impl FnMut(u32, &[u8]) -> Vec<(u32, Vec<u8>)>) {
    assert_eq!(send(1, &gradient(values, 0, 40)), []);
    let sums = send(2, &gradient(values, 1, 2));
    assert_eq!((sums.len(), sums[0].0), (1, 9));
    let (header, sum) = sums[0].1.split_at(44);
    assert_eq!((header[14], header[35]), (0x32, 0b11), "a partial of both");
    assert!(sum.chunks(4).all(|value| value == 42i32.to_be_bytes()));
    assert_eq!(send(4, &gradient(values, 1, 2)), [], "no receiver");
    let copies: Vec<_> = send(1, &stray()).into_iter().map(|(port, _)| port).collect();
    assert_eq!(copies, [2, 3], "not back to port 1");
}

/// Every counter that is not zero: name, cell, packets.
type Counted = Vec<(&'static str, u64, u64)>;

const COUNTERS: [&str; 6] =
    ["drops", "outcomes", "ingress_inart", "ingress_others", "egress_inart", "egress_others"];

/// Recirculation port: it is counted like any port.
const RECIRCULATED: u64 = 68;

/// Stored and completed, no route; by port.
fn expected(variant: Variant) -> Counted {
    let again = (variant.passes() > 1)
        .then_some([("egress_inart", RECIRCULATED, 2), ("ingress_inart", RECIRCULATED, 2)]);
    let mut counted = vec![
        ("drops", inart_p4::Reason::NoRoute.index() as u64, 1),
        ("outcomes", inart_p4::Outcome::SlotClaimed.index() as u64, 1),
        ("outcomes", inart_p4::Outcome::Completed.index() as u64, 1),
        ("ingress_inart", 1, 1),
        ("ingress_inart", 2, 1),
        ("ingress_inart", 4, 1),
        ("ingress_others", 1, 1),
        ("egress_inart", 9, 1),
        ("egress_others", 2, 1),
        ("egress_others", 3, 1),
    ];
    counted.extend(again.into_iter().flatten());
    sorted(counted)
}

fn sorted(mut counted: Counted) -> Counted {
    counted.sort_unstable();
    counted
}

fn full(name: &str) -> String {
    let control = if name.starts_with("egress") { "InArtEgress" } else { "InArtIngress" };
    format!("pipe.{control}.{name}")
}

fn p4runtime_entries() -> Vec<Entry> {
    let add = |(worker, port): (u16, u16)| {
        Entry::new("steer")
            .exact("epoch", 1u16)
            .exact("job", 1u16)
            .exact("shard", 0u16)
            .exact("worker", worker)
            .exact("ingress", port)
            .action(
                "add",
                [
                    ("port", 9u64),
                    ("base", SLOT.into()),
                    ("mask", 3),
                    ("members", 1 << worker),
                    ("expected", 3),
                ],
            )
    };
    let flood = Entry::default_of("mac").action("flood", [("group", u64::from(GROUP))]);
    WORKERS.map(add).into_iter().chain([flood]).collect()
}

fn group() -> Entity {
    let replicas =
        [1u8, 2, 3].map(|port| Replica { instance: 1, port_kind: Some(replica::PortKind::Port(vec![port])) });
    let group =
        MulticastGroupEntry { multicast_group_id: GROUP, replicas: replicas.into(), ..Default::default() };
    let group = packet_replication_engine_entry::Type::MulticastGroupEntry(group);
    PacketReplicationEngineEntry { r#type: Some(group) }.into()
}

/// Returns the entries of `steer` by port, and the packets that hit each.
async fn read_steer(client: &inart_p4runtime::Client) -> Vec<(Entry, Option<i64>)> {
    let mut found = client.read_table("InArtIngress.steer").await.unwrap();
    found.sort_by_key(|entry| format!("{:?}", entry.matches["ingress"]));
    let apart = |entry: Entry| {
        let packets = entry.counter.map(|counts| counts.packets);
        (Entry { counter: None, ..entry }, packets)
    };
    found.into_iter().map(apart).collect()
}

/// Returns the cell of the slot under test.
async fn register(client: &inart_p4runtime::Client, name: &str) -> p4_data::Data {
    let register_id = client.schema().unwrap().register(name).unwrap().id();
    let index = Some(Index { index: (SLOT + 1).into() });
    let found = client.read(vec![RegisterEntry { register_id, index, data: None }.into()]).await.unwrap();
    let [Entity { entity: Some(entity::Entity::RegisterEntry(cell)) }] = &found[..] else {
        panic!("{found:?}")
    };
    cell.data.clone().and_then(|data| data.data).unwrap()
}

#[tokio::test]
async fn by_p4runtime() {
    for variant in Variant::ALL {
        let rig = Rig::start().await;
        let client = rig.client().await;
        client.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline(variant))).await.unwrap();
        // The written configuration is read back, with the pipe's name.
        assert_eq!(client.pipeline().await.unwrap().unwrap(), pipeline(variant));
        let schema = client.schema().unwrap();
        let updates = |entry: &Entry| {
            let update = schema.encode(entry).unwrap();
            if entry.is_default { Update::modify(update) } else { Update::insert(update) }
        };
        let entries = p4runtime_entries();
        let updates = [Update::insert(group())].into_iter().chain(entries.iter().map(updates));
        client.write(updates.collect()).await.unwrap();
        let found = read_steer(&client).await;
        assert_eq!(
            found.iter().map(|(entry, _)| entry.clone()).collect::<Vec<_>>(),
            p4runtime_entries()[..2]
        );
        assert_eq!(client.read_multicast_groups().await.unwrap().len(), 1);

        feed(variant.values, |port, frame| rig.send(port, frame));
        let mut counted = Counted::new();
        for name in COUNTERS {
            let cells = client.read_counter(full(name).trim_start_matches("pipe.")).await.unwrap();
            let cells = cells.iter().enumerate().filter(|(_, cell)| cell.packets > 0);
            counted.extend(cells.map(|(at, cell)| (name, at as u64, cell.packets as u64)));
        }
        assert_eq!(sorted(counted), expected(variant));
        let hits: Vec<_> = read_steer(&client).await.into_iter().map(|(_, packets)| packets).collect();
        assert_eq!(hits, [Some(1), Some(1)]);
        let sequence = register(&client, "InArtIngress.slots.sequences").await;
        assert_eq!(sequence, p4_data::Data::Bitstring(vec![5]));
        // A register of structs.
        let mark = register(&client, "InArtIngress.slots.marks").await;
        let p4_data::Data::Struct(P4StructLike { members }) = mark else { panic!("{mark:?}") };
        assert_eq!(members[1], P4Data { data: Some(p4_data::Data::Bitstring(vec![5])) });
    }
}

#[derive(Default)]
struct Sent(Vec<(u32, Vec<u8>)>);

impl Sink for Sent {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push((port.0, frame.to_vec()));
    }
}

/// Returns the same entries as BFRuntime has them.
fn bfruntime_entries() -> Vec<bfrt::Change> {
    let add = |(worker, port): (u16, u16)| {
        let entry = bfrt::Entry::new("InArtIngress.steer")
            .exact("epoch", 1u16)
            .exact("job", 1u16)
            .exact("shard", 0u16)
            .exact("worker", worker)
            .exact("ingress", port);
        let entry = entry.action("InArtIngress.add").with("port", 9u16).with("base", SLOT).with("mask", 3u32);
        bfrt::Change::insert(entry.with("members", 1u64 << worker).with("expected", 3u64))
    };
    let flood = bfrt::Entry::default_of("InArtIngress.mac").action("InArtIngress.flood");
    WORKERS.map(add).into_iter().chain([bfrt::Change::modify(flood.with("group", GROUP))]).collect()
}

async fn counted(client: &bfrt::Client) -> Counted {
    let mut counted = Counted::new();
    for name in COUNTERS {
        client.sync(&full(name)).await.unwrap();
        for cell in client.read_table(&full(name)).await.unwrap() {
            let packets = cell.number("$COUNTER_SPEC_PKTS").unwrap();
            let Some(bfrt::Match::Exact(at)) = cell.key.get("$COUNTER_INDEX") else { panic!("{cell}") };
            if packets > 0 {
                counted.push((name, *at as u64, packets));
            }
        }
    }
    sorted(counted)
}

#[tokio::test]
async fn by_bfruntime() {
    for variant in Variant::ALL {
        let switch = Arc::new(Mutex::new(Switch::new(1)));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let device = bfrt::DeviceId(0);
        let server = inart_switch::bfrt::Server::new(device, switch.clone());
        tokio::spawn(server.serve(listener, std::future::pending()));
        let client = bfrt::Client::connect(bfrt::Target::new(&address, device)).await.unwrap();
        let info = inart_p4::tofino_artifact(variant).unwrap().bf_rt.into_owned();
        let profile = bfrt::Profile { name: "pipe".into(), binary: json(variant), ..Default::default() };
        let program = bfrt::Program { name: "inart".into(), info: info.clone(), profiles: vec![profile] };
        let own = client.configs().await.unwrap().device_info().unwrap();
        client.use_program("inart", Arc::new(bfrt::Info::from_json(&info).unwrap().with(&own).unwrap()));
        client.set_program(program).await.unwrap();
        client.bind("inart", Duration::ZERO).await.unwrap();
        client.insert_group(&bfrt::Group { id: GROUP as u16, ports: [1, 2, 3].into() }).await.unwrap();
        client.write(&bfruntime_entries(), bfrt::Batch::Rollback).await.unwrap();

        feed(variant.values, |port, frame| {
            let mut sent = Sent::default();
            switch.lock().unwrap().process(Port(port), frame, 0, &mut sent);
            sent.0
        });
        assert_eq!(counted(&client).await, expected(variant));
        let steer = client.read_table("pipe.InArtIngress.steer").await.unwrap();
        let hits: Vec<_> = steer.iter().map(|entry| entry.number("$COUNTER_SPEC_PKTS")).collect();
        assert_eq!(hits, [Some(1), Some(1)]);
        let cell = bfrt::Entry::new("pipe.InArtIngress.slots.sequences").exact("$REGISTER_INDEX", SLOT + 1);
        let found = client.read(&[cell]).await.unwrap();
        assert_eq!(found[0].number("InArtIngress.slots.sequences.f1"), Some(5));
    }
}

/// A P4Info of another program is refused, and names the difference.
#[tokio::test]
async fn another_p4info_is_refused() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let variant = Variant::ALL[0];
    let changed = |change: &dyn Fn(&mut inart_p4runtime::p4::config::v1::P4Info)| {
        let mut pipeline = pipeline(variant);
        change(&mut pipeline.p4info);
        pipeline
    };
    type Info = inart_p4runtime::p4::config::v1::P4Info;
    let steer = |info: &mut Info| {
        let named = |table: &&mut inart_p4runtime::p4::config::v1::Table| {
            table.preamble.as_ref().is_some_and(|preamble| preamble.name == "InArtIngress.steer")
        };
        info.tables.iter_mut().find(named).unwrap().preamble.as_mut().unwrap().name += "ed";
    };
    let marks = |info: &mut Info| {
        let named = info.registers.iter().position(|register| {
            register.preamble.as_ref().is_some_and(|preamble| preamble.name == "InArtIngress.slots.marks")
        });
        named.unwrap()
    };
    for (wrong, expected) in [
        (changed(&|info| steer(info)), "steered"),
        (
            changed(&|info| {
                let at = marks(info);
                info.registers[at].preamble.as_mut().unwrap().name = "InArtIngress.slots.mark".to_owned();
            }),
            "slots.mark",
        ),
        (
            changed(&|info| {
                let at = marks(info);
                info.registers[at].size = 8;
            }),
            "size 8 and 4096",
        ),
    ] {
        let refused = client.set_pipeline(PipelineAction::VerifyAndCommit, Some(wrong)).await;
        let refused = refused.expect_err(expected).to_string();
        assert!(refused.contains(expected) && !refused.contains('\n'), "{refused}");
    }
}
