//! The P4Runtime server over gRPC: every kind of entity, what is refused and with which code.
#![allow(clippy::unwrap_used)]

mod rig;

use inart_p4runtime::p4::v1::{
    self, CounterData, Entity, FieldMatch, Index, MeterConfig, Update, entity, field_match, table_action,
};
use inart_p4runtime::{ActionCall, Client, ClientError, Entry, Event, OneShot, TableAction, UpdateError};
use proptest::prelude::*;
use prost::Message;
use rig::{DEVICE, Rig, code, encode, exact_entry, frame, insert, next, schema};
use tonic::Code;

fn ternary_entry(priority: i32) -> Entry {
    Entry::new("ternary_table")
        .ternary("hdr.body.a", 0x0a00_0000u32, 0xff00_0000u32)
        .range("hdr.body.b", 10u8, 20u8)
        .optional("hdr.body.c", 3u8)
        .exact("hdr.body.d", 4u8)
        .priority(priority)
        .action("send", [("port", 6u8)])
}

fn lpm_entry(value: u32, length: u32, out: u8) -> Entry {
    Entry::new("lpm_table").lpm("hdr.body.a", value, length).action("send", [("port", out)])
}

/// The frame goes through the tables behind `exact_table` only if that does not drop it.
async fn let_through(client: &Client) {
    assert_eq!(insert(client, &exact_entry(1, 1, 500)).await, Code::Ok);
}

async fn write(client: &Client, update: Update) -> Code {
    code(client.write(vec![update]).await)
}

async fn read_one(client: &Client, filter: impl Into<Entity>) -> Vec<entity::Entity> {
    let found = client.read(vec![filter.into()]).await.unwrap();
    found.into_iter().map(|entity| entity.entity.unwrap()).collect()
}

fn out(sent: Vec<(u32, Vec<u8>)>) -> Vec<u32> {
    sent.into_iter().map(|(port, _)| port).collect()
}

#[tokio::test]
async fn every_kind_of_match_decides_where_a_packet_goes() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let_through(&client).await;
    let learned = Entry::new("learn_table").exact("hdr.ethernet.src", 9u8).plain_action("NoAction");
    assert_eq!(insert(&client, &learned).await, Code::Ok);
    let to = |a, b, c, d| out(rig.send(1, &frame(1, 9, a, b, c, d)));
    assert_eq!(to(0x0a010203, 15, 3, 4), [500]);
    for (value, length, port) in [(0x0a00_0000, 8, 1), (0x0a01_0000, 16, 2), (0, 0, 3)] {
        assert_eq!(insert(&client, &lpm_entry(value, length, port)).await, Code::Ok);
    }
    assert_eq!(
        [to(0x0a01_0203, 0, 0, 0), to(0x0a02_0203, 0, 0, 0), to(0x0b00_0000, 0, 0, 0)],
        [[2], [1], [3]]
    );
    assert_eq!(insert(&client, &ternary_entry(1)).await, Code::Ok);
    assert_eq!([to(0x0aff_0000, 10, 3, 4), to(0x0aff_0000, 20, 3, 4)], [[6], [6]]);
    for (a, b, c, d) in
        [(0x0bff_0000, 10, 3, 4), (0x0aff_0000, 9, 3, 4), (0x0aff_0000, 10, 2, 4), (0x0aff_0000, 10, 3, 5)]
    {
        assert_ne!(to(a, b, c, d), [6]);
    }
    let any =
        Entry::new("ternary_table").exact("hdr.body.d", 4u8).priority(2).action("send", [("port", 7u8)]);
    assert_eq!(insert(&client, &any).await, Code::Ok);
    assert_eq!(to(0x0aff_0000, 10, 3, 4), [7], "the greater priority wins");
    let any = any.plain_action("drop");
    assert_eq!(write(&client, Update::modify(encode(&any))).await, Code::Ok);
    assert!(to(0x0aff_0000, 10, 3, 4).is_empty());
    assert_eq!(to(0, 0, 0, 7), [7], "the program's own entry");
    let mut read = client.read_table("ternary_table").await.unwrap();
    read.sort_by_key(|entry| entry.priority);
    assert_eq!(read, [ternary_entry(1), any]);
}

