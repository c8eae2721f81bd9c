//! The network side of a site.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use inart_core::ServerCounters;
use inart_host_agent::OnwardNews;
use inart_host_agent::status::{AnyStatus, StatusPublisher, StatusSocket};
use inart_quic::{Endpoint, Event, Events, names_another_process};
use inart_site_agent::{
    AgentCounters, Driver, DriverError, Output, Peer, Setup, TrainingState, Wait, Waiting,
};
use inart_sites::{Counters, SiteNo};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::MissedTickBehavior;

use crate::error::HostError;
use crate::last_words::LastWords;
use crate::names::Names;
use crate::next::Next;
use crate::workers_inside::WorkersInside;

/// How often the driver looks at the time.
const TICK: Duration = Duration::from_millis(100);
/// A sample of a link is of so long.
const SAMPLE: Duration = Duration::from_millis(200);
/// What a site that cannot go on has still to send is waited for so long.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Neighbours that are not there when the job ends are waited for so long: a connection to a site that has
/// restarted takes 5 s to end, and up to a second to begin again.
const LATE_WORDS: Duration = Duration::from_secs(8);
/// After so long a site that has finished leaves, whoever is still there.
const LONGEST_END: Duration = Duration::from_secs(30);

/// What the training loop wants.
pub(crate) enum Command {
    AllReduce(Vec<f32>),
    /// Begins a round whose chunks are given one by one.
    Begin,
    Contribute {
        chunk: usize,
        values: Vec<f32>,
    },
    /// Ends the job at all sites.
    End(String),
    /// Ends the job at all sites, because this site is stopped.
    Stop,
    /// Publishes through this socket what the site does.
    Status(StatusSocket<AnyStatus>),
    /// The site's gradient comes from these workers.
    Inside(WorkersInside),
    State {
        round: u32,
        training: TrainingState,
    },
    Finish(TrainingState),
}

/// What it is told.
#[derive(Debug)]
pub(crate) enum News {
    Ready(Next),
    Reduced {
        round: u32,
        sum: Vec<f32>,
        version: u64,
    },
    /// The sum of a chunk, in a round whose chunks are given one by one.
    Summed {
        round: u32,
        chunk: usize,
        values: Vec<f32>,
    },
    /// What the server of the site's inside has.
    Inside(OnwardNews),
    /// The server of the site's inside has ended.
    InsideEnded(Result<ServerCounters, inart_host_agent::Error>),
    StateWanted {
        round: u32,
    },
    Failed(HostError),
    Left(Ending),
}

/// What a site has counted when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// What its state machine dropped and passed on.
    pub site: Counters,
    /// What its driver did.
    pub agent: AgentCounters,
    /// What its connections carried.
    pub connections: inart_quic::Counters,
}

impl Ending {
    /// What was dropped or refused, and how often; what never was is left out.
    pub fn dropped(&self) -> Vec<(&'static str, u64)> {
        let Ending { site, agent, connections } = self;
        let all = [
            ("connections_refused", connections.refused),
            ("connections_of_strangers", connections.strangers),
            ("messages_too_long", connections.too_long),
            ("messages_too_many", connections.too_many),
            ("messages_malformed", agent.malformed),
            ("messages_of_strangers", agent.strangers),
            ("messages_in_anothers_name", agent.impostors),
            ("answers_not_asked_for", agent.unasked),
            ("messages_without_a_link", agent.astray),
            ("chunks_for_others_too_many", agent.crowded),
            ("plans_refused", agent.refused_offers),
            ("chunks_of_rounds_over", site.late),
            ("chunks_of_rounds_ahead", site.ahead),
            ("chunks_by_another_plan", site.other_policy),
            ("chunks_of_nobody", site.strange),
            ("chunks_twice", site.repeated),
            ("chunks_without_a_way", site.lost),
            ("questions_unanswerable", site.unanswerable),
            ("states_with_a_wrong_digest", agent.wrong_states),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

pub(crate) struct SiteLoop {
    me: String,
    driver: Driver,
    names: Names,
    endpoint: Endpoint,
    neighbours: Vec<SiteNo>,
    last_words: LastWords,
    told: Sender<News>,
    start: Instant,
    finishing: Option<Instant>,
    /// Since when the training loop is gone.
    abandoned: Option<Instant>,
    status: StatusPublisher,
    inside: Option<WorkersInside>,
    is_over: bool,
}

impl SiteLoop {
    pub fn new(setup: Arc<Setup>, names: Names, endpoint: Endpoint, told: Sender<News>) -> Self {
        let start = Instant::now();
        let neighbours = setup.my_neighbours().to_vec();
        let me = names.name(Peer::Site(setup.me)).unwrap_or_default().to_owned();
        Self {
            me,
            driver: Driver::new(setup),
            names,
            endpoint,
            neighbours,
            last_words: LastWords::default(),
            told,
            start,
            finishing: None,
            abandoned: None,
            status: StatusPublisher::default(),
            inside: None,
            is_over: false,
        }
    }

    /// Runs until the training loop has finished or is gone.
    pub async fn run(mut self, mut events: Events, mut commands: UnboundedReceiver<Command>) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.is_over {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.event(event),
                    None => break,
                },
                command = commands.recv(), if self.abandoned.is_none() => match command {
                    Some(command) => self.command(command),
                    None => self.abandoned = Some(Instant::now()),
                },
                _ = ticks.tick() => {
                    let now = self.now();
                    self.driver.tick(now);
                    self.report_wait();
                    self.say_last_words();
                    tracing::trace!("{}", self.driver.told());
                }
            }
            self.carry_out();
            self.publish();
            self.leave_if_done();
        }
        self.endpoint.close().await;
    }

