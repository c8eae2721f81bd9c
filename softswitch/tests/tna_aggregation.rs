//! The INART program for Tofino on the switch, beside the one for v1model: the same tables, the same frames.

mod support;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use inart_p4::{Chip, Variant};
use inart_softswitch::conformance::run_directory_for;
use inart_softswitch::control::{Port, Replica};
use inart_softswitch::{Architecture, Program, Switch};
use inart_wire::ValuesPerPacket;
use proptest::prelude::*;
use support::{Gradient, Sent, first_hop_switch, port_of, values};

const WORKERS: u16 = 4;

/// The program for Tofino 1 and 32 values, as it is built in.
fn tna_program() -> Arc<Program> {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    let compile = || {
        let variant = Variant { chip: Chip::Tofino1, values: ValuesPerPacket::N32 };
        let built = inart_p4::tofino_artifact(variant).expect("it is built in");
        Program::compile(&built.json).expect("it compiles")
    };
    Arc::clone(PROGRAM.get_or_init(compile))
}

fn v1model_program() -> Arc<Program> {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    let compile = || Program::compile(&inart_p4::artifact(ValuesPerPacket::N32).json).expect("it compiles");
    Arc::clone(PROGRAM.get_or_init(compile))
}

/// A switch of v1model, and one of TNA.
fn pair() -> (Switch, Switch) {
    (first_hop_switch(v1model_program(), WORKERS), first_hop_switch(tna_program(), WORKERS))
}

fn run(switch: &mut Switch, port: Port, frame: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut sent = Sent::default();
    switch.process(port, frame, 0, &mut sent);
    sent.0
}

/// Scripts that p4testgen's Tofino target printed for our program (seed 7).
#[test]
fn p4testgen_agrees() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tna_inart");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tna_inart");
    std::fs::create_dir_all(&folder).expect("a folder");
    let variant = Variant { chip: Chip::Tofino1, values: ValuesPerPacket::N32 };
    let program = inart_p4::tofino_artifact(variant).expect("it is built in").json;
    std::fs::write(folder.join("inart.json"), program).expect("written");
    let mut scripts = 0;
    for entry in std::fs::read_dir(cases).expect("the cases are there") {
        let path = entry.expect("a file").path();
        std::fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("copied");
        scripts += 1;
    }
    let report = run_directory_for(&folder, Some(Architecture::Tna)).expect("they run");
    let failed: Vec<String> =
        report.failed.iter().map(|failure| format!("{}: {}", failure.name, failure.why)).collect();
    assert_eq!(failed, Vec::<String>::new());
    assert_eq!((report.total, report.passed), (scripts, scripts));
    assert!(scripts >= 150, "{scripts}");
}

#[test]
fn sums_are_exact() {
    let (_, mut tna) = pair();
    for sequence in 0..40u32 {
        let gradients: Vec<Vec<i32>> = (0..i32::from(WORKERS))
            .map(|worker| (0..32).map(|n| (n * 1999 - worker * 104_729) * (sequence as i32 + 1)).collect())
            .collect();
        for (worker, gradient) in (0..WORKERS).zip(&gradients) {
            let frame = Gradient { worker, sequence, values: gradient }.bytes();
            let sent = run(&mut tna, port_of(worker), &frame);
            if worker + 1 < WORKERS {
                assert_eq!(sent, [], "nothing leaves before the last worker's frame");
                continue;
            }
            let sum: Vec<i32> = (0..32).map(|n| gradients.iter().map(|gradient| gradient[n]).sum()).collect();
            assert_eq!(sent.len(), 1);
            assert_eq!(sent[0].0, 100);
            assert_eq!(values(&sent[0].1), sum);
        }
    }
    assert_eq!(tna.statistics().touched_twice, 0, "a register is touched once per pass");
}

#[test]
fn ordinary_traffic_is_switched_and_flooded_but_not_back() {
    let (mut v1model, mut tna) = pair();
    let frame: Vec<u8> = [&[2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0][..], &[7; 50]].concat();
    let flooded = [1, 2, 3].map(|port| Replica { port: Port(port), instance: 0 });
    for switch in [&mut v1model, &mut tna] {
        assert_eq!(run(switch, Port(1), &frame), [], "an unknown address goes nowhere");
        switch.put_multicast_group(1, flooded.to_vec(), false).expect("a group");
        let key = inart_softswitch::control::Match::Exact(vec![2, 0, 0, 0, 0, 9]);
        let action = inart_softswitch::control::ActionCall {
            action: "InArtIngress.flood".into(),
            params: vec![vec![1]],
        };
        let entry = inart_softswitch::control::Entry::new(
            vec![key],
            0,
            inart_softswitch::control::EntryAction::Call(action),
        );
        switch.insert_entry("InArtIngress.mac", entry).expect("an entry");
    }
    let expected = [(2, frame.clone()), (3, frame.clone())];
    assert_eq!(run(&mut v1model, Port(1), &frame), expected);
    assert_eq!(run(&mut tna, Port(1), &frame), expected);
}

/// Byte of a frame that holds the flags, and the flag that says that the sum overflowed.
const FLAGS: (usize, u8) = (15, 0x04);

/// Whether the same leaves. On the chip a value that reached a limit stays there, and marks the sum as
/// overflowed even if it did not go past the limit (docs/tofino.md): values of such a sum are not compared,
/// nor is the mark, but what v1model marks must be marked.
fn same(v1model: &[(u32, Vec<u8>)], tna: &[(u32, Vec<u8>)]) -> bool {
    let (at, overflow) = FLAGS;
    v1model.len() == tna.len()
        && v1model.iter().zip(tna).all(|((port, a), (other, b))| {
            let marked =
                |frame: &[u8]| frame.len() > 44 && frame[12..14] == [0x88, 0xb5] && frame[at] & overflow != 0;
            if port != other || a.len() != b.len() || !marked(b) {
                return (port, a) == (other, b);
            }
            let header = |frame: &[u8]| {
                let mut header = frame[..44].to_vec();
                header[at] |= overflow;
                header
            };
            header(a) == header(b)
        })
}

/// Values far from the ends of the range and, less often, near them.
fn value() -> impl Strategy<Value = i32> {
    prop_oneof![4 => -1_000_000..1_000_000i32, 1 => any::<i32>(), 1 => Just(i32::MAX), 1 => Just(i32::MIN)]
}

/// A change to a frame: where, and what is put there.
fn forgery() -> impl Strategy<Value = Option<(usize, u8)>> {
    prop_oneof![3 => Just(None), 1 => (12..44usize, any::<u8>()).prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Repeats, stale frames, other epochs, forged headers, values that overflow: the same frames leave by
    /// the same ports, but for sums that reached a limit (see `same`).
    #[test]
    fn the_same_frames_as_on_v1model(
        frames in prop::collection::vec(
            (0..WORKERS, 0..24u32, prop::collection::vec(value(), 32), forgery()), 1..48
        )
    ) {
        let (mut v1model, mut tna) = pair();
        for (worker, sequence, values, forged) in &frames {
            let mut frame = Gradient { worker: *worker, sequence: *sequence, values }.bytes();
            if let Some((at, byte)) = forged {
                frame[*at] = *byte;
            }
            let a = run(&mut v1model, port_of(*worker), &frame);
            let b = run(&mut tna, port_of(*worker), &frame);
            prop_assert!(same(&a, &b), "worker {worker} sequence {sequence} forged {forged:?}\nv1model {a:?}\ntna     {b:?}");
        }
        prop_assert_eq!(tna.statistics().touched_twice, 0);
    }
}
