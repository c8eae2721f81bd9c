//! Daemons that start while switches are missing, have seen later controllers, hold other jobs, or belong
//! to other clients: with switches in memory.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::future::{pending, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use inart_controller::api::{self, Listener, proto};
use inart_controller::daemon::{self, Config, DaemonError, State, Steer};
use inart_controller::{JobPlan, Records};
use inart_planner_aggregation::{Options, plan, schemes};
use inart_steering::ReplanThresholds;
use inart_tables::{Limits, PortNo, SwitchTables, Update};
use inart_targets::memory::InMemory;
use inart_targets::{
    Access, Endpoint, Precedence, Program, Running, Session, SwitchCounters, SwitchError, Traffic,
};
use inart_tls::Security;
use inart_topologies::switched::Topology;
use inart_wire::ValuesPerFrame;
use support::{FIG1, LIMITS, fig1, job};
use tokio::task::JoinHandle;

/// Switches in memory, by name, of which some are missing. With `owners` they have no precedences: each
/// belongs to its first client.
#[derive(Clone)]
struct Switches {
    inner: InMemory,
    away: Arc<Mutex<BTreeSet<String>>>,
    /// Switches whose sessions panic.
    broken: Arc<Mutex<BTreeSet<String>>>,
    owners: Option<Arc<Mutex<BTreeMap<String, u128>>>>,
    /// Switch that a later controller takes when the next session with it is opened: just before, or just
    /// after.
    later: Arc<Mutex<Option<(String, Moment)>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Before,
    After,
}

impl Switches {
    fn new(owners: bool) -> Self {
        Self::of(LIMITS, owners)
    }

    fn of(limits: Limits, owners: bool) -> Self {
        let inner = InMemory::new(ValuesPerFrame::N64, limits);
        let (away, broken, later) = Default::default();
        Switches { inner, away, broken, owners: owners.then(Arc::default), later }
    }

    fn set_away(&self, switch: &str, away: bool) {
        let mut all = self.away.lock().unwrap();
        match away {
            true => all.insert(switch.to_owned()),
            false => all.remove(switch),
        };
    }

    fn reach(&self, place: &Endpoint) -> Result<(), SwitchError> {
        match self.away.lock().unwrap().contains(&place.address) {
            true => Err(SwitchError::Unreachable("it is away".to_owned())),
            false => Ok(()),
        }
    }

    /// Makes a client the owner, unless the switch has another one.
    fn take(&self, switch: &str, client: u128) -> Result<(), SwitchError> {
        let mut owners = self.owners.as_ref().unwrap().lock().unwrap();
        let owner = *owners.entry(switch.to_owned()).or_insert(client);
        if owner == client {
            Ok(())
        } else {
            Err(SwitchError::Superseded(format!("it belongs to client {owner}")))
        }
    }

    fn release(&self, switch: &str) {
        self.owners.as_ref().unwrap().lock().unwrap().remove(switch);
    }

    fn tables(&self, switch: &str) -> SwitchTables {
        self.inner.switch(switch).tables
    }
}

/// Precedence of a later controller.
const LATER: Precedence = Precedence(30_000_000);

impl Program for Switches {
    fn values(&self) -> ValuesPerFrame {
        self.inner.values()
    }

    fn limits(&self) -> Limits {
        Program::limits(&self.inner)
    }

    fn open(&self, place: Endpoint, access: Access) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>> {
        if let Err(error) = self.reach(&place) {
            return ready(Err(error)).boxed();
        }
        assert!(!self.broken.lock().unwrap().contains(&place.address), "broken on purpose");
        let (Access::Write(client) | Access::Resume(client), true) = (access, self.owners.is_some()) else {
            let later = self.later.lock().unwrap().take_if(|(switch, _)| *switch == place.address);
            let takes_at = |moment: Moment| later.as_ref().is_some_and(|(_, at)| *at == moment);
            let take = || drop(self.inner.open(place.clone(), Access::Write(LATER)));
            takes_at(Moment::Before).then(take);
            let opened = self.inner.open(place.clone(), access);
            takes_at(Moment::After).then(take);
            return opened;
        };
        if let Err(error) = self.take(&place.address, client.0) {
            return ready(Err(error)).boxed();
        }
        let (switches, switch) = (self.clone(), place.address.clone());
        async move {
            let session = switches.inner.open(place, Access::Write(Precedence(1))).await?;
            Ok(Box::new(Owned { session, switches: switches.clone(), switch }) as Box<dyn Session>)
        }
        .boxed()
    }

