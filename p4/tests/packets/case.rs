//! Parts of a case.

use inart_p4::{Outcome, Reason};

use super::frame::Inart;
use super::program::Built;
use super::rule::Rule;

#[derive(Debug)]
pub struct Case {
    pub name: &'static str,
    pub steps: Vec<Step>,
}

/// An input frame with its expected output.
#[derive(Debug)]
pub struct Step {
    pub port: u16,
    pub frame: Vec<u8>,
    answer: Answer,
    /// Output on Tofino, if a rule differs.
    pub on_tofino: Option<(Rule, Answer)>,
}

/// These go out, and one counter counts the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub out: Vec<(u16, Vec<u8>)>,
    pub counted: Counted,
    /// Count; more than one if copies are counted.
    pub times: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    Drop(Reason),
    Outcome(Outcome),
    /// By the tables alone.
    Neither,
}

impl Answer {
    /// Returns whether the frame met a slot.
    fn is_of_slot(&self) -> bool {
        matches!(self.counted, Counted::Outcome(_))
    }
}

impl Step {
    fn new(port: u16, frame: Vec<u8>, out: Vec<(u16, Vec<u8>)>, counted: Counted) -> Self {
        Self { port, frame, answer: Answer { out, counted, times: 1 }, on_tofino: None }
    }

    /// Returns the expected output of the frame.
    pub fn answer(&self, program: Built) -> &Answer {
        match &self.on_tofino {
            // Between two passes egress sees the frame, and its length, before it is consumed.
            Some((Rule::Size, answer)) if program.is_two_passes() && answer.is_of_slot() => &self.answer,
            Some((_, answer)) if program.is_tofino() => answer,
            _ => &self.answer,
        }
    }

    /// By this rule the answer on Tofino is that of another step with the same frame.
    pub fn unless(mut self, rule: Rule, other: Self) -> Self {
        assert!((self.port, &self.frame) == (other.port, &other.frame), "another frame");
        assert!(self.answer != other.answer, "{rule:?} changes nothing");
        self.on_tofino = Some((rule, other.answer));
        self
    }

    /// Sets the count.
    pub fn times(mut self, times: u64) -> Self {
        self.answer.times = times;
        self
    }
}

pub fn case(name: &'static str, steps: impl IntoIterator<Item = Step>) -> Case {
    Case { name, steps: steps.into_iter().collect() }
}

/// Returns a gradient or partial that leaves as `out`.
pub fn leaves(port: u16, frame: &Inart, outcome: Outcome, out_port: u16, out: &Inart) -> Step {
    Step::new(port, frame.bytes(), vec![(out_port, out.bytes())], Counted::Outcome(outcome))
}

/// Returns a gradient or partial that leaves untouched towards the server.
pub fn passes(port: u16, frame: &Inart, outcome: Outcome) -> Step {
    leaves(port, frame, outcome, 5, frame)
}

/// Returns a gradient or partial that stays in the switch.
pub fn consumed(port: u16, frame: &Inart, outcome: Outcome) -> Step {
    kept(port, frame.bytes(), outcome)
}

/// Returns a gradient or partial in bytes that stays in the switch.
pub fn kept(port: u16, frame: Vec<u8>, outcome: Outcome) -> Step {
    Step::new(port, frame, vec![], Counted::Outcome(outcome))
}

pub fn dropped(port: u16, frame: impl Into<Vec<u8>>, reason: Reason) -> Step {
    Step::new(port, frame.into(), vec![], Counted::Drop(reason))
}

/// Copied to these ports, with those receivers.
pub fn copied(port: u16, frame: &Inart, out: &[(u16, u64)]) -> Step {
    let copy =
        |&(port, receivers): &(u16, u64)| (port, frame.clone().with(|f| f.contributors = receivers).bytes());
    Step::new(port, frame.bytes(), out.iter().map(copy).collect(), Counted::Neither)
}

/// Copied, untouched, to these ports.
pub fn switched(port: u16, frame: impl Into<Vec<u8>>, out_ports: &[u16]) -> Step {
    let frame = frame.into();
    let out = out_ports.iter().map(|&port| (port, frame.clone())).collect();
    Step::new(port, frame, out, Counted::Neither)
}
