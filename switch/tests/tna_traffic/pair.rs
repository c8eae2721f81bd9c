//! One program on both architectures, fed the same frames. Their answers may differ by the rules of
//! docs/protocol/tofino.md only: [`Pair::reason`] is the one place that decides when.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use inart_p4::{Outcome, Reason, Variant};
use inart_switch::control::Port;
use inart_switch::{Program, Sink, Switch};

use super::network::{self, slot_of};
use super::rule::Rule;
use super::traffic::{Arrival, BYPASS, GRADIENT, HEADER, Header, OVERFLOW, PARTIAL, STICKY};

/// Reaction of a switch to a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer {
    /// Output, by port.
    out: Vec<(u32, Vec<u8>)>,
    drops: BTreeMap<usize, u64>,
    outcome: Option<Outcome>,
}

#[derive(Default)]
struct Sent(Vec<(u32, Vec<u8>)>);

impl Sink for Sent {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push((port.0, frame.to_vec()));
    }
}

/// Returns the packets of a counter; of both controls together, if both have it.
fn counted(switch: &Switch, name: &str) -> Vec<u64> {
    let cells = |control| switch.counters(&format!("{control}.{name}")).ok();
    let ingress = cells("InArtIngress").expect("it is there").iter().map(|cell| cell.packets);
    match cells("InArtEgress") {
        Some(egress) => ingress.zip(egress).map(|(packets, more)| packets + more.packets).collect(),
        None => ingress.collect(),
    }
}

fn answer(switch: &mut Switch, arrival: &Arrival) -> Answer {
    let before = ["drops", "outcomes"].map(|name| counted(switch, name));
    let mut sent = Sent::default();
    switch.process(Port(arrival.port.into()), &arrival.bytes, 0, &mut sent);
    sent.0.sort();
    let after = ["drops", "outcomes"].map(|name| counted(switch, name));
    let [drops, outcomes] = [0, 1].map(|counter: usize| {
        let grown = after[counter].iter().zip(&before[counter]).map(|(after, before)| after - before);
        grown.enumerate().filter(|(_, packets)| *packets > 0).collect::<BTreeMap<_, _>>()
    });
    assert!(outcomes.values().sum::<u64>() <= 1, "a frame has one outcome: {outcomes:?}");
    let outcome = Outcome::ALL.iter().find(|outcome| outcomes.contains_key(&outcome.index())).copied();
    Answer { out: sent.0, drops, outcome }
}

/// Known state of a slot.
#[derive(Default)]
struct Slot {
    /// Rules by which the two switches have different contents in it.
    differs: BTreeSet<Rule>,
    /// Tags that it may hold on either, with their marks.
    tags: Vec<(u32, (u16, u32))>,
    /// With two passes: tag and sequence of the last frame that was too long, which the slot of the first
    /// pass may hold.
    oversized: Option<((u16, u32), u32)>,
}

/// The two switches.
pub struct Pair {
    v1model: Switch,
    tna: Switch,
    frame_bytes: usize,
    /// Passes of an added frame through the chip.
    passes: usize,
    slots: BTreeMap<u32, Slot>,
    /// Number of answers that differed, by rule.
    pub needed: BTreeMap<Rule, u64>,
}

impl Pair {
    pub fn new(v1model: &Arc<Program>, tna: &Arc<Program>, variant: Variant) -> Self {
        let [v1model, tna] = [v1model, tna].map(|program| {
            let mut switch = Switch::new(1);
            switch.load(Arc::clone(program)).expect("it loads");
            network::write(&mut switch);
            switch
        });
        let frame_bytes = HEADER + 4 * variant.values.get();
        let passes = variant.passes();
        Pair { v1model, tna, frame_bytes, passes, slots: BTreeMap::new(), needed: BTreeMap::new() }
    }

    /// Feeds a frame to both.
    ///
    /// # Errors
    /// The answers, if they differ by no rule.
    pub fn feed(&mut self, arrival: &Arrival) -> Result<(), String> {
        let (a, b) = (answer(&mut self.v1model, arrival), answer(&mut self.tna, arrival));
        let statistics = self.tna.statistics();
        if statistics.touched_twice > 0 || statistics.past_end > 0 {
            return Err("a register was touched twice in a pass, or past its end".to_owned());
        }
        let reason = self.reason(arrival, &a, &b);
        let differ = a != b;
        match reason {
            Some(rule) if differ => *self.needed.entry(rule).or_default() += 1,
            None if differ => return Err(format!("{arrival:?}\nv1model: {a:x?}\nTNA: {b:x?}")),
            _ => {}
        }
        self.remember(arrival, &a, &b, reason);
        Ok(())
    }

