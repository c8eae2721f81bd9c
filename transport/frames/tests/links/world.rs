//! Two sides of a connection by frames, and all possible next steps.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use inart_frames::{FrameLink, LinkEvent, LinkSetup};

use super::mistakes::{Mistake, Wire};

const SILENCE: Duration = Duration::from_millis(1500);
/// Most times that time passes with nothing in flight until all packets are acknowledged.
const MOST_WAITS: u32 = 40;
/// Packets of each side for the other: of two parts and of one; four bytes are a part.
const PARTS: [&[usize]; 2] = [&[2, 1], &[1]];

/// Limits of the numbers of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub losses: u8,
    pub duplicated: u8,
    /// Late frames: time passes until something is due, while they are in flight.
    pub late: u8,
    /// Sides that restart, and sides that receive nothing for longer than their timeout.
    pub restarts: u8,
    pub silences: u8,
}

pub const NOTHING: Budget = Budget { losses: 0, duplicated: 0, late: 0, restarts: 0, silences: 0 };

#[derive(Debug, Clone)]
pub struct Frame {
    pub to: usize,
    pub words: Vec<u32>,
}

/// Possible next step.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "read only as text, in a state's steps")]
pub enum Step {
    Arrives(Frame),
    ArrivesAndComesAgain(Frame),
    IsLost(Frame),
    TimePasses,
    StartsAgain(usize),
    HearsNothing(usize),
}

/// A packet that was given to a link.
#[derive(Debug, Clone)]
struct Sent {
    from: usize,
    /// Number among its sender's packets.
    packet: usize,
    /// The sender's number of the connection, and the receiver's: those of the frames that it left in.
    pair: Option<(u32, u32)>,
    is_handed_over: bool,
}

#[derive(Debug, Clone)]
struct Side {
    link: FrameLink,
    incarnations: u32,
    /// Lead of its clock.
    ahead: Duration,
    is_up: bool,
    /// By packet, whether it is known to be at the other side.
    taken: Vec<bool>,
    wire: Wire,
}

/// Both sides.
#[derive(Debug, Clone)]
pub struct State {
    sides: [Side; 2],
    net: Vec<Frame>,
    now: Duration,
    /// By number, which is in the packet's first part.
    sent: Vec<Sent>,
    waits: u32,
    budget: Budget,
}

fn link(side: usize, incarnations: u32) -> FrameLink {
    let incarnation = 1000 * (side as u32 + 1) + 100 * incarnations;
    FrameLink::new(LinkSetup {
        incarnation,
        values_per_frame: 7,
        frame_bytes: 64,
        rate_bps: None,
        silence: SILENCE,
    })
}