/// Changes a good entry and says which code its insertion ends with.
type Spoil = (&'static str, fn(&mut v1::TableEntry), Code);

fn exact_value(entry: &mut v1::TableEntry, value: &[u8]) {
    let exact = field_match::Exact { value: value.to_vec() };
    entry.r#match[1].field_match_type = Some(field_match::FieldMatchType::Exact(exact));
}

fn param(entry: &mut v1::TableEntry) -> &mut Vec<v1::action::Param> {
    let Some(table_action::Type::Action(action)) = entry.action.as_mut().unwrap().r#type.as_mut() else {
        panic!()
    };
    &mut action.params
}

const SPOILT_EXACT: &[Spoil] = &[
    ("nothing", |_| {}, Code::Ok),
    ("leading zeros", |e| exact_value(e, &[0, 0, 9]), Code::Ok),
    ("unknown table", |e| e.table_id = 99, Code::InvalidArgument),
    ("another object's id", |e| e.table_id = schema().action("send").unwrap().id(), Code::InvalidArgument),
    ("too wide a value", |e| exact_value(e, &[2, 0]), Code::OutOfRange),
    ("empty value", |e| exact_value(e, &[]), Code::OutOfRange),
    ("missing exact field", |e| e.r#match.truncate(1), Code::InvalidArgument),
    ("field twice", |e| e.r#match.push(e.r#match[0].clone()), Code::InvalidArgument),
    ("unknown field", |e| e.r#match[0].field_id = 5, Code::InvalidArgument),
    ("unset match", |e| e.r#match[0].field_match_type = None, Code::InvalidArgument),
    (
        "another kind of match",
        |e| {
            let lpm = field_match::Lpm { value: vec![1], prefix_len: 9 };
            e.r#match[0].field_match_type = Some(field_match::FieldMatchType::Lpm(lpm));
        },
        Code::InvalidArgument,
    ),
    ("priority", |e| e.priority = 1, Code::InvalidArgument),
    ("no action", |e| e.action = None, Code::InvalidArgument),
    ("unset action", |e| e.action.as_mut().unwrap().r#type = None, Code::InvalidArgument),
    (
        "unknown action",
        |e| e.action = Some(v1::Action { action_id: 1, params: vec![] }.into()),
        Code::InvalidArgument,
    ),
    (
        "another table's action",
        |e| {
            e.action =
                Some(schema().encode_action(&ActionCall::new("drop", [] as [(&str, u8); 0])).unwrap().into())
        },
        Code::InvalidArgument,
    ),
    ("missing parameter", |e| param(e).clear(), Code::InvalidArgument),
    ("parameter twice", |e| param(e).extend_from_within(..), Code::InvalidArgument),
    ("unknown parameter", |e| param(e)[0].param_id = 2, Code::InvalidArgument),
    ("too wide a parameter", |e| param(e)[0].value = vec![2, 0], Code::OutOfRange),
    ("empty parameter", |e| param(e)[0].value.clear(), Code::OutOfRange),
    (
        "a member",
        |e| e.action = Some(table_action::Type::ActionProfileMemberId(1).into()),
        Code::InvalidArgument,
    ),
    ("const", |e| e.is_const = true, Code::InvalidArgument),
    ("default", |e| e.is_default_action = true, Code::InvalidArgument),
    ("idle timeout", |e| e.idle_timeout_ns = 1, Code::InvalidArgument),
    ("time since last hit", |e| e.time_since_last_hit = Some(Default::default()), Code::InvalidArgument),
    (
        "negative count",
        |e| e.counter_data = Some(CounterData { byte_count: -1, packet_count: 0 }),
        Code::InvalidArgument,
    ),
    ("colours", |e| e.meter_counter_data = Some(Default::default()), Code::Unimplemented),
    (
        "excess burst",
        |e| e.meter_config = Some(MeterConfig { eburst: 1, ..Default::default() }),
        Code::InvalidArgument,
    ),
    (
        "peak below committed",
        |e| e.meter_config = Some(MeterConfig { cir: 1, ..Default::default() }),
        Code::InvalidArgument,
    ),
];

const SPOILT_TERNARY: &[Spoil] = &[
    ("nothing", |_| {}, Code::Ok),
    ("no priority", |e| e.priority = 0, Code::InvalidArgument),
    ("negative priority", |e| e.priority = -1, Code::InvalidArgument),
    ("don't care left out", |e| e.r#match.retain(|field| field.field_id == 4), Code::Ok),
    ("mask of zero", |e| ternary(e, &[0], &[0]), Code::InvalidArgument),
    ("value outside its mask", |e| ternary(e, &[3], &[1]), Code::InvalidArgument),
    ("too wide a mask", |e| ternary(e, &[0], &[1, 0, 0, 0, 0]), Code::OutOfRange),
    ("empty range", |e| range(e, &[2], &[1]), Code::InvalidArgument),
    ("range of everything", |e| range(e, &[0], &[0xff, 0xff]), Code::InvalidArgument),
    ("too wide a range", |e| range(e, &[0], &[1, 0, 0]), Code::OutOfRange),
    ("counter that is not there", |e| e.counter_data = Some(Default::default()), Code::InvalidArgument),
    ("meter that is not there", |e| e.meter_config = Some(Default::default()), Code::InvalidArgument),
    (
        "default-only action",
        |e| {
            e.action = Some(
                schema().encode_action(&ActionCall::new("NoAction", [] as [(&str, u8); 0])).unwrap().into(),
            )
        },
        Code::PermissionDenied,
    ),
];

fn ternary(entry: &mut v1::TableEntry, value: &[u8], mask: &[u8]) {
    let ternary = field_match::Ternary { value: value.to_vec(), mask: mask.to_vec() };
    set(entry, 1, field_match::FieldMatchType::Ternary(ternary));
}

fn range(entry: &mut v1::TableEntry, low: &[u8], high: &[u8]) {
    set(
        entry,
        2,
        field_match::FieldMatchType::Range(field_match::Range { low: low.to_vec(), high: high.to_vec() }),
    );
}

fn set(entry: &mut v1::TableEntry, field: u32, with: field_match::FieldMatchType) {
    let field = entry.r#match.iter_mut().find(|with| with.field_id == field).unwrap();
    field.field_match_type = Some(with);
}

#[tokio::test]
async fn malformed_entries_are_refused_with_the_specified_codes() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    for (good, spoilt) in [(exact_entry(1, 2, 3), SPOILT_EXACT), (ternary_entry(5), SPOILT_TERNARY)] {
        for (what, spoil, expected) in spoilt {
            let mut entry = schema().encode(&good).unwrap();
            spoil(&mut entry);
            let result = client.write(vec![Update::insert(entry.clone())]).await;
            let message = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
            assert_eq!(code(result), *expected, "{what}: {message}");
            if *expected == Code::Ok {
                assert_eq!(
                    write(&client, Update::insert(entry.clone())).await,
                    Code::AlreadyExists,
                    "{what}"
                );
                assert_eq!(write(&client, Update::delete(entry)).await, Code::Ok, "{what}");
            }
        }
    }
    let lpm = |value: &[u8], prefix_len| {
        let mut entry = schema().encode(&lpm_entry(0x0a00_0000, 8, 1)).unwrap();
        let lpm = field_match::Lpm { value: value.to_vec(), prefix_len };
        entry.r#match[0].field_match_type = Some(field_match::FieldMatchType::Lpm(lpm));
        Update::insert(entry)
    };
    assert_eq!(write(&client, lpm(&[10, 0, 0, 0], 8)).await, Code::Ok);
    assert_eq!(write(&client, lpm(&[10, 0, 0, 1], 8)).await, Code::InvalidArgument);
    for length in [0, 33, -1] {
        assert_eq!(write(&client, lpm(&[0], length)).await, Code::InvalidArgument, "{length}");
    }
    assert_eq!(write(&client, Update::default()).await, Code::InvalidArgument);
    assert_eq!(
        write(&client, Update { r#type: 9, ..Update::insert(encode(&exact_entry(1, 1, 1))) }).await,
        Code::InvalidArgument
    );
    assert_eq!(write(&client, Update::insert(Entity::default())).await, Code::InvalidArgument);
}

#[tokio::test]
async fn entries_come_go_and_fill_the_table() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let entry = exact_entry(1, 1, 1);
    assert_eq!(write(&client, Update::modify(encode(&entry))).await, Code::NotFound);
    assert_eq!(write(&client, Update::delete(encode(&entry))).await, Code::NotFound);
    for dst in 0..4 {
        assert_eq!(insert(&client, &exact_entry(dst, 1, 1)).await, Code::Ok);
    }
    assert_eq!(insert(&client, &exact_entry(4, 1, 1)).await, Code::ResourceExhausted);
    // For DELETE only the key counts.
    let mut key = schema().encode(&entry).unwrap();
    key.action = Some(v1::Action { action_id: 99, params: vec![] }.into());
    assert_eq!(write(&client, Update::delete(key)).await, Code::Ok);
    assert_eq!(insert(&client, &exact_entry(4, 1, 1)).await, Code::Ok);
    // MODIFY without an action changes the rest.
    let entry = Entry { metadata: b"mine".to_vec(), action: None, ..exact_entry(4, 1, 1) };
    assert_eq!(write(&client, Update::modify(encode(&entry))).await, Code::Ok);
    let read = client.read_table("exact_table").await.unwrap();
    let found = read.iter().find(|found| found.metadata == b"mine").unwrap();
    assert_eq!(found.action, exact_entry(4, 1, 1).action);
}

#[tokio::test]
async fn a_batch_goes_on_after_an_error_or_is_taken_back_whole() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let (old, kept) =
        (exact_entry(1, 1, 1), Entry { counter: Some(Default::default()), ..exact_entry(2, 1, 1) });
    assert_eq!(insert(&client, &old).await, Code::Ok);
    let batch = vec![
        Update::insert(encode(&old)),
        Update::insert(encode(&kept)),
        Update::insert(v1::TableEntry::default()),
    ];
    let Err(ClientError::Write(error)) = client.write(batch).await else { panic!("two updates fail") };
    assert_eq!((error.total, error.failures.len()), (3, 2));
    let UpdateError { index, update, code, .. } = &error.failures[0];
    assert_eq!((*index, *code), (0, Code::AlreadyExists));
    assert_eq!(update, "insert exact_table[hdr.ethernet.dst=1, std.ingress_port=1] -> exact_send(port=1)");
    assert_eq!((error.failures[1].index, error.failures[1].code), (2, Code::InvalidArgument));
    assert_eq!(client.read_table("exact_table").await.unwrap().len(), 2);

    let before = client.read(vec![v1::TableEntry::default().into()]).await.unwrap();
    let mut raw = rig.raw().await;
    let mut request = v1::WriteRequest {
        device_id: DEVICE.0,
        election_id: Some(v1::Uint128 { high: 0, low: 1 }),
        updates: vec![
            Update::delete(encode(&old)),
            Update::modify(encode(&Entry { action: exact_entry(0, 0, 9).action, ..kept })),
            Update::insert(encode(&exact_entry(3, 1, 1))),
            Update::modify(encode(&Entry::default_of("exact_table").action("exact_send", [("port", 1u8)]))),
            Update::insert(v1::MulticastGroupEntry::new(1, [(1, 0)])),
            Update::insert(v1::TableEntry::default()),
        ],
        atomicity: v1::write_request::Atomicity::RollbackOnError.into(),
        ..Default::default()
    };
    let status = raw.write(request.clone()).await.unwrap_err();
    let codes: Vec<_> =
        inart_p4runtime::update_errors(&status).unwrap().iter().map(|e| e.canonical_code).collect();
    let (aborted, invalid) = (Code::Aborted as i32, Code::InvalidArgument as i32);
    assert_eq!(codes, [aborted, aborted, aborted, aborted, aborted, invalid]);
    assert_eq!(client.read(vec![v1::TableEntry::default().into()]).await.unwrap(), before);
    assert!(client.read_multicast_groups().await.unwrap().is_empty());
    let default = client.read_default("exact_table").await.unwrap().unwrap();
    assert_eq!(default.action, Entry::new("").plain_action("exact_drop").action);
    request.updates.pop();
    raw.write(request.clone()).await.unwrap();
    request.atomicity = v1::write_request::Atomicity::DataplaneAtomic.into();
    assert_eq!(raw.write(request).await.unwrap_err().code(), Code::Unimplemented);
}

#[tokio::test]
async fn errors_of_a_large_batch_all_arrive() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let entry = Update::delete(encode(&exact_entry(1, 1, 1)));
    let Err(ClientError::Write(error)) = client.write(vec![entry; 5000]).await else { panic!("all fail") };
    assert_eq!(error.failures.len(), 5000);
    assert!(error.to_string().ends_with("; and 4997 more"), "{error}");
}

#[tokio::test]
async fn defaults_are_modified_and_reset_const_ones_are_not() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let default = Entry::default_of("exact_table").action("exact_send", [("port", 8u8)]);
    assert_eq!(insert(&client, &default).await, Code::InvalidArgument);
    assert_eq!(write(&client, Update::delete(encode(&default))).await, Code::InvalidArgument);
    assert_eq!(write(&client, Update::modify(encode(&default))).await, Code::Ok);
    assert_eq!(
        client.read_default("exact_table").await.unwrap().map(|e| Entry { counter: None, ..e }),
        Some(default.clone())
    );
    assert_eq!(out(rig.send(1, &frame(77, 9, 0, 0, 0, 0))), [8]);
    let reset = Entry { action: None, ..default };
    assert_eq!(write(&client, Update::modify(encode(&reset))).await, Code::Ok);
    assert!(rig.send(1, &frame(77, 9, 0, 0, 0, 0)).is_empty());
    let constant = Entry::default_of("const_table").action("send", [("port", 1u8)]);
    assert_eq!(write(&client, Update::modify(encode(&constant))).await, Code::PermissionDenied);
    let own = Entry::new("const_table").exact("hdr.body.d", 7u8).action("send", [("port", 1u8)]);
    assert_eq!(write(&client, Update::modify(encode(&own))).await, Code::PermissionDenied);
    assert_eq!(write(&client, Update::delete(encode(&own))).await, Code::PermissionDenied);
    assert_eq!(insert(&client, &own.clone().exact("hdr.body.d", 8u8)).await, Code::PermissionDenied);
    assert!(client.read_table("const_table").await.unwrap()[0].is_const);
    let indirect = Entry::default_of("select_table").plain_action("NoAction");
    assert_eq!(write(&client, Update::modify(encode(&indirect))).await, Code::PermissionDenied);
}

#[tokio::test]
async fn reads_select_by_table_key_action_priority_and_metadata() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let entries = [
        ternary_entry(1),
        Entry { metadata: b"m".to_vec(), ..ternary_entry(2) },
        ternary_entry(3).plain_action("drop"),
    ];
    for entry in entries.iter().chain([&exact_entry(1, 1, 1)]) {
        assert_eq!(insert(&client, entry).await, Code::Ok);
    }
    let table_id = schema().table("ternary_table").unwrap().id();
    let count = async |filter: v1::TableEntry| read_one(&client, filter).await.len();
    let filter = v1::TableEntry { table_id, ..Default::default() };
    assert_eq!(count(v1::TableEntry::default()).await, 5, "with the const entry");
    assert_eq!(count(filter.clone()).await, 3);
    assert_eq!(count(v1::TableEntry { priority: 2, ..filter.clone() }).await, 1);
    assert_eq!(count(v1::TableEntry { metadata: b"m".to_vec(), ..filter.clone() }).await, 1);
    let drop = schema().encode_action(&ActionCall::new("drop", [] as [(&str, u8); 0])).unwrap();
    assert_eq!(count(v1::TableEntry { action: Some(drop.into()), ..filter.clone() }).await, 1);
    let key = schema().encode(&ternary_entry(1)).unwrap().r#match;
    assert_eq!(count(v1::TableEntry { r#match: key.clone(), ..filter.clone() }).await, 3);
    assert_eq!(count(v1::TableEntry { r#match: key, priority: 3, ..filter.clone() }).await, 1);
    assert_eq!(count(v1::TableEntry { is_default_action: true, ..Default::default() }).await, 6);
    for bad in [
        v1::TableEntry { table_id: 3, ..Default::default() },
        v1::TableEntry { priority: 1, ..Default::default() },
    ] {
        let error = client.read(vec![filter.clone().into(), bad.into()]).await.unwrap_err();
        assert!(matches!(error, ClientError::Rpc { code: Code::Unknown, .. }), "{error}");
    }
    let mut raw = rig.raw().await;
    let request = v1::ReadRequest {
        device_id: DEVICE.0,
        entities: vec![filter.into(), Entity::default()],
        ..Default::default()
    };
    let mut answers = raw.read(request).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap().unwrap().entities.len(), 3, "what could be read comes first");
    let status = answers.message().await.unwrap_err();
    let codes: Vec<_> =
        inart_p4runtime::update_errors(&status).unwrap().iter().map(|e| e.canonical_code).collect();
    assert_eq!(codes, [0, Code::InvalidArgument as i32]);
}

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
    assert_eq!(write(&client, Update::modify(encode(&one_shot))).await, Code::Ok);
    assert!([11, 12].contains(&out(rig.send(1, &frame(1, 9, 0, 0, 0, 0)))[0]));
    assert_eq!(client.read_table("select_table").await.unwrap(), [one_shot]);
    let weightless = entry(TableAction::OneShot(vec![one(11, 0)]));
    assert_eq!(write(&client, Update::modify(encode(&weightless))).await, Code::InvalidArgument);
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
    assert_eq!(client.read_multicast_groups().await.unwrap(), [group.clone()]);
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
        "what came before the insertion is not told"
    );
    assert_eq!(learned(next(&mut events).await).0, 0x44, "the repeat was not told");
    client.ack_digest(&list).await.unwrap();
    // The acknowledgement goes by the stream, packets by another way: repeat until it has arrived.
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
    assert_eq!(write(&client, Update::delete(entry)).await, Code::Ok);
    assert_eq!(write(&client, Update::delete(entry)).await, Code::NotFound);
}

#[tokio::test]
async fn idle_entries_are_told_and_their_age_can_be_read() {
    let rig = Rig::start().await;
    let mut client = rig.loaded().await;
    let mut events = client.take_events().unwrap();
    let entry =
        Entry { idle_timeout_ns: 1_000_001, metadata: b"idle".to_vec(), ..lpm_entry(0x0a00_0000, 8, 1) };
    assert_eq!(insert(&client, &entry).await, Code::Ok);
    let lasting = Entry { idle_timeout_ns: i64::MAX, ..lpm_entry(0x0b00_0000, 8, 1) };
    assert_eq!(insert(&client, &lasting).await, Code::Ok);
    for _ in 0..2 {
        let Event::IdleTimeoutNotification(notice) = next(&mut events).await else { panic!("a notice") };
        assert_eq!(notice.table_entry, [schema().encode(&entry).unwrap()]);
    }
    let table_id = schema().table("lpm_table").unwrap().id();
    let filter =
        v1::TableEntry { table_id, time_since_last_hit: Some(Default::default()), ..Default::default() };
    for found in read_one(&client, filter).await {
        let entity::Entity::TableEntry(found) = found else { panic!("a table entry") };
        assert!(found.time_since_last_hit.unwrap().elapsed_ns >= 0);
        assert!(found.idle_timeout_ns > 0);
    }
    let negative = v1::TableEntry { idle_timeout_ns: -1, ..schema().encode(&lpm_entry(0, 0, 1)).unwrap() };
    assert_eq!(write(&client, Update::insert(negative)).await, Code::InvalidArgument);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Good requests with bytes changed: whatever they decode to, they are answered and the server lives on.
    #[test]
    fn no_request_brings_the_server_down(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200)) {
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
                    let _ = client.write(vec![Update::insert(entity.clone()), Update::modify(entity.clone())]).await;
                    let _ = client.read(vec![entity.clone()]).await;
                    let _ = client.write(vec![Update::delete(entity)]).await;
                }
            }
            assert!(client.api_version().await.is_ok());
            assert!(client.read_counter("seen").await.is_ok());
        });
    }
}
