//! A world of two processes, one of which counts to the other.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine, Output, PeerNo, Seen};
use inart_virtual::Timeline;
use inart_world::{Fault, Later, LinkEvent, Links, Program, Stuck, Timing, Transfer, World};

const SECOND: Duration = Duration::from_secs(1);

/// Sends the given numbers, one by one, until each is taken.
#[derive(Default)]
struct Sender {
    peer: Option<PeerNo>,
    waiting: Vec<u8>,
    under_way: Option<u64>,
    next_id: u64,
    report: Vec<u8>,
    ticks: u32,
    /// A frame that leaves first.
    copy: Option<u8>,
    /// Messages whose outcome is unknown.
    lost: Vec<u64>,
}

impl Machine for Sender {
    type Command = u8;
    type Report = u8;
    type Done = ();

    fn up(&mut self, peer: PeerNo, _: Duration) {
        (self.peer, self.under_way) = (Some(peer), None);
    }

    fn down(&mut self, _: PeerNo, _: Duration) {
        (self.peer, self.under_way) = (None, None);
    }

    fn received(&mut self, _: PeerNo, data: &Bytes, seen: Option<Seen>, _: Duration) {
        assert_eq!(seen, Some(Seen { bits: 8.0, seconds: 1.0 }));
        self.report.push(data[0]);
    }

    fn frame(&mut self, bytes: &[u8], _: Duration) {
        self.report.push(bytes[0]);
    }

    fn ended(&mut self, id: u64, is_taken: bool, _: Duration) {
        if !is_taken {
            self.lost.push(id);
        }
        if self.under_way.take_if(|own| *own == id).is_some() && is_taken {
            self.waiting.remove(0);
        }
    }

    fn command(&mut self, number: u8, _: Duration) {
        self.waiting.push(number);
    }

    fn stop(&mut self, _: &str, _: Duration) {}

    fn may_end(&self, _: PeerNo) -> bool {
        true
    }

    fn tick(&mut self, _: Duration) {
        self.ticks += 1;
    }

    fn wake_at(&self) -> Option<Duration> {
        (self.ticks == 0).then_some(5 * SECOND)
    }

    fn next(&mut self, _: Duration) -> Option<Output<u8>> {
        if let Some(report) = self.report.pop() {
            return Some(Output::Report(report));
        }
        if let Some(number) = self.copy.take() {
            return Some(Output::Copy(Bytes::from(vec![number])));
        }
        let (to, number) = (self.peer?, *self.waiting.first()?);
        if self.under_way.is_some() {
            return None;
        }
        self.next_id += 1;
        self.under_way = Some(self.next_id);
        Some(Output::Send { to, id: self.next_id, data: Bytes::from(vec![number]), priority: 0 })
    }
}

/// Each transfer takes a second; the answer takes none.
#[derive(Default)]
struct Wire {
    events: Timeline<LinkEvent>,
    is_down: bool,
    /// Messages count as taken when they leave.
    is_sure: bool,
}

impl Links for Wire {
    type Change = bool;
    type Event = Bytes;

    fn send(&mut self, transfer: Transfer, now: Duration, _: &mut Later<Bytes>) {
        let seen = Some(Seen { bits: 8.0, seconds: 1.0 });
        self.events.at(now + SECOND, LinkEvent::Arrived { transfer, seen });
    }

    /// A frame takes two seconds.
    fn copy(&mut self, _: PeerNo, frame: Bytes, _: Duration, later: &mut Later<Bytes>) {
        later.push((2 * SECOND, frame));
    }

    fn due(&mut self, frame: Bytes, _: Duration, _: &mut Later<Bytes>) -> Option<LinkEvent> {
        Some(LinkEvent::Frame { to: PeerNo(1), frame })
    }

    fn is_sure(&self, _: PeerNo, _: PeerNo) -> bool {
        self.is_sure
    }

    fn answer(&mut self, transfer: &Transfer, now: Duration, _: &mut Later<Bytes>) {
        let Transfer { from: sender, to: receiver, connection, id, .. } = *transfer;
        self.events.at(now, LinkEvent::Ended { sender, receiver, connection, id, is_taken: true });
    }

    fn next_at(&self) -> Option<Duration> {
        self.events.next_at()
    }

    fn next(&mut self, now: Duration, _: &mut Later<Bytes>) -> Option<LinkEvent> {
        let is_due = self.events.next_at().is_some_and(|at| at <= now);
        self.events.take().filter(|_| is_due && !self.is_down).map(|(_, event)| event)
    }

