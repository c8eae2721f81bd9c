//! Externs of TNA that depend on traffic or choose: `tna/traffic.json` is the output of `p4test --toJSON`
//! (with `-D__TARGET_TOFINO__=1`) for `tna/traffic.p4`, made smaller as `tna/externs.json` is. Unsupported
//! externs are rejected by name.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use inart_switch::control::{ActionCall, Entry, EntryAction, GroupMember, Match, MeterConfig, Port};
use inart_switch::{Program, Sink, Switch};

/// Bytes after the header.
const PAYLOAD: &[u8] = b"payload";
/// Colors as TNA numbers them.
const GREEN: u8 = 0;
const YELLOW: u8 = 1;
const RED: u8 = 3;
/// One packet of the committed rate, two of the peak rate, and no refill.
const BURSTS: MeterConfig =
    MeterConfig { committed_rate: 0, committed_burst: 1, peak_rate: 0, peak_burst: 2 };

fn read(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tna").join(name);
    std::fs::read_to_string(path).expect("the program is there")
}

fn switch() -> Switch {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    let compile = || Program::compile(read("traffic.json").as_bytes()).expect("it compiles");
    let mut switch = Switch::new(1);
    switch.load(Arc::clone(PROGRAM.get_or_init(compile))).expect("it loads");
    switch
}

#[derive(Default)]
struct Sent(Vec<(u32, Vec<u8>)>);

impl Sink for Sent {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push((port.0, frame.to_vec()));
    }
}

/// Returns the output for a packet with that operation, cell, answer and options.
fn run_with(switch: &mut Switch, header: [u8; 4], options: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut sent = Sent::default();
    switch.process(Port(3), &[&header[..], options, PAYLOAD].concat(), 1_000_000, &mut sent);
    sent.0
}

/// Returns the answer, and the port it left by; none if it was dropped.
fn run(switch: &mut Switch, op: u8, index: u8, answer: u8) -> Option<(u32, u8)> {
    run_with(switch, [op, index, answer, 0], &[]).first().map(|(port, frame)| (*port, frame[2]))
}

fn call(action: &str, params: &[u16]) -> ActionCall {
    let params = params.iter().map(|value| value.to_be_bytes().to_vec()).collect();
    ActionCall { action: format!("Ingress.{action}"), params }
}

fn insert(switch: &mut Switch, table: &str, index: u8, action: EntryAction) {
    let entry = Entry::new(vec![Match::Exact(vec![index])], 0, action);
    switch.insert_entry(&format!("Ingress.{table}"), entry).expect("the entry fits");
}

#[test]
fn a_meter_colors_packets() {
    let mut switch = switch();
    let colors =
        |switch: &mut Switch, index| [(); 4].map(|()| run(switch, 1, index, 9).expect("it leaves").1);
    assert_eq!(colors(&mut switch, 4), [GREEN; 4], "without rates");
    switch.set_meter("Ingress.rates", 4, Some(BURSTS)).expect("the cell is there");
    assert_eq!(colors(&mut switch, 4), [GREEN, YELLOW, RED, RED]);
    assert_eq!(colors(&mut switch, 5), [GREEN; 4], "another cell");
}

#[test]
fn a_direct_meter_counts_the_bytes_of_its_entrys_packets() {
    let mut switch = switch();
    let bytes = 4 + PAYLOAD.len() as u64;
    for index in [1, 2] {
        insert(&mut switch, "metered", index, EntryAction::Call(call("colour", &[])));
    }
    let rates = MeterConfig { committed_burst: bytes, peak_burst: 3 * bytes - 1, ..BURSTS };
    let key = [Match::Exact(vec![1])];
    switch.set_direct_meter("Ingress.metered", &key, 0, Some(rates)).expect("the entry is there");
    let colors =
        |switch: &mut Switch, index| [(); 3].map(|()| run(switch, 2, index, 9).expect("it leaves").1);
    assert_eq!(colors(&mut switch, 1), [GREEN, YELLOW, RED]);
    assert_eq!(colors(&mut switch, 2), [GREEN; 3]);
    assert_eq!(colors(&mut switch, 7), [9; 3], "no entry, no answer");
}

