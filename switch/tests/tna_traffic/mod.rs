//! The programs for Tofino compared with that for v1model: the same tables, the same random frames, the same
//! answers except for the rules that differ on the chip. Several jobs, slots, plan versions and runs; trunks,
//! paths that cross the switch twice, results; repeats, old frames, overflows, forged frames.

mod network;
mod pair;
#[path = "../../../p4/tests/packets/rule.rs"]
#[allow(dead_code, reason = "the packet cases use it, too")]
mod rule;
mod traffic;

use std::cell::RefCell;
use std::collections::BTreeMap;

use inart_p4::Variant;
use inart_switch::Program;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use self::pair::Pair;
use self::rule::Rule;
use self::traffic::arrival;

/// Sequences of frames for each variant, unless `PROPTEST_CASES` sets another number.
const CASES: u32 = 200;

/// Returns how often each rule was needed for random frames, which are the same each time.
fn feed(variant: Variant) -> BTreeMap<Rule, u64> {
    let compile = |json: &[u8]| Program::compile(json).expect("it compiles");
    let v1model = compile(&inart_p4::artifact(variant.values).json);
    let tna = compile(&inart_p4::tofino_artifact(variant).expect("it is built in").json);
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let needed = RefCell::new(BTreeMap::new());
    let frames = prop::collection::vec(arrival(variant.values), 1..160);
    let run = runner.run(&frames, |frames| {
        let mut pair = Pair::new(&v1model, &tna, variant);
        for (index, frame) in frames.iter().enumerate() {
            let fed = pair.feed(frame);
            fed.map_err(|why| TestCaseError::fail(format!("{variant}, frame {}: {why}", index + 1)))?;
        }
        let mut needed = needed.borrow_mut();
        pair.needed.into_iter().for_each(|(rule, times)| *needed.entry(rule).or_default() += times);
        Ok(())
    });
    run.unwrap_or_else(|failed| panic!("{failed}"));
    needed.into_inner()
}

#[test]
fn the_same_frames_as_on_v1model_but_for_the_rules() {
    for variant in Variant::ALL {
        let needed = feed(variant);
        eprintln!("{variant}: {needed:?}");
        for rule in Rule::ALL {
            assert!(needed.contains_key(&rule), "{variant}: no frame met the rule of {rule:?}");
        }
    }
}