    fn clear(&mut self, _: u64, _: Duration) {}

    fn is_cut(&self, _: PeerNo, _: PeerNo) -> bool {
        self.is_down
    }

    fn change(&mut self, is_down: &bool, _: Duration) {
        self.is_down = *is_down;
    }
}

/// Process 0 sends 1 to 5 to process 1 on each start.
#[derive(Default)]
struct Count {
    reports: Vec<(u64, u8)>,
    starts: [u32; 2],
    disconnected: u32,
    wanted: usize,
    is_copying: bool,
    /// Numbers that are lost the next time.
    kept_back: Vec<u8>,
    taken: Vec<u8>,
    /// More seconds until the command that follows the last number.
    more_s: u32,
}

#[derive(Debug, PartialEq)]
struct Failed(Stuck);

impl From<Stuck> for Failed {
    fn from(stuck: Stuck) -> Self {
        Failed(stuck)
    }
}

impl Program<Sender> for Count {
    type Error = Failed;

    fn start(&mut self, who: PeerNo, _: Duration) -> Result<Sender, Failed> {
        self.starts[who.index()] += 1;
        let waiting = if who == PeerNo(0) { (1..=5).collect() } else { Vec::new() };
        let copy = Some(77).filter(|_| who == PeerNo(0) && self.is_copying);
        Ok(Sender { waiting, copy, ..Sender::default() })
    }

    fn killed(&mut self, _: PeerNo, _: Sender) {}

    fn disconnected(&mut self, _: [PeerNo; 2], _: &[Option<Sender>], _: Duration) {
        self.disconnected += 1;
    }

    fn arrives(&mut self, transfer: &Transfer, machine: &Sender, _: Duration) -> bool {
        assert_eq!(machine.report, []);
        let at = self.kept_back.iter().position(|number| *number == transfer.data[0]);
        at.map(|at| self.kept_back.remove(at)).is_none()
    }

    fn taken(&mut self, transfer: &Transfer, machine: &Sender) {
        assert_eq!(machine.report, transfer.data);
        self.taken.extend(&transfer.data);
    }

    fn report(
        &mut self,
        who: PeerNo,
        _: &mut Sender,
        report: u8,
        now: Duration,
        later: &mut Later<u8>,
    ) -> Result<(), Failed> {
        self.reports.push((now.as_secs(), report));
        if who == PeerNo(1) && report == 5 {
            later.push(((3 + self.more_s) * SECOND, 99));
        }
        Ok(())
    }

    fn is_over(&self, _: &[Option<Sender>]) -> bool {
        let all: BTreeSet<u8> = self.reports.iter().map(|(_, report)| *report).collect();
        all.len() >= self.wanted
    }
}

fn world(wanted: usize) -> World<Sender, Wire, Count> {
    world_on(Wire::default(), Count { wanted, ..Count::default() })
}

fn world_on(wire: Wire, count: Count) -> World<Sender, Wire, Count> {
    let timing = Timing { connect: SECOND, idle: 4 * SECOND, stuck: 60 * SECOND };
    World::new(2, [[PeerNo(0), PeerNo(1)]], wire, count, timing).unwrap()
}

