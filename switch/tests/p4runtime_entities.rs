//! The P4Runtime server over gRPC: counters, meters, registers, action profiles, replication, value sets,
//! digests.
#![allow(clippy::unwrap_used)]

use crate::rig;

use inart_p4runtime::p4::v1::{
    self, CounterData, Entity, FieldMatch, Index, MeterConfig, Update, entity, field_match,
};
use inart_p4runtime::{ActionCall, Entry, Event, OneShot, PipelineAction, TableAction};
use proptest::prelude::*;
use prost::Message;
use rig::{
    Rig, encode, exact_entry, frame, insert, let_through, lpm_entry, next, out, read_one, schema,
    ternary_entry, write,
};
use tonic::Code;

#[tokio::test]
async fn direct_counters_and_meters_belong_to_their_entries() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let config = MeterConfig { cir: 1, cburst: 1, pir: 2, pburst: 2, eburst: 0 };
    let mut entry = schema().encode(&exact_entry(1, 1, 1)).unwrap();
    entry.counter_data = Some(CounterData { packet_count: 10, byte_count: 100 });
    entry.meter_config = Some(config);
    assert_eq!(write(&client, Update::insert(entry.clone())).await, Code::Ok);
    let key =
        v1::TableEntry { table_id: entry.table_id, r#match: entry.r#match.clone(), ..Default::default() };
    let counter = v1::DirectCounterEntry { table_entry: Some(key.clone()), data: None };
    let bytes = frame(1, 9, 0, 0, 0, 0);
    rig.send(1, &bytes);
    let expected = CounterData { packet_count: 11, byte_count: 100 + bytes.len() as i64 };
    let found = read_one(&client, counter.clone()).await;
    assert_eq!(
        found,
        [entity::Entity::DirectCounterEntry(v1::DirectCounterEntry {
            data: Some(expected),
            ..counter.clone()
        })]
    );
    let set = v1::DirectCounterEntry {
        data: Some(CounterData { packet_count: 1, byte_count: 2 }),
        ..counter.clone()
    };
    assert_eq!(write(&client, Update::modify(set.clone())).await, Code::Ok);
    assert_eq!(write(&client, Update::insert(set.clone())).await, Code::InvalidArgument);
    assert_eq!(client.read_table("exact_table").await.unwrap()[0].counter.unwrap().packets, 1);
    let meter =
        v1::DirectMeterEntry { table_entry: Some(key.clone()), config: Some(config), counter_data: None };
    assert_eq!(
        read_one(&client, v1::DirectMeterEntry { config: None, ..meter.clone() }).await,
        [entity::Entity::DirectMeterEntry(meter.clone())]
    );
    let filter = v1::DirectMeterEntry { table_entry: Some(v1::TableEntry::default()), ..Default::default() };
    assert_eq!(read_one(&client, filter).await.len(), 1);
    assert_eq!(
        write(&client, Update::modify(v1::DirectMeterEntry { config: None, ..meter.clone() })).await,
        Code::Ok
    );
    // MODIFY without a counter leaves it, without a meter resets that.
    assert_eq!(
        write(&client, Update::modify(v1::TableEntry { counter_data: None, ..entry.clone() })).await,
        Code::Ok
    );
    assert_eq!(
        write(&client, Update::modify(v1::TableEntry { counter_data: None, meter_config: None, ..entry }))
            .await,
        Code::Ok
    );
    assert_eq!(client.read_table("exact_table").await.unwrap()[0].counter.unwrap().packets, 1);
    let missing = v1::DirectCounterEntry {
        table_entry: Some(schema().encode(&exact_entry(2, 1, 1)).unwrap()),
        data: None,
    };
    assert_eq!(write(&client, Update::modify(missing)).await, Code::NotFound);
    let none = v1::DirectCounterEntry {
        table_entry: Some(schema().encode(&lpm_entry(0, 0, 1)).unwrap()),
        data: None,
    };
    assert_eq!(write(&client, Update::modify(none)).await, Code::InvalidArgument);
}

