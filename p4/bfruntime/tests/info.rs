//! Entries in names, to messages and back; errors name the table, the field and the fix.
#![allow(clippy::unwrap_used, reason = "tests")]

use inart_bfruntime::bfrt_proto::{data_field, key_field, table_entry};
use inart_bfruntime::{Entry, Info, Match, Value};

const INFO: &str = r#"{"schema_version": "1.0.0", "tables": [
  {"name": "pipe.In.steer", "id": 33, "table_type": "MatchAction_Direct", "size": 8, "attributes": ["EntryScope"],
   "key": [
     {"id": 1, "name": "port", "match_type": "Exact", "type": {"type": "bytes", "width": 9}},
     {"id": 2, "name": "dst", "match_type": "Ternary", "type": {"type": "bytes", "width": 48}},
     {"id": 65537, "name": "$MATCH_PRIORITY", "match_type": "Exact", "type": {"type": "uint32"}}],
   "action_specs": [
     {"id": 7, "name": "In.add", "action_scope": "TableOnly", "data": [
       {"id": 1, "name": "members", "mandatory": true, "type": {"type": "bytes", "width": 64}}]},
     {"id": 8, "name": "In.refuse", "action_scope": "DefaultOnly", "data": []}],
   "data": [{"mandatory": false, "read_only": false, "singleton":
     {"id": 65554, "name": "$COUNTER_SPEC_PKTS", "repeated": false, "type": {"type": "uint64"}}}],
   "supported_operations": ["SyncCounters"]},
  {"name": "pipe.In.outcomes", "id": 34, "table_type": "Counter", "size": 16,
   "key": [{"id": 65556, "name": "$COUNTER_INDEX", "match_type": "Exact", "type": {"type": "uint32"}}]},
  {"name": "pipe.Out.outcomes", "id": 35, "table_type": "Counter", "size": 16},
  {"name": "pipe.In.marks", "id": 36, "table_type": "Register", "size": 16,
   "key": [{"id": 65557, "name": "$REGISTER_INDEX", "match_type": "Exact", "type": {"type": "uint32"}}],
   "data": [{"mandatory": true, "singleton": {"id": 1, "name": "In.marks.f1", "type": {"type": "bytes", "width": 32}}}]},
  {"name": "$mirror.cfg", "id": 37, "table_type": "MirrorCfg", "size": 1, "action_specs": [
    {"id": 1, "name": "$normal", "data": [{"mandatory": true, "read_only": false, "singleton":
      {"id": 5, "name": "$hash", "repeated": false, "annotations": [], "type": {"type": "uint8"}}}]}]},
  {"name": "$PORT", "id": 4278255617, "table_type": "PortConfigure", "size": 1,
   "key": [{"id": 1, "name": "$DEV_PORT", "match_type": "Exact", "type": {"type": "uint32"}}],
   "data": [{"read_only": false, "singleton": {"id": 1, "name": "$SPEED",
     "type": {"type": "string", "choices": ["BF_SPEED_10G", "BF_SPEED_100G"]}}},
    {"read_only": true, "singleton": {"id": 25, "name": "$PORT_UP", "type": {"type": "bool"}}},
    {"singleton": {"id": 90, "name": "$BOX", "container": [{"id": 91}]}}]}
]}"#;

fn info() -> Info {
    Info::from_json(INFO.as_bytes()).unwrap()
}

fn steer() -> Entry {
    Entry::new("steer")
        .exact("port", 300u16)
        .matching("dst", Match::Ternary { value: 5, mask: 0xff })
        .exact("$MATCH_PRIORITY", 3u8)
        .action("add")
        .with("members", u64::MAX)
}

#[test]
fn entries_go_to_messages_and_back() {
    let message = info().encode(&steer()).unwrap();
    assert_eq!(message.table_id, 33);
    let Some(table_entry::Value::Key(key)) = &message.value else { panic!("{message:?}") };
    // As many bytes as the field's width needs: the driver takes no others.
    let key_field::MatchType::Exact(port) = key.fields[0].match_type.as_ref().unwrap() else { panic!() };
    assert_eq!((key.fields[0].field_id, port.value.as_slice()), (1, &[1, 44][..]));
    let key_field::MatchType::Ternary(dst) = key.fields[1].match_type.as_ref().unwrap() else { panic!() };
    assert_eq!(
        (dst.value.as_slice(), dst.mask.as_slice()),
        (&[0, 0, 0, 0, 0, 5][..], &[0, 0, 0, 0, 0, 255][..])
    );
    assert_eq!(message.data.as_ref().unwrap().action_id, 7);
    assert_eq!(info().decode(&message).unwrap(), steer());

    let port = Entry::new("$PORT").exact("$DEV_PORT", 132u32).with("$SPEED", "BF_SPEED_100G");
    let message = info().encode(&port).unwrap();
    let field = &message.data.as_ref().unwrap().fields[0];
    assert_eq!(field.value, Some(data_field::Value::StrVal("BF_SPEED_100G".into())));
    assert_eq!(info().decode(&message).unwrap(), port);
}

