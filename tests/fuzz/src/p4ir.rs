//! The compiler of p4c's intermediate form: any text is refused, or becomes a program that a switch runs.

use std::sync::{Arc, LazyLock};

use inart_switch::{Port, Program, Sink, Switch};
use serde_json::Value;

use crate::edit::edited;

/// A program with the externs of TNA, which the embedded switch's tests run, too.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../switch/tests/tna/externs.json"))
        .expect("p4c's output is JSON")
});

const WORDS: [&str; 40] = [
    "Node_ID",
    "Node_Type",
    "Type_Bits",
    "Type_Header",
    "Type_Name",
    "Type_Specialized",
    "Constant",
    "Member",
    "PathExpression",
    "MethodCallExpression",
    "AssignmentStatement",
    "BlockStatement",
    "IfStatement",
    "SwitchStatement",
    "Declaration_Instance",
    "Declaration_Variable",
    "P4Action",
    "P4Table",
    "P4Parser",
    "P4Control",
    "ParserState",
    "SelectExpression",
    "ListExpression",
    "StructExpression",
    "Slice",
    "Concat",
    "Cast",
    "Shl",
    "Add",
    "AddSat",
    "Mux",
    "LAnd",
    "vec",
    "name",
    "size",
    "value",
    "type",
    "Register",
    "RegisterAction",
    "Hash",
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
        for frame in [&[8, 0, 0, 0, 0, 9, 1][..], &[8], &[0xff; 40], &[0; 80]] {
            switch.process(Port(1), frame, 7, &mut Nowhere);
        }
    }
}
