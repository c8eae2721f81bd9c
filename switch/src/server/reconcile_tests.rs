//! Reconciling with frames that go on.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::super::verify::Verified;
use super::*;
use crate::control::CounterValue;

const JSON: &[u8] = include_bytes!("../../tests/programs/everything.json");
const P4INFO: &str = include_str!("../../tests/programs/everything.txtpb");
const CELLS: usize = 10_000;

/// Returns the test program with more cells, and with another register of the same shape, which P4Info does
/// not name, before or behind its own.
fn verified(other: Option<usize>) -> Verified {
    let mut json: serde_json::Value = serde_json::from_slice(JSON).unwrap();
    for table in json["pipelines"][0]["tables"].as_array_mut().unwrap() {
        table["max_size"] = 256.into();
    }
    let arrays = json["register_arrays"].as_array_mut().unwrap();
    arrays[0]["size"] = CELLS.into();
    let mut info = Schema::from_text(P4INFO).unwrap().info().clone();
    info.registers[0].size = CELLS as i32;
    if let Some(place) = other {
        let mut more = arrays[0].clone();
        (more["name"], more["id"]) = ("other".into(), 99.into());
        arrays.insert(place, more);
    }
    let config = ForwardingPipelineConfig {
        p4info: Some(info),
        p4_device_config: json.to_string().into_bytes(),
        cookie: None,
    };
    Verified::new(config, &AtomicBool::new(false)).unwrap()
}

fn running(plane: &Plane) -> Pipeline {
    Pipeline::stage(verified(None), Clock(Instant::now())).unwrap().commit(plane)
}

fn cell(plane: &Plane, cell: usize) -> Vec<u8> {
    plane.lock().register("I.cells", cell).unwrap()
}

#[test]
fn what_frames_change_until_the_commit_stays() {
    let switch = Arc::new(Mutex::new(Switch::new(1)));
    let plane = Plane::new(switch);
    let old = running(&plane);
    plane.lock().set_register("I.cells", 3, &[30]).unwrap();
    let ready = Pipeline::reconcile(&old, verified(None)).unwrap();
    // As frames do, after everything was copied and before the new program runs.
    let counted = CounterValue { packets: 7, bytes: 700 };
    plane.lock().set_register("I.cells", 4, &[40]).unwrap();
    plane.lock().set_counter("I.seen", 2, counted).unwrap();
    let _new = ready.commit(&plane);
    assert_eq!((cell(&plane, 3), cell(&plane, 4), cell(&plane, 5)), (vec![30], vec![40], vec![0]));
    assert_eq!(plane.lock().counters("I.seen").unwrap()[2], counted);
}

#[test]
fn registers_whose_neighbors_change_are_copied_with_frames_let_through() {
    for place in [0, 1] {
        let switch = Arc::new(Mutex::new(Switch::new(1)));
        let plane = Plane::new(switch.clone());
        let old = running(&plane);
        for n in 0..CELLS {
            plane.lock().set_register("I.cells", n, &[(n % 251) as u8]).unwrap();
        }
        let mut ready = Pipeline::stage(verified(Some(place)), old.clock).unwrap();
        ready.kept = ready.kept_from(&old);
        let mut chances = 0;
        ready.copy_registers(&old, || {
            assert!(switch.try_lock().is_ok(), "a frame could pass");
            chances += 1;
        });
        assert!(chances >= CELLS.div_ceil(limits::STRIDE), "{chances} times for {CELLS} cells");
        let _new = ready.commit(&plane);
        assert!((0..CELLS).all(|n| cell(&plane, n) == [(n % 251) as u8]), "place {place}");
        assert_eq!(plane.lock().register("other", 5).unwrap(), [0]);
    }
}

#[test]
fn entries_with_a_time_out_are_looked_at_when_it_may_have_passed_and_not_before() {
    let mut pipeline = Pipeline::stage(verified(None), Clock(Instant::now())).unwrap();
    let schema = Schema::from_text(P4INFO).unwrap();
    let entry = |prefix: u32, timeout_ns: i64| {
        let entry = inart_p4runtime::Entry::new("lpm_table")
            .lpm("hdr.body.a", prefix << 24, 8)
            .action("send", [("port", 1u8)]);
        TableEntry { idle_timeout_ns: timeout_ns, ..schema.encode(&entry).unwrap() }
    };
    const HOUR_NS: i64 = 3_600_000_000_000;
    for prefix in 1..=4 {
        pipeline.write(&Update::insert(entry(prefix, HOUR_NS))).unwrap();
    }
    assert_eq!(pipeline.idle_entries().examined, 0);
    // Nanoseconds have passed for one of them.
    pipeline.write(&Update::modify(entry(2, 1))).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1));
    let found = pipeline.idle_entries();
    assert!(found.examined >= 1);
    let second = entry(2, 1);
    let reported = found.notice.unwrap().table_entry;
    let is_second = |entry: &TableEntry| entry.r#match == second.r#match;
    assert!(reported.iter().all(is_second), "{reported:?}");
    pipeline.write(&Update::delete(entry(2, 1))).unwrap();
    pipeline.write(&Update::modify(entry(3, 0))).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1));
    assert_eq!(pipeline.idle_entries().examined, 0, "deleted, without a time-out, or far from due");
}

#[test]
fn a_notice_of_idle_entries_fits_a_message_that_clients_take() {
    use prost::Message;
    let mut pipeline = Pipeline::stage(verified(None), Clock(Instant::now())).unwrap();
    let schema = Schema::from_text(P4INFO).unwrap();
    const ENTRIES: u32 = 200;
    for prefix in 1..=ENTRIES {
        let entry = inart_p4runtime::Entry::new("lpm_table")
            .lpm("hdr.body.a", prefix << 8, 24)
            .action("send", [("port", 1u8)]);
        let entry = schema.encode(&entry).unwrap();
        let entry = TableEntry { idle_timeout_ns: 1, metadata: vec![1; limits::METADATA_BYTES], ..entry };
        pipeline.write(&Update::insert(entry)).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(1));
    let found = pipeline.idle_entries();
    let notice = found.notice.unwrap();
    let most = limits::PAGE_BYTES + 2 * limits::METADATA_BYTES;
    assert!(notice.encoded_len() <= most, "{} bytes", notice.encoded_len());
    assert!(found.is_cut && !notice.table_entry.is_empty());
}
