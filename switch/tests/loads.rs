//! Programs that ask for more than a program may have.
#![allow(clippy::unwrap_used)]

use std::sync::mpsc;
use std::time::Duration;

use inart_p4runtime::{Pipeline, PipelineAction};
use inart_switch::{CompileError, Program};
use serde_json::{Value, json};
use tonic::Code;

use crate::rig::{self, JSON, Rig, code, pipeline, with_cells};

/// Compiles in a thread of its own: a compilation that does not end fails.
fn compile(document: String) -> Result<(), CompileError> {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(Program::compile(document.as_bytes()).map(drop)));
    result.recv_timeout(Duration::from_secs(120)).expect("the compilation ends")
}

fn is_limit(document: String) -> String {
    let error = compile(document).unwrap_err();
    assert!(error.is_limit, "{error}");
    error.to_string()
}

/// Returns the first assignment of a computed value.
fn first_assignment(value: &mut Value) -> Option<&mut Value> {
    match value {
        Value::Object(map) => {
            let is_one = map.get("Node_Type").is_some_and(|kind| kind == "AssignmentStatement")
                && map.get("right").is_some_and(|right| right.get("left").is_some());
            if is_one {
                return map.get_mut("right");
            }
            map.values_mut().find_map(first_assignment)
        }
        Value::Array(values) => values.iter_mut().find_map(first_assignment),
        _ => None,
    }
}

/// Our test program with an assignment of `x | x`, where `x` is `y | y`, and so on.
fn laughing(levels: u64) -> String {
    let text = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tna/externs.json")).unwrap();
    let mut document: Value = serde_json::from_slice(&text).unwrap();
    let right = first_assignment(&mut document).expect("there is one");
    let mut inner = right.take();
    for level in 0..levels {
        let (kind, id) = (inner["type"].clone(), inner["Node_ID"].clone());
        let again = json!({"Node_ID": id});
        inner = json!({"Node_ID": 9_000_000 + level, "Node_Type": "BOr", "left": inner, "right": again,
            "type": kind});
    }
    *right = inner;
    document.to_string()
}

#[test]
fn parts_that_a_document_names_again_and_again_count_each_time() {
    compile(laughing(8)).unwrap();
    let error = is_limit(laughing(60));
    assert!(error.contains("steps"), "{error}");
}

#[test]
fn a_body_that_many_nodes_run_counts_each_time() {
    let mut document: Value = serde_json::from_slice(JSON).unwrap();
    let action = document["actions"][0]["id"].clone();
    let cut = json!({"op": "truncate", "parameters": [{"type": "hexstr", "value": "0x40"}]});
    document["actions"][0]["primitives"] = Value::Array(vec![cut; 20_000]);
    let calls = (0..2_000).map(|n| {
        let next = if n == 0 { Value::Null } else { format!("call {}", n - 1).into() };
        json!({"name": format!("call {n}"), "id": n, "action_id": action, "next_node": next})
    });
    document["pipelines"][0]["action_calls"] = calls.collect();
    document["pipelines"][0]["init_table"] = "call 1999".into();
    is_limit(document.to_string());
}

#[test]
fn fields_of_many_headers_are_counted_before_there_is_room_for_them() {
    let mut document: Value = serde_json::from_slice(JSON).unwrap();
    let fields = (0..10_000).map(|n| json!([format!("f{n}"), 8, false]));
    let kind = json!({"name": "wide", "id": 900, "fields": fields.collect::<Vec<_>>()});
    document["header_types"].as_array_mut().unwrap().push(kind);
    let headers = document["headers"].as_array_mut().unwrap();
    headers.extend(
        (0..200).map(
            |n| json!({"name": format!("w{n}"), "id": 1000 + n, "header_type": "wide", "metadata": true}),
        ),
    );
    is_limit(document.to_string());
}

#[test]
fn arrays_are_counted_in_bytes() {
    // A meter takes more than 25 times as much as a register of 32 bits.
    for (section, size) in
        [("meter_arrays", 6 << 20), ("counter_arrays", 40 << 20), ("register_arrays", 1 << 28)]
    {
        let mut document: Value = serde_json::from_slice(JSON).unwrap();
        document[section][0]["size"] = json!(size);
        let error = is_limit(document.to_string());
        assert!(error.contains(&size.to_string()) && error.contains("bytes"), "{error}");
    }
    let mut document: Value = serde_json::from_slice(JSON).unwrap();
    document["register_arrays"][0]["size"] = json!(1 << 26);
    document["register_arrays"][0]["bitwidth"] = json!(512);
    is_limit(document.to_string());
}

#[tokio::test]
async fn the_program_that_runs_and_the_saved_one_count_together() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let large = || Some(with_cells(100 << 20));
    assert_eq!(code(client.set_pipeline(PipelineAction::VerifyAndCommit, large()).await), Code::Ok);
    assert_eq!(code(client.set_pipeline(PipelineAction::VerifyAndSave, large()).await), Code::Ok);
    let third = client.set_pipeline(PipelineAction::VerifyAndCommit, large()).await;
    assert_eq!(code(third), Code::ResourceExhausted);
    assert_eq!(code(client.set_pipeline(PipelineAction::Verify, large()).await), Code::Ok);
    assert_eq!(code(client.set_pipeline(PipelineAction::Commit, None).await), Code::Ok);
    let small = Some(pipeline());
    assert_eq!(code(client.set_pipeline(PipelineAction::VerifyAndCommit, small).await), Code::Ok);
}

#[tokio::test]
async fn a_program_that_takes_too_much_is_refused_with_the_limit_and_its_value() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let set = client.set_pipeline(PipelineAction::VerifyAndCommit, Some(with_cells(1 << 28))).await;
    let inart_p4runtime::ClientError::Rpc { code, message, .. } = set.unwrap_err() else { panic!() };
    assert_eq!(code, Code::ResourceExhausted);
    assert!(message.contains("268435456 cells") && message.contains("536870912"), "{message}");
    let laughing = Pipeline { device_config: laughing(60).into_bytes(), ..pipeline() };
    let set = client.set_pipeline(PipelineAction::Verify, Some(laughing)).await;
    assert_eq!(rig::code(set), Code::ResourceExhausted);
}
