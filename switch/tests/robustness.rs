//! No input makes the switch panic: neither frames, nor documents, nor control operations.

use crate::support;

use std::sync::Arc;

use inart_switch::control::{ActionCall, Entry, EntryAction, Match, Replica};
use inart_switch::{Port, Program, Switch};
use inart_wire::ValuesPerFrame;
use proptest::prelude::*;
use serde_json::Value;
use support::{Sent, aggregating_switch};

/// A program with one object of each kind; its source is next to it.
const EVERYTHING: &str = include_str!("programs/everything.json");

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..4)
}

fn a_match() -> impl Strategy<Value = Match> {
    prop_oneof![
        bytes().prop_map(Match::Exact),
        (bytes(), 0..140u32).prop_map(|(value, prefix_bits)| Match::Lpm { value, prefix_bits }),
        (bytes(), bytes()).prop_map(|(value, mask)| Match::Ternary { value, mask }),
        (bytes(), bytes()).prop_map(|(low, high)| Match::Range { low, high }),
        bytes().prop_map(Match::Optional),
        Just(Match::Any),
    ]
}

fn frame() -> impl Strategy<Value = Vec<u8>> {
    let kinds = prop_oneof![Just([0x88, 0xb5]), Just([0x08, 0x00]), Just([0x86, 0xdd]), any::<[u8; 2]>()];
    (any::<[u8; 12]>(), kinds, prop::collection::vec(any::<u8>(), 0..200), any::<bool>()).prop_map(
        |(addresses, kind, rest, whole)| match whole {
            true => [&addresses[..], &kind, &rest].concat(),
            false => rest,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn frames(frames in prop::collection::vec((0..520u32, frame()), 1..16)) {
        let everything = Program::compile(EVERYTHING.as_bytes()).expect("it compiles");
        let inart = Program::compile(&inart_p4::artifact(ValuesPerFrame::N32).json).expect("it compiles");
        for mut switch in [aggregating_switch(inart, 4), loaded(everything)] {
            for (port, frame) in &frames {
                switch.process(Port(*port), frame, 7, &mut Sent::default());
            }
        }
    }

    #[test]
    fn control_operations(
        operations in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(),
            prop::collection::vec(a_match(), 0..6),
             prop::collection::vec(bytes(), 0..5), -1..3i32),
            1..32,
        ),
        frames in prop::collection::vec(frame(), 1..4),
    ) {
        let program = Program::compile(EVERYTHING.as_bytes()).expect("it compiles");
        let mut switch = loaded(Arc::clone(&program));
        for (table, action, key, params, priority) in operations {
            let table = table.get(program.tables());
            let call = ActionCall { action: action.get(program.actions()).name.clone(), params };
            let entry = Entry::new(key.clone(), priority, EntryAction::Call(call.clone()));
            let before = switch.entry_count(&table.name).expect("the table exists");
            let inserted = switch.insert_entry(&table.name, entry.clone()).is_ok();
            let after = switch.entry_count(&table.name).expect("the table exists");
            prop_assert_eq!(after, before + usize::from(inserted), "an insertion refused changes nothing");
            if inserted {
                prop_assert!(switch.entry(&table.name, &key, priority).is_ok());
                prop_assert!(switch.insert_entry(&table.name, entry).is_err(), "an entry is there once");
            }
            let _ = switch.set_default(&table.name, Some(call));
            for frame in &frames {
                switch.process(Port(1), frame, 7, &mut Sent::default());
            }
            if inserted && priority == 0 {
                switch.delete_entry(&table.name, &key, priority).expect("it was inserted");
                prop_assert_eq!(switch.entry_count(&table.name).expect("the table exists"), before);
            }
        }
    }
}

fn loaded(program: Arc<Program>) -> Switch {
    let mut switch = Switch::new(1);
    switch.load(program).expect("the program loads");
    let replicas = vec![Replica { port: Port(2), instance: 1 }, Replica { port: Port(3), instance: 1 }];
    switch.put_multicast_group(1, replicas.clone(), false).expect("the group is new");
    let session = inart_switch::control::CloneSession { replicas, max_bytes: 40 };
    switch.put_clone_session(1, session, false).expect("the session is new");
    switch
}

/// Every value of a document, by path.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| paths(item, &format!("{path}/{n}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, item)| paths(item, &format!("{path}/{name}"), found));
        }
        _ => {}
    }
}

fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0..70u64).prop_map(Value::from),
        Just(Value::from("0xffffffffffffffffff")),
        Just(Value::from("-0x01")),
        Just(Value::from("*")),
        Just(Value::from("header")),
        Just(Value::from("standard_metadata")),
        Just(Value::Array(Vec::new())),
        Just(Value::Object(Default::default())),
    ]
}

#[test]
fn documents_with_values_changed_or_swapped() {
    let document: Value = serde_json::from_str(EVERYTHING).expect("it is JSON");
    let mut all = Vec::new();
    paths(&document, "", &mut all);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(400));
    let change = prop_oneof![replacement().prop_map(Some), Just(None)];
    let changes =
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), change), 1..4);
    let outcome = runner.run(&(changes, prop::collection::vec(frame(), 4)), |(changes, frames)| {
        let mut changed = document.clone();
        for (at, other, value) in changes {
            let other = changed.pointer(&all[other.index(all.len())]).cloned();
            let value = value.or(other).unwrap_or(Value::Null);
            if let Some(place) = changed.pointer_mut(&all[at.index(all.len())]) {
                *place = value;
            }
        }
        // Either a program, which then runs frames, or an error that names a place.
        match Program::compile(changed.to_string().as_bytes()) {
            Ok(program) => {
                let mut switch = Switch::new(1);
                if switch.load(program).is_ok() {
                    for frame in &frames {
                        switch.process(Port(1), frame, 7, &mut Sent::default());
                    }
                }
            }
            Err(error) => prop_assert!(!error.place.is_empty()),
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn documents_that_are_none() {
    for text in ["", "{", "[]", "{}", "null", &"[".repeat(100_000), r#"{"header_types": 3}"#] {
        let error = Program::compile(text.as_bytes()).expect_err("it is refused");
        assert!(!error.to_string().contains('\n'), "one line: {error}");
    }
}