#[tokio::test]
async fn counters_meters_and_registers_are_read_and_written_by_cell_or_whole() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let data = Some(CounterData { packet_count: 5, byte_count: 6 });
    let counter = v1::CounterEntry { counter_id: schema().counter("seen").unwrap().id(), index: None, data };
    let at = |index| Some(Index { index });
    assert_eq!(write(&client, Update::modify(counter)).await, Code::Ok);
    assert_eq!(client.read_counter("seen").await.unwrap().iter().filter(|cell| cell.packets == 5).count(), 8);
    let one = v1::CounterEntry { index: at(2), data: Some(CounterData::default()), ..counter };
    assert_eq!(write(&client, Update::modify(one)).await, Code::Ok);
    assert_eq!(read_one(&client, one).await, [entity::Entity::CounterEntry(one)]);
    assert_eq!(read_one(&client, v1::CounterEntry::default()).await.len(), 8);
    assert_eq!(write(&client, Update::insert(counter)).await, Code::InvalidArgument);
    assert_eq!(
        write(&client, Update::modify(v1::CounterEntry { index: at(-1), ..counter })).await,
        Code::InvalidArgument
    );
    assert_eq!(
        write(&client, Update::modify(v1::CounterEntry { index: at(8), ..counter })).await,
        Code::OutOfRange
    );
    assert_eq!(
        write(&client, Update::modify(v1::CounterEntry { counter_id: 1, ..counter })).await,
        Code::InvalidArgument
    );

    let config = Some(MeterConfig { cir: 1, cburst: 1, pir: 2, pburst: 2, eburst: 0 });
    let meter = v1::MeterEntry {
        meter_id: schema().meter("pace").unwrap().id(),
        index: at(3),
        config,
        counter_data: None,
    };
    assert_eq!(write(&client, Update::modify(meter)).await, Code::Ok);
    let read = read_one(&client, v1::MeterEntry { index: None, config: None, ..meter }).await;
    assert_eq!((read.len(), &read[3]), (4, &entity::Entity::MeterEntry(meter)));
    assert_eq!(
        write(&client, Update::modify(v1::MeterEntry { index: at(4), ..meter })).await,
        Code::OutOfRange
    );
    assert_eq!(write(&client, Update::delete(meter)).await, Code::InvalidArgument);

    let bits = |value: &[u8]| Some(v1::P4Data { data: Some(v1::p4_data::Data::Bitstring(value.to_vec())) });
    let register = v1::RegisterEntry {
        register_id: schema().register("cells").unwrap().id(),
        index: at(3),
        data: bits(&[7]),
    };
    assert_eq!(write(&client, Update::modify(register.clone())).await, Code::Ok);
    assert_eq!(read_one(&client, register.clone()).await, [entity::Entity::RegisterEntry(register.clone())]);
    assert_eq!(read_one(&client, v1::RegisterEntry::default()).await.len(), 16);
    let wide = v1::RegisterEntry { data: bits(&[1, 0, 0, 0, 0]), ..register.clone() };
    assert_eq!(write(&client, Update::modify(wide)).await, Code::OutOfRange);
    let other = v1::P4Data { data: Some(v1::p4_data::Data::Bool(true)) };
    assert_eq!(
        write(&client, Update::modify(v1::RegisterEntry { data: Some(other), ..register.clone() })).await,
        Code::InvalidArgument
    );
    assert_eq!(
        write(&client, Update::modify(v1::RegisterEntry { data: None, ..register.clone() })).await,
        Code::InvalidArgument
    );
    // The program reads, adds one and writes back.
    let_through(&client).await;
    let remember =
        Entry::new("ternary_table").exact("hdr.body.d", 1u8).priority(1).action("remember", [("index", 3u8)]);
    assert_eq!(insert(&client, &remember).await, Code::Ok);
    rig.send(1, &frame(1, 9, 0, 0, 0, 1));
    assert_eq!(
        read_one(&client, register.clone()).await,
        [entity::Entity::RegisterEntry(v1::RegisterEntry { data: bits(&[8]), ..register })]
    );
}