#[test]
fn a_register_has_a_value_of_each_pipe() {
    let cell = Entry::new("marks").exact("$REGISTER_INDEX", 1u8).with("In.marks.f1", 7u8);
    let mut message = info().encode(&cell).unwrap();
    let fields = &mut message.data.as_mut().unwrap().fields;
    let mut second = fields[0].clone();
    second.value = Some(data_field::Value::Stream(vec![0, 0, 0, 9]));
    fields.push(second);
    let read = info().decode(&message).unwrap();
    assert_eq!(read.data["In.marks.f1"], Value::PerPipe(vec![7, 9]));
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let refusal = |entry: &Entry| info().encode(entry).unwrap_err().to_string();
    let without = |field: &str| {
        let mut entry = steer();
        entry.key.remove(field);
        entry.data.remove(field);
        entry
    };
    for (entry, error) in [
        (steer().exact("port", 512u16), "table steer, field port: 512 needs 10 bits, the field has 9"),
        (steer().exact("dst", 5u8), "table steer, field dst: is matched by Ternary, not by Exact(5)"),
        (steer().exact("prot", 1u8), "table steer has no key field \"prot\"; did you mean \"port\"?"),
        (without("port"), "table steer: exact field \"port\" is missing"),
        (without("members"), "table steer, action add: parameter \"members\" is missing"),
        (steer().action("ad"), "table steer has no action \"ad\"; did you mean \"add\"?"),
        (
            steer().with("members", true),
            "table steer, action add, field members: holds Bits(64), not Flag(true)",
        ),
        (
            Entry { table: "steel".into(), ..steer() },
            "the program has no table \"steel\"; did you mean \"steer\"?",
        ),
        (
            Entry::new("outcomes"),
            "\"outcomes\" may be pipe.In.outcomes or pipe.Out.outcomes: give more of the name",
        ),
        (Entry { is_default: true, ..steer() }, "table steer: a default entry has no key"),
        (
            Entry { action: Some("refuse".into()), data: Default::default(), ..steer() },
            "table steer, action refuse: only the default entry may have this action",
        ),
        (
            Entry::new("$PORT").exact("$DEV_PORT", 1u8).with("$SPEED", "100G"),
            "table $PORT, field $SPEED: \"100G\" is not one of its values: give one of BF_SPEED_10G, BF_SPEED_100G",
        ),
        (
            Entry::new("$PORT").exact("$DEV_PORT", 1u8).with("$PORT_UP", true),
            "table $PORT, field $PORT_UP: is written by the device only: leave it out",
        ),
    ] {
        assert_eq!(refusal(&entry), error);
    }
    let mut strange = info().encode(&steer()).unwrap();
    strange.data.as_mut().unwrap().fields[0].field_id = 99;
    let error = info().decode(&strange).unwrap_err().to_string();
    assert_eq!(error, "table steer, action add has no field with id 99 (0x00000063)");
}

#[test]
fn tables_of_one_name_are_found_together_and_twins_are_refused() {
    assert_eq!(info().ending("outcomes").len(), 2);
    assert_eq!(info().table("Out.outcomes").unwrap().id, 35);
    assert!(info().table("utcomes").is_err());
    // The driver's own tables have their parameters in other words than p4c's.
    let mirror = info().table("$mirror.cfg").unwrap().action("$normal").unwrap().clone();
    assert!(mirror.params[0].name == "$hash" && mirror.params[0].mandatory);
    let twice = info().with(&info()).unwrap_err().to_string();
    assert!(twice.contains("id 33 of table pipe.In.steer belongs to another table as well"), "{twice}");
    assert!(Info::from_json(b"[]").is_err() && Info::from_json(b"{}").is_err());
}
