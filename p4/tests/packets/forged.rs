//! Any frame that a hostile host may send.

use inart_wire::ValuesPerFrame;
use proptest::prelude::*;

use super::case::Case;
use super::frame::{Inart, TAGS, tagged};
use super::hostile::{GRADIENT, OWN_JOB, PARTIAL, RESULT};
use super::messages::{CONTROL, PROBE};
use super::network::HOSTILE;
use super::program::Built;
use super::run::Switch;
use super::updates::UPDATE;

/// Returns any frame of any job but the host's own, perhaps behind VLAN tags.
pub fn frame(n: ValuesPerFrame) -> impl Strategy<Value = Vec<u8>> {
    let tags =
        prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(prop::sample::select(&TAGS[..]), 1..7)];
    (untagged(n), tags).prop_map(|(frame, tags)| tagged(&frame.bytes(), &tags))
}

fn untagged(n: ValuesPerFrame) -> impl Strategy<Value = Inart> {
    let like = |usual: u32, any: BoxedStrategy<u32>| prop_oneof![4 => 0..usual, 1 => any];
    let header = (
        prop_oneof![
            4 => Just(GRADIENT), 2 => Just(PARTIAL), 1 => Just(RESULT), 1 => Just(PROBE), 2 => Just(CONTROL),
            1 => Just(UPDATE),
        ],
        prop_oneof![4 => Just(0u8), 4 => 0..0x20u8, 1 => any::<u8>()],
        prop_oneof![8 => 0..3u16, 1 => any::<u16>()],
        (prop_oneof![8 => Just(1u16), 1 => any::<u16>()], prop_oneof![Just(0x0a0b_0c0du32), any::<u32>()]),
        like(5, (0..=0xffffu32).boxed()),
        like(3, (0..=0xffffu32).boxed()),
        like(12, any::<u32>().boxed()),
    );
    let sums =
        (prop_oneof![Just(None), (0..8u64).prop_map(Some), any::<u64>().prop_map(Some)], any::<bool>());
    (header, sums, prop_oneof![Just(-20i8), any::<i8>()], any::<i32>()).prop_map(
        move |(
            (kind, flags, plan_version, (job, incarnation), shard, worker, sequence),
            (contributors, other_group),
            exponent,
            value,
        )| {
            let sound = Inart::gradient(n, shard as u16, (worker % 64) as u16, sequence);
            Inart {
                kind,
                worker: worker as u16,
                flags,
                plan_version,
                job: if job == OWN_JOB { 1 } else { job },
                contributors: contributors.unwrap_or(sound.contributors),
                group: ((worker / 64) as u8).wrapping_add(other_group.into()),
                exponent,
                incarnation,
                values: vec![value; n.get()],
                ..sound
            }
        },
    )
}

/// Runs a case with a forged frame before each of its steps, again and again from the first.
pub async fn between(switch: &mut impl Switch, program: Built, case: &Case, forged: &[Vec<u8>]) {
    switch.load(program).await;
    let drops = |cells: Vec<u64>| cells.iter().sum::<u64>();
    for (index, (step, frame)) in case.steps.iter().zip(forged.iter().cycle()).enumerate() {
        let before = (switch.slots().await, switch.counter("outcomes").await);
        assert_eq!(switch.send(HOSTILE, frame).await, [], "{frame:02x?} was forwarded");
        assert_eq!(drops(switch.counter("drops").await), index as u64 + 1, "{frame:02x?} was not counted");
        let after = (switch.slots().await, switch.counter("outcomes").await);
        assert!(before == after, "{frame:02x?} changed something");
        let out = switch.send(step.port, &step.frame).await;
        assert!(out == step.answer(program).out, "step {} after {frame:02x?}", index + 1);
    }
}