    fn greatest(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Precedence>, SwitchError>> {
        match self.reach(&place) {
            Ok(()) if self.owners.is_some() => ready(Ok(None)).boxed(),
            Ok(()) => self.inner.greatest(place),
            Err(error) => ready(Err(error)).boxed(),
        }
    }

    fn has_precedence(&self) -> bool {
        self.owners.is_none()
    }
}

/// Session whose end releases the switch.
struct Owned {
    session: Box<dyn Session>,
    switches: Switches,
    switch: String,
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.switches.release(&self.switch);
    }
}

impl Session for Owned {
    fn precedence(&self) -> Option<Precedence> {
        self.session.precedence()
    }

    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>> {
        self.session.running()
    }

    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>> {
        self.session.load_program()
    }

    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>> {
        self.session.read()
    }

    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>> {
        self.session.write(updates)
    }

    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>> {
        self.session.counters()
    }

    fn traffic<'a>(&'a mut self, ports: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        self.session.traffic(ports)
    }

    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        self.session.lost()
    }
}

/// Daemon in this test's runtime, and a client of its API.
struct Started {
    daemon: JoinHandle<DaemonError>,
    api: api::Client,
}

impl Started {
    async fn start(config: Config) -> Self {
        let addresses = config.switches.iter().map(|(name, place)| (name.as_str(), place.address.as_str()));
        let state = Arc::new(State::new("fig1", addresses));
        let listener = Listener::bind("127.0.0.1:0", false).await.unwrap();
        let address = listener.address().unwrap();
        tokio::spawn(api::serve(listener, None, state.clone(), pending()));
        let daemon = tokio::task::spawn_local(async move { daemon::run(config, state).await.unwrap_err() });
        Started { daemon, api: api::Client::connect(&address, &Security::Local).await.unwrap() }
    }

    async fn until(&self, wish: impl Fn(&proto::Status) -> bool) -> proto::Status {
        for _ in 0..3000 {
            let status = self.api.status().await.unwrap();
            if wish(&status) {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("timed out: {:?}", self.api.status().await);
    }
}

fn all_connected(status: &proto::Status) -> bool {
    status.installed && status.switches.iter().all(|switch| switch.connected)
}

fn problem<'a>(status: &'a proto::Status, name: &str) -> &'a str {
    &status.switches.iter().find(|switch| switch.name == name).unwrap().problem
}

fn plans(topology: &Topology) -> Vec<JobPlan> {
    let plans = topology.jobs().iter().zip(1..);
    let plans = plans
        .map(|(found, number)| job(number, &plan(topology, found, &Options::new(schemes::ATP)).unwrap()));
    plans.collect()
}

fn config(switches: &Switches, precedence: u128, topology: Topology, records: Records) -> Config {
    let place = |name: &str| (name.to_owned(), Endpoint::local(name, 0));
    Config {
        peers: None,
        jobs: plans(&topology),
        topology,
        program: Arc::new(switches.clone()),
        switches: ["v1", "v2"].map(place).into(),
        precedence: Precedence(precedence),
        switches_within: Duration::from_millis(50),
        records,
        replace_program: false,
        check_every: Duration::from_millis(10),
        change_within: Duration::from_secs(30),
        timing: Default::default(),
        steer: None,
        remove_departed: false,
        chance: daemon::by_chance(),
    }
}

/// The precedence is fixed at the first contact: a greater one on a switch that was missing is another
/// controller's.
#[tokio::test(flavor = "local")]
async fn a_greater_precedence_on_a_switch_that_returns_ends_the_daemon() {
    let switches = Switches::new(false);
    let at = |name: &str| Endpoint::local(name, 0);
    // By a clock that went back: the first contact shows a greater one.
    switches.inner.open(at("v1"), Access::Write(Precedence(20))).await.unwrap();
    // Far above what this controller chooses.
    let greatest = LATER;
    switches.inner.open(at("v2"), Access::Write(greatest)).await.unwrap();
    switches.set_away("v2", true);
    let running = Started::start(config(&switches, 5, fig1(), Records::default())).await;
    running.until(|status| status.installed).await;
    let taken = switches.greatest(at("v1")).await.unwrap().unwrap();
    assert!(taken > Precedence(20), "{taken:?}");
    switches.set_away("v2", false);
    let ended = tokio::time::timeout(Duration::from_secs(60), running.daemon).await.unwrap().unwrap();
    assert!(matches!(&ended, DaemonError::Superseded { switch, .. } if switch == "v2"), "{ended}");
    assert_eq!(switches.greatest(at("v2")).await.unwrap(), Some(greatest));
}

