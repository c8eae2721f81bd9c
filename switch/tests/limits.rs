//! The P4Runtime server's limits over gRPC: the most that any client may request of the process that also
//! forwards the frames.
#![allow(clippy::unwrap_used)]

use crate::rig;

use inart_p4runtime::p4::v1::p4_runtime_client::P4RuntimeClient;
use inart_p4runtime::p4::v1::{
    self, CounterEntry, ReadRequest, RegisterEntry, TableEntry, Update, stream_message_request as request,
};
use inart_p4runtime::{ClientError, ElectionId, PipelineAction};
use rig::{DEVICE, Rig, code, encode, exact_entry, frame, pipeline, schema, soon, with_cells};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

/// More than a connection has in flight.
const CELLS: usize = 1 << 20;

fn all_registers() -> ReadRequest {
    let entities = vec![RegisterEntry::default().into()];
    ReadRequest { device_id: DEVICE.0, entities, ..Default::default() }
}

/// Returns the cells of the remaining answers.
async fn rest(answers: &mut Streaming<v1::ReadResponse>) -> Result<Vec<RegisterEntry>, Status> {
    let mut cells = Vec::new();
    while let Some(answer) = soon(answers.message()).await? {
        cells.extend(answer.entities.into_iter().filter_map(|entity| match entity.entity {
            Some(v1::entity::Entity::RegisterEntry(cell)) => Some(cell),
            _ => None,
        }));
    }
    Ok(cells)
}

#[tokio::test]
async fn frames_and_their_state_continue_during_a_read() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let loaded = client.set_pipeline(PipelineAction::VerifyAndCommit, Some(with_cells(CELLS))).await;
    assert_eq!(code(loaded), Code::Ok);
    assert_eq!(rig::insert(&client, &exact_entry(5, 1, 2)).await, Code::Ok);
    let mut answers = rig.raw().await.read(all_registers()).await.unwrap().into_inner();
    soon(answers.message()).await.unwrap().unwrap();
    assert_eq!(rig.send(1, &frame(5, 9, 0, 0, 0, 0)).len(), 1);
    rig.switch.lock().unwrap().set_register("I.cells", CELLS - 1, &[9]).unwrap();
    let cells = rest(&mut answers).await.unwrap();
    let last = cells.last().unwrap();
    assert_eq!(last.index.unwrap().index, CELLS as i64 - 1);
    assert_eq!(last.data.as_ref().unwrap().data, Some(v1::p4_data::Data::Bitstring(vec![9])));
}

#[tokio::test]
async fn a_write_waits_for_no_slow_reader_and_no_read_sees_half_of_it() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let loaded = client.set_pipeline(PipelineAction::VerifyAndCommit, Some(with_cells(CELLS))).await;
    assert_eq!(code(loaded), Code::Ok);
    let mut answers = rig.raw().await.read(all_registers()).await.unwrap().into_inner();
    soon(answers.message()).await.unwrap().unwrap();
    assert_eq!(soon(rig::insert(&client, &exact_entry(5, 1, 2))).await, Code::Ok);
    assert_eq!(rest(&mut answers).await.unwrap_err().code(), Code::Aborted);
    assert_eq!(client.read_table("exact_table").await.unwrap().len(), 1, "the next one sees all of it");
}

fn write(updates: Vec<Update>, election: u128) -> v1::WriteRequest {
    let election_id = Some(ElectionId(election).into());
    v1::WriteRequest { device_id: DEVICE.0, election_id, updates, ..Default::default() }
}

#[tokio::test]
async fn requests_that_are_too_long_or_ask_too_much_are_refused() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let mut raw = rig.raw().await;
    let with_metadata = |bytes| {
        let mut entry = schema().encode(&exact_entry(5, 1, 2)).unwrap();
        entry.metadata = vec![1; bytes];
        Update::insert(entry)
    };
    let refused = raw.write(write(vec![with_metadata(5 << 20)], 1)).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    assert!(refused.message().contains("longer than 4194304 bytes"), "{refused}");
    assert_eq!(rig::write(&client, with_metadata(2 << 20)).await, Code::ResourceExhausted);
    assert_eq!(rig::write(&client, with_metadata(5000)).await, Code::ResourceExhausted);
    assert_eq!(rig::write(&client, with_metadata(4000)).await, Code::Ok);

    let empty = vec![Update::default(); 70_000];
    assert_eq!(raw.write(write(empty, 1)).await.unwrap_err().code(), Code::ResourceExhausted);
    let many = ReadRequest {
        device_id: DEVICE.0,
        entities: vec![TableEntry::default().into(); 20_000],
        ..Default::default()
    };
    assert_eq!(raw.read(many).await.err().unwrap().code(), Code::ResourceExhausted);

    let mut large = pipeline();
    large.device_config.resize(40 << 20, b' ');
    let set = client.set_pipeline(PipelineAction::VerifyAndCommit, Some(large)).await;
    assert_eq!(code(set), Code::ResourceExhausted);
    let mut large = pipeline();
    large.p4info.actions[0].preamble.as_mut().unwrap().alias = "a".repeat(3 << 20);
    let set = client.set_pipeline(PipelineAction::Verify, Some(large)).await;
    assert_eq!(code(set), Code::ResourceExhausted);
}

