//! Names, numbers and entries of a program that has one object of each kind.

use inart_p4runtime::p4::v1::{self, Update};
use inart_p4runtime::{
    ActionCall, Entry, EntryError, Match, OneShot, Schema, SchemaError, TableAction, Value, ValueError,
};
use proptest::prelude::*;
use prost::Message;

const PROGRAM: &str = include_str!("../../../switch/tests/programs/everything.txtpb");

fn schema() -> Schema {
    Schema::from_text(PROGRAM).expect("p4c printed it")
}

#[test]
fn text_and_binary_give_the_same() {
    let text = schema();
    let binary = Schema::from_bytes(&text.info().encode_to_vec()).expect("binary");
    assert_eq!(text.info(), binary.info());
    assert!(matches!(Schema::from_text("tables { nonsense }"), Err(SchemaError::Text(_))));
    assert!(matches!(Schema::from_bytes(b"\xff\xff"), Err(SchemaError::Binary(_))));
}

#[test]
fn objects_are_found_by_full_name_alias_and_number() {
    let schema = schema();
    let table = schema.table("I.exact_table").expect("full name");
    assert_eq!(table, schema.table("exact_table").expect("alias"));
    assert_eq!(table, schema.table_by_id(table.id()).expect("number"));
    assert_eq!(schema.name_of(table.id()).map(|(_, name)| name), Some("exact_table"));
    assert_eq!(table.match_field("std.ingress_port").expect("field").bitwidth, 9);
    assert!(!table.has_priority() && schema.table("ternary_table").expect("alias").has_priority());
}

#[test]
fn a_wrong_name_is_answered_with_the_nearest_right_one() {
    let schema = schema();
    let message = |error: SchemaError| error.to_string();
    assert_eq!(
        message(schema.table("exat_table").expect_err("misspelt")),
        "the program has no table \"exat_table\"; did you mean \"exact_table\"?"
    );
    let table = schema.table("exact_table").expect("alias");
    assert_eq!(
        message(table.match_field("ingress_port").expect_err("short")),
        "table exact_table has no match field \"ingress_port\"; did you mean \"std.ingress_port\"?"
    );
    assert_eq!(message(schema.action("zzz").expect_err("unlike all")), "the program has no action \"zzz\"");
    assert_eq!(
        message(schema.table_by_id(7).expect_err("no such number")),
        "the program has no table with id 7 (0x00000007)"
    );
}

#[test]
fn an_inconsistent_p4info_is_refused() {
    let mut info = schema().info().clone();
    info.tables[1].preamble = info.tables[0].preamble.clone();
    assert!(matches!(Schema::new(info.clone()), Err(SchemaError::Inconsistent(_))));
    info.tables[1].preamble = None;
    assert!(matches!(Schema::new(info), Err(SchemaError::Inconsistent(_))));
}

fn exact() -> Entry {
    Entry::new("exact_table")
        .exact("hdr.ethernet.dst", [2, 0, 0, 0, 0, 1])
        .exact("std.ingress_port", 3u16)
        .action("exact_send", [("port", 4u16)])
}

fn ternary() -> Entry {
    Entry::new("ternary_table")
        .ternary("hdr.body.a", 0x0a00_0000u32, 0xff00_0000u32)
        .range("hdr.body.b", 1u8, 9u8)
        .optional("hdr.body.c", 0u8)
        .exact("hdr.body.d", 1u8)
        .priority(10)
        .action("to_group", [("group", 7u16)])
}

#[test]
fn entries_go_to_messages_and_back() {
    let schema = schema();
    let one_shot = OneShot { call: ActionCall::new("send", [("port", 1u8)]), weight: 2, watch_port: None };
    let entries = [
        exact(),
        ternary(),
        Entry::new("lpm_table").lpm("hdr.body.a", 0x0a01_0000u32, 16).plain_action("drop"),
        Entry::default_of("ternary_table").plain_action("NoAction"),
        Entry {
            action: Some(TableAction::OneShot(vec![one_shot])),
            ..Entry::new("select_table").exact("hdr.ethernet.type", 0x800u16)
        },
    ];
    for entry in entries {
        let message = schema.encode(&entry).expect("fits the program");
        assert_eq!(schema.decode(&message).expect("is ours"), entry);
    }
}

#[test]
fn full_names_are_read_back_as_aliases() {
    let schema = schema();
    let full = Entry { table: "I.exact_table".to_owned(), ..exact() };
    assert_eq!(schema.decode(&schema.encode(&full).expect("fits")).expect("is ours"), exact());
}

