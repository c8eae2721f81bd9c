use std::sync::atomic::AtomicBool;
use std::time::Instant;

use inart_p4runtime::p4::v1::packet_replication_engine_entry::Type as Pre;
use inart_p4runtime::p4::v1::{
    ActionProfileMember, CloneSessionEntry, Entity, ForwardingPipelineConfig, MulticastGroupEntry,
    PacketReplicationEngineEntry, Replica, TableEntry, Update, replica::PortKind,
};
use inart_p4runtime::{Entry, Schema};
use tonic::Code;

use super::super::clock::Clock;
use super::super::pipeline::Pipeline;
use super::super::verify::Verified;

const JSON: &[u8] = include_bytes!("../../tests/programs/everything.json");
const P4INFO: &str = include_str!("../../tests/programs/everything.txtpb");

/// Returns the test program with `room` bytes in addition to its initial entities.
fn pipeline(room: u64) -> Pipeline {
    let config = ForwardingPipelineConfig {
        p4info: Some(Schema::from_text(P4INFO).unwrap().info().clone()),
        p4_device_config: JSON.to_vec(),
        cookie: None,
    };
    let verified = Verified::new(config, &AtomicBool::new(false)).unwrap();
    let mut pipeline = Pipeline::stage(verified, Clock(Instant::now())).unwrap();
    pipeline.room.most = pipeline.room.used + room;
    pipeline
}

fn group(id: u32, port: Vec<u8>) -> Entity {
    let replica = Replica { port_kind: Some(PortKind::Port(port)), instance: 1 };
    MulticastGroupEntry { multicast_group_id: id, replicas: vec![replica], ..Default::default() }.into()
}

fn session(id: u32) -> Entity {
    let session = CloneSessionEntry { session_id: id, ..Default::default() };
    PacketReplicationEngineEntry { r#type: Some(Pre::CloneSessionEntry(session)) }.into()
}

fn entry(schema: &Schema, id: u32, metadata: usize) -> Entity {
    let entry = Entry::new("lpm_table").lpm("hdr.body.a", id << 8, 24).action("send", [("port", 1u8)]);
    TableEntry { metadata: vec![1; metadata], ..schema.encode(&entry).unwrap() }.into()
}

fn member(schema: &Schema, id: u32) -> Entity {
    let profile = schema.info().action_profiles.iter().find(|profile| profile.with_selector).unwrap();
    let entry = Entry::new("lpm_table").lpm("hdr.body.a", 0x100u32, 24).action("send", [("port", 1u8)]);
    let Some(inart_p4runtime::p4::v1::table_action::Type::Action(action)) =
        schema.encode(&entry).unwrap().action.and_then(|action| action.r#type)
    else {
        panic!()
    };
    ActionProfileMember { action_profile_id: profile.id(), member_id: id, action: Some(action) }.into()
}

/// Each kind fills the room with few entities, and gives all of it back.
#[test]
fn entities_of_every_kind_take_room_until_they_are_deleted() {
    type Make = fn(&Schema, u32) -> Entity;
    let kinds: [(&str, Make); 4] = [
        // A port's leading zeros are kept as received.
        ("groups", |_, id| group(id, [vec![0; 700], vec![1]].concat())),
        ("sessions", |_, id| session(id)),
        ("entries", |schema, id| entry(schema, id, 0)),
        ("members", member),
    ];
    for (kind, make) in kinds {
        let mut pipeline = pipeline(5000);
        let (schema, start) = (pipeline.schema.clone(), pipeline.room.used);
        let mut held = 0;
        let refused = loop {
            match pipeline.write(&Update::insert(make(&schema, held + 1))) {
                Ok(()) => held += 1,
                Err(status) => break status,
            }
            assert!(held < 12, "{kind}: no end");
        };
        assert_eq!(refused.code(), Code::ResourceExhausted, "{kind}: {refused}");
        assert!(refused.message().contains("bytes of memory"), "{kind}: {refused}");
        assert!(held >= 3, "{kind}: {held}");
        for id in 1..=held {
            pipeline.write(&Update::delete(make(&schema, id))).unwrap();
        }
        assert_eq!(pipeline.room.used, start, "{kind}");
    }
}

#[test]
fn an_entity_that_grows_needs_room_and_one_that_shrinks_gives_it_back() {
    let mut pipeline = pipeline(1500);
    let schema = pipeline.schema.clone();
    pipeline.write(&Update::insert(entry(&schema, 1, 100))).unwrap();
    let grown = pipeline.write(&Update::modify(entry(&schema, 1, 2000))).unwrap_err();
    assert_eq!(grown.code(), Code::ResourceExhausted);
    pipeline.write(&Update::modify(entry(&schema, 1, 800))).unwrap();
    assert!(pipeline.write(&Update::insert(entry(&schema, 2, 0))).is_err(), "it has grown");
    pipeline.write(&Update::modify(entry(&schema, 1, 0))).unwrap();
    pipeline.write(&Update::insert(entry(&schema, 2, 0))).unwrap();
}

#[test]
fn the_metadata_of_a_group_is_bounded_as_an_entrys() {
    let mut pipeline = pipeline(1 << 20);
    let with = |bytes| MulticastGroupEntry {
        multicast_group_id: 1,
        metadata: vec![1; bytes],
        ..MulticastGroupEntry::default()
    };
    let refused = pipeline.write(&Update::insert(with(5000))).unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    pipeline.write(&Update::insert(with(4000))).unwrap();
}
