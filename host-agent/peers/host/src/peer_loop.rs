//! The network side of a peer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use bytes::Bytes;
use inart_connections::WaitWatch;
use inart_host_agent::status::{AnyStatus, StatusPublisher, StatusSocket};
use inart_multicast::{
    Message, Outcome, Receivers, Transmission, chunk_packet, message_packet, notice_packet,
};
use inart_peer_agent::{Awaited, Notice, Output, Peer, Received, Setup, Start};
use inart_quic::{Endpoint, Event, Events, is_regular_end, names_another_process};
use inart_wire::{Incarnation, Rank};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::ending::Ending;
use crate::error::HostError;
use crate::lane::Lane;
use crate::names::{Names, Who};
use crate::status::Connected;
use crate::under_way::{Sent, UnderWay};
use crate::way::Way;

/// The machine is asked what is due no more often; and where it paces frames.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);
const SHORTEST_FRAME: Duration = Duration::from_micros(20);
/// Nor is it left alone for longer.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// After so long a peer that has finished leaves, whoever is still there.
const LONGEST_END: Duration = Duration::from_secs(30);
/// By frames nobody says that he has heard of this peer's end: it is told as often before it leaves.
const LAST_NOTICES: u32 = 5;
/// Messages overtake chunks; chunks of an update leave in their order.
const URGENT: i32 = i32::MAX;

/// What the training program says.
#[derive(Debug)]
pub(crate) enum Command {
    Computed(Vec<f32>),
    Stop,
    /// Publishes through this socket what the peer does.
    Status(StatusSocket<AnyStatus>),
}

/// What it is told.
#[derive(Debug)]
pub(crate) enum News {
    Compute(Start),
    Received(Received),
    Ended { outcome: Outcome, without_choice: bool },
    Finished(Start),
    Failed(HostError),
    Left(Box<Ending>),
}

pub(crate) struct PeerLoop {
    me: String,
    setup: Arc<Setup>,
    peer: Peer,
    names: Names,
    endpoint: Endpoint,
    way: Way,
    told: Sender<News>,
    start: Instant,
    /// The coordinators that there are connections to.
    lanes: BTreeMap<String, Lane>,
    /// The peers that there are connections to.
    connected: BTreeSet<Rank>,
    under_way: UnderWay,
    finished: Option<Instant>,
    /// Notices of that.
    last_notices: u32,
    watch: WaitWatch<Awaited>,
    status: StatusPublisher,
    is_over: bool,
}

impl PeerLoop {
    pub fn new(
        me: String,
        setup: Arc<Setup>,
        peer: Peer,
        names: Names,
        endpoint: Endpoint,
        way: Way,
        told: Sender<News>,
    ) -> Self {
        Self {
            me,
            setup,
            peer,
            names,
            endpoint,
            way,
            told,
            start: Instant::now(),
            lanes: BTreeMap::new(),
            connected: BTreeSet::new(),
            under_way: UnderWay::default(),
            finished: None,
            last_notices: 0,
            watch: WaitWatch::default(),
            status: StatusPublisher::default(),
            is_over: false,
        }
    }

