//! The P4Runtime server over gRPC: table entries, rejected requests and their codes.
#![allow(clippy::unwrap_used)]

use crate::rig;

use inart_p4runtime::p4::v1::{
    self, CounterData, Entity, MeterConfig, Update, entity, field_match, table_action,
};
use inart_p4runtime::{ActionCall, ClientError, Entry, Event, PipelineAction, UpdateError};
use rig::{
    DEVICE, Rig, code, encode, exact_entry, frame, insert, let_through, lpm_entry, next, out, read_one,
    schema, ternary_entry, write,
};
use tonic::Code;

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

/// Change of a valid entry, with the code of its insertion.
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
    ("colors", |e| e.meter_counter_data = Some(Default::default()), Code::Unimplemented),
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
async fn entries_are_added_removed_and_fill_the_table() {
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
async fn a_batch_continues_after_an_error_or_is_undone_as_a_whole() {
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
    assert_eq!(answers.message().await.unwrap().unwrap().entities.len(), 3, "readable entities are first");
    let status = answers.message().await.unwrap_err();
    let codes: Vec<_> =
        inart_p4runtime::update_errors(&status).unwrap().iter().map(|e| e.canonical_code).collect();
    assert_eq!(codes, [0, Code::InvalidArgument as i32]);
}

#[tokio::test]
async fn idle_entries_are_reported_and_their_age_can_be_read() {
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

#[tokio::test]
async fn an_update_that_fails_leaves_no_trace() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let with = |dst, packets| {
        let mut entry = schema().encode(&exact_entry(dst, 1, 2)).unwrap();
        entry.counter_data = Some(CounterData { packet_count: packets, byte_count: 0 });
        entry
    };
    assert_eq!(write(&client, Update::insert(with(5, 3))).await, Code::Ok);
    assert_eq!(write(&client, Update::insert(with(6, -1))).await, Code::InvalidArgument);
    let spoilt =
        v1::TableEntry { action: schema().encode(&exact_entry(5, 1, 9)).unwrap().action, ..with(5, -1) };
    assert_eq!(write(&client, Update::modify(spoilt)).await, Code::InvalidArgument);
    let whole = v1::TableEntry { counter_data: Some(CounterData::default()), ..with(5, 0) };
    let read = |what: v1::TableEntry| read_one(&client, v1::TableEntry { action: None, ..what });
    assert_eq!(read(whole.clone()).await, [entity::Entity::TableEntry(with(5, 3))]);
    assert_eq!(client.read_table("exact_table").await.unwrap().len(), 1);

    let batch = vec![Update::insert(with(7, 1)), Update::modify(with(5, 8)), Update::insert(with(8, -1))];
    let batch = v1::WriteRequest {
        device_id: rig::DEVICE.0,
        election_id: Some(inart_p4runtime::ElectionId(1).into()),
        atomicity: v1::write_request::Atomicity::RollbackOnError.into(),
        updates: batch,
        ..Default::default()
    };
    assert!(rig.raw().await.write(batch).await.is_err());
    assert_eq!(client.read_table("exact_table").await.unwrap().len(), 1);
    assert_eq!(read(whole).await, [entity::Entity::TableEntry(with(5, 3))]);
}

/// Returns the program with a direct counter on the table with a const entry, whose entries may be not const.
fn with_initial(is_const: bool) -> inart_p4runtime::Pipeline {
    let mut pipeline = rig::pipeline();
    let mut json: serde_json::Value = serde_json::from_slice(&pipeline.device_config).unwrap();
    let tables = json["pipelines"][0]["tables"].as_array_mut().unwrap();
    let table = tables.iter_mut().find(|table| table["name"] == "I.const_table").unwrap();
    table["with_counters"] = true.into();
    table["max_size"] = 16.into();
    pipeline.device_config = json.to_string().into_bytes();
    let info = pipeline.p4info.tables.iter_mut();
    let table = info.into_iter().find(|table| table.full_name() == "I.const_table").unwrap();
    (table.is_const_table, table.size) = (is_const, 16);
    let mut counter = pipeline.p4info.direct_counters[0].clone();
    let preamble = counter.preamble.as_mut().unwrap();
    (preamble.id, preamble.name, preamble.alias) =
        (preamble.id + 1, "I.const_hits".into(), "const_hits".into());
    counter.direct_table_id = table.id();
    table.direct_resource_ids.push(counter.id());
    pipeline.p4info.direct_counters.push(counter);
    pipeline
}

#[tokio::test]
async fn a_batch_that_fails_restores_the_counter_of_a_const_entry() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    client.set_pipeline(PipelineAction::VerifyAndCommit, Some(with_initial(true))).await.unwrap();
    let schema = inart_p4runtime::Schema::new(with_initial(true).p4info).unwrap();
    let mut entry = schema.encode(&Entry::new("const_table").exact("hdr.body.d", 7u8)).unwrap();
    entry.counter_data = Some(CounterData { packet_count: 5, byte_count: 50 });
    assert_eq!(write(&client, Update::modify(entry.clone())).await, Code::Ok);
    entry.counter_data = Some(CounterData { packet_count: 99, byte_count: 0 });
    let batch = v1::WriteRequest {
        device_id: rig::DEVICE.0,
        election_id: Some(inart_p4runtime::ElectionId(1).into()),
        atomicity: v1::write_request::Atomicity::RollbackOnError.into(),
        updates: vec![Update::modify(entry.clone()), Update::delete(encode(&exact_entry(77, 1, 1)))],
        ..Default::default()
    };
    assert!(rig.raw().await.write(batch).await.is_err());
    let found = read_one(&client, entry).await;
    let [entity::Entity::TableEntry(found)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(found.counter_data, Some(CounterData { packet_count: 5, byte_count: 50 }));
}

#[tokio::test]
async fn entries_that_the_program_does_not_declare_const_can_be_changed() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    client.set_pipeline(PipelineAction::VerifyAndCommit, Some(with_initial(false))).await.unwrap();
    let initial = client.read_table("const_table").await.unwrap();
    assert_eq!((initial.len(), initial[0].is_const), (1, false));
    let entry = |value: u8, port: u8| {
        Entry::new("const_table").exact("hdr.body.d", value).action("send", [("port", port)])
    };
    assert_eq!(insert(&client, &entry(8, 3)).await, Code::Ok);
    assert_eq!(write(&client, Update::modify(encode(&entry(7, 3)))).await, Code::Ok);
    assert_eq!(write(&client, Update::delete(encode(&entry(7, 3)))).await, Code::Ok);
    // The remaining entries are kept, the deleted ones do not return.
    client.set_pipeline(PipelineAction::ReconcileAndCommit, Some(with_initial(false))).await.unwrap();
    let left = client.read_table("const_table").await.unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[tokio::test]
async fn the_details_of_a_batch_fit_the_trailers_that_clients_take() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let updates = vec![Update::delete(encode(&exact_entry(1, 1, 1))); 100];
    let request = v1::WriteRequest {
        device_id: DEVICE.0,
        election_id: Some(inart_p4runtime::ElectionId(1).into()),
        updates: updates.clone(),
        ..Default::default()
    };
    let refused = rig.raw().await.write(request).await.unwrap_err();
    // In base64, of 8 KiB with all other fields.
    assert!(refused.details().len().div_ceil(3) * 4 < 7 << 10, "{} bytes", refused.details().len());
    let Err(ClientError::Write(error)) = client.write(updates).await else { panic!("all fail") };
    assert_eq!(error.failures.len(), 100);
    assert!(error.failures.iter().all(|failure| failure.code == Code::NotFound));
    assert!(error.to_string().contains("there is no entry"), "{error}");
}

