//! The INART program on the switch: sums bit for bit, and fused code equal to scalar code.

use crate::support;

use inart_switch::{Program, Switch};
use inart_wire::ValuesPerFrame;
use proptest::prelude::*;
use support::{Gradient, Sent, aggregating_switch, port_of, values};

fn run(switch: &mut Switch, worker: u16, frame: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut sent = Sent::default();
    switch.process(port_of(worker), frame, 0, &mut sent);
    sent.0
}

#[test]
fn sums_are_exact_for_every_size() {
    for choice in ValuesPerFrame::ALL {
        let size = choice.get();
        let program = Program::compile(&inart_p4::artifact(choice).json).expect("it compiles");
        assert!(program.statistics().0 >= 4, "adding, saturating, storing and loading are fused");
        let mut switch = aggregating_switch(program, 4);
        for sequence in 0..40u32 {
            let gradients: Vec<Vec<i32>> = (0..4)
                .map(|worker| {
                    (0..size as i32).map(|n| (n * 1999 - worker * 104_729) * (sequence as i32 + 1)).collect()
                })
                .collect();
            for (worker, gradient) in gradients.iter().enumerate() {
                let frame = Gradient { worker: worker as u16, sequence, values: gradient }.bytes();
                let sent = run(&mut switch, worker as u16, &frame);
                if worker < 3 {
                    assert_eq!(sent, [], "nothing leaves before the last worker's frame");
                    continue;
                }
                let sum: Vec<i32> =
                    (0..size).map(|n| gradients.iter().map(|gradient| gradient[n]).sum()).collect();
                assert_eq!(sent.len(), 1);
                assert_eq!(sent[0].0, 100);
                assert_eq!(values(&sent[0].1), sum);
            }
        }
    }
}

/// Values near the ends of the range are frequent, so that additions saturate.
fn value() -> impl Strategy<Value = i32> {
    prop_oneof![any::<i32>(), Just(i32::MAX), Just(i32::MIN), -4..4i32, (i32::MAX - 4)..=i32::MAX]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every frame gives the same on fused and on scalar code, and leaves the same registers behind.
    #[test]
    fn fused_code_equals_scalar_code(
        frames in prop::collection::vec(
            (0..4u16, 0..6u32, prop::collection::vec(value(), 32), any::<u8>()), 1..24
        )
    ) {
        let json = inart_p4::artifact(ValuesPerFrame::N32).json;
        let mut fused = aggregating_switch(Program::compile(&json).expect("it compiles"), 4);
        let mut scalar = aggregating_switch(Program::compile_unfused(&json).expect("it compiles"), 4);
        for (worker, sequence, values, flags) in &frames {
            let mut frame = Gradient { worker: *worker, sequence: *sequence, values }.bytes();
            if flags % 8 == 0 {
                frame[15] = *flags;
            }
            prop_assert_eq!(run(&mut fused, *worker, &frame), run(&mut scalar, *worker, &frame));
        }
        for register in 0..32 {
            let name = format!("InArtIngress.aggregate.slot_values.value_{register}");
            for cell in 0..16 {
                prop_assert_eq!(fused.register(&name, cell).expect("it exists"), scalar.register(&name, cell).expect("it exists"));
            }
        }
    }
}
