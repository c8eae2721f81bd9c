//! The P4Runtime server over gRPC: arbitration, pipelines, packets.
#![allow(clippy::unwrap_used)]

use crate::rig;

use inart_p4runtime::p4::v1::{self, Update, stream_message_request as request};
use inart_p4runtime::{
    Arbitration, Client, ClientError, DeviceId, ElectionId, Entry, Event, Packet, PipelineAction, Target,
    Value,
};
use rig::{DEVICE, PATIENCE, Rig, code, encode, exact_entry, frame, insert, next, pipeline, schema, soon};
use tonic::Code;

#[tokio::test]
async fn a_pushed_program_with_an_entry_forwards_and_counts() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    assert_eq!(client.api_version().await.unwrap(), "1.4.1");
    let entry = exact_entry(0x0200_0000_0001, 1, 2);
    let before = frame(0x0200_0000_0001, 9, 0, 0, 0, 0);
    assert!(rig.send(1, &before).is_empty(), "the default action drops");
    assert_eq!(insert(&client, &entry).await, Code::Ok);
    assert_eq!(rig.send(1, &before), [(2, before.clone())]);
    let read = client.read_table("exact_table").await.unwrap();
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].counter.unwrap().packets, 1);
    assert_eq!(read[0].counter.unwrap().bytes, before.len() as i64);
    assert_eq!(Entry { counter: None, ..read[0].clone() }, entry);
    assert_eq!(client.read_counter("seen").await.unwrap()[1].packets, 2);
    assert_eq!(code(client.write(vec![Update::delete(encode(&entry))]).await), Code::Ok);
    assert!(rig.send(1, &before).is_empty());
}