#[tokio::test]
async fn a_type_that_controllers_see_as_a_string_is_refused_with_the_pipeline() {
    use inart_p4runtime::p4::config::v1 as config;
    let rig = Rig::start().await;
    let client = rig.client().await;
    let mut pipeline = rig::pipeline();
    let translation = config::P4NewTypeTranslation {
        uri: "port".into(),
        sdn_type: Some(config::p4_new_type_translation::SdnType::SdnString(Default::default())),
    };
    let representation = config::p4_new_type_spec::Representation::TranslatedType(translation);
    let spec = config::P4NewTypeSpec { representation: Some(representation), ..Default::default() };
    let types = pipeline.p4info.type_info.get_or_insert_default();
    types.new_types.insert("port_name_t".into(), spec);
    let set = client.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline)).await;
    assert_eq!(code(set), Code::Unimplemented);
}

#[tokio::test]
async fn primitives_of_older_compilers_add_and_subtract() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let mut pipeline = rig::pipeline();
    let mut json: serde_json::Value = serde_json::from_slice(&pipeline.device_config).unwrap();
    let actions = json["actions"].as_array_mut().unwrap();
    let send = actions.iter_mut().find(|action| action["name"] == "I.exact_send").unwrap();
    let field = |name: &str| serde_json::json!({"type": "field", "value": ["body", name]});
    let by = |value: &str| serde_json::json!({"type": "hexstr", "value": value});
    let primitives = send["primitives"].as_array_mut().unwrap();
    primitives.push(serde_json::json!({"op": "add_to_field", "parameters": [field("c"), by("0x05")]}));
    primitives.push(serde_json::json!({"op": "subtract_from_field", "parameters": [field("d"), by("0x02")]}));
    pipeline.device_config = json.to_string().into_bytes();
    client.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline)).await.unwrap();
    assert_eq!(insert(&client, &exact_entry(5, 1, 4)).await, Code::Ok);
    let sent = rig.send(1, &frame(5, 9, 0, 0, 0xfe, 1));
    // 0xfe + 5 and 1 - 2, of eight bits.
    assert_eq!((sent[0].0, &sent[0].1[20..22]), (4, &[0x03, 0xff][..]));
}

