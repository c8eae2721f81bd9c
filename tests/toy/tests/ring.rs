//! The rules of the ring: a machine without I/O and without a clock.
//!
//! - *T1.* The first process starts a round with its own value. Each process adds its value once, and
//!   forwards the sum. The sum that returns to the first process goes around once more, as the result.
//! - *T2.* A process drops a message whose step is not above that of the last message that it accepted.
//! - *T3.* A process sends its last message again on each new connection to its successor. A first process
//!   that starts continues where the first message of its predecessor is.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Lane, Machine, Output, PeerNo, Seen};

/// A message: its step, and the sum so far. Step 0: nothing yet. 1 + 2r: round r is summed. 2 + 2r: its
/// result.
type Message = (u64, u64);

fn encode((step, sum): Message) -> Bytes {
    Bytes::from([step.to_be_bytes(), sum.to_be_bytes()].concat())
}

fn decode(data: &[u8]) -> Option<Message> {
    let (step, sum) = data.split_first_chunk()?;
    Some((u64::from_be_bytes(*step), u64::from_be_bytes(sum.try_into().ok()?)))
}

/// Mistakes, each of which breaks a rule, so that tests show that they notice it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mistake {
    #[default]
    None,
    /// Against T2: a message that arrives twice counts twice.
    TakesAgain,
    /// Against T3: a new connection starts with silence.
    SendsOnce,
}

/// Report to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// The program's value of this round is wanted.
    Wanted(u64),
    /// Round and sum.
    Sum(u64, u64),
}

/// A process of the ring.
#[derive(Debug, Default)]
pub struct Ring {
    me: u32,
    count: u32,
    rounds: u64,
    mistake: Mistake,
    /// Step of the last message that was taken.
    taken: Option<u64>,
    /// Waits for the program's value.
    open: Option<Message>,
    last: Message,
    lane: Lane,
    is_up: bool,
    is_last: bool,
    is_over: bool,
    next_id: u64,
    news: VecDeque<News>,
}

impl Ring {
    pub fn new(me: PeerNo, count: u32, rounds: u64, mistake: Mistake) -> Self {
        Ring { me: me.0, count, rounds, mistake, ..Ring::default() }
    }

    /// Returns whether the last result has been passed on, or has returned.
    pub fn is_done(&self) -> bool {
        self.is_last && (self.me == 0 || self.lane.is_empty())
    }

    fn successor(&self) -> PeerNo {
        PeerNo((self.me + 1) % self.count)
    }

    fn pass(&mut self, message: Message) {
        self.last = message;
        if self.is_up {
            self.lane.push(encode(message));
        }
    }

    fn take(&mut self, (step, sum): Message) {
        let (round, is_first) = (step.saturating_sub(1) / 2, self.me == 0);
        let begins = is_first && step % 2 == 0;
        self.is_last |= step == 2 * self.rounds;
        if begins && !self.is_last || !is_first && step % 2 == 1 {
            let open = if begins { (step + 1, 0) } else { (step, sum) };
            self.open = Some(open);
            self.news.push_back(News::Wanted((open.0 - 1) / 2));
        } else if !begins && step > 0 {
            self.news.push_back(News::Sum(round, sum));
            self.pass((2 + 2 * round, sum));
        }
    }
}

impl Machine for Ring {
    /// Round and value.
    type Command = (u64, u64);
    type Report = News;
    type Done = ();

    fn up(&mut self, peer: PeerNo, _: Duration) {
        if peer == self.successor() {
            (self.lane, self.is_up) = (Lane::default(), true);
            if self.mistake != Mistake::SendsOnce || self.last.0 == 0 {
                self.pass(self.last);
            }
        }
    }

    fn down(&mut self, peer: PeerNo, _: Duration) {
        if peer == self.successor() {
            (self.lane, self.is_up) = (Lane::default(), false);
        }
    }

    fn received(&mut self, from: PeerNo, data: &Bytes, _: Option<Seen>, _: Duration) {
        // Identity is the connection's. A real system counts dropped messages.
        let is_predecessor = (from.0 + 1) % self.count == self.me;
        let Some(message) = decode(data).filter(|_| is_predecessor) else { return };
        if self.mistake == Mistake::TakesAgain || self.taken.is_none_or(|step| step < message.0) {
            self.taken = Some(message.0);
            self.take(message);
        }
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        self.lane.ended(id, is_taken, now);
    }

    fn command(&mut self, (round, value): (u64, u64), _: Duration) {
        // A value for an earlier incarnation of the process is too late.
        if let Some((step, sum)) = self.open.take_if(|(step, _)| *step == 1 + 2 * round) {
            self.pass((step, sum.wrapping_add(value)));
        }
    }

    fn stop(&mut self, _: &str, _: Duration) {
        self.is_last = true;
    }

    fn tick(&mut self, _: Duration) {}

    fn wake_at(&self) -> Option<Duration> {
        self.lane.wake_at()
    }

    fn next(&mut self, now: Duration) -> Option<Output<News>> {
        if let Some(news) = self.news.pop_front() {
            return Some(Output::Report(news));
        }
        if let Some(data) = self.lane.next(self.next_id, now) {
            self.next_id += 1;
            return Some(Output::Send { to: self.successor(), id: self.next_id - 1, data, priority: 0 });
        }
        (self.is_done() && !std::mem::replace(&mut self.is_over, true)).then_some(Output::Over)
    }

    fn may_end(&self, _: PeerNo) -> bool {
        self.is_last
    }
}