#[tokio::test]
async fn the_greatest_election_id_is_primary_and_the_others_hear_of_it() {
    let rig = Rig::start().await;
    let first = rig.loaded().await;
    let refused = Client::connect(rig.target(1)).await.err().unwrap();
    assert!(matches!(refused, ClientError::Rpc { code: Code::InvalidArgument, .. }), "{refused}");

    let second = Client::connect(rig.target(2)).await.unwrap();
    soon(second.wait_primary(PATIENCE)).await.unwrap();
    assert_eq!(code(second.write(vec![Update::insert(encode(&exact_entry(1, 1, 1)))]).await), Code::Ok);
    // The first received its arbitration before the second did.
    assert_eq!(first.arbitration(), Arbitration { primary: false, greatest: Some(ElectionId(2)) });
    assert_eq!(insert(&first, &exact_entry(2, 1, 1)).await, Code::PermissionDenied);
    let set = first.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline())).await;
    assert_eq!(code(set), Code::PermissionDenied);
    assert_eq!(first.read_table("exact_table").await.unwrap().len(), 1, "backups may read");

    // The second steps down; then there is no primary until its id is reached again.
    let (mut first, mut second) = (first, second);
    second.set_election(None).await.unwrap();
    soon(async {
        while second.is_primary() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(insert(&first, &exact_entry(2, 1, 1)).await, Code::PermissionDenied);
    first.set_election(Some(ElectionId(2))).await.unwrap();
    soon(first.wait_primary(PATIENCE)).await.unwrap();
    assert_eq!(insert(&first, &exact_entry(2, 1, 1)).await, Code::Ok);
}

#[tokio::test]
async fn unknown_devices_and_roles_are_not_found() {
    let rig = Rig::start().await;
    let other = Target::new(&rig.address, DeviceId(8));
    let refused = Client::connect(other).await.err().unwrap();
    assert!(matches!(refused, ClientError::Rpc { code: Code::NotFound, .. }), "{refused}");
    let client = rig.loaded().await;
    let mut raw = rig.raw().await;
    let write = v1::WriteRequest {
        device_id: DEVICE.0,
        role: "unused".into(),
        election_id: Some(ElectionId(1).into()),
        ..Default::default()
    };
    assert_eq!(raw.write(write.clone()).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(
        raw.write(v1::WriteRequest { device_id: 9, ..write.clone() }).await.unwrap_err().code(),
        Code::NotFound
    );
    let unset = v1::WriteRequest { role: String::new(), election_id: None, ..write };
    assert_eq!(raw.write(unset).await.unwrap_err().code(), Code::PermissionDenied);
    let read = v1::ReadRequest { device_id: 9, ..Default::default() };
    assert_eq!(raw.read(read).await.err().unwrap().code(), Code::NotFound);
    let get = v1::GetForwardingPipelineConfigRequest { device_id: 9, ..Default::default() };
    assert_eq!(raw.get_forwarding_pipeline_config(get).await.unwrap_err().code(), Code::NotFound);
    drop(client);
}

#[tokio::test]
async fn without_a_pipeline_nothing_is_written_or_read() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    assert_eq!(client.pipeline().await.unwrap(), None);
    assert_eq!(client.pipeline_cookie().await.unwrap(), None);
    assert_eq!(insert(&client, &exact_entry(1, 1, 1)).await, Code::FailedPrecondition);
    let read = client.read(vec![v1::TableEntry::default().into()]).await;
    assert_eq!(code(read.map(|_| ())), Code::FailedPrecondition);
    assert_eq!(code(client.set_pipeline(PipelineAction::Commit, None).await), Code::NotFound);
}

#[tokio::test]
async fn pipelines_are_verified_saved_committed_and_reconciled() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let set = async |action, pipeline| code(client.set_pipeline(action, pipeline).await);
    assert_eq!(set(PipelineAction::Verify, Some(pipeline())).await, Code::Ok);
    assert_eq!(client.pipeline().await.unwrap(), None, "VERIFY changes nothing");
    assert_eq!(set(PipelineAction::Verify, None).await, Code::InvalidArgument);
    assert_eq!(set(PipelineAction::Unspecified, Some(pipeline())).await, Code::InvalidArgument);
    assert_eq!(set(PipelineAction::VerifyAndCommit, Some(pipeline())).await, Code::Ok);
    assert_eq!(client.pipeline().await.unwrap(), Some(pipeline()));
    assert_eq!(client.pipeline_cookie().await.unwrap(), Some(42));

    let entry = exact_entry(5, 1, 2);
    assert_eq!(insert(&client, &entry).await, Code::Ok);
    assert_eq!(rig.send(1, &frame(5, 9, 0, 0, 0, 0)).len(), 1);

    // RECONCILE keeps entries and their counters.
    let mut newer = pipeline();
    newer.cookie = Some(43);
    assert_eq!(set(PipelineAction::ReconcileAndCommit, Some(newer)).await, Code::Ok);
    assert_eq!(client.pipeline_cookie().await.unwrap(), Some(43));
    assert_eq!(client.read_table("exact_table").await.unwrap()[0].counter.unwrap().packets, 1);
    assert_eq!(client.read_table("const_table").await.unwrap().len(), 1);
    assert_eq!(rig.send(1, &frame(5, 9, 0, 0, 0, 0)).len(), 1);

    // A saved pipeline takes reads and writes while packets still run through the old one.
    assert_eq!(set(PipelineAction::VerifyAndSave, Some(pipeline())).await, Code::Ok);
    assert!(client.read_table("exact_table").await.unwrap().is_empty());
    assert_eq!(insert(&client, &exact_entry(6, 1, 3)).await, Code::Ok);
    assert_eq!(rig.send(1, &frame(5, 9, 0, 0, 0, 0)).len(), 1);
    assert!(rig.send(1, &frame(6, 9, 0, 0, 0, 0)).is_empty());
    assert_eq!(set(PipelineAction::Commit, Some(pipeline())).await, Code::InvalidArgument);
    assert_eq!(set(PipelineAction::Commit, None).await, Code::Ok);
    assert!(rig.send(1, &frame(5, 9, 0, 0, 0, 0)).is_empty());
    assert_eq!(rig.send(1, &frame(6, 9, 0, 0, 0, 0))[0].0, 3);
    assert_eq!(set(PipelineAction::Commit, None).await, Code::NotFound);

    // VERIFY_AND_COMMIT clears everything.
    assert_eq!(set(PipelineAction::VerifyAndCommit, Some(pipeline())).await, Code::Ok);
    assert!(client.read_table("exact_table").await.unwrap().is_empty());
}

