//! TNA programs on the switch. `tna/externs.json` is the output of `p4test --toJSON` (with
//! -D__TARGET_TOFINO__=1) for `tna/externs.p4`, without places in the source, without declarations of
//! architecture, equal parts shared.

use std::sync::{Arc, OnceLock};

use inart_switch::conformance::run_directory_for;
use inart_switch::control::{ActionCall, CloneSession, Entry, EntryAction, Match, Port, Replica};
use inart_switch::{Architecture, Digest, Program, Sink, Switch};

#[derive(Default)]
struct Sent {
    frames: Vec<(u32, Vec<u8>)>,
    digests: Vec<Digest>,
}

impl Sink for Sent {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.frames.push((port.0, frame.to_vec()));
    }

    fn digest(&mut self, digest: Digest) {
        self.digests.push(digest);
    }
}

fn text() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tna/externs.json"))
        .expect("the program is there")
}

fn program() -> Arc<Program> {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    Arc::clone(PROGRAM.get_or_init(|| Program::compile(&text()).expect("it compiles")))
}

/// Returns the action's entry for all indices.
fn route(action: &str, params: &[u16]) -> Entry {
    let params = params.iter().map(|value| value.to_be_bytes().to_vec()).collect();
    Entry::new(
        vec![Match::Any],
        1,
        EntryAction::Call(ActionCall { action: format!("Ingress.{action}"), params }),
    )
}

/// Returns a switch that sends everything out of port 9.
fn switch() -> Switch {
    let mut switch = Switch::new(1);
    switch.load(program()).expect("it loads");
    switch.insert_entry("Ingress.route", route("send", &[9])).expect("the entry fits");
    switch
}

fn checksum(bytes: &[u8]) -> u16 {
    let sum: u32 = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}

/// Returns a packet with a right checksum.
fn packet(op: u8, index: u8, value: i32, result: u32) -> Vec<u8> {
    let mut bytes = vec![op, index, 0, 0];
    bytes.extend(value.to_be_bytes());
    bytes.extend(result.to_be_bytes());
    let sum = checksum(&bytes);
    bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(b"payload");
    bytes
}

fn run(switch: &mut Switch, frame: &[u8]) -> Sent {
    let mut sent = Sent::default();
    switch.process(Port(3), frame, 17, &mut sent);
    sent
}

/// Returns the only frame that leaves by port 9; its result.
fn result(switch: &mut Switch, frame: &[u8]) -> u32 {
    let sent = run(switch, frame).frames;
    assert_eq!((sent.len(), sent[0].0), (1, 9), "{sent:?}");
    let bytes = &sent[0].1;
    assert_eq!(checksum(&bytes[..12]), 0, "the deparser updates the checksum");
    u32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]])
}

#[test]
fn the_form_says_which_architecture() {
    assert_eq!(program().architecture(), Architecture::Tna);
}

/// `tna/externs_N.stf` are the output of p4testgen (`--target tofino --arch tna --test-backend STF --seed 3`)
/// for `tna/externs.p4`, without its comments.
#[test]
fn p4testgens_cases_pass() {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tna"));
    let report = run_directory_for(folder, Some(Architecture::Tna)).expect("the folder can be read");
    assert_eq!(report.failed, []);
    assert_eq!((report.total, report.passed), (35, 35));
    let report = run_directory_for(folder, Some(Architecture::V1model)).expect("the folder can be read");
    assert_eq!(report.passed, 0, "the pipeline is of another architecture");
}

#[test]
fn a_register_starts_at_its_initial_value_and_saturates() {
    let mut switch = switch();
    assert_eq!(result(&mut switch, &packet(1, 4, 10, 0)), 15);
    assert_eq!(result(&mut switch, &packet(1, 4, -20, 0)), -5i32 as u32);
    assert_eq!(result(&mut switch, &packet(1, 4, i32::MAX, 0)), i32::MAX as u32 - 5);
    assert_eq!(result(&mut switch, &packet(1, 4, 100, 0)), i32::MAX as u32);
    assert_eq!(result(&mut switch, &packet(1, 5, i32::MIN, 0)), (i32::MIN + 5) as u32, "another cell");
    assert_eq!(switch.register("Ingress.totals", 4).expect("it exists"), i32::MAX.to_be_bytes());
}

#[test]
fn a_pair_is_two_arrays() {
    let mut switch = switch();
    assert_eq!(result(&mut switch, &packet(2, 0, 3, 0)), 7, "what was there before");
    assert_eq!(result(&mut switch, &packet(2, 0, 9, 0)), 3);
    assert_eq!(result(&mut switch, &packet(2, 0, 8, 0)), 3);
    assert_eq!(switch.register("Ingress.pairs.high", 0).expect("it exists"), [9]);
    assert_eq!(switch.register("Ingress.pairs.high", 1).expect("it exists"), (-1i32).to_be_bytes());
}