#[test]
fn entries_share_a_member_of_an_action_profile() {
    let mut switch = switch();
    switch.insert_member("Ingress.ways", 7, &call("send", &[21])).expect("there is room");
    for index in [1, 2] {
        insert(&mut switch, "chosen", index, EntryAction::Member(7));
    }
    let ports = |switch: &mut Switch| [1, 2, 3].map(|index| run(switch, 3, index, 0).map(|(port, _)| port));
    assert_eq!(ports(&mut switch), [Some(21), Some(21), Some(9)]);
    switch.modify_member("Ingress.ways", 7, &call("drop", &[])).expect("the member exists");
    assert_eq!(ports(&mut switch), [None, None, Some(9)]);
    assert!(switch.delete_member("Ingress.ways", 7).is_err(), "entries use it");
}

/// The member that a hash picks is unspecified; the same packet always gets the same one, and all are used.
#[test]
fn a_selector_spreads_packets_over_a_group() {
    let mut switch = switch();
    let ports = [31, 32, 33];
    for (member, port) in (1..).zip(ports) {
        switch.insert_member("Ingress.groups", member, &call("send", &[port])).expect("there is room");
    }
    let members = (1..=3).map(|member| GroupMember { member, weight: 1 }).collect();
    switch.put_group("Ingress.groups", 5, members, false).expect("it is new");
    insert(&mut switch, "balanced", 1, EntryAction::Group(5));
    insert(&mut switch, "balanced", 2, EntryAction::Member(2));
    let spread: Vec<_> =
        (0..=u8::MAX).map(|flow| run(&mut switch, 4, 1, flow).expect("it leaves").0).collect();
    let again: Vec<_> =
        (0..=u8::MAX).map(|flow| run(&mut switch, 4, 1, flow).expect("it leaves").0).collect();
    assert_eq!(spread, again);
    assert_eq!(spread.into_iter().collect::<BTreeSet<_>>(), ports.map(u32::from).into());
    assert_eq!(run(&mut switch, 4, 2, 77), Some((32, 77)), "a member alone");
}

#[test]
fn a_parser_counts_options() {
    let mut switch = switch();
    let answer = |switch: &mut Switch, options: &[u8]| {
        let sent = run_with(switch, [5, 0, 0, options.len() as u8], options);
        let (_, frame) = sent.first()?;
        assert_eq!(frame[3..], [&[options.len() as u8], options, PAYLOAD].concat());
        Some(frame[2])
    };
    assert_eq!(answer(&mut switch, &[]), Some(0));
    assert_eq!(answer(&mut switch, &[10, 20]), Some(0), "there is no third");
    assert_eq!(answer(&mut switch, &[10, 20, 30]), Some(30));
    assert_eq!(answer(&mut switch, &[1, 2, 3, 4, 5, 6]), Some(3));
    assert_eq!(answer(&mut switch, &[0; 7]), None, "more than there is room for");
}

/// Unsupported externs are rejected when the program is compiled. The program is a supported one with another
/// name of an extern.
#[test]
fn what_is_not_supported_is_refused_by_name() {
    let text = read("externs.json");
    let instance = "\"name\":\"RegisterAction\"";
    assert!(text.contains(instance) && Program::compile(text.as_bytes()).is_ok());
    for name in ["Lpf", "DirectLpf", "Wred", "DirectWred", "MathUnit"] {
        let changed = text.replace(instance, &format!("\"name\":\"{name}\""));
        let refused = Program::compile(changed.as_bytes()).expect_err(name).to_string();
        let expected = format!("the method \"execute\" of \"{name}\" is not supported");
        assert!(refused.contains(&expected) && !refused.contains('\n'), "{refused}");
    }
    let method = text.replace("\"member\":\"execute\"", "\"member\":\"predicate\"");
    let refused = Program::compile(method.as_bytes()).expect_err("predicate").to_string();
    assert!(refused.contains("the method \"predicate\" of \"RegisterAction\" is not supported"), "{refused}");
}