#[tokio::test]
async fn a_pipeline_that_does_not_fit_is_refused_and_the_old_one_stays() {
    let rig = Rig::start().await;
    let client = rig.loaded().await;
    assert_eq!(insert(&client, &exact_entry(5, 1, 2)).await, Code::Ok);
    let refused = async |change: &dyn Fn(&mut inart_p4runtime::Pipeline)| {
        let mut changed = pipeline();
        change(&mut changed);
        let error = client.set_pipeline(PipelineAction::VerifyAndCommit, Some(changed)).await.unwrap_err();
        assert_eq!(code(Err(error.clone())), Code::InvalidArgument, "{error}");
        error.to_string()
    };
    assert!(refused(&|p| p.device_config = b"{}".to_vec()).await.contains("p4_device_config"));
    assert!(refused(&|p| p.device_config = b"\x08\x01".to_vec()).await.contains("neither the JSON"));
    assert!(refused(&|p| p.device_config.clear()).await.contains("neither the JSON"));
    let renamed = refused(&|p| p.p4info.tables[0].preamble.as_mut().unwrap().name = "I.other".into()).await;
    assert!(renamed.contains("no table I.other"), "{renamed}");
    let wider = refused(&|p| p.p4info.tables[0].match_fields[0].bitwidth = 32).await;
    assert!(wider.contains("hdr.ethernet.dst of 32 bits"), "{wider}");
    refused(&|p| p.p4info.registers[0].size = 17).await;
    refused(&|p| p.p4info.actions[2].params[0].bitwidth = 8).await;
    assert_eq!(rig.send(1, &frame(5, 9, 0, 0, 0, 0)).len(), 1);
    // A reconciliation that cannot keep an entry is refused as well.
    let mut without = pipeline();
    without.p4info.tables.remove(0);
    let error = client.set_pipeline(PipelineAction::ReconcileAndCommit, Some(without)).await.unwrap_err();
    assert!(error.to_string().contains("cannot keep insert exact_table[hdr.ethernet.dst=5"), "{error}");
    assert_eq!(rig.send(1, &frame(5, 9, 0, 0, 0, 0)).len(), 1);
}

#[tokio::test]
async fn older_clients_may_wrap_the_json() {
    let rig = Rig::start().await;
    let client = rig.client().await;
    // Field 1 (reassign) and field 3 (device_data) of p4.tmp.P4DeviceConfig.
    let mut wrapped = vec![0x08, 0x01, 0x1a];
    let mut length = rig::JSON.len();
    while length >= 0x80 {
        wrapped.push(length as u8 | 0x80);
        length >>= 7;
    }
    wrapped.push(length as u8);
    wrapped.extend_from_slice(rig::JSON);
    let given = inart_p4runtime::Pipeline { device_config: wrapped, ..pipeline() };
    assert_eq!(
        code(client.set_pipeline(PipelineAction::VerifyAndCommit, Some(given.clone())).await),
        Code::Ok
    );
    assert_eq!(client.pipeline().await.unwrap(), Some(given), "read back unchanged");
}

#[tokio::test]
async fn a_pipeline_is_read_in_the_parts_asked_for() {
    use v1::get_forwarding_pipeline_config_request::ResponseType;
    let rig = Rig::start().await;
    let _client = rig.loaded().await;
    let mut raw = rig.raw().await;
    for (parts, p4info, device_config) in [
        (ResponseType::All, true, true),
        (ResponseType::CookieOnly, false, false),
        (ResponseType::P4infoAndCookie, true, false),
        (ResponseType::DeviceConfigAndCookie, false, true),
    ] {
        let get = v1::GetForwardingPipelineConfigRequest { device_id: DEVICE.0, response_type: parts.into() };
        let config = raw.get_forwarding_pipeline_config(get).await.unwrap().into_inner().config.unwrap();
        assert_eq!(config.p4info.is_some(), p4info);
        assert_eq!(!config.p4_device_config.is_empty(), device_config);
        assert_eq!(config.cookie.unwrap().cookie, 42);
    }
    let get = v1::GetForwardingPipelineConfigRequest { device_id: DEVICE.0, response_type: 9 };
    assert_eq!(raw.get_forwarding_pipeline_config(get).await.unwrap_err().code(), Code::InvalidArgument);
}

fn packet(port: u16, payload: &[u8]) -> Packet {
    let metadata = [("egress_port".to_owned(), Value::from(port)), ("pad".to_owned(), Value::from(0u8))];
    Packet { payload: payload.to_vec(), metadata: metadata.into() }
}