#[tokio::test]
async fn a_client_that_may_not_write_is_rejected_whatever_the_updates_are() {
    let rig = Rig::start().await;
    let _primary = rig.loaded().await;
    let mut raw = rig.raw().await;
    let mut entry = schema().encode(&exact_entry(5, 1, 2)).unwrap();
    entry.metadata = vec![1; 2 << 20];
    let refused = raw.write(write(vec![Update::insert(entry)], 99)).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
    let mut info = schema().info().clone();
    info.actions[0].preamble.as_mut().unwrap().alias = "a".repeat(3 << 20);
    let config = v1::ForwardingPipelineConfig { p4info: Some(info), ..Default::default() };
    let set = v1::SetForwardingPipelineConfigRequest {
        device_id: DEVICE.0,
        election_id: Some(ElectionId(99).into()),
        action: v1::set_forwarding_pipeline_config_request::Action::Verify.into(),
        config: Some(config),
        ..Default::default()
    };
    let refused = raw.set_forwarding_pipeline_config(set).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
}

struct Stream {
    _out: mpsc::Sender<v1::StreamMessageRequest>,
    answers: Streaming<v1::StreamMessageResponse>,
}

async fn stream(client: &mut P4RuntimeClient<Channel>, role: &str, election: u128) -> Result<Stream, Status> {
    let (out, requests) = mpsc::channel(8);
    let update = v1::MasterArbitrationUpdate {
        device_id: DEVICE.0,
        role: Some(v1::Role { name: role.to_owned(), ..Default::default() }),
        election_id: Some(ElectionId(election).into()),
        ..Default::default()
    };
    let update = Some(request::Update::Arbitration(update));
    out.send(v1::StreamMessageRequest { update }).await.unwrap();
    let requests = tokio_stream::wrappers::ReceiverStream::new(requests);
    let mut answers = soon(client.stream_channel(requests)).await?.into_inner();
    soon(answers.message()).await?;
    Ok(Stream { _out: out, answers })
}

