//! The INART program for Tofino on the switch: p4testgen's cases, and sums. `tna_traffic` feeds it random
//! frames, together with the one for v1model.

use crate::support;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use inart_p4::{Chip, Variant};
use inart_switch::conformance::run_directory_for;
use inart_switch::control::{Port, Replica};
use inart_switch::{Architecture, Program, Switch};
use inart_wire::ValuesPerFrame;
use support::{Gradient, Sent, first_hop_switch, port_of, values};

const WORKERS: u16 = 4;

/// Returns the program for Tofino 1 and 32 values, as it is built in.
fn tna_program() -> Arc<Program> {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    let compile = || {
        let variant = Variant { chip: Chip::Tofino1, values: ValuesPerFrame::N32 };
        let built = inart_p4::tofino_artifact(variant).expect("it is built in");
        Program::compile(&built.json).expect("it compiles")
    };
    Arc::clone(PROGRAM.get_or_init(compile))
}

fn v1model_program() -> Arc<Program> {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    let compile = || Program::compile(&inart_p4::artifact(ValuesPerFrame::N32).json).expect("it compiles");
    Arc::clone(PROGRAM.get_or_init(compile))
}

/// Returns a switch of v1model, and one of TNA.
fn pair() -> (Switch, Switch) {
    (first_hop_switch(v1model_program(), WORKERS), first_hop_switch(tna_program(), WORKERS))
}

fn run(switch: &mut Switch, port: Port, frame: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut sent = Sent::default();
    switch.process(port, frame, 0, &mut sent);
    sent.0
}

/// Scripts that p4testgen's Tofino target printed for our programs (docs/evidence/conformance.md).
#[test]
fn p4testgen_agrees() {
    let mut that_send = 0;
    for variant in Variant::ALL {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/tna_inart/{variant}"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tna_inart_{variant}"));
        // A run before may have left cases there.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let program = inart_p4::tofino_artifact(variant).expect("it is built in").json;
        std::fs::write(folder.join("inart.json"), program).expect("written");
        let mut scripts = 0;
        for entry in std::fs::read_dir(cases).expect("the cases are there") {
            let path = entry.expect("a file").path();
            let script = std::fs::read_to_string(&path).expect("it is text");
            that_send += usize::from(script.lines().any(|line| line.starts_with("expect")));
            std::fs::write(folder.join(path.file_name().expect("a name")), script).expect("written");
            scripts += 1;
        }
        let report = run_directory_for(&folder, Some(Architecture::Tna)).expect("they run");
        let failed: Vec<String> =
            report.failed.iter().map(|failure| format!("{}: {}", failure.name, failure.why)).collect();
        assert_eq!(failed, Vec::<String>::new(), "{variant}");
        assert_eq!((report.total, report.passed), (scripts, scripts), "{variant}");
        assert!(scripts >= 40, "{variant}: {scripts} cases");
    }
    assert!(that_send >= 16, "{that_send} cases send a frame");
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
    assert_eq!(tna.statistics().past_end, 0, "a register has every cell that is used");
}

#[test]
fn ordinary_traffic_is_switched_and_flooded_but_not_back() {
    let (mut v1model, mut tna) = pair();
    let frame: Vec<u8> = [&[2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0][..], &[7; 50]].concat();
    let flooded = [1, 2, 3].map(|port| Replica { port: Port(port), instance: 0 });
    for switch in [&mut v1model, &mut tna] {
        assert_eq!(run(switch, Port(1), &frame), [], "an unknown address goes nowhere");
        switch.put_multicast_group(1, flooded.to_vec(), false).expect("a group");
        let key = inart_switch::control::Match::Exact(vec![2, 0, 0, 0, 0, 9]);
        let action =
            inart_switch::control::ActionCall { action: "InArtIngress.flood".into(), params: vec![vec![1]] };
        let entry =
            inart_switch::control::Entry::new(vec![key], 0, inart_switch::control::EntryAction::Call(action));
        switch.insert_entry("InArtIngress.mac", entry).expect("an entry");
    }
    let expected = [(2, frame.clone()), (3, frame.clone())];
    assert_eq!(run(&mut v1model, Port(1), &frame), expected);
    assert_eq!(run(&mut tna, Port(1), &frame), expected);
}