fn member(id: u32, port: u8) -> v1::ActionProfileMember {
    let action = schema().encode_action(&ActionCall::new("send", [("port", port)])).unwrap();
    v1::ActionProfileMember {
        action_profile_id: schema().action_profile("choice").unwrap().id(),
        member_id: id,
        action: Some(action),
    }
}

fn group(id: u32, members: &[(u32, i32)]) -> v1::ActionProfileGroup {
    let one = |&(member_id, weight): &(u32, i32)| v1::action_profile_group::Member {
        member_id,
        weight,
        watch_kind: None,
    };
    v1::ActionProfileGroup {
        action_profile_id: schema().action_profile("choice").unwrap().id(),
        group_id: id,
        members: members.iter().map(one).collect(),
        max_size: 0,
    }
}

#[tokio::test]
async fn action_profiles_hold_members_groups_and_one_shots() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let_through(&client).await;
    let entry = |action| Entry {
        action: Some(action),
        ..Entry::new("select_table").exact("hdr.ethernet.type", 0x1234u16)
    };
    assert_eq!(insert(&client, &entry(TableAction::Member(1))).await, Code::NotFound);
    assert_eq!(
        insert(&client, &entry(TableAction::Call(ActionCall::new("send", [("port", 1u8)])))).await,
        Code::InvalidArgument
    );
    assert_eq!(write(&client, Update::insert(member(0, 1))).await, Code::InvalidArgument);
    assert_eq!(write(&client, Update::modify(member(1, 1))).await, Code::NotFound);
    for id in 1..=16 {
        assert_eq!(write(&client, Update::insert(member(id, id as u8))).await, Code::Ok);
    }
    assert_eq!(write(&client, Update::insert(member(17, 1))).await, Code::ResourceExhausted);
    assert_eq!(write(&client, Update::insert(member(1, 1))).await, Code::AlreadyExists);
    assert_eq!(
        write(&client, Update::insert(v1::ActionProfileMember { action: None, ..member(18, 1) })).await,
        Code::InvalidArgument
    );

    assert_eq!(write(&client, Update::insert(group(1, &[(1, 1), (99, 1)]))).await, Code::NotFound);
    assert_eq!(write(&client, Update::insert(group(1, &[(1, 0)]))).await, Code::InvalidArgument);
    assert_eq!(write(&client, Update::insert(group(1, &[(1, 1), (1, 1)]))).await, Code::InvalidArgument);
    assert_eq!(write(&client, Update::insert(group(1, &[(2, 1)]))).await, Code::Ok);
    assert_eq!(
        write(&client, Update::modify(v1::ActionProfileGroup { max_size: 3, ..group(1, &[(2, 1)]) })).await,
        Code::InvalidArgument
    );
    assert_eq!(write(&client, Update::modify(group(1, &[(3, 2), (4, 1)]))).await, Code::Ok);
    assert_eq!(write(&client, Update::delete(member(3, 1))).await, Code::FailedPrecondition);
    // The selector's size is 16: the sum of the weights of all groups.
    assert_eq!(write(&client, Update::insert(group(2, &[(3, 14)]))).await, Code::ResourceExhausted);
    assert_eq!(write(&client, Update::insert(group(2, &[(3, 13)]))).await, Code::Ok);
    assert_eq!(write(&client, Update::delete(group(2, &[]))).await, Code::Ok);
    assert_eq!(
        read_one(&client, v1::ActionProfileGroup::default()).await,
        [entity::Entity::ActionProfileGroup(group(1, &[(3, 2), (4, 1)]))]
    );
    assert_eq!(read_one(&client, v1::ActionProfileMember::default()).await.len(), 16);
    assert_eq!(read_one(&client, member(5, 0)).await, [entity::Entity::ActionProfileMember(member(5, 5))]);

    assert_eq!(insert(&client, &entry(TableAction::Group(2))).await, Code::NotFound);
    assert_eq!(insert(&client, &entry(TableAction::Group(1))).await, Code::Ok);
    assert!([3, 4].contains(&out(rig.send(1, &frame(1, 9, 0, 0, 0, 0)))[0]));
    assert_eq!(write(&client, Update::delete(group(1, &[]))).await, Code::FailedPrecondition);
    assert_eq!(write(&client, Update::modify(encode(&entry(TableAction::Member(5))))).await, Code::Ok);
    assert_eq!(out(rig.send(1, &frame(1, 9, 0, 0, 0, 0))), [5]);
    assert_eq!(write(&client, Update::delete(member(5, 5))).await, Code::FailedPrecondition);
    assert_eq!(write(&client, Update::delete(group(1, &[]))).await, Code::Ok);
    assert_eq!(write(&client, Update::delete(group(1, &[]))).await, Code::NotFound);

    let one = |port: u8, weight| OneShot {
        call: ActionCall::new("send", [("port", port)]),
        weight,
        watch_port: None,
    };
    let one_shot = entry(TableAction::OneShot(vec![one(11, 1), one(12, 2)]));
    // Members and action sets exclude each other.
    assert_eq!(write(&client, Update::modify(encode(&one_shot))).await, Code::InvalidArgument);
    assert_eq!(write(&client, Update::delete(encode(&one_shot))).await, Code::Ok);
    for id in 1..=16 {
        assert_eq!(write(&client, Update::delete(member(id, 1))).await, Code::Ok);
    }
    let heavy = entry(TableAction::OneShot(vec![one(11, 17)]));
    assert_eq!(insert(&client, &heavy).await, Code::ResourceExhausted);
    assert_eq!(insert(&client, &one_shot).await, Code::Ok);
    assert_eq!(write(&client, Update::insert(member(5, 5))).await, Code::InvalidArgument);
    assert!([11, 12].contains(&out(rig.send(1, &frame(1, 9, 0, 0, 0, 0)))[0]));
    assert_eq!(client.read_table("select_table").await.unwrap(), std::slice::from_ref(&one_shot));
    let weightless = entry(TableAction::OneShot(vec![one(11, 0)]));
    assert_eq!(write(&client, Update::modify(encode(&weightless))).await, Code::InvalidArgument);
    assert_eq!(write(&client, Update::delete(encode(&one_shot))).await, Code::Ok);
    assert_eq!(write(&client, Update::insert(member(5, 5))).await, Code::Ok);
    assert_eq!(write(&client, Update::delete(member(5, 5))).await, Code::Ok);
}