/// Returns a side's own number of its connection, and the other's, 0 if it is not known.
pub fn pair(link: &FrameLink) -> (u32, u32) {
    let text = format!("{link:?}");
    let number = |name: &str| {
        let from = text.split_once(name).map_or("", |(_, from)| from);
        let digits: String = from.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    (number(" own: "), number(" other: Some("))
}

impl State {
    pub fn first(budget: Budget) -> State {
        let side = |side: usize| Side {
            link: link(side, 1),
            incarnations: 1,
            ahead: Duration::ZERO,
            is_up: false,
            taken: vec![false; PARTS[side].len()],
            wire: Wire::default(),
        };
        State {
            sides: [0, 1].map(side),
            net: Vec::new(),
            now: Duration::ZERO,
            sent: Vec::new(),
            waits: 0,
            budget,
        }
    }

    pub fn key(&self) -> String {
        let mut frames: Vec<_> = self.net.iter().map(|frame| (frame.to, &frame.words)).collect();
        frames.sort();
        let mut text = String::with_capacity(1 << 12);
        let State { sides, now, sent, budget, .. } = self;
        write!(text, "{sides:?} {now:?} {sent:?} {budget:?} {frames:?}").unwrap();
        text
    }

    /// Delivers the links' output, until both have nothing to do.
    pub fn settle(&mut self, mistake: Mistake) -> Result<(), String> {
        for at in [0, 1] {
            let now = self.now + self.sides[at].ahead;
            self.sides[at].link.tick(now);
            while let Some(event) = self.sides[at].link.next_event() {
                self.handle(at, event)?;
            }
            while let Some(words) = self.sides[at].link.next_frame(now) {
                let side = &mut self.sides[at];
                if let Some(words) = side.wire.filter_sent(words, &side.link, mistake) {
                    self.leaves(at, words);
                }
            }
        }
        Ok(())
    }

    fn handle(&mut self, at: usize, event: LinkEvent) -> Result<(), String> {
        match event {
            LinkEvent::Up => {
                self.sides[at].is_up = true;
                for packet in 0..PARTS[at].len() {
                    if !self.sides[at].taken[packet] {
                        self.send(at, packet);
                    }
                }
                Ok(())
            }
            LinkEvent::Down => {
                self.sides[at].is_up = false;
                Ok(())
            }
            LinkEvent::Received(data) => self.received(at, &data),
            LinkEvent::Acknowledged { id } => {
                let Sent { from, packet, is_handed_over, .. } = self.sent[id as usize];
                if from != at || !is_handed_over {
                    return Err("a packet is acknowledged that has not arrived".to_owned());
                }
                self.sides[at].taken[packet] = true;
                Ok(())
            }
        }
    }

    fn send(&mut self, at: usize, packet: usize) {
        let number = self.sent.len() as u32;
        self.sent.push(Sent { from: at, packet, pair: None, is_handed_over: false });
        let data: Vec<u8> = std::iter::repeat_n(number.to_be_bytes(), PARTS[at][packet]).flatten().collect();
        assert!(self.sides[at].link.send(u64::from(number), Bytes::from(data), 0), "it is up");
    }

    fn received(&mut self, at: usize, data: &Bytes) -> Result<(), String> {
        let (parts, []) = data.as_chunks::<4>() else { return Err("a packet of another length".to_owned()) };
        let number = u32::from_be_bytes(*parts.first().ok_or("a packet of nothing")?);
        let is_mixed = parts.iter().any(|part| u32::from_be_bytes(*part) != number);
        let sent = self.sent.get_mut(number as usize).filter(|sent| sent.from != at && !is_mixed);
        let sent = sent.ok_or("a packet arrived that was never sent")?;
        if PARTS[sent.from][sent.packet] != parts.len() {
            return Err("a packet arrived in part".to_owned());
        }
        if std::mem::replace(&mut sent.is_handed_over, true) {
            return Err("a packet was handed over twice".to_owned());
        }
        let (own, other) = pair(&self.sides[at].link);
        if sent.pair != Some((other, own)) {
            return Err(format!("a packet of {:?} was handed over in {:?}", sent.pair, (other, own)));
        }
        Ok(())
    }

    fn leaves(&mut self, from: usize, words: Vec<u32>) {
        if let [32, own, other, _, places, _, number, ..] = words[..]
            && places >> 16 == 0
        {
            self.sent[number as usize].pair = Some((own, other));
        }
        self.net.push(Frame { to: 1 - from, words });
    }

    fn arrive(&mut self, frame: &Frame, mistake: Mistake) {
        let now = self.now + self.sides[frame.to].ahead;
        let Side { link, wire, .. } = &mut self.sides[frame.to];
        if let Some(words) = wire.filter_received(frame.words.clone(), link, mistake) {
            link.frame(&words, now);
        }
    }

    /// Returns whether each packet has arrived, and its sender knows.
    pub fn is_over(&self) -> bool {
        self.sides.iter().all(|side| side.is_up && side.taken.iter().all(|taken| *taken))
    }

    /// Returns all possible next steps.
    pub fn successors(&self, mistake: Mistake) -> Result<Vec<(Step, State)>, String> {
        let mut all = Vec::new();
        let Budget { losses, duplicated, late, restarts, silences } = self.budget;
        for at in 0..self.net.len() {
            let mut next = self.clone();
            let frame = next.net.remove(at);
            if losses > 0 {
                let mut next = next.clone();
                next.budget.losses -= 1;
                all.push((Step::IsLost(frame.clone()), next));
            }
            next.arrive(&frame, mistake);
            if duplicated > 0 {
                let mut next = next.clone();
                next.budget.duplicated -= 1;
                next.net.push(frame.clone());
                all.push((Step::ArrivesAndComesAgain(frame.clone()), next));
            }
            all.push((Step::Arrives(frame), next));
        }
        if self.net.is_empty() && !self.is_over() || late > 0 && !self.net.is_empty() {
            let mut next = self.clone();
            match self.net.is_empty() {
                true => next.waits += 1,
                false => next.budget.late -= 1,
            }
            if next.waits > MOST_WAITS {
                return Err("no side makes progress".to_owned());
            }
            let due = self.sides.iter().map(|side| side.link.wake_at().saturating_sub(side.ahead)).min();
            next.now = self.now.max(due.unwrap_or_default());
            all.push((Step::TimePasses, next));
        }
        for at in [0, 1] {
            if restarts > 0 {
                let mut next = self.clone();
                next.budget.restarts -= 1;
                let side = &mut next.sides[at];
                side.incarnations += 1;
                // The restarted process must send the packets of its predecessor again.
                let incarnations = if mistake == Mistake::SameIncarnation { 1 } else { side.incarnations };
                (side.link, side.is_up, side.wire) = (link(at, incarnations), false, Wire::default());
                side.taken.fill(false);
                side.ahead = Duration::ZERO;
                all.push((Step::StartsAgain(at), next));
            }
            if silences > 0 && self.sides[at].is_up {
                let mut next = self.clone();
                next.budget.silences -= 1;
                next.sides[at].ahead += SILENCE;
                all.push((Step::HearsNothing(at), next));
            }
        }
        Ok(all)
    }
}