/// CRC-16/ARC, bit by bit.
fn crc16(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xa001 } else { crc >> 1 })
    })
}

#[test]
fn hashes() {
    let mut switch = switch();
    let got = result(&mut switch, &packet(3, 0xab, 0x1234_5678, 0));
    assert_eq!(got, 0x8ab << 16 | crc16(&[3, 0xab]));
    let got = result(&mut switch, &packet(4, 0x0f, 0x0102_0408, 0));
    assert_eq!(got, 0x01 ^ 0x02 ^ 0x04 ^ 0x08 ^ 0x0f);
    let sent = run(&mut switch, &packet(4, 0, i32::MIN, 0)).frames;
    assert_eq!(sent[0].1[4..8], i32::MIN.to_be_bytes(), "|-| stops at the least number");
}

#[test]
fn a_mirrored_copy_is_the_arriving_packet_with_a_header() {
    let mut switch = switch();
    let replicas = vec![Replica { port: Port(20), instance: 0 }];
    switch.put_clone_session(42, CloneSession { replicas, max_bytes: 0 }, false).expect("a session");
    let frame = packet(5, 42, 0x0a0b_0c0d, 0);
    let sent = run(&mut switch, &frame).frames;
    let copy = [&[0xcc, 42, 0, 9, 0x0a, 0x0b, 0x0c, 0x0d][..], &frame].concat();
    assert_eq!(sent, [(20, copy), (9, frame)]);
}

#[test]
fn a_resubmitted_packet_returns_to_the_ingress_with_a_header() {
    let frame = packet(6, 7, 1, 0);
    let sent = run(&mut switch(), &frame).frames;
    let again = [&[0xdd, 7, 0, 9, 1, 2, 3, 4][..], &frame].concat();
    assert_eq!(sent, [(9, again)]);
}

#[test]
fn ranges_of_constant_entries() {
    let mut switch = switch();
    let ports = |switch: &mut Switch, index| {
        run(switch, &packet(7, index, 0, 0))
            .frames
            .iter()
            .map(|sent| (sent.0, sent.1[11]))
            .collect::<Vec<_>>()
    };
    assert_eq!(ports(&mut switch, 0x7f), [(9, 0)]);
    assert_eq!(ports(&mut switch, 0x80), [(77, 1)]);
    assert_eq!(ports(&mut switch, 0x8f), [(77, 1)]);
    assert_eq!(ports(&mut switch, 0xff), [(78, 1)]);
}

#[test]
fn digests_carry_the_values_at_the_deparser() {
    let sent = run(&mut switch(), &packet(8, 6, 0x0102_0304, 0));
    let values = vec![vec![6], vec![1, 2, 3, 4]];
    assert_eq!(sent.digests, [Digest { name: "IngressDeparser.digest".into(), values }]);
    assert_eq!(sent.frames.len(), 1);
}

#[test]
fn a_register_touched_twice_in_a_pass_is_counted() {
    let mut switch = switch();
    result(&mut switch, &packet(9, 0, 200, 0));
    assert_eq!(result(&mut switch, &packet(9, 1, -5, 0)), 0x80);
    assert_eq!(switch.statistics().touched_twice, 0);
    assert_eq!(result(&mut switch, &packet(9, 2, 5, 0)), 0x81);
    assert_eq!(switch.statistics().touched_twice, 1);
}