#[tokio::test]
async fn multicast_groups_and_clone_sessions_copy_packets() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let_through(&client).await;
    let group = v1::MulticastGroupEntry {
        metadata: b"g".to_vec(),
        ..v1::MulticastGroupEntry::new(5, [(1, 0), (2, 0), (2, 1)])
    };
    assert_eq!(write(&client, Update::modify(group.clone())).await, Code::NotFound);
    assert_eq!(write(&client, Update::insert(group.clone())).await, Code::Ok);
    assert_eq!(write(&client, Update::insert(group.clone())).await, Code::AlreadyExists);
    for bad in [
        (0, [(1, 0), (2, 0)]),
        (6, [(1, 0), (1, 0)]),
        (6, [(512, 0), (1, 0)]),
        (6, [(1, 70000), (1, 0)]),
        (70000, [(1, 0), (2, 0)]),
    ] {
        let bad = v1::MulticastGroupEntry::new(bad.0, bad.1);
        assert_eq!(write(&client, Update::insert(bad.clone())).await, Code::InvalidArgument, "{bad:?}");
    }
    let flood =
        Entry::new("ternary_table").exact("hdr.body.d", 1u8).priority(1).action("to_group", [("group", 5u8)]);
    assert_eq!(insert(&client, &flood).await, Code::Ok);
    assert_eq!(out(rig.send(1, &frame(1, 9, 0, 0, 0, 1))), [1, 2, 2]);
    assert_eq!(client.read_multicast_groups().await.unwrap(), std::slice::from_ref(&group));
    assert_eq!(write(&client, Update::modify(v1::MulticastGroupEntry::new(5, [(4, 0)]))).await, Code::Ok);
    assert_eq!(out(rig.send(1, &frame(1, 9, 0, 0, 0, 1))), [4]);
    assert_eq!(write(&client, Update::delete(v1::MulticastGroupEntry::new(5, []))).await, Code::Ok);
    assert!(rig.send(1, &frame(1, 9, 0, 0, 0, 1)).is_empty());

    let session = |id, bytes| v1::CloneSessionEntry {
        session_id: id,
        replicas: vec![v1::Replica::new(9, 0)],
        class_of_service: 0,
        packet_length_bytes: bytes,
    };
    let copy =
        Entry::new("ternary_table").exact("hdr.body.d", 2u8).priority(1).action("copy", [("session", 3u8)]);
    assert_eq!(insert(&client, &copy).await, Code::Ok);
    assert_eq!(write(&client, Update::insert(session(0, 0))).await, Code::InvalidArgument);
    assert_eq!(write(&client, Update::insert(session(3, -1))).await, Code::InvalidArgument);
    let classed = v1::CloneSessionEntry { class_of_service: 1, ..session(3, 0) };
    assert_eq!(write(&client, Update::insert(classed)).await, Code::Unimplemented);
    assert_eq!(write(&client, Update::insert(session(3, 20))).await, Code::Ok);
    let mut sent = rig.send(1, &frame(1, 9, 0, 0, 0, 2));
    sent.sort();
    assert_eq!(
        sent.iter().map(|(port, bytes)| (*port, bytes.len())).collect::<Vec<_>>(),
        [(9, 20), (500, 62)]
    );
    let read = read_one(&client, v1::CloneSessionEntry::default()).await;
    assert_eq!(read.len(), 1);
    assert_eq!(write(&client, Update::delete(session(3, 0))).await, Code::Ok);
    assert_eq!(out(rig.send(1, &frame(1, 9, 0, 0, 0, 2))), [500]);
}

