//! A port that flows share.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Names a flow of one port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowId(u64);

/// A flow; the greatest is the one that ends first.
#[derive(Debug, Clone)]
struct Flow<T> {
    /// The service of its class at which it ends.
    ends_at: f64,
    id: FlowId,
    item: T,
}

impl<T> Ord for Flow<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.ends_at.total_cmp(&self.ends_at).then(other.id.cmp(&self.id))
    }
}

impl<T> PartialOrd for Flow<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Flow<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Flow<T> {}

/// Flows whose other ends have the same rate: each has had `service` bits since the class was last empty.
#[derive(Debug, Clone)]
struct Class<T> {
    most_bps: f64,
    service: f64,
    flows: BinaryHeap<Flow<T>>,
}

/// One direction of a port. Each flow has the lesser of the rate of its other end and the port's rate over
/// the current number of flows; the unused part of a slow flow's share is not given to others.
#[derive(Debug, Clone)]
pub struct Port<T> {
    bps: f64,
    classes: Vec<Class<T>>,
    flows: usize,
    given: u64,
    at_s: f64,
    /// Bits that have passed.
    passed: f64,
}

impl<T> Port<T> {
    /// Creates an idle port at time 0, with its rate in bit/s.
    pub fn new(bps: f64) -> Self {
        Port { bps, classes: Vec::new(), flows: 0, given: 0, at_s: 0.0, passed: 0.0 }
    }

    /// Starts a flow of that many bits at a time in seconds, whose other end has a rate in bit/s.
    pub fn begin(&mut self, now_s: f64, most_bps: f64, bits: f64, item: T) -> FlowId {
        self.advance(now_s);
        let found = self.classes.iter().position(|class| class.most_bps.total_cmp(&most_bps).is_eq());
        let at = found.unwrap_or_else(|| {
            self.classes.push(Class { most_bps, service: 0.0, flows: BinaryHeap::new() });
            self.classes.len() - 1
        });
        let class = &mut self.classes[at];
        if class.flows.is_empty() {
            // Small numbers keep their digits.
            class.service = 0.0;
        }
        let id = FlowId(self.given);
        self.given += 1;
        class.flows.push(Flow { ends_at: class.service + bits, id, item });
        self.flows += 1;
        id
    }

    /// Returns when the next flow ends, in seconds, if no other starts.
    pub fn next_end_s(&self) -> Option<f64> {
        self.first().map(|(end_s, _)| end_s)
    }

    /// Takes the flow that ends next, at its time; the port's time moves there.
    pub fn end(&mut self) -> Option<(f64, T)> {
        let (end_s, at) = self.first()?;
        self.advance(end_s);
        let class = &mut self.classes[at];
        let flow = class.flows.pop()?;
        // The rounding error is dropped.
        class.service = flow.ends_at;
        self.flows -= 1;
        Some((end_s, flow.item))
    }

    /// Gives the port another rate, in bit/s, from a time in seconds on.
    pub fn set_rate(&mut self, now_s: f64, bps: f64) {
        self.advance(now_s);
        self.bps = bps;
    }

    /// Stops a flow at a time in seconds. Returns its item, if it had not ended.
    pub fn give_up(&mut self, now_s: f64, flow: FlowId) -> Option<T> {
        self.stop(now_s, flow).map(|(item, _)| item)
    }

    /// Removes a flow from the port at a time in seconds, if it has not ended. Returns its item, and the
    /// remaining bits.
    pub fn stop(&mut self, now_s: f64, flow: FlowId) -> Option<(T, f64)> {
        self.advance(now_s);
        for class in &mut self.classes {
            if !class.flows.iter().any(|other| other.id == flow) {
                continue;
            }
            let all = std::mem::take(&mut class.flows).into_vec();
            let (given_up, kept): (Vec<_>, Vec<_>) = all.into_iter().partition(|other| other.id == flow);
            class.flows = kept.into();
            self.flows -= given_up.len();
            let service = class.service;
            return given_up.into_iter().next().map(|flow| (flow.item, (flow.ends_at - service).max(0.0)));
        }
        None
    }

    /// Returns the number of active flows.
    pub fn flows(&self) -> usize {
        self.flows
    }

    /// Returns the bits that have passed until a time in seconds.
    pub fn passed(&mut self, now_s: f64) -> f64 {
        self.advance(now_s);
        self.passed
    }

    fn rate(&self, class: &Class<T>) -> f64 {
        class.most_bps.min(self.bps / self.flows as f64)
    }

    fn first(&self) -> Option<(f64, usize)> {
        let ends = self.classes.iter().enumerate().filter_map(|(at, class)| {
            let left = (class.flows.peek()?.ends_at - class.service).max(0.0);
            Some((self.at_s + left / self.rate(class), at))
        });
        ends.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
    }

    fn advance(&mut self, now_s: f64) {
        let seconds = (now_s - self.at_s).max(0.0);
        if self.flows > 0 {
            let share = self.bps / self.flows as f64;
            for class in self.classes.iter_mut().filter(|class| !class.flows.is_empty()) {
                let bits = class.most_bps.min(share) * seconds;
                class.service += bits;
                self.passed += bits * class.flows.len() as f64;
            }
        }
        self.at_s = self.at_s.max(now_s);
    }
}
