//! The memory that a read of everything takes in the process of the data plane. A program of its own with one
//! test, since it counts all allocations of its process.
#![allow(clippy::unwrap_used)]

mod rig;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use inart_p4runtime::PipelineAction;
use inart_p4runtime::p4::v1::{ReadRequest, RegisterEntry};
use rig::{DEVICE, Rig, code};
use tonic::Code;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it came.
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

#[tokio::test]
async fn reading_a_million_cells_twice_in_one_request_takes_a_few_megabytes() {
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
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let mut answers = raw.read(request).await.unwrap().into_inner();
    let mut read = 0;
    while let Some(answer) = answers.message().await.unwrap() {
        read += answer.entities.len();
    }
    assert_eq!(read, 2 * CELLS);
    let taken = PEAK.load(Ordering::Relaxed) - before;
    assert!(taken < 32 << 20, "{} MiB beyond what the switch had", taken >> 20);
}