#[tokio::test]
async fn packets_are_sent_and_received_with_their_metadata() {
    let rig = Rig::start().await;
    let mut client = rig.loaded().await;
    let mut events = client.take_events().unwrap();
    let payload = frame(1, 2, 3, 4, 5, 6);
    client.send_packet(&packet(3, &payload)).await.unwrap();
    // Out of the CPU port again, to know when the one before is through.
    client.send_packet(&packet(510, &payload)).await.unwrap();
    let Event::Packet(echo) = next(&mut events).await else { panic!("a packet arrives") };
    // That packet never met to_cpu: its first 16 bits are read as the packet_in header.
    assert_eq!(echo.payload, payload[2..]);
    assert_eq!(rig.wires.lock().unwrap().take(), [(3, payload.clone())]);

    let set = schema().value_set("special_types").unwrap().id();
    let field = v1::field_match::FieldMatchType::Exact(v1::field_match::Exact { value: vec![0x12, 0x34] });
    let member =
        v1::ValueSetMember { r#match: vec![v1::FieldMatch { field_id: 1, field_match_type: Some(field) }] };
    let entry = v1::ValueSetEntry { value_set_id: set, members: vec![member] };
    assert_eq!(code(client.write(vec![Update::modify(entry)]).await), Code::Ok);
    rig.send(5, &payload);
    let Event::Packet(message) = next(&mut events).await else { panic!("a packet arrives") };
    let got = client.schema().unwrap().decode_packet(&message).unwrap();
    assert_eq!(got.payload, payload);
    assert_eq!(got.metadata["ingress_port"], Value::from(5u8));
    assert_eq!(got.metadata["reason"], Value::from(3u8));
}

#[tokio::test]
async fn errors_in_stream_messages_return_on_the_stream() {
    let rig = Rig::start().await;
    let _primary = rig.loaded().await;
    let mut raw = rig.raw().await;
    let (out, requests) = tokio::sync::mpsc::channel(8);
    let stream = tokio_stream::wrappers::ReceiverStream::new(requests);
    let send = async |update| out.send(v1::StreamMessageRequest { update: Some(update) }).await.unwrap();
    let arbitration = |election| {
        request::Update::Arbitration(v1::MasterArbitrationUpdate {
            device_id: DEVICE.0,
            election_id: Some(ElectionId(election).into()),
            ..Default::default()
        })
    };
    send(arbitration(0)).await;
    let mut answers = raw.stream_channel(stream).await.unwrap().into_inner();
    let Some(Event::Arbitration(update)) = soon(answers.message()).await.unwrap().unwrap().update else {
        panic!()
    };
    assert_eq!(update.status.unwrap().code, Code::AlreadyExists as i32);
    let good = schema().encode_packet(&packet(1, b"payload")).unwrap();
    send(request::Update::Packet(good.clone())).await;
    let Some(Event::Error(error)) = soon(answers.message()).await.unwrap().unwrap().update else { panic!() };
    assert_eq!(error.canonical_code, Code::PermissionDenied as i32);

    send(arbitration(5)).await;
    let Some(Event::Arbitration(update)) = soon(answers.message()).await.unwrap().unwrap().update else {
        panic!()
    };
    assert_eq!(update.status.unwrap().code, Code::Ok as i32);
    for spoil in [
        |packet: &mut v1::PacketOut| packet.metadata[0].metadata_id = 7,
        |packet: &mut v1::PacketOut| packet.metadata.truncate(1),
        |packet: &mut v1::PacketOut| packet.metadata[1] = packet.metadata[0].clone(),
    ] {
        let mut bad = good.clone();
        spoil(&mut bad);
        send(request::Update::Packet(bad.clone())).await;
        let Some(Event::Error(error)) = soon(answers.message()).await.unwrap().unwrap().update else {
            panic!()
        };
        assert_eq!(error.canonical_code, Code::InvalidArgument as i32, "{}", error.message);
        let Some(v1::stream_error::Details::PacketOut(details)) = error.details else { panic!() };
        assert_eq!(details.packet_out, Some(bad));
    }
    send(request::Update::DigestAck(v1::DigestListAck { digest_id: 1, list_id: 1 })).await;
    let Some(Event::Error(error)) = soon(answers.message()).await.unwrap().unwrap().update else { panic!() };
    assert_eq!(error.canonical_code, Code::InvalidArgument as i32);
    // Another device on the same stream ends it.
    let elsewhere = v1::MasterArbitrationUpdate { device_id: 99, ..Default::default() };
    send(request::Update::Arbitration(elsewhere)).await;
    assert_eq!(soon(answers.message()).await.unwrap_err().code(), Code::FailedPrecondition);
}

#[tokio::test]
async fn a_stream_begins_with_an_arbitration() {
    let rig = Rig::start().await;
    let mut raw = rig.raw().await;
    let packet = v1::StreamMessageRequest { update: Some(request::Update::Packet(v1::PacketOut::default())) };
    let mut answers = raw.stream_channel(tokio_stream::iter([packet])).await.unwrap().into_inner();
    assert_eq!(soon(answers.message()).await.unwrap_err().code(), Code::FailedPrecondition);
}