/// Another controller may start between the query of precedences and the first writes.
#[tokio::test(flavor = "local")]
async fn a_later_controller_at_the_first_sessions_ends_the_daemon() {
    for moment in [Moment::Before, Moment::After] {
        let switches = Switches::new(false);
        *switches.later.lock().unwrap() = Some(("v2".to_owned(), moment));
        let running = Started::start(config(&switches, 5, fig1(), Records::default())).await;
        // The time limit ends a hang only.
        let ended = tokio::time::timeout(Duration::from_secs(60), running.daemon).await;
        let ended = ended.unwrap_or_else(|_| panic!("{moment:?}: still running")).unwrap();
        assert!(
            matches!(&ended, DaemonError::Superseded { switch, .. } if switch == "v2"),
            "{moment:?}: {ended}"
        );
        assert_eq!(switches.greatest(Endpoint::local("v2", 0)).await.unwrap(), Some(LATER));
        assert!(switches.tables("v2").is_empty(), "{moment:?}");
    }
}

/// Two controllers with clocks that went back see the same ids. If both chose the next one, they would
/// share the switches.
#[tokio::test(flavor = "local")]
async fn two_controllers_that_saw_the_same_precedence_choose_different_ones() {
    let mut taken = BTreeSet::new();
    for _ in 0..2 {
        let switches = Switches::new(false);
        let seen = Access::Write(Precedence(20));
        switches.inner.open(Endpoint::local("v1", 0), seen).await.unwrap();
        let running = Started::start(config(&switches, 5, fig1(), Records::default())).await;
        running.until(all_connected).await;
        let one = switches.greatest(Endpoint::local("v2", 0)).await.unwrap().unwrap();
        assert!(one > Precedence(20));
        taken.insert(one);
        running.daemon.abort();
    }
    assert_eq!(taken.len(), 2, "{taken:?}");
}

/// A switch without a task ends the process, like a panic of any other task.
#[tokio::test(flavor = "local")]
async fn a_panic_of_the_task_of_one_switch_ends_the_daemon() {
    let switches = Switches::new(false);
    switches.set_away("v2", true);
    let running = Started::start(config(&switches, 5, fig1(), Records::default())).await;
    running.until(|status| status.installed).await;
    switches.broken.lock().unwrap().insert("v2".to_owned());
    switches.set_away("v2", false);
    let ended = tokio::time::timeout(Duration::from_secs(60), running.daemon).await.expect("it ends");
    assert!(ended.unwrap_err().is_panic());
}

/// The planner treats a switch that was never reachable like one that fails.
#[tokio::test(flavor = "local")]
async fn a_switch_that_is_missing_from_the_start_has_failed() {
    let switches = Switches::new(false);
    switches.set_away("v2", true);
    let every = Duration::from_millis(50);
    let (plan_within, scheme) = (Duration::from_secs(1), schemes::ATP);
    let steer = Some(Steer { thresholds: ReplanThresholds::default(), every, plan_within, scheme });
    let config = Config { steer, ..config(&switches, 5, fig1(), Records::default()) };
    let running = Started::start(config).await;
    let failed =
        |status: &proto::Status| status.network.clone().map(|network| network.failed).unwrap_or_default();
    let status = running.until(|status| !failed(status).is_empty()).await;
    assert!(failed(&status).iter().any(|part| part.contains("switch v2")), "{status:?}");
    assert!(!failed(&status).iter().any(|part| part.contains("switch v1")), "{status:?}");
}

/// Entries of jobs that left the topology are kept, although the start has not read them.
#[tokio::test(flavor = "local")]
async fn other_jobs_on_a_switch_that_was_missing_are_kept() {
    let switches = Switches::new(false);
    let folder = tempfile::TempDir::new().unwrap();
    let records = || Records::open(folder.path(), "fig1").unwrap();
    let letters = "  - {name: letters, workers: [w1, w2], servers: [s1], gradient: 200 KB}\n";
    let two = Topology::from_yaml(&format!("{}\n{letters}", FIG1.trim_end())).unwrap();
    let first = Started::start(config(&switches, 1, two, records())).await;
    first.until(all_connected).await;
    let before = switches.tables("v2");
    assert_eq!(before.jobs(), [1.into(), 2.into()].into());
    first.daemon.abort();

    switches.set_away("v2", true);
    let second = Started::start(config(&switches, 2, fig1(), records())).await;
    second.until(|status| status.installed).await;
    let vanished = *before.mac.keys().next().unwrap();
    switches.inner.change("v2", |memory| {
        memory.tables.mac.remove(&vanished);
    });
    switches.set_away("v2", false);
    second.until(all_connected).await;
    assert_eq!(switches.tables("v2"), before, "repaired, and job 2 is still there");
}