#[test]
fn messages_arrive_in_time_and_commands_come_later() {
    let mut world = world(6);
    world.run().unwrap();
    assert_eq!(world.program().reports, [(2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (10, 99)]);
    let (_, count, machines) = world.into_parts();
    assert_eq!((count.starts, count.disconnected), ([1, 1], 0));
    assert!(machines.iter().flatten().all(|machine| machine.ticks == 1));
}

#[test]
fn a_crashed_process_loses_its_messages_and_its_connection_ends() {
    let mut world = world(5);
    world.plan(3500 * SECOND / 1000, Fault::Kill(PeerNo(0)));
    world.plan(20 * SECOND, Fault::Start(PeerNo(0)));
    world.plan(21 * SECOND / 2, Fault::Start(PeerNo(1)));
    world.run().unwrap();
    // A message in flight arrives; the connection ends at 7.5 s, and 0 restarts at 21 s.
    let reports: Vec<_> = world.program().reports.clone();
    assert_eq!(reports, [(2, 1), (3, 2), (4, 3), (22, 1), (23, 2), (24, 3), (25, 4), (26, 5)]);
    assert_eq!((world.program().starts, world.program().disconnected), ([2, 1], 2));
}

#[test]
fn an_immediate_restart_ends_the_previous_connection() {
    let mut world = world(5);
    world.plan(3500 * SECOND / 1000, Fault::Kill(PeerNo(1)));
    world.plan(3600 * SECOND / 1000, Fault::Start(PeerNo(1)));
    world.run().unwrap();
    // A transfer in flight to the old process is lost with it, and retransmitted.
    assert_eq!(
        world.program().reports.iter().map(|(_, report)| *report).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    assert_eq!(world.program().disconnected, 2);
}

#[test]
fn a_link_that_is_down_for_longer_than_a_connection_is_silent_ends_it() {
    for (until, ended) in [(6, 0), (30, 2)] {
        let mut world = world(1);
        world.plan(Duration::ZERO, Fault::Links(true));
        world.plan(until * SECOND, Fault::Links(false));
        world.run().unwrap();
        assert_eq!(
            (world.program().reports.as_slice(), world.program().disconnected),
            (&[(u64::from(until) + 2, 1)][..], 0)
        );
        let mut world = self::world(5);
        world.plan(2500 * SECOND / 1000, Fault::Links(true));
        world.plan(until * SECOND, Fault::Links(false));
        let run = world.run();
        // This wire loses arrivals meanwhile, and only a new connection retransmits them.
        assert_eq!((run.is_ok(), world.program().disconnected), (ended > 0, ended), "{run:?}");
    }
}

#[test]
fn connections_that_a_fault_ends_are_made_again() {
    let mut world = world(5);
    world.plan(2500 * SECOND / 1000, Fault::Disconnect(PeerNo(1)));
    world.run().unwrap();
    assert_eq!(world.program().reports, [(2, 1), (4, 2), (5, 3), (6, 4), (7, 5)]);
}

/// Each sent message ends: the one in flight ends with its connection.
#[test]
fn messages_in_flight_end_with_their_connection() {
    let mut world = world(5);
    world.plan(2500 * SECOND / 1000, Fault::Disconnect(PeerNo(1)));
    world.run().unwrap();
    let (_, _, machines) = world.into_parts();
    assert_eq!(machines[0].as_ref().unwrap().lost, [2]);
}

/// A transfer that the program holds back is neither taken nor answered.
#[test]
fn a_program_may_hold_back_transfers() {
    let mut world = world_on(Wire::default(), Count { wanted: 5, kept_back: vec![3], ..Count::default() });
    world.plan(10 * SECOND, Fault::Disconnect(PeerNo(1)));
    world.run().unwrap();
    assert_eq!(world.program().taken, [1, 2, 3, 4, 5]);
    assert_eq!(world.program().reports, [(2, 1), (3, 2), (12, 3), (13, 4), (14, 5)]);
}

#[test]
fn a_run_that_cannot_end_is_stuck() {
    let mut world = world(7);
    assert_eq!(world.run(), Err(Failed(Stuck::Over(10 * SECOND))));
}

/// Frames need no connection: one leaves at 0, before processes are connected.
#[test]
fn frames_arrive_when_links_deliver_them() {
    let mut world = world_on(Wire::default(), Count { wanted: 2, is_copying: true, ..Count::default() });
    world.run().unwrap();
    assert_eq!(world.program().reports, [(2, 1), (2, 77)]);
}

#[test]
fn messages_that_count_as_taken_leave_at_once() {
    let wire = Wire { is_sure: true, ..Wire::default() };
    let mut world = world_on(wire, Count { wanted: 5, ..Count::default() });
    world.run().unwrap();
    assert_eq!(world.program().reports, [(2, 1), (2, 2), (2, 3), (2, 4), (2, 5)]);
}

#[test]
fn a_run_ends_before_events_at_its_end() {
    let mut world = world(6);
    world.run_until(4 * SECOND).unwrap();
    assert_eq!((world.now(), &world.program().reports[..]), (4 * SECOND, &[(2, 1), (3, 2)][..]));
    world.run_until(60 * SECOND).unwrap();
    assert_eq!((world.now(), world.program().reports.len()), (10 * SECOND, 6));
}

/// Without counting pending commands, this run would be silent for longer than allowed.
#[test]
fn a_program_that_computes_is_not_stuck() {
    let mut world = world_on(Wire::default(), Count { wanted: 6, more_s: 1000, ..Count::default() });
    world.run().unwrap();
    assert_eq!(world.program().reports.last(), Some(&(1010, 99)));
}
