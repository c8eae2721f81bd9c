//! What a case is made of.

use inart_p4::{Outcome, Reason};

use crate::frame::Inart;

#[derive(Debug)]
pub struct Case {
    pub name: &'static str,
    pub steps: Vec<Step>,
}

/// A frame comes in; these go out, and one counter counts it.
#[derive(Debug)]
pub struct Step {
    pub port: u16,
    pub frame: Vec<u8>,
    pub out: Vec<(u16, Vec<u8>)>,
    pub counted: Counted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    Drop(Reason),
    Outcome(Outcome),
    /// By the tables alone.
    Neither,
}

pub fn case(name: &'static str, steps: impl IntoIterator<Item = Step>) -> Case {
    Case { name, steps: steps.into_iter().collect() }
}

/// A gradient or partial that leaves as `out`.
pub fn leaves(port: u16, frame: &Inart, outcome: Outcome, out_port: u16, out: &Inart) -> Step {
    Step {
        port,
        frame: frame.bytes(),
        out: vec![(out_port, out.bytes())],
        counted: Counted::Outcome(outcome),
    }
}

/// A gradient or partial that leaves untouched towards the server.
pub fn passes(port: u16, frame: &Inart, outcome: Outcome) -> Step {
    leaves(port, frame, outcome, 5, frame)
}

/// A gradient or partial that stays in the switch.
pub fn consumed(port: u16, frame: &Inart, outcome: Outcome) -> Step {
    Step { port, frame: frame.bytes(), out: vec![], counted: Counted::Outcome(outcome) }
}

pub fn dropped(port: u16, frame: impl Into<Vec<u8>>, reason: Reason) -> Step {
    Step { port, frame: frame.into(), out: vec![], counted: Counted::Drop(reason) }
}

/// Copied, untouched, to these ports.
pub fn switched(port: u16, frame: impl Into<Vec<u8>>, out_ports: &[u16]) -> Step {
    let frame = frame.into();
    let out = out_ports.iter().map(|&port| (port, frame.clone())).collect();
    Step { port, frame, out, counted: Counted::Neither }
}