/// A batch of these updates and one that fails.
async fn roll_back(rig: &Rig, updates: Vec<Update>) {
    let missing = Update::delete(encode(&exact_entry(77, 1, 1)));
    let batch = v1::WriteRequest {
        device_id: rig::DEVICE.0,
        election_id: Some(inart_p4runtime::ElectionId(1).into()),
        atomicity: v1::write_request::Atomicity::RollbackOnError.into(),
        updates: updates.into_iter().chain([missing]).collect(),
        ..Default::default()
    };
    let refused = rig.raw().await.write(batch).await.unwrap_err();
    let errors = inart_p4runtime::update_errors(&refused).unwrap();
    let codes: Vec<_> = errors.iter().map(|error| tonic::Code::from(error.canonical_code)).collect();
    assert_eq!(codes.last(), Some(&Code::NotFound), "{codes:?}");
    assert!(codes[..codes.len() - 1].iter().all(|code| *code == Code::Aborted), "{codes:?}");
}

/// A direct counter belongs to the entry with the key; other fields of the client's entry select nothing.
#[tokio::test]
async fn a_batch_that_fails_restores_a_direct_counter_whatever_names_its_entry() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let counted = |packets| Some(CounterData { packet_count: packets, byte_count: 0 });
    let entry = schema().encode(&exact_entry(5, 1, 2)).unwrap();
    let first = v1::TableEntry { counter_data: counted(3), ..entry.clone() };
    assert_eq!(write(&client, Update::insert(first)).await, Code::Ok);
    let action = schema().encode(&exact_entry(5, 1, 9)).unwrap().action;
    let named = v1::TableEntry { metadata: vec![7], action, ..entry.clone() };
    let set = v1::DirectCounterEntry { table_entry: Some(named), data: counted(99) };
    roll_back(&rig, vec![Update::modify(set)]).await;
    let found = read_one(&client, v1::TableEntry { action: None, counter_data: counted(0), ..entry }).await;
    let [entity::Entity::TableEntry(found)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(found.counter_data, counted(3));
}