    fn publish(&mut self) {
        if self.status.is_due() {
            let now = self.now();
            let mut status = crate::status::of_site(&self.me, &self.names, &self.endpoint, &self.driver, now);
            if let Some(inside) = &self.inside {
                crate::status::add_inside(&mut status, inside);
            }
            self.status.take(status);
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn event(&mut self, event: Event) {
        let now = self.now();
        match event {
            Event::Up { peer } => {
                tracing::info!("{peer} is connected");
                if let Some(peer) = self.names.peer(&peer) {
                    self.driver.up(peer, now);
                }
            }
            Event::Down { reason, .. } if names_another_process(&reason) => {
                self.tell(News::Failed(HostError::Duplicate { name: self.me.clone(), reason }));
                self.is_over = true;
            }
            Event::Down { peer, reason } => {
                let site = self.names.peer(&peer);
                match site.is_some_and(|site| self.driver.may_end(site)) {
                    true => tracing::debug!("the connection to {peer} has ended: {reason}"),
                    false => tracing::warn!("the connection to {peer} has ended: {reason}"),
                }
                if let Some(site) = site {
                    self.driver.down(site, now);
                }
            }
            Event::Received { peer: name, data, .. } => {
                let Some(peer) = self.names.peer(&name) else { return };
                self.last_words.heard(&name, &data);
                if let Peer::Site(site) = peer
                    && let Some((bits, seconds)) = self.endpoint.measured(&name, SAMPLE)
                {
                    self.driver.measured(site, bits, seconds);
                }
                self.driver.message(peer, data, now);
            }
            Event::Acknowledged { id, .. } => {
                self.last_words.delivered(id);
                self.driver.delivered(id, now);
            }
            Event::Failed { id, .. } => {
                self.last_words.failed(id);
                self.driver.failed(id, now);
            }
            Event::Stranger { address, names } => {
                tracing::warn!("{} at {address} is no peer of this site", names.join(" or "));
            }
        }
    }

    fn command(&mut self, command: Command) {
        let now = self.now();
        let result = match command {
            Command::AllReduce(gradient) => self.driver.all_reduce(gradient, now),
            Command::Begin => self.driver.begin(now),
            Command::Contribute { chunk, values } => self.driver.contribute(chunk, values, now),
            Command::End(told) => {
                self.driver.end_everywhere(&told);
                Ok(())
            }
            Command::Status(socket) => {
                self.status.set(socket);
                Ok(())
            }
            Command::Inside(workers) => {
                self.inside = Some(workers);
                Ok(())
            }
            Command::Stop => {
                self.driver.stop();
                Ok(())
            }
            Command::State { round, training } => {
                self.driver.give_state(round, training, now);
                Ok(())
            }
            Command::Finish(training) => {
                self.finishing = Some(Instant::now());
                // A site that came back after the end has finished already.
                let _ = self.driver.finish(training, now);
                Ok(())
            }
        };
        if let Err(error) = result {
            self.tell(News::Failed(error.into()));
        }
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.driver.next_output() {
            match output {
                Output::Send { to, id, data, priority } => {
                    let Some(name) = self.names.name(to) else { continue };
                    self.last_words.sending(name, id, &data);
                    if let Err(error) = self.endpoint.send(name, id, data, priority) {
                        tracing::error!("a message was not sent: {error}");
                        self.driver.failed(id, self.start.elapsed());
                    }
                }
                Output::Ready { round, training } => self.tell(News::Ready(Next::Round { round, training })),
                Output::Ended { training } => self.tell(News::Ready(Next::Ended { training })),
                Output::Reduced { round, sum } => {
                    let version = self.driver.policy_version();
                    self.tell(News::Reduced { round, sum, version });
                }
                Output::Summed { round, chunk, values } => {
                    self.tell(News::Summed { round, chunk, values });
                }
                Output::StateWanted { round } => self.tell(News::StateWanted { round }),
                Output::Warned(text) => tracing::warn!("{text}"),
                Output::Failed(error) => {
                    self.begin_last_words(&error);
                    self.tell(News::Failed(error.into()));
                }
            }
        }
    }

    /// Logs what the site waits for.
    fn report_wait(&mut self) {
        let reported = self.driver.next_waiting();
        if let Some(inside) = &mut self.inside {
            let waiting = self.driver.waiting(self.start.elapsed());
            let awaits = matches!(waiting, Some(Waiting { wait: Wait::Program { .. }, .. }));
            let has_begun = self.driver.round() > Some(1);
            if let Some((workers, waited)) = inside.due(awaits, has_begun) {
                tracing::warn!("waiting for workers inside: {workers} (for {} s)", waited.as_secs());
            }
            if awaits {
                return;
            }
        }
        let Some(Waiting { wait, waited }) = reported else { return };
        let name = |site: SiteNo, is_missing: bool| {
            let name = self.names.name(Peer::Site(site)).unwrap_or_default();
            if is_missing { crate::missing::in_words(&self.endpoint, name) } else { name.to_owned() }
        };
        tracing::warn!("{} (for {} s)", wait.in_words(&name), waited.as_secs());
    }

    /// All neighbours have to hear why the job has ended, or cannot begin, also those that are not there now.
    fn begin_last_words(&mut self, error: &DriverError) {
        let (told, but) = match error {
            DriverError::Differs { site, told: Some(told), .. } => (told.clone(), Some(site)),
            error => match error.for_all() {
                Some(told) => (told, None),
                None => return,
            },
        };
        let name = |site: &SiteNo| self.names.name(Peer::Site(*site)).map(str::to_owned);
        let neighbours = self.neighbours.iter().filter_map(name).filter(|name| Some(name) != but);
        self.last_words.begin(&told, but.is_some(), neighbours);
    }

    fn say_last_words(&mut self) {
        let (names, driver) = (&self.names, &self.driver);
        let is_up = |name: &str| names.peer(name).is_some_and(|peer| driver.is_up(peer));
        for (name, id, data) in self.last_words.due(is_up) {
            if let Err(error) = self.endpoint.send(&name, id, data, i32::MAX) {
                tracing::error!("a message was not sent: {error}");
            }
        }
    }

    fn leave_if_done(&mut self) {
        if let Some(since) = self.abandoned {
            let patience = if self.last_words.are_told() { LAST_WORDS } else { LATE_WORDS };
            let has_told_all = self.driver.has_told_all() && self.last_words.are_told();
            self.is_over |= has_told_all || since.elapsed() > patience;
        }
        let Some(since) = self.finishing else { return };
        // Who is being sent this site's state is waited for: the state may be long.
        if self.driver.is_giving() {
            self.finishing = Some(Instant::now());
        } else if self.driver.may_leave() || since.elapsed() > LONGEST_END {
            let (site, agent) = self.driver.counters();
            self.tell(News::Left(Ending { site, agent, connections: self.endpoint.counters() }));
            self.is_over = true;
        }
    }

    /// A training loop that is gone is noticed by its commands.
    fn tell(&self, news: News) {
        let _ = self.told.send(news);
    }
}
