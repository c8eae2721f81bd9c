//! The program of two passes, and the model's. In between frames wait, overtake each other, and are lost.

use std::collections::BTreeSet;

use inart_model::{Config, Frame, MAX_WINDOW, Node, State, System};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use super::codec::Codec;
use super::switch::{Passed, RealSwitch};
use super::{any_contribution, any_flags, compared, networks};

/// Networks of switches of two passes: there is room for two slots of each.
fn of_two_passes() -> impl Iterator<Item = Config> {
    let small = |config: &Config| 2 * config.window * (1 + u8::from(config.moves)) <= MAX_WINDOW;
    let tofino = networks().into_iter().filter(|config| config.tofino.is_some());
    tofino.filter(small).map(|config| Config { halves: true, ..config })
}

/// A frame that has passed once, in the model and in the switch.
type Halfway = (Frame, Vec<u8>);

/// Applies an event at both switches. Returns its name.
fn step(
    codec: &Codec,
    (system, state): (&System, &mut State),
    (number, real): (u8, &mut RealSwitch),
    between: &mut Vec<Halfway>,
    random: &mut ChaCha8Rng,
) -> &'static str {
    let second = !between.is_empty() && random.random_ratio(between.len().min(9) as u32, 10);
    let (node, frame, passed) = if second {
        let (frame, bytes) = between.swap_remove(random.random_range(..between.len()));
        if random.random_ratio(1, 20) {
            return "lost";
        }
        (Node::Again(number), frame, real.second_pass(&bytes))
    } else {
        let frame = any_contribution(&codec.config, number, random);
        let bytes = codec.contribution(&frame, any_flags(random));
        let worker = codec.config.bitmap_index_of(frame.run, frame.worker);
        (Node::Switch(number), Frame::Contribution(frame), real.first_pass(worker, &bytes))
    };
    let arrival = system.arrival(state, node, &frame);
    arrival.apply(state);
    let sent = arrival.outgoing.first().map(|(_, frame)| *frame);
    let happened = match (sent, passed) {
        (Some(halfway @ Frame::Halfway(_, first)), Passed::Around(bytes)) => {
            assert_eq!(bytes[0], u8::from(first.complete), "{frame:?}");
            between.push((halfway, bytes));
            if first.complete { "around, complete" } else { "around" }
        }
        (Some(out @ Frame::Contribution(_)), Passed::Up(bytes)) => {
            assert_eq!(compared(codec.read(&bytes).1), compared(codec.seen(&out)), "{frame:?}");
            if second { "partial" } else { "passed on" }
        }
        (None, Passed::Nowhere) if second => "kept",
        (sent, passed) => panic!("{frame:?}: the model has {sent:?}, the switch {passed:?}"),
    };
    real.check(&state.switches[usize::from(number)]);
    happened
}

#[test]
fn the_program_of_two_passes_follows_the_model_on_any_frames_in_any_order() {
    the_program_follows(750);
}

#[test]
#[ignore = "soak: about 15 s"]
fn the_program_of_two_passes_follows_the_model_for_three_thousand_steps_of_each_switch() {
    the_program_follows(3000);
}

/// Takes `steps` steps at each switch of each network.
fn the_program_follows(steps: u32) {
    let mut all = BTreeSet::new();
    for (seed, config) in of_two_passes().enumerate() {
        let (codec, system) = (Codec::new(config), System::new(config, None));
        let mut random = ChaCha8Rng::seed_from_u64(seed as u64);
        for number in 0..config.switches {
            let mut real = RealSwitch::new(config, number);
            let (mut state, mut between) = (State::new(&config), Vec::new());
            for _ in 0..steps {
                if random.random_ratio(1, 50) {
                    real.restart();
                    (state, between) = (State::new(&config), Vec::new());
                }
                let switches = ((&system, &mut state), (number, &mut real));
                all.insert(step(&codec, switches.0, switches.1, &mut between, &mut random));
            }
        }
    }
    let expected = ["around", "around, complete", "kept", "lost", "partial", "passed on"];
    assert_eq!(all, expected.into(), "everything happens");
}
