//! Messages of a site's neighbors and scheduler: any bytes, in any order. Nothing panics; a received sum is
//! one value per parameter; messages go to neighbors and the scheduler alone; and the site becomes idle at
//! some time, whatever happens to its messages. The same messages reach a scheduler from sites: nothing
//! panics, and its log has one line for each mistake.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use inart_connections::{Machine as _, Output as Wish, PeerNo};
use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_protocol_sites::SiteNo;
use inart_sites_agent::message::{Body, Hello, encode};
use inart_sites_agent::{
    Driver, Output, Peer, Scheduler, SchedulerNews, SchedulerProcess, Setup, TrainingState,
};
use inart_topologies::sites::Overlay;

const NETWORK: &str = "name: four
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}, {name: d, kind: site}]
links:
  - {ends: [c, d], rate: 8 Mbps, delay: 1 ms}
  - {ends: [a, b], rate: 8 Mbps, delay: 1 ms}
  - {ends: [b, c], rate: 8 Mbps, delay: 1 ms}
  - {ends: [a, c], rate: 8 Mbps, delay: 1 ms}
jobs: [{name: job, tensors: [12 B, 4 B], chunk: 8 B}]
";

/// More than any message of a fuzzer gives a site to do.
const MOST_TURNS: usize = 10_000;

fn setup() -> Arc<Setup> {
    static SETUP: OnceLock<Arc<Setup>> = OnceLock::new();
    let make = || {
        let overlay = Overlay::from_yaml(NETWORK).expect("it is as above");
        let options = Options::new(Scheme::Optimized);
        let setup = Setup::new(&overlay, &overlay.jobs()[0], "b", &options, AuxiliaryUse::default());
        Arc::new(setup.expect("b is in the job"))
    };
    SETUP.get_or_init(make).clone()
}

fn scheduler() -> SchedulerProcess {
    let overlay = Arc::new(Overlay::from_yaml(NETWORK).expect("it is as above"));
    let (job, options) = (overlay.jobs()[0].clone(), Options::new(Scheme::Optimized));
    let scheduler = Scheduler::new(overlay, job, options, 8e6);
    SchedulerProcess::new(scheduler, (0..4).map(SiteNo)).expect("its terms are short")
}

/// Delivers a message of a site to the scheduler, and applies its output.
fn schedule(scheduler: &mut SchedulerProcess, from: PeerNo, message: &[u8], now: Duration) {
    scheduler.received(from, &message.to_vec().into(), None, now);
    for _ in 0..MOST_TURNS {
        match scheduler.next(now) {
            None => return,
            Some(Wish::Work(work)) => {
                let done = work.run();
                scheduler.done(done, now);
            }
            Some(Wish::Send { to, id, .. }) => {
                assert!(to.0 < 4, "a message to no site");
                scheduler.ended(id, true, now);
            }
            Some(Wish::Report(SchedulerNews::Warned(text))) => assert!(!text.contains('\n'), "{text}"),
            Some(_) => {}
        }
    }
    panic!("one message keeps the scheduler busy for ever");
}

/// Runs the target: messages, each with a byte for the sender and two for its length.
pub fn run(mut data: &[u8]) {
    let setup = setup();
    let (mut driver, mut scheduler) = (Driver::new(setup.clone()), scheduler());
    let mut now = Duration::ZERO;
    for site in [0, 2] {
        let peer = Peer::Site(SiteNo(site));
        driver.up(peer, now);
        let hello = Hello { terms: setup.terms.message(), ..Hello::default() };
        driver.message(peer, encode(Body::Hello(hello)), now);
    }
    driver.up(Peer::Scheduler, now);
    while let [who, high, low, rest @ ..] = data {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
        let (message, others) = rest.split_at(length);
        data = others;
        now += Duration::from_millis(700);
        let peer = match who % 8 {
            0..3 => Peer::Site(SiteNo(0)),
            3..6 => Peer::Site(SiteNo(2)),
            6 => Peer::Scheduler,
            _ => {
                driver.down(Peer::Site(SiteNo(0)), now);
                driver.up(Peer::Site(SiteNo(0)), now);
                continue;
            }
        };
        if let Peer::Site(site) = peer {
            schedule(&mut scheduler, PeerNo(site.0.into()), message, now);
        }
        driver.message(peer, message.to_vec().into(), now);
        driver.tick(now);
        let mut turns = 0;
        while let Some(output) = driver.next_output() {
            turns += 1;
            assert!(turns < MOST_TURNS, "one message keeps the site busy for ever");
            match output {
                Output::Ready { .. } => {
                    let gradient = vec![0.5; setup.values()];
                    // A site that was left behind may not start yet.
                    let _ = driver.all_reduce(gradient, now);
                }
                Output::Summed { chunk, values, .. } => {
                    assert_eq!(values.len(), setup.chunk_values[chunk]);
                }
                Output::Reduced { sum, .. } => assert_eq!(sum.len(), setup.values()),
                Output::Send { to: Peer::Site(SiteNo(1 | 3..)), .. } => {
                    panic!("a message to a site that is not a neighbor")
                }
                Output::Send { id, .. } if who % 2 == 0 => driver.delivered(id, now),
                Output::Send { id, .. } => driver.failed(id, now),
                Output::StateWanted { round } => {
                    driver.give_state(round, TrainingState::new(vec![1, 2, 3].into()), now);
                }
                Output::Warned(text) => assert!(!text.contains('\n'), "{text}"),
                Output::Ended { .. } | Output::Failed(_) => return,
            }
        }
    }
}