#[tokio::test]
async fn value_sets_are_replaced_whole() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let id = schema().value_set("special_types").unwrap().id();
    let member = |value: u8| {
        let exact = field_match::FieldMatchType::Exact(field_match::Exact { value: vec![value] });
        v1::ValueSetMember { r#match: vec![FieldMatch { field_id: 1, field_match_type: Some(exact) }] }
    };
    let set = |values: &[u8]| v1::ValueSetEntry {
        value_set_id: id,
        members: values.iter().copied().map(member).collect(),
    };
    assert_eq!(write(&client, Update::insert(set(&[1]))).await, Code::InvalidArgument);
    assert_eq!(write(&client, Update::modify(set(&[1, 1]))).await, Code::AlreadyExists);
    assert_eq!(write(&client, Update::modify(set(&[1, 2, 3, 4, 5]))).await, Code::ResourceExhausted);
    assert_eq!(write(&client, Update::modify(set(&[1, 2]))).await, Code::Ok);
    assert_eq!(
        read_one(&client, v1::ValueSetEntry::default()).await,
        [entity::Entity::ValueSetEntry(set(&[1, 2]))]
    );
    assert_eq!(write(&client, Update::modify(set(&[]))).await, Code::Ok);
    assert_eq!(read_one(&client, set(&[])).await, [entity::Entity::ValueSetEntry(set(&[]))]);
}