#[tokio::test]
async fn roles_go_with_their_last_stream_and_their_names_are_bounded() {
    let rig = Rig::start().await;
    let _primary = rig.loaded().await;
    let mut raw = rig.raw().await;
    let long = "r".repeat(257);
    let refused = stream(&mut raw, &long, 1).await.err().unwrap();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");

    let held = stream(&mut raw, "routes", 7).await.unwrap();
    let insert = v1::WriteRequest {
        role: "routes".into(),
        ..write(vec![Update::insert(encode(&exact_entry(5, 1, 2)))], 7)
    };
    raw.write(insert.clone()).await.unwrap();
    drop(held);
    soon(async {
        while raw.write(insert.clone()).await.unwrap_err().code() != Code::NotFound {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_message_of_a_stream_that_is_too_long_ends_it_with_a_reason() {
    let rig = Rig::start().await;
    let _primary = rig.loaded().await;
    let mut held = stream(&mut rig.raw().await, "", 5).await.unwrap();
    let packet = v1::PacketOut { payload: vec![0; 300 << 10], ..Default::default() };
    let update = Some(request::Update::Packet(packet));
    held._out.send(v1::StreamMessageRequest { update }).await.unwrap();
    let ended = loop {
        match soon(held.answers.message()).await {
            Ok(Some(_)) => {}
            Ok(None) => break None,
            Err(status) => break Some(status.code()),
        }
    };
    assert_eq!(ended, Some(Code::ResourceExhausted));
}

#[tokio::test]
async fn the_numbers_of_streams_and_connections_are_limited() {
    let rig = Rig::start().await;
    let (mut clients, mut held) = (Vec::new(), Vec::new());
    for n in 0..256 {
        if n % 64 == 0 {
            clients.push(rig.raw().await);
        }
        let role = format!("role {}", n / 32);
        held.push(stream(clients.last_mut().unwrap(), &role, n).await.unwrap());
    }
    let refused = stream(&mut clients[0], "another", 999).await.err().unwrap();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    drop(held.pop());
    soon(async {
        while stream(&mut clients[0], "role 0", 999).await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;

    // Connections take places once they have started HTTP/2.
    const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let mut others = Vec::new();
    for _ in clients.len()..256 {
        let mut other = TcpStream::connect(&rig.address).await.unwrap();
        other.write_all(HTTP2).await.unwrap();
        soon(other.read_exact(&mut [0; 9])).await.unwrap();
        others.push(other);
    }
    let mut closed = TcpStream::connect(&rig.address).await.unwrap();
    closed.write_all(HTTP2).await.unwrap();
    assert_eq!(soon(closed.read(&mut [0; 64])).await.unwrap_or(0), 0, "no word of HTTP/2, only the end");
    drop(others);
    soon(async {
        while rig.raw().await.capabilities(v1::CapabilitiesRequest {}).await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn silent_connections_keep_no_controller_out() {
    let rig = Rig::start().await;
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(TcpStream::connect(&rig.address).await.unwrap());
    }
    let _primary = rig.loaded().await;
}

#[tokio::test]
async fn a_batch_that_fails_says_of_each_update_why_however_many_there_are() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    let update = |dst| Update::modify(encode(&exact_entry(dst, 1, 2)));
    let failed = client.write((0..1000).map(update).collect()).await.unwrap_err();
    let ClientError::Write(error) = failed else { panic!("{failed}") };
    assert_eq!(error.total, 1000);
}

#[tokio::test]
async fn a_write_of_all_cells_many_times_over_is_refused() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let loaded = client.set_pipeline(PipelineAction::VerifyAndCommit, Some(with_cells(1 << 25))).await;
    assert_eq!(code(loaded), Code::Ok);
    let register_id = schema().info().registers[0].id();
    let data = Some(v1::P4Data { data: Some(v1::p4_data::Data::Bitstring(vec![1])) });
    let all = || Update::modify(RegisterEntry { register_id, index: None, data: data.clone() });
    let rollback = v1::WriteRequest {
        atomicity: v1::write_request::Atomicity::RollbackOnError.into(),
        ..write(vec![all()], 1)
    };
    assert!(rig.raw().await.write(rollback).await.is_err(), "it would remember every cell");
    let counter = Update::modify(CounterEntry {
        counter_id: schema().counter("seen").unwrap().id(),
        data: Some(Default::default()),
        ..Default::default()
    });
    let ClientError::Write(error) = client.write(vec![all(), all(), all(), counter]).await.unwrap_err()
    else {
        panic!()
    };
    let failed: Vec<_> = error.failures.iter().map(|failure| (failure.index, failure.code)).collect();
    assert_eq!(failed, [(2, Code::ResourceExhausted), (3, Code::ResourceExhausted)]);
}

/// Members are compared by hash: 60,000 of them would be compared two billion times.
#[tokio::test]
async fn a_large_value_set_is_written_at_once() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let mut large = pipeline();
    let mut json: serde_json::Value = serde_json::from_slice(&large.device_config).unwrap();
    json["parse_vsets"][0]["max_size"] = 65_536.into();
    large.device_config = json.to_string().into_bytes();
    large.p4info.value_sets[0].size = 65_536;
    let value_set_id = large.p4info.value_sets[0].id();
    assert_eq!(code(client.set_pipeline(PipelineAction::VerifyAndCommit, Some(large)).await), Code::Ok);
    let member = |value: u16| {
        let exact = v1::field_match::Exact { value: value.to_be_bytes().to_vec() };
        let with = Some(v1::field_match::FieldMatchType::Exact(exact));
        v1::ValueSetMember { r#match: vec![v1::FieldMatch { field_id: 1, field_match_type: with }] }
    };
    let set = |members: Vec<_>| Update::modify(v1::ValueSetEntry { value_set_id, members });
    let all = (0..60_000).map(member).collect();
    assert_eq!(soon(rig::write(&client, set(all))).await, Code::Ok);
    let twice = vec![member(7), member(8), member(7)];
    assert_eq!(rig::write(&client, set(twice)).await, Code::AlreadyExists);
}

/// Answers that clients do not take fill the switch's memory: each keeps its place.
#[tokio::test]
async fn configurations_that_clients_do_not_take_keep_their_places() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let mut large = pipeline();
    large.device_config.resize(24 << 20, b' ');
    assert_eq!(code(client.set_pipeline(PipelineAction::VerifyAndCommit, Some(large)).await), Code::Ok);
    let request = v1::GetForwardingPipelineConfigRequest { device_id: DEVICE.0, ..Default::default() };
    let mut held = Vec::new();
    for _ in 0..4 {
        let grpc = tonic::client::Grpc::new(rig.channel().await);
        let mut grpc = grpc.max_decoding_message_size(32 << 20);
        grpc.ready().await.unwrap();
        let path = tonic::codegen::http::uri::PathAndQuery::from_static(
            "/p4.v1.P4Runtime/GetForwardingPipelineConfig",
        );
        type Answer = v1::GetForwardingPipelineConfigResponse;
        let codec = tonic_prost::ProstCodec::<v1::GetForwardingPipelineConfigRequest, Answer>::default();
        let begun = soon(grpc.server_streaming(tonic::Request::new(request), path, codec)).await.unwrap();
        held.push(begun.into_inner());
    }
    let mut fifth = rig.raw().await.max_decoding_message_size(32 << 20);
    let refused = soon(fifth.get_forwarding_pipeline_config(request)).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    let taken = soon(held[0].message()).await.unwrap().unwrap();
    assert_eq!(taken.config.unwrap().p4_device_config.len(), 24 << 20);
    soon(async {
        while fifth.get_forwarding_pipeline_config(request).await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
