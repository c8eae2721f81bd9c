//! Runs of a job's sites and their scheduler.

use std::collections::VecDeque;
use std::time::Duration;

use inart_connections::PeerNo;
use inart_topologies::sites::Overlay;
use inart_world::{Fault as WorldFault, Timing, World};

use crate::agent::Agent;
use crate::common::{Shared, process, seconds, time};
use crate::error::SimulationError;
use crate::fault::{Fault, OtherDocument, PlannedFault};
use crate::hostile::Hostile;
use crate::links::{Change, SiteLinks};
use crate::options::{Options, Traces};
use crate::outcome::Outcome;
use crate::traffic::Traffic;
use crate::training::{Failure, Training, setups};

/// Connection times of the hosts' QUIC, and the longest silence of a run, after which the run has failed.
const TIMING: Timing = Timing {
    connect: Duration::from_millis(100),
    idle: Duration::from_secs(5),
    stuck: Duration::from_secs(3600),
};

/// World of sites.
type Sites<'o> = World<Agent, SiteLinks<'o>, Training>;

/// Events of processes and links, by time.
#[derive(Default)]
struct Plan {
    steps: Vec<(Duration, WorldFault<Change>)>,
    /// Documents of schedulers in the order of their starts; `None` is the sites' document.
    documents: VecDeque<Option<OtherDocument>>,
    /// Starts of faults, by number.
    begins: Vec<(Duration, usize)>,
}

/// Runs rounds of the network's first job back to back, with faults.
///
/// # Errors
/// Options that are invalid for every site; and defects: a wrong sum, rounds that do not end, a training that
/// ends without the name of the cause.
pub fn simulate(
    overlay: &Overlay,
    options: &Options,
    faults: &[PlannedFault],
) -> Result<Outcome, SimulationError> {
    let (shared, sites) = (Shared::default(), overlay.sites().len() as u32);
    let Plan { steps, documents, begins } = Plan::new(faults, PeerNo(sites));
    if options.traces == Traces::FromTheStart {
        shared.borrow_mut().traces_began_s = Some(0.0);
    }
    let setups = setups(overlay, options, faults)?;
    let hostile = Hostile::new(faults, setups.clone(), options.seed, shared.clone());
    let traffic = Traffic::new(overlay, options.sharing);
    let links = SiteLinks::new(traffic, hostile, shared.clone(), sites);
    let training = Training::new(overlay, options, faults, setups, documents, shared);
    let between = overlay.links().iter().map(|link| link.ends.map(|end| PeerNo(end.index() as u32)));
    let between = between.map(|[a, b]| [a.min(b), a.max(b)]);
    let pairs = between.chain((0..sites).map(|site| [PeerNo(site), PeerNo(sites)]));
    let mut world = match World::new(sites + 1, pairs, links, training, TIMING) {
        Ok(world) => world,
        Err(Failure::Wrong(error)) => return Err(*error),
        Err(Failure::Stuck(_)) => return Err(SimulationError::Busy { site: "of the network".to_owned() }),
    };
    steps.into_iter().for_each(|(at, fault)| world.plan(at, fault));
    let ended = run(&mut world, &begins);
    let now = world.now();
    let (_, training, machines) = world.into_parts();
    ended.map_err(|failure| training.failure(failure, &machines, now))?;
    training.check_ends(&machines)?;
    Ok(training.finish(&machines))
}

/// Runs until all sites have ended. The program records the start of each fault.
fn run(world: &mut Sites<'_>, begins: &[(Duration, usize)]) -> Result<(), Failure> {
    for &(at, number) in begins {
        world.run_until(at)?;
        if world.now() < at {
            return Ok(());
        }
        let now = world.now();
        world.program_mut().begins(number, now);
    }
    world.run()
}

impl Plan {
    /// Plans faults. Of simultaneous events, starts of faults come first.
    fn new(faults: &[PlannedFault], scheduler: PeerNo) -> Self {
        // At the start, sites have the right scheduler.
        let mut plan = Plan { documents: VecDeque::from([None]), ..Plan::default() };
        let begin = |(number, planned): (usize, &PlannedFault)| (time(planned.at_s), number);
        plan.begins = faults.iter().enumerate().map(begin).collect();
        plan.begins.sort();
        let ends = plan
            .begins
            .iter()
            .filter_map(|&(at, number)| Some((time(seconds(at) + faults[number].lasts_s?), false, number)));
        let begins = plan.begins.iter().map(|&(at, number)| (at, true, number));
        let mut moments: Vec<_> = begins.chain(ends).collect();
        moments.sort_by_key(|(at, does_begin, _)| (*at, !does_begin));
        for (at, does_begin, number) in moments {
            match does_begin {
                true => plan.begin(at, faults[number].fault, scheduler),
                false if !lasts(faults, number, at) => plan.end(at, faults[number].fault, scheduler),
                false => {}
            }
        }
        plan
    }

    fn begin(&mut self, at: Duration, fault: Fault, scheduler: PeerNo) {
        match fault {
            Fault::Link(link) => self.steps.push((at, WorldFault::Links(Change::Down(link)))),
            Fault::Site(site) => self.steps.push((at, WorldFault::Kill(process(site)))),
            Fault::Scheduler => self.steps.push((at, WorldFault::Kill(scheduler))),
            Fault::Stranger(other) => self.replace(at, scheduler, Some(other)),
            Fault::Impostor(_) | Fault::Repeats(_) | Fault::Hangs(_) | Fault::OtherTerms(..) => {}
        }
    }

    fn end(&mut self, at: Duration, fault: Fault, scheduler: PeerNo) {
        match fault {
            Fault::Link(link) => self.steps.push((at, WorldFault::Links(Change::Up(link)))),
            Fault::Site(site) => self.steps.push((at, WorldFault::Start(process(site)))),
            Fault::Scheduler | Fault::Stranger(_) => self.replace(at, scheduler, None),
            Fault::Impostor(_) | Fault::Repeats(_) | Fault::Hangs(_) | Fault::OtherTerms(..) => {}
        }
    }

    /// Starts a scheduler instead of the running one, if there is one.
    fn replace(&mut self, at: Duration, scheduler: PeerNo, document: Option<OtherDocument>) {
        self.steps.push((at, WorldFault::Kill(scheduler)));
        self.steps.push((at, WorldFault::Start(scheduler)));
        self.documents.push_back(document);
    }
}

/// Whether another fault of the same component is still active when one ends.
fn lasts(faults: &[PlannedFault], number: usize, at: Duration) -> bool {
    let now_s = seconds(at);
    let others = faults.iter().enumerate().filter(|(other, _)| *other != number);
    let mut same = others.filter(|(_, planned)| planned.fault == faults[number].fault);
    same.any(|(_, planned)| {
        let end_s = planned.lasts_s.map_or(f64::INFINITY, |lasts_s| planned.at_s + lasts_s);
        planned.at_s <= now_s && now_s + 1e-6 < end_s
    })
}