#[tokio::test]
async fn digests_are_listed_acknowledged_and_turned_off() {
    let rig = Rig::start().await;
    let mut client = rig.loaded().await;
    let mut events = client.take_events().unwrap();
    let digest_id = schema().info().digests[0].preamble.as_ref().unwrap().id;
    let config = v1::digest_entry::Config { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: i64::MAX };
    let entry = v1::DigestEntry { digest_id, config: Some(config) };
    rig.send(1, &frame(1, 0x42, 0, 0, 0, 0));
    assert_eq!(write(&client, Update::modify(entry)).await, Code::NotFound);
    assert_eq!(write(&client, Update::insert(entry)).await, Code::Ok);
    assert_eq!(write(&client, Update::insert(entry)).await, Code::AlreadyExists);
    assert_eq!(read_one(&client, v1::DigestEntry::default()).await, [entity::Entity::DigestEntry(entry)]);
    rig.send(2, &frame(1, 0x43, 0, 0, 0, 0));
    rig.send(2, &frame(1, 0x43, 0, 0, 0, 0));
    rig.send(2, &frame(1, 0x44, 0, 0, 0, 0));
    let learned = |event| {
        let Event::Digest(list) = event else { panic!("a digest list: {event:?}") };
        let Some(v1::p4_data::Data::Struct(fields)) = &list.data[0].data else { panic!("a struct") };
        let Some(v1::p4_data::Data::Bitstring(source)) = &fields.members[0].data else { panic!("bits") };
        (source[0], fields.members.len(), list)
    };
    let (source, members, list) = learned(next(&mut events).await);
    assert_eq!(
        (source, members, list.data.len()),
        (0x43, 2, 1),
        "digests before the insertion are not reported"
    );
    assert_eq!(learned(next(&mut events).await).0, 0x44, "the repeat was not reported");
    // A pipeline that is saved has sent no list: the word is for the one that runs.
    client.set_pipeline(PipelineAction::VerifyAndSave, Some(rig::pipeline())).await.unwrap();
    client.ack_digest(&list).await.unwrap();
    // The acknowledgement goes by the stream, packets by another path: repeat until it has arrived.
    let again = async {
        loop {
            rig.send(2, &frame(1, 0x43, 0, 0, 0, 0));
            tokio::task::yield_now().await;
            if let Ok(event) = events.try_recv() {
                break learned(event).0;
            }
        }
    };
    assert_eq!(rig::soon(again).await, 0x43);
    client.set_pipeline(PipelineAction::Commit, None).await.unwrap();
    assert_eq!(write(&client, Update::insert(entry)).await, Code::Ok);
    assert_eq!(write(&client, Update::delete(entry)).await, Code::Ok);
    assert_eq!(write(&client, Update::delete(entry)).await, Code::NotFound);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]
    /// Sends valid requests with bytes changed: whatever they decode to, they are answered and the server
    /// continues.
    #[test]
    fn no_request_brings_the_server_down(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let rig = Rig::start().await;
            let client = rig.loaded().await;
            let goods: Vec<Entity> = vec![
                encode(&exact_entry(1, 1, 1)),
                encode(&ternary_entry(1)),
                encode(&lpm_entry(0x0a00_0000, 8, 1)),
                member(1, 1).into(),
                group(1, &[(1, 1)]).into(),
                v1::MulticastGroupEntry::new(1, [(1, 1)]).into(),
                v1::CounterEntry { counter_id: schema().counter("seen").unwrap().id(), index: Some(Index { index: 1 }), data: None }.into(),
                v1::MeterEntry { meter_id: schema().meter("pace").unwrap().id(), index: None, config: Some(MeterConfig::default()), counter_data: None }.into(),
            ];
            for (at, value) in changes {
                for good in &goods {
                    let mut bytes = good.encode_to_vec();
                    let place = at.index(bytes.len());
                    bytes[place] = value;
                    let Ok(entity) = Entity::decode(bytes.as_slice()) else { continue };
                    let updates = vec![Update::insert(entity.clone()), Update::modify(entity.clone())];
                    let _ = client.write(updates).await;
                    let _ = client.read(vec![entity.clone()]).await;
                    let _ = client.write(vec![Update::delete(entity)]).await;
                }
            }
            assert!(client.api_version().await.is_ok());
            assert!(client.read_counter("seen").await.is_ok());
        });
    }
}
