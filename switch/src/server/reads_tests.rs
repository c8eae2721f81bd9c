use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use inart_p4runtime::p4::v1::entity::Entity as Kind;
use inart_p4runtime::p4::v1::{
    CounterEntry, ForwardingPipelineConfig, MulticastGroupEntry, RegisterEntry, TableEntry, Update,
};
use inart_p4runtime::{Entry, Schema};
use prost::Message;
use tonic::Code;

use super::super::clock::Clock;
use super::super::limits;
use super::super::verify::Verified;
use super::*;

const JSON: &[u8] = include_bytes!("../../tests/programs/everything.json");
const P4INFO: &str = include_str!("../../tests/programs/everything.txtpb");
const CELLS: i32 = 10_000;

/// Returns the test program with larger arrays and tables.
fn pipeline() -> Pipeline {
    let mut json: serde_json::Value = serde_json::from_slice(JSON).unwrap();
    json["register_arrays"][0]["size"] = CELLS.into();
    for pipeline in json["pipelines"].as_array_mut().unwrap() {
        for table in pipeline["tables"].as_array_mut().unwrap() {
            table["max_size"] = 5000.into();
        }
    }
    let mut info = Schema::from_text(P4INFO).unwrap().info().clone();
    info.registers[0].size = CELLS;
    let config = ForwardingPipelineConfig {
        p4info: Some(info),
        p4_device_config: json.to_string().into_bytes(),
        cookie: None,
    };
    let verified = Verified::new(config, &AtomicBool::new(false)).unwrap();
    Pipeline::stage(verified, Clock(Instant::now())).unwrap()
}

fn reading(filters: Vec<Entity>) -> Reading {
    Reading::new(filters.iter().map(|filter| filter.encode_to_vec().into()).collect(), 0)
}

fn answers(pipeline: &Pipeline, mut reading: Reading) -> Vec<Vec<Entity>> {
    std::iter::from_fn(|| reading.next(pipeline, 0).unwrap()).collect()
}

/// Inserts that many entries of a table with a priority.
fn fill(pipeline: &mut Pipeline, count: u32) {
    for value in 0..count {
        let entry = Entry::new("ternary_table")
            .ternary("hdr.body.a", value, u32::MAX)
            .range("hdr.body.b", 10u8, 20u8)
            .exact("hdr.body.d", 4u8)
            .priority(1)
            .action("send", [("port", 6u8)]);
        let entry = pipeline.schema.encode(&entry).unwrap();
        pipeline.write(&Update::insert(entry)).unwrap();
    }
}

#[test]
fn every_answer_is_bounded_and_together_they_are_the_whole() {
    let mut pipeline = pipeline();
    fill(&mut pipeline, 3000);
    let filters: Vec<Entity> = vec![
        RegisterEntry::default().into(),
        CounterEntry::default().into(),
        TableEntry::default().into(),
        RegisterEntry::default().into(),
    ];
    let answers = answers(&pipeline, reading(filters));
    let longest = answers.iter().map(Vec::len).max().unwrap();
    assert!(longest < limits::PAGE + limits::STRIDE, "{longest}");
    let (mut cells, mut keys) = (Vec::new(), HashSet::new());
    for entity in answers.concat() {
        match entity.entity {
            Some(Kind::RegisterEntry(cell)) => cells.push(cell.index.unwrap().index),
            Some(Kind::TableEntry(entry)) => {
                assert!(keys.insert(entry.encode_to_vec()), "an entry is there once");
            }
            _ => {}
        }
    }
    let once = || 0..i64::from(CELLS);
    assert_eq!(cells, once().chain(once()).collect::<Vec<_>>());
    // The program declares one entry itself.
    assert_eq!(keys.len(), 3001);
}

#[test]
fn what_is_looked_at_for_nothing_is_bounded_too() {
    let mut pipeline = pipeline();
    fill(&mut pipeline, 3000);
    let filter = TableEntry { metadata: vec![7], ..Default::default() };
    let answers = answers(&pipeline, reading(vec![filter.into()]));
    assert!(answers.iter().all(Vec::is_empty));
    assert!(answers.len() >= 3000 / limits::PAGE, "{}", answers.len());
}

#[test]
fn large_entities_fill_an_answer_by_their_bytes() {
    let mut pipeline = pipeline();
    for id in 1..=8 {
        let replicas = (0..60_000).map(|replica| (1, replica));
        pipeline.write(&Update::insert(MulticastGroupEntry::new(id, replicas))).unwrap();
    }
    let answers = answers(&pipeline, reading(vec![MulticastGroupEntry::default().into()]));
    assert_eq!(answers.iter().map(Vec::len).max(), Some(1));
    assert_eq!(answers.concat().len(), 8);
}

#[test]
fn replicas_are_bounded_over_all_groups_and_freed_with_them() {
    let mut pipeline = pipeline();
    let group = |id| MulticastGroupEntry::new(id, (0..60_000).map(|replica| (1, replica)));
    let room = (limits::REPLICAS / 60_000) as u32;
    for id in 1..=room {
        pipeline.write(&Update::insert(group(id))).unwrap();
    }
    let refused = pipeline.write(&Update::insert(group(room + 1))).unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    pipeline.write(&Update::modify(group(1))).unwrap();
    pipeline.write(&Update::delete(group(1))).unwrap();
    pipeline.write(&Update::insert(group(room + 1))).unwrap();
}

#[test]
fn a_write_between_two_answers_ends_the_read() {
    let pipeline = pipeline();
    let mut reading = reading(vec![RegisterEntry::default().into()]);
    assert!(reading.next(&pipeline, 0).unwrap().is_some());
    assert_eq!(reading.next(&pipeline, 1).unwrap_err().code(), Code::Aborted);
}

#[test]
fn an_undo_that_would_remember_too_much_is_refused() {
    let pipeline = pipeline();
    let all = Update::modify(RegisterEntry {
        register_id: pipeline.schema.info().registers[0].id(),
        ..Default::default()
    });
    assert_eq!(pipeline.inverse(&all, CELLS as usize).unwrap().len(), CELLS as usize);
    let refused = pipeline.inverse(&all, CELLS as usize - 1).unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
}

#[test]
fn an_entry_without_match_fields_is_restored_alone() {
    let mut pipeline = pipeline();
    let entry = |prefix: Option<u32>, port: u8| {
        let entry = Entry::new("lpm_table").action("send", [("port", port)]);
        let entry = prefix.into_iter().fold(entry, |entry, value| entry.lpm("hdr.body.a", value << 8, 24));
        Schema::from_text(P4INFO).unwrap().encode(&entry).unwrap()
    };
    for prefix in [None, Some(1), Some(2), Some(3)] {
        pipeline.write(&Update::insert(entry(prefix, 5))).unwrap();
    }
    let undo = pipeline.inverse(&Update::modify(entry(None, 6)), 1).unwrap();
    assert_eq!(undo, [Update::modify(entry(None, 5))]);
    let undo = pipeline.inverse(&Update::delete(entry(None, 6)), 1).unwrap();
    assert_eq!(undo, [Update::insert(entry(None, 5))]);
}