/// Lets jobs 7 and 1 want the same slots of v2, which is missing while the controller of job 1 starts.
/// Returns that controller, v2's tables before, and the number of slots of v2 that a job needs.
async fn next_to_a_foreign_job(switches: &Switches) -> (Started, SwitchTables, u32) {
    let mut foreign = config(switches, 1, fig1(), Records::default());
    foreign.jobs[0].job = 7.into();
    let first = Started::start(foreign).await;
    first.until(all_connected).await;
    first.daemon.abort();
    let before = switches.tables("v2");
    assert_eq!(before.jobs(), [7.into()].into());
    switches.inner.change("v1", |memory| memory.tables = SwitchTables::default());
    switches.set_away("v2", true);
    let second = Started::start(config(switches, 2, fig1(), Records::default())).await;
    second.until(|status| status.installed).await;
    switches.set_away("v2", false);
    let taken: BTreeSet<_> = before.slot_ranges().map(|(_, range)| (range.base, range.len)).collect();
    (second, before, taken.into_iter().map(|(_, len)| len).sum())
}

/// A missing switch holds a job that this controller does not know, in slots that the plans would use: they
/// get others there.
#[tokio::test(flavor = "local")]
async fn plans_get_other_slots_next_to_a_foreign_job() {
    let switches = Switches::new(false);
    let (second, before, _) = next_to_a_foreign_job(&switches).await;
    second.until(all_connected).await;
    let after = switches.tables("v2");
    assert_eq!(after.jobs(), [1.into(), 7.into()].into());
    assert!(before.steer.iter().all(|(key, action)| after.steer.get(key) == Some(action)));
    assert!(before.results.iter().all(|(key, action)| after.results.get(key) == Some(action)));
    let of = |job: u16| after.slot_ranges().filter(move |(key, _)| key.job == job.into());
    assert!(of(1).count() > 0);
    for (_, mine) in of(1) {
        let overlaps = |base: u32, len: u32| base < mine.base + mine.len && mine.base < base + len;
        assert!(!of(7).any(|(_, other)| overlaps(other.base, other.len)), "{mine:?}");
    }
}

/// If there is no room for both, the controller names the job and the fix, and writes nothing there.
#[tokio::test(flavor = "local")]
async fn slots_of_a_foreign_job_are_kept() {
    let (_, _, slots) = next_to_a_foreign_job(&Switches::new(false)).await;
    let switches = Switches::of(Limits { slots, ..LIMITS }, false);
    let (second, before, _) = next_to_a_foreign_job(&switches).await;
    let status = second.until(|status| problem(status, "v2").contains("holds job 7")).await;
    let problem = problem(&status, "v2");
    let expected = "it was disconnected at the start and holds job 7, whose hosts may run: with that job the plan needs 1 x 64 slots, \
                0 of ";
    let fix = "when job 7 has ended, stop the controller, run `inart remove 7 TOPOLOGY` and start it again";
    assert!(problem.contains(expected) && problem.contains(fix), "{problem}");
    assert_eq!(switches.tables("v2"), before);
}

/// On switches that belong to their first client, a daemon that is refused one releases the others.
#[tokio::test(flavor = "local")]
async fn switches_are_released_while_another_one_is_refused() {
    let switches = Switches::new(true);
    switches.take("v2", 99).unwrap();
    let running = Started::start(config(&switches, 5, fig1(), Records::default())).await;
    let status = running.until(|status| problem(status, "v2").contains("client 99")).await;
    assert!(!status.installed);
    for tries in 0.. {
        assert!(tries < 6000, "v1 is never released");
        if switches.take("v1", 98).is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.until(|status| problem(status, "v1").contains("client 98")).await;
    ["v1", "v2"].iter().for_each(|switch| switches.release(switch));
    running.until(all_connected).await;
}

/// One of two daemons that start at once gets all switches; the other one names it, and succeeds it.
#[tokio::test(flavor = "local")]
async fn two_daemons_without_precedences_do_not_deadlock() {
    let switches = Switches::new(true);
    let both = [5, 6].map(|precedence| config(&switches, precedence, fig1(), Records::default()));
    let [one, other] = both.map(Started::start);
    let (one, other) = tokio::join!(one, other);
    let first = tokio::select! {
        biased;
        _ = one.until(all_connected) => 5,
        _ = other.until(all_connected) => 6,
    };
    let (winner, waiting) = if first == 5 { (one, other) } else { (other, one) };
    let status = waiting.until(|status| problem(status, "v1").contains(&format!("client {first}"))).await;
    assert!(!status.installed && !waiting.daemon.is_finished());
    winner.daemon.abort();
    waiting.until(all_connected).await;
}