    /// Runs until the peer has finished, or the training program is gone.
    pub async fn run(mut self, mut events: Events, mut commands: UnboundedReceiver<Command>) {
        while !self.is_over {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.event(event),
                    None => break,
                },
                command = commands.recv() => match command {
                    Some(Command::Computed(update)) => self.computed(update),
                    Some(Command::Status(socket)) => self.status.set(socket),
                    Some(Command::Stop) => self.fail(HostError::Stopped { name: self.me.clone() }),
                    None => break,
                },
                there = self.way.readable() => self.take_frames(there),
                due = self.way.sleep_until(self.wake_at()) => match due {
                    Ok(()) => self.peer.tick(self.start.elapsed()),
                    Err(error) => self.fail(Way::refused(error)),
                },
            }
            self.carry_out();
            self.leave_if_done();
            self.look();
            self.publish();
        }
        self.endpoint.close().await;
    }

    fn publish(&mut self) {
        if self.status.is_due() {
            let peers = matches!(self.way, Way::Connections).then_some(&self.connected);
            let connected = Connected { me: &self.me, names: &self.names, endpoint: &self.endpoint, peers };
            let status = connected.status(&self.peer, self.watch.waited());
            self.status.take(status);
        }
    }

    /// Says for whom it waits, if it is time to.
    fn look(&mut self) {
        let waits = self.peer.awaited();
        let is_meeting = matches!(waits, Some(Awaited::Coordinator { .. }));
        let Some(waited) = self.watch.due(waits.clone(), is_meeting) else { return };
        let names = |peers: &[Rank]| {
            let each = peers.iter().map(|&rank| match self.connected.contains(&rank) {
                true => format!("{} (connected)", self.names.of(rank)),
                false => self.with_trouble(self.names.of(rank)),
            });
            each.collect::<Vec<_>>().join(", ")
        };
        let seconds = waited.as_secs();
        match waits {
            Some(Awaited::Coordinator { is_connected: false }) => {
                let all: Vec<_> = self.names.coordinators().map(|name| self.with_trouble(name)).collect();
                tracing::warn!("waiting for {}, for {seconds} s", all.join(" or "));
            }
            Some(Awaited::Coordinator { is_connected: true }) => {
                tracing::warn!("waiting for {seconds} s: the coordinator gathers peers");
            }
            Some(Awaited::Round { round, peers }) => {
                tracing::warn!("waiting for {seconds} s for round {round} of {}", names(&peers));
            }
            Some(Awaited::Receivers { round, peers }) => {
                tracing::warn!("sending the update of round {round} for {seconds} s to {}", names(&peers));
            }
            None => {}
        }
    }

    fn with_trouble(&self, name: &str) -> String {
        match self.endpoint.trouble(name) {
            Some(trouble) => format!("{name} (not connected: {trouble})"),
            None => name.to_owned(),
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn wake_at(&self) -> Instant {
        let now = self.now();
        let due = self.peer.wake_at().unwrap_or(Duration::MAX);
        let shortest = match self.way {
            Way::Connections => SHORTEST_SLEEP,
            Way::Frames(_) => SHORTEST_FRAME,
        };
        self.start + due.clamp(now + shortest, now + LONGEST_SLEEP)
    }

    fn take_frames(&mut self, there: std::io::Result<()>) {
        let (now, peer) = (self.start.elapsed(), &mut self.peer);
        let taken = match (there, &mut self.way) {
            (Err(error), _) => Err(Way::refused(error)),
            (Ok(()), Way::Frames(frames)) => {
                frames.receive(&mut |bytes| peer.frame(bytes, now)).map_err(HostError::from)
            }
            (Ok(()), Way::Connections) => Ok(()),
        };
        self.fail_if(taken);
    }

    fn fail_if(&mut self, done: Result<(), HostError>) {
        if let Err(error) = done {
            self.fail(error);
        }
    }

    fn computed(&mut self, update: Vec<f32>) {
        let now = self.now();
        if let Err(error) = self.peer.computed(update, now) {
            self.fail(HostError::Update { name: self.me.clone(), error });
        }
    }

    fn event(&mut self, event: Event) {
        let now = self.now();
        match event {
            Event::Up { peer } => {
                tracing::info!("{peer} is connected");
                self.up(peer, now);
            }
            Event::Down { peer, reason } => {
                if names_another_process(&reason) {
                    return self.fail(HostError::Duplicate { name: self.me.clone(), reason });
                }
                match (is_regular_end(&reason), self.finished.is_some()) {
                    (true, true) => tracing::info!("{peer} has ended"),
                    (true, false) => tracing::warn!("{peer} has stopped before the last round"),
                    (false, _) => tracing::warn!("the connection to {peer} has ended: {reason}"),
                }
                self.down(&peer, now);
            }
            Event::Received { peer, data, .. } => match self.names.who(&peer) {
                Some(Who::Peer(rank)) => self.peer.packet(rank, &data, now),
                Some(Who::Coordinator) => self.peer.coordinator(data, now),
                None => {}
            },
            Event::Acknowledged { id, .. } => self.ended(id, true, now),
            Event::Failed { id, .. } => self.ended(id, false, now),
            Event::Stranger { address, names } => {
                tracing::warn!("{} at {address} is not in the job", names.join(" or "));
            }
        }
    }

    fn up(&mut self, name: String, now: Duration) {
        match self.names.who(&name) {
            Some(Who::Peer(rank)) => {
                self.connected.insert(rank);
            }
            Some(Who::Coordinator) => {
                self.lanes.insert(name, Lane::default());
                self.peer.coordinator_up(now);
            }
            None => {}
        }
    }

    fn down(&mut self, name: &str, now: Duration) {
        match self.names.who(name) {
            Some(Who::Peer(rank)) => {
                self.connected.remove(&rank);
                self.under_way.forget(rank);
                self.peer.broken(rank, now);
            }
            Some(Who::Coordinator) => {
                self.lanes.remove(name);
                if self.lanes.is_empty() {
                    self.peer.coordinator_down(now);
                }
            }
            None => {}
        }
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        match self.under_way.end(id, is_taken) {
            Some(Sent::Chunk { round, to, .. }) if is_taken => self.peer.delivered(round, to, now),
            Some(Sent::Chunk { round, to, chunk }) => self.peer.failed(round, to, chunk, now),
            Some(Sent::Report { to }) => {
                if let Some(lane) = self.lanes.get_mut(&to) {
                    lane.ended(id);
                }
            }
            Some(Sent::LastNotice { .. } | Sent::Other) | None => {}
        }
    }

    fn carry_out(&mut self) {
        loop {
            if let Some(output) = self.peer.next_output() {
                self.carry_out_one(output);
                continue;
            }
            match &mut self.way {
                Way::Connections => {
                    let Some(sent) = self.peer.next_transmission(self.start.elapsed()) else { break };
                    self.send_chunk(&sent);
                }
                Way::Frames(frames) => {
                    let start = self.start;
                    let sent = frames.send_chunks(&mut self.peer, &|| start.elapsed());
                    self.fail_if(sent.map_err(HostError::from));
                    break;
                }
            }
        }
        self.send_reports();
    }

    fn carry_out_one(&mut self, output: Output) {
        match output {
            Output::Tell { to, message } => self.send_message(to, &message),
            Output::Notify { to, notice } => self.notify(&to, notice),
            Output::Report(data) => self.lanes.values_mut().for_each(|lane| lane.push(data.clone())),
            Output::Received(update) => self.tell(News::Received(update)),
            Output::Compute(start) => self.tell(News::Compute(start)),
            Output::Ended { outcome, without_choice } => {
                tracing::debug!("{}", self.peer.told());
                self.tell(News::Ended { outcome, without_choice });
            }
            Output::Finished(start) => {
                self.finished = Some(Instant::now());
                self.tell(News::Finished(start));
            }
            Output::NotTakenIn(error) => self.fail(HostError::NotTakenIn { name: self.me.clone(), error }),
        }
    }

    /// Where hosts make the copies, a transmission is for one receiver.
    fn send_chunk(&mut self, sent: &Transmission) {
        let (words, cut) = self.peer.update();
        let chunk = words.get(cut.range(sent.chunk)).unwrap_or_default();
        let data = Bytes::from(chunk_packet(self.peer.members(), sent.round, sent.chunk, chunk));
        let priority = -i32::try_from(sent.chunk).unwrap_or(i32::MAX);
        for to in sent.to.iter() {
            let what = Sent::Chunk { round: sent.round, to, chunk: sent.chunk };
            self.send(to, what, data.clone(), priority);
        }
    }

    fn send_message(&mut self, to: Rank, message: &Message) {
        if let Way::Frames(frames) = &mut self.way {
            let sent = frames.send_message(self.peer.members(), to, message);
            return self.fail_if(sent.map_err(HostError::from));
        }
        let data = message_packet(self.peer.members(), to, message);
        self.send(to, Sent::Other, data.into(), URGENT);
    }

    fn notify(&mut self, to: &Receivers, notice: Notice) {
        self.last_notices += u32::from(notice.is_finished);
        if let Way::Frames(frames) = &mut self.way {
            let sent = frames.notify(self.peer.members(), to, notice);
            return self.fail_if(sent.map_err(HostError::from));
        }
        let data = Bytes::from(notice_packet(self.peer.members(), &notice.words()));
        for to in to.iter() {
            let what = if notice.is_finished { Sent::LastNotice { to } } else { Sent::Other };
            self.send(to, what, data.clone(), URGENT);
        }
    }

    fn send(&mut self, to: Rank, what: Sent, data: Bytes, priority: i32) {
        let id = self.under_way.begin(what);
        if let Err(error) = self.endpoint.send(self.names.of(to), id, data, priority) {
            tracing::error!("a message was not sent: {error}");
            self.ended(id, false, self.start.elapsed());
        }
    }

    fn send_reports(&mut self) {
        for (name, lane) in &mut self.lanes {
            let Some(data) = lane.next(self.under_way.next_id()) else { continue };
            let id = self.under_way.begin(Sent::Report { to: name.clone() });
            if let Err(error) = self.endpoint.send(name, id, data, URGENT) {
                tracing::error!("a report was not sent: {error}");
            }
        }
    }

    /// A peer that has finished stays until all that are connected and take part have heard so.
    fn leave_if_done(&mut self) {
        let Some(since) = self.finished.filter(|_| !self.is_over) else { return };
        let members = self.peer.members();
        let takes_part = |rank: &Rank| *rank != self.setup.me && members.life(*rank) != Incarnation::UNKNOWN;
        let mut connected = self.connected.iter().filter(|rank| takes_part(rank));
        let all_know = match self.way {
            Way::Connections => connected.all(|&rank| self.under_way.has_told(rank)),
            Way::Frames(_) => self.last_notices >= LAST_NOTICES,
        };
        if self.peer.is_done() && all_know || since.elapsed() > LONGEST_END {
            let (peer, sender, receiver) = self.peer.counters();
            let (refused, connections) = (self.peer.members().refused(), self.endpoint.counters());
            self.tell(News::Left(Box::new(Ending { peer, sender, receiver, refused, connections })));
            self.is_over = true;
        }
    }

    fn fail(&mut self, error: HostError) {
        if self.is_over {
            return;
        }
        self.tell(News::Failed(error));
        self.is_over = true;
    }

    /// A training program that is gone is noticed by its commands.
    fn tell(&self, news: News) {
        let _ = self.told.send(news);
    }
}