    /// Returns the rule by which the answers may differ as they do.
    fn reason(&self, arrival: &Arrival, v1model: &Answer, tna: &Answer) -> Option<Rule> {
        use Outcome::{DuplicateIgnored, FormatMismatch, PartialOverlap, Repeated, SlotClaimed, Stale};
        let size = arrival.bytes.len() != self.frame_bytes;
        let wrong_size = Reason::WrongSize.index();
        if size && v1model.drops.contains_key(&wrong_size) && tna.out.is_empty() {
            let copies = tna.drops.get(&wrong_size).is_some_and(|copies| *copies > 1);
            return Some(if copies { Rule::Copies } else { Rule::Size });
        }
        let header = Header::of(&arrival.bytes)?;
        let (slot, members) = self.slot(&header, arrival.port)?;
        let empty = Slot::default();
        let slot = self.slots.get(&slot).unwrap_or(&empty);
        let other_tag = slot
            .tags
            .iter()
            .any(|(mark, tag)| *mark == header.mark() && *tag != (header.plan_version, header.incarnation));
        match (v1model.outcome?, tna.outcome?) {
            (_, PartialOverlap) if members & !header.contributors != 0 => Some(Rule::Units),
            (_, FormatMismatch | Stale) if other_tag => Some(Rule::Marks),
            // The outcome is unspecified, but the output is the same.
            (Repeated, DuplicateIgnored) | (DuplicateIgnored, Repeated) => Some(Rule::Parity),
            // Since some frame before, the slots differ; until both take it over.
            (SlotClaimed, SlotClaimed) => None,
            (_, _) if slot.differs.contains(&Rule::Units) => Some(Rule::Units),
            (_, _) if slot.differs.contains(&Rule::Marks) => Some(Rule::Marks),
            (_, _) if slot.differs.contains(&Rule::Size) => Some(Rule::Size),
            (one, other) if one == other && is_limit(v1model, tna, 0) => Some(Rule::Limits),
            (one, other)
                if one == other && slot.differs.contains(&Rule::Flags) && is_limit(v1model, tna, STICKY) =>
            {
                Some(Rule::Limits)
            }
            (one, other) if one == other && slot.differs.contains(&Rule::Flags) => {
                is_flags(v1model, tna).then_some(Rule::Flags)
            }
            _ => None,
        }
    }

    fn slot(&self, header: &Header, port: u16) -> Option<(u32, u64)> {
        let summed = matches!(header.kind, GRADIENT | PARTIAL) && header.flags & BYPASS == 0;
        let worker = (header.plan_version, header.job, header.shard, header.worker);
        if summed { slot_of(worker, port, header.sequence) } else { None }
    }

    /// Records the rules by which the frame has made its slot differ, or has made it equal again.
    fn remember(&mut self, arrival: &Arrival, v1model: &Answer, tna: &Answer, reason: Option<Rule>) {
        use Outcome::{Added, Completed, DuplicateIgnored, Repeated, SlotClaimed};
        let Some(header) = Header::of(&arrival.bytes) else { return };
        let Some((number, _)) = self.slot(&header, arrival.port) else { return };
        let slot = self.slots.entry(number).or_default();
        let tag = (header.plan_version, header.incarnation);
        // With two passes egress drops it in between.
        let is_oversized = self.passes > 1 && arrival.bytes.len() > self.frame_bytes;
        let took = |answer: &Answer| {
            matches!(answer.outcome, Some(SlotClaimed | Added | DuplicateIgnored | Completed))
        };
        if took(v1model) || took(tna) {
            slot.tags.push((header.mark(), tag));
        }
        if (v1model.outcome, tna.outcome) == (Some(SlotClaimed), Some(SlotClaimed)) {
            // The effect of a frame of the wrong size on the slot of the first pass stays until that slot is
            // taken over, too.
            let same = slot.oversized.is_some_and(|(of, sequence)| of == tag && sequence == header.sequence);
            slot.differs.retain(|rule| same && *rule == Rule::Size);
        } else if let Some(rule @ (Rule::Units | Rule::Marks | Rule::Size)) = reason
            && (v1model.outcome != tna.outcome || is_oversized)
        {
            slot.differs.insert(rule);
        }
        if is_oversized {
            slot.oversized = Some((tag, header.sequence));
            slot.tags.push((header.mark(), tag));
        }
        if header.flags & STICKY != 0 && matches!(tna.outcome, Some(DuplicateIgnored | Repeated)) {
            slot.differs.insert(Rule::Flags);
        }
    }
}

/// Returns whether the frames are equal except for these flags, and for values at a limit, which the chip
/// keeps and marks; values that v1model marks are marked.
fn is_limit(v1model: &Answer, tna: &Answer, flags: u8) -> bool {
    let header = |frame: &[u8]| {
        let mut header = frame[..HEADER].to_vec();
        header[15] |= OVERFLOW | flags;
        header
    };
    v1model.out.len() == tna.out.len()
        && v1model.out.iter().zip(&tna.out).all(|((port, a), (other, b))| {
            port == other && a.len() == b.len() && b[15] & OVERFLOW != 0 && header(a) == header(b)
        })
}

/// Returns whether the frames are the same but for flags that a slot keeps.
fn is_flags(v1model: &Answer, tna: &Answer) -> bool {
    let frames = |answer: &Answer| {
        let mut out = answer.out.clone();
        out.iter_mut().for_each(|(_, frame)| frame[15] |= STICKY);
        out
    };
    frames(v1model) == frames(tna)
}
