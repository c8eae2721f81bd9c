//! The compiler of bmv2 JSON: any text is refused, or becomes a program that a switch runs.

use std::sync::{Arc, LazyLock};

use inart_switch::{Port, Program, Sink, Switch};
use serde_json::Value;

use crate::edit::edited;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../programs/tiny.json")).expect("p4c's output is JSON")
});

const WORDS: [&str; 40] = [
    "id",
    "name",
    "type",
    "op",
    "value",
    "parameters",
    "primitives",
    "expression",
    "field",
    "header",
    "hexstr",
    "0x0800",
    "-0x7",
    "local",
    "left",
    "right",
    "+",
    "<<",
    "-",
    "*",
    "not",
    "?",
    "d2b",
    "two_comp_mod",
    "sat_cast",
    "register_read",
    "register_write",
    "assign",
    "mark_to_drop",
    "exit",
    "frame",
    "scalars",
    "$valid$",
    "a",
    "t",
    "size",
    "bitwidth",
    "lpm",
    "ternary",
    "extract_VL",
];

struct Nowhere;

impl Sink for Nowhere {
    fn packet(&mut self, _: Port, _: &[u8]) {}
}

/// See the module.
pub fn run(bytes: &[u8]) {
    let text = edited(&DOCUMENT, &WORDS, bytes);
    match Program::compile(text.as_bytes()) {
        Ok(program) => run_frames(program),
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
    }
}

fn run_frames(program: Arc<Program>) {
    let mut switch = Switch::new(0);
    if switch.load(program).is_ok() {
        for frame in [&[8, 0, 0, 0, 0, 9, 1][..], &[8], &[0xff; 40]] {
            switch.process(Port(1), frame, 7, &mut Nowhere);
        }
    }
}
