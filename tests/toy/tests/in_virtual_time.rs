//! The ring in virtual time, while messages are lost and processes crash.

use std::time::Duration;

use inart_connections::PeerNo;
use inart_virtual::SplitMix64;
use inart_world::{Fault, Later, LinkEvent, Links, Program, Timing, Transfer, World};

use crate::audit::Audit;
use crate::ring::{Mistake, News, Ring};

const COUNT: u32 = 5;
const ROUNDS: u64 = 12;
const MS: Duration = Duration::from_millis(1);

/// Links that lose messages and acknowledgements: the sender of a lost acknowledgement does not know that the
/// message arrived.
struct Lossy {
    draws: SplitMix64,
    loss: f64,
}

impl Lossy {
    fn loses(&mut self) -> bool {
        self.draws.fraction() < self.loss
    }
}

fn end(transfer: &Transfer, is_taken: bool) -> LinkEvent {
    let Transfer { from: sender, to: receiver, connection, id, .. } = *transfer;
    LinkEvent::Ended { sender, receiver, connection, id, is_taken }
}

impl Links for Lossy {
    type Change = ();
    type Event = LinkEvent;

    fn send(&mut self, transfer: Transfer, _: Duration, later: &mut Later<LinkEvent>) {
        later.push(match self.loses() {
            true => (6 * MS, end(&transfer, false)),
            false => (2 * MS, LinkEvent::Arrived { transfer, seen: None }),
        });
    }

    fn answer(&mut self, transfer: &Transfer, _: Duration, later: &mut Later<LinkEvent>) {
        let is_taken = !self.loses();
        later.push((2 * MS, end(transfer, is_taken)));
    }

    fn due(&mut self, event: LinkEvent, _: Duration, _: &mut Later<LinkEvent>) -> Option<LinkEvent> {
        Some(event)
    }

    // The world drops messages that arrive on an ended connection.
    fn clear(&mut self, _: u64, _: Duration) {}

    fn is_cut(&self, _: PeerNo, _: PeerNo) -> bool {
        false
    }

    fn change(&mut self, (): &(), _: Duration) {}
}

/// The programs of all processes, with the audit.
struct Training(Audit, Mistake);

impl Program<Ring> for Training {
    type Error = Box<dyn std::error::Error>;

    fn start(&mut self, who: PeerNo, _: Duration) -> Result<Ring, Self::Error> {
        self.0.starts(who.index());
        Ok(Ring::new(who, COUNT, ROUNDS, self.1))
    }

    fn killed(&mut self, _: PeerNo, _: Ring) {}

    fn report(
        &mut self,
        who: PeerNo,
        _: &mut Ring,
        news: News,
        _: Duration,
        later: &mut Later<(u64, u64)>,
    ) -> Result<(), Self::Error> {
        let value = self.0.hear(who.index(), news)?;
        later.extend(value.map(|value| (5 * MS, value)));
        Ok(())
    }

    fn is_over(&self, machines: &[Option<Ring>]) -> bool {
        machines.iter().all(|ring| ring.as_ref().is_some_and(Ring::is_done))
    }
}

/// Trains while a seed's messages are lost, and each process crashes once, one after the other.
fn train(seed: u64, mistake: Mistake) -> Result<(), String> {
    let (draws, loss) = (SplitMix64::stream(seed, 0), (seed % 4) as f64 / 10.0);
    let links = Lossy { draws, loss };
    let timing = Timing { connect: 10 * MS, idle: 200 * MS, stuck: 60_000 * MS };
    let pairs = (0..COUNT).map(|who| [PeerNo(who), PeerNo((who + 1) % COUNT)]);
    let mut world = World::new(COUNT, pairs, links, Training(Audit::new(COUNT), mistake), timing).unwrap();
    let mut draws = SplitMix64::stream(seed, 1);
    for who in (0..COUNT).filter(|_| !seed.is_multiple_of(3)) {
        let at = (300 * who + 50) * MS + MS.mul_f64(draws.uniform(0.0, 200.0));
        world.plan(at, Fault::Kill(PeerNo(who)));
        world.plan(at + MS.mul_f64(draws.uniform(1.0, 40.0)), Fault::Start(PeerNo(who)));
    }
    world.run().map_err(|why| why.to_string())?;
    world.program().0.end(ROUNDS)
}

#[test]
fn every_sum_has_one_value_of_each_process() {
    (0..300).for_each(|seed| train(seed, Mistake::None).unwrap_or_else(|why| panic!("seed {seed}: {why}")));
}

#[test]
fn mistakes_are_noticed() {
    for mistake in [Mistake::TakesAgain, Mistake::SendsOnce] {
        let noticed = (0..20).find_map(|seed| train(seed, mistake).err());
        eprintln!("{mistake:?}: {}", noticed.unwrap_or_else(|| panic!("{mistake:?} is not noticed")));
    }
}
