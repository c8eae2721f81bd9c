//! The memory that a read of everything takes in the process of the data plane, by either server. A program
//! of its own with one test, since it counts all allocations of its process.
#![allow(clippy::unwrap_used)]

mod bf_rt;
mod rig;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use std::sync::{Arc, Mutex};
use std::time::Duration;

use inart_bfruntime::bfrt_proto as v;
use inart_bfruntime::bfrt_proto::bf_runtime_client::BfRuntimeClient;
use inart_bfruntime::{Client, ClientId, Entry, Info, Profile, Program, Target};
use inart_p4runtime::p4::v1::{ReadRequest, RegisterEntry};
use inart_p4runtime::{PipelineAction, Schema};
use inart_switch::Switch;
use inart_switch::bfrt::Server;
use rig::{DEVICE, Rig, code};
use tokio::net::TcpListener;
use tonic::Code;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CELLS: usize = 1 << 20;

/// Returns the most memory that was in use since, beyond the amount in use then.
fn peak_since(before: usize) -> usize {
    PEAK.load(Ordering::Relaxed) - before
}

fn now() -> usize {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    before
}

#[tokio::test]
async fn reading_a_million_cells_twice_in_one_request_takes_a_few_megabytes() {
    let taken = by_p4runtime().await;
    assert!(taken < 32 << 20, "P4Runtime: {} MiB beyond what the switch had", taken >> 20);
    let taken = by_bfruntime().await;
    assert!(taken < 32 << 20, "BFRuntime: {} MiB beyond what the switch had", taken >> 20);
}

async fn by_p4runtime() -> usize {
    let rig = Rig::start().await;
    let client = rig.client().await;
    let loaded = client.set_pipeline(PipelineAction::VerifyAndCommit, Some(rig::with_cells(CELLS))).await;
    assert_eq!(code(loaded), Code::Ok);
    let mut raw = rig.raw().await;
    let all = RegisterEntry::default();
    let request = ReadRequest {
        device_id: DEVICE.0,
        entities: vec![all.clone().into(), all.into()],
        ..Default::default()
    };
    let before = now();
    let mut answers = raw.read(request).await.unwrap().into_inner();
    let mut read = 0;
    while let Some(answer) = answers.message().await.unwrap() {
        read += answer.entities.len();
    }
    assert_eq!(read, 2 * CELLS);
    peak_since(before)
}

async fn by_bfruntime() -> usize {
    const ID: inart_bfruntime::DeviceId = inart_bfruntime::DeviceId(3);
    const NAME: &str = "everything";
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = Server::new(ID, Arc::new(Mutex::new(Switch::new(1))));
    tokio::spawn(server.serve(listener, std::future::pending()));
    let pipeline = rig::with_cells(CELLS);
    let info = bf_rt::bf_rt(&Schema::new(pipeline.p4info).unwrap()).into_bytes();
    let index = Info::from_json(&info).unwrap();
    let profiles =
        vec![Profile { name: "pipe".into(), binary: pipeline.device_config, ..Profile::default() }];
    let client = Client::connect(Target { client: ClientId(5), ..Target::new(&address, ID) }).await.unwrap();
    client.set_program(Program { name: NAME.into(), info, profiles }).await.unwrap();
    let all: v::Entity = index.encode(&Entry::new("cells")).unwrap().into();
    let request = v::ReadRequest {
        target: Some(v::TargetDevice { device_id: ID.0, pipe_id: 0xffff, direction: 0xff, prsr_id: 0xff }),
        entities: vec![all.clone(), all],
        p4_name: NAME.into(),
        ..Default::default()
    };
    let channel = inart_tls::connect_channel(&address, &inart_tls::Security::Local, Duration::from_secs(20));
    let mut raw = BfRuntimeClient::new(channel.await.unwrap());
    let before = now();
    let mut answers = raw.read(request).await.unwrap().into_inner();
    let mut read = 0;
    while let Some(answer) = answers.message().await.unwrap() {
        read += answer.entities.len();
    }
    assert_eq!(read, 2 * CELLS);
    peak_since(before)
}