#[test]
fn a_match_that_compares_nothing_is_left_out() {
    let schema = schema();
    let entry = ternary().ternary("hdr.body.a", 0u8, 0u8).range("hdr.body.b", 0u8, 0xffffu16);
    assert_eq!(schema.encode(&entry).expect("fits").r#match.len(), 2);
    let entry = Entry::new("lpm_table").lpm("hdr.body.a", 0u8, 0).plain_action("drop");
    assert!(schema.encode(&entry).expect("fits").r#match.is_empty());
}

#[test]
fn what_does_not_fit_names_its_place() {
    let schema = schema();
    let refused = |entry: Entry| schema.encode(&entry).expect_err("does not fit").to_string();
    assert_eq!(
        refused(exact().exact("std.ingress_port", 512u16)),
        "table exact_table, field std.ingress_port: 512 needs 10 bits, the field has 9"
    );
    assert_eq!(
        refused(exact().action("exact_send", [("port", 512u16)])),
        "action exact_send, parameter port: 512 needs 10 bits, the field has 9"
    );
    assert_eq!(
        refused(exact().action("exact_send", [] as [(&str, u8); 0])),
        "action exact_send: parameter \"port\" is missing"
    );
    assert_eq!(
        refused(exact().priority(1)),
        "table exact_table: takes no priority: it has no ternary, range or optional field"
    );
    assert!(refused(ternary().priority(0)).contains("needs a priority of 1 or more"));
    assert!(refused(ternary().ternary("hdr.body.a", 1u8, 2u8)).contains("outside its mask"));
    assert!(refused(ternary().range("hdr.body.b", 9u8, 1u8)).contains("is empty"));
    assert!(refused(ternary().optional("hdr.body.a", 1u8)).contains("is matched by ternary"));
    assert!(
        refused(Entry::new("exact_table").exact("std.ingress_port", 1u8))
            .contains("\"hdr.ethernet.dst\" is missing")
    );
    assert!(refused(Entry { is_default: true, ..exact() }).contains("no matches"));
    let entry =
        Entry::new("lpm_table").matching("hdr.body.a", Match::Lpm { value: 1u8.into(), prefix_len: 33 });
    assert!(refused(entry).contains("prefix length 33 of a 32-bit field"));
}

#[test]
fn an_empty_byte_string_is_no_value() {
    let schema = schema();
    let mut message = schema.encode(&exact()).expect("fits");
    let action = v1::action::Param { param_id: 1, value: vec![] };
    message.action = Some(
        v1::Action { action_id: schema.action("exact_send").expect("alias").id(), params: vec![action] }
            .into(),
    );
    let Err(EntryError::Value { source, .. }) = schema.decode(&message) else { panic!("it is refused") };
    assert_eq!(source, ValueError::Empty);
}

#[test]
fn updates_are_described_in_names() {
    let schema = schema();
    let update = Update::insert(schema.encode(&exact()).expect("fits"));
    assert_eq!(
        update.describe(Some(&schema)),
        "insert exact_table[hdr.ethernet.dst=2199023255553, std.ingress_port=3] -> exact_send(port=4)"
    );
    assert_eq!(
        Update::delete(v1::MulticastGroupEntry::new(5, [(1, 0)])).describe(None),
        "delete multicast group 5"
    );
    let counter = schema.counter("seen").expect("alias").id();
    let counter = v1::CounterEntry { counter_id: counter, index: Some(v1::Index { index: 3 }), data: None };
    assert_eq!(Update::modify(counter).describe(Some(&schema)), "modify seen[3]");
}

proptest! {
    #[test]
    fn any_entry_that_encodes_decodes_to_itself(dst: u64, port in 0u16..1024, out in 0u16..1024) {
        let schema = schema();
        let entry = exact().exact("hdr.ethernet.dst", dst).exact("std.ingress_port", port).action("exact_send", [("port", out)]);
        let fits = dst < 1 << 48 && port < 512 && out < 512;
        let encoded = schema.encode(&entry);
        prop_assert_eq!(encoded.is_ok(), fits);
        if let Ok(message) = encoded {
            prop_assert_eq!(schema.decode(&message).expect("is ours"), entry);
        }
    }

    #[test]
    fn decoding_never_panics(
        table_id: u32,
        field_id in 0u32..6,
        value in proptest::collection::vec(any::<u8>(), 0..9),
        known: bool,
    ) {
        let schema = schema();
        let table_id = if known { schema.info().tables[table_id as usize % 6].id() } else { table_id };
        let exact = v1::field_match::FieldMatchType::Exact(v1::field_match::Exact { value });
        let field = v1::FieldMatch { field_id, field_match_type: Some(exact) };
        let _ = schema.decode(&v1::TableEntry { table_id, r#match: vec![field], ..Default::default() });
    }
}

#[test]
fn addresses_are_values() {
    assert_eq!(Value::from([10, 0, 0, 1]), Value::from(0x0a00_0001u32));
}