#[test]
fn a_register_read_or_written_past_its_end_is_counted() {
    let size = r#""value":256,"base":10"#;
    let text = String::from_utf8(text()).expect("it is text");
    assert_eq!(text.matches(size).count(), 1, "all registers have one size");
    let smaller = Program::compile(text.replace(size, r#""value":6,"base":10"#).as_bytes());
    let mut switch = Switch::new(1);
    switch.load(smaller.expect("it compiles")).expect("it loads");
    switch.insert_entry("Ingress.route", route("send", &[9])).expect("the entry fits");
    result(&mut switch, &packet(1, 5, 3, 0));
    assert_eq!(switch.statistics().past_end, 0);
    result(&mut switch, &packet(1, 6, 3, 0));
    assert_eq!(switch.statistics().past_end, 2, "a register action reads and writes");
}

#[test]
fn a_parser_verifies_checksums() {
    let mut switch = switch();
    let mut frame = packet(10, 0, 77, 0);
    assert_eq!(result(&mut switch, &frame), 1);
    frame[3] ^= 1;
    assert_eq!(result(&mut switch, &frame), 0);
}

#[test]
fn stacks_and_lookahead() {
    let mut frame = packet(0x10, 0, 0, 0);
    frame.truncate(12);
    frame.extend([1, 3, 0, 9, 0x5a, 0x5b]);
    let sent = run(&mut switch(), &frame).frames;
    assert_eq!(
        sent[0].1[11..],
        [0x5a, 1, 3, 0, 4, 0x5a, 0x5b],
        "the byte ahead, and the second label's number"
    );
}

#[test]
fn value_sets_and_ranges_of_the_parser() {
    let mut switch = switch();
    let sent = |switch: &mut Switch, op, index| run(switch, &packet(op, index, 0, 0)).frames.len();
    assert_eq!(sent(&mut switch, 0x55, 0), 0, "no case matches: the packet is dropped");
    switch.set_value_set("IngressParser.known", &[vec![vec![0x55]]]).expect("the set is there");
    assert_eq!(sent(&mut switch, 0x55, 0), 1);
    assert_eq!(
        (sent(&mut switch, 0x21, 0), sent(&mut switch, 0x21, 1), sent(&mut switch, 0x23, 1)),
        (0, 1, 0)
    );
}

#[test]
fn copies_of_a_group_carry_their_number_and_the_length_with_the_check_sequence() {
    let mut switch = Switch::new(1);
    switch.load(program()).expect("it loads");
    let replicas = [(5, 7), (6, 8)].map(|(port, instance)| Replica { port: Port(port), instance });
    switch.put_multicast_group(3, replicas.to_vec(), false).expect("a group");
    switch.insert_entry("Ingress.route", route("spread", &[3, 0])).expect("the entry fits");
    let frame = packet(0, 0, 0, 0);
    let copy = |rid: u8| {
        let mut copy = frame.clone();
        copy[8..12].copy_from_slice(&[0, rid, 0, frame.len() as u8 + 4]);
        copy
    };
    assert_eq!(run(&mut switch, &frame).frames, [(5, copy(7)), (6, copy(8))]);
    switch.modify_entry("Ingress.route", route("spread", &[3, 1])).expect("the entry is there");
    assert_eq!(run(&mut switch, &frame).frames, [(5, frame.clone()), (6, frame)], "egress is passed by");
}

#[test]
fn a_direct_counter_counts_where_the_action_says_so() {
    let mut switch = switch();
    let count = |switch: &Switch| {
        switch
            .entries("Ingress.route")
            .expect("the table is there")
            .map(|entry| entry.counter.packets)
            .sum::<u64>()
    };
    run(&mut switch, &packet(0, 0, 0, 0));
    run(&mut switch, &packet(0, 0, 0, 0));
    assert_eq!(count(&switch), 2);
    switch.modify_entry("Ingress.route", route("spread", &[3, 0])).expect("the entry is there");
    run(&mut switch, &packet(0, 0, 0, 0));
    assert_eq!(count(&switch), 2);
    let counters = switch.counters("Ingress.packets").expect("the counter is there");
    assert_eq!((counters[0].packets, counters[0].bytes), (3, 57));
}

#[test]
fn drops() {
    let mut switch = switch();
    assert!(run(&mut switch, &packet(11, 0, 0, 0)).frames.is_empty(), "by egress");
    assert!(run(&mut switch, &packet(0, 0, 0, 0)[..11]).frames.is_empty(), "too short for the parser");
    switch.modify_entry("Ingress.route", route("refuse", &[])).expect("the entry is there");
    assert!(run(&mut switch, &packet(0, 0, 0, 0)).frames.is_empty(), "by ingress");
    assert_eq!(switch.statistics().dropped, 3);
}

#[test]
fn a_packet_that_loops_forever_is_dropped() {
    let mut switch = switch();
    switch.set_loopback([Port(9)]);
    assert!(run(&mut switch, &packet(0, 0, 0, 0)).frames.is_empty());
    assert_eq!(switch.statistics().runaway, 1);
}

/// Every part of the document missing in turn, and cut off anywhere: an error, or a program that runs.
#[test]
fn damaged_documents_do_no_harm() {
    let text = String::from_utf8(text()).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    for skipped in 0..lines.len() {
        let kept: Vec<&str> =
            lines.iter().enumerate().filter(|(n, _)| *n != skipped).map(|(_, line)| *line).collect();
        check(kept.join("\n").as_bytes());
    }
    for end in (0..text.len()).step_by(997) {
        check(&text.as_bytes()[..end]);
    }
    for (from, to) in
        [("\"size\":8", "\"size\":0"), ("\"vec\":[", "\"vec\":[7,"), ("\"Node_ID\":", "\"Node_ID\":1")]
    {
        check(text.replace(from, to).as_bytes());
    }
}

fn check(text: &[u8]) {
    if let Ok(program) = Program::compile(text) {
        let mut switch = Switch::new(1);
        if switch.load(program).is_ok() {
            run(&mut switch, &packet(1, 2, 3, 4));
        }
    }
}
