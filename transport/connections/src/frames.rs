//! Connections by frames on an interface: a [`FrameLink`] to each of the others.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;
use inart_frames::{FrameLink, LinkEvent, LinkSetup};
use inart_wire::{MacAddr, Rank};

use crate::addresses::{Addresses, Refused, checked};
use crate::counted::Connections;
use crate::error::Error;
use crate::event::{Event, Next};
use crate::incarnation::draw;
use crate::machine::PeerNo;
use crate::options::FrameOptions;
use crate::port::{Port, own_address};

/// Silence after which a connection has ended; hellos are sent twice per second.
const SILENCE: Duration = Duration::from_secs(3);
/// Frames that leave before other work continues.
const MOST_FRAMES: usize = 256;
/// Time for which a process that has received the last message stays, to acknowledge it again if the answer
/// is lost.
const LINGER: Duration = Duration::from_millis(300);

/// Connections to all others.
pub struct Frames {
    port: Port,
    addresses: Addresses,
    links: Vec<FrameLink>,
    /// Link whose frame leaves next.
    turn: usize,
    events: VecDeque<Event>,
    start: Instant,
    unknown_senders: u64,
    malformed: u64,
    ended: u64,
}

impl Frames {
    /// Opens an interface, and starts to send hellos to all. `me`: the position of a worker, `None` for the
    /// server.
    ///
    /// # Errors
    /// The interface does not exist, is down, has no address or too small an MTU, or may not be opened; one
    /// of the others has no address, or that of another process.
    pub fn open(
        me: Option<u32>,
        others: &[String],
        rates_bps: &[Option<f64>],
        options: &FrameOptions,
    ) -> Result<Self, Error> {
        let name = &options.interface;
        let all = checked(others, options)?;
        let me = match me.map(i64::from).map(Rank::try_from) {
            Some(Err(_)) => return Err(Error::TooMany { most: u32::from(Rank::MAX.get()) + 1 }),
            me => me.and_then(Result::ok),
        };
        let (port, values) = Port::open(name, options.values)?;
        let own = own_address(name).ok_or_else(|| Error::NoEthernet { interface: name.clone() })?;
        let addresses = Addresses::new(own, me, &all, values, options)?;
        let link = |place: usize| {
            FrameLink::new(LinkSetup {
                incarnation: draw(),
                values_per_frame: values.get(),
                frame_bytes: values.frame_bytes(),
                rate_bps: rates_bps.get(place).copied().flatten(),
                silence: SILENCE,
            })
        };
        tracing::info!("{name}, {own}: frames of {values} values at most");
        Ok(Frames {
            port,
            addresses,
            links: (0..others.len()).map(link).collect(),
            turn: 0,
            events: VecDeque::new(),
            start: Instant::now(),
            unknown_senders: 0,
            malformed: 0,
            ended: 0,
        })
    }

    pub fn send(&mut self, to: usize, id: u64, data: Bytes, priority: i32) -> bool {
        self.links.get_mut(to).is_some_and(|link| link.send(id, data, priority))
    }

    /// Waits for the next event, until that time.
    ///
    /// # Errors
    /// The interface is not usable any more.
    pub async fn next(&mut self, until: Instant) -> Result<Next, Error> {
        loop {
            // Checked first, since a busy interface always has an event.
            if Instant::now() >= until {
                return Ok(Next::Due);
            }
            if let Some(event) = self.events.pop_front() {
                return Ok(Next::Event(event));
            }
            self.exchange()?;
            if !self.events.is_empty() {
                continue;
            }
            let due = self.links.iter().map(FrameLink::wake_at).min();
            let wake_at = due.map_or(until, |due| until.min(self.start + due));
            self.port.wait(wake_at).await?;
        }
    }

    /// Takes arrived frames, and sends those that may leave; a limited number of them.
    fn exchange(&mut self) -> Result<(), Error> {
        self.take()?;
        let now = self.start.elapsed();
        for (peer, link) in (0..).map(PeerNo).zip(&mut self.links) {
            // Arrived frames are taken first, so that a link is not silent while its frames wait here.
            link.tick(now);
            while let Some(event) = link.next_event() {
                self.events.push_back(match event {
                    LinkEvent::Up => Event::Up { peer },
                    LinkEvent::Down => {
                        self.ended += 1;
                        Event::Down { peer, reason: "silent or restarted".to_owned() }
                    }
                    LinkEvent::Received(data) => Event::Received { peer, data, seen: None },
                    LinkEvent::Acknowledged { id } => Event::Ended { id, is_taken: true },
                });
            }
        }
        self.give()
    }

    fn take(&mut self) -> Result<(), Error> {
        let Frames { port, addresses, links, start, unknown_senders, malformed, .. } = self;
        port.receive(&mut |bytes| match addresses.read(bytes) {
            Ok((place, words)) => {
                if let Some(link) = links.get_mut(place) {
                    link.frame(&words, start.elapsed());
                }
            }
            Err(Refused::Malformed) => *malformed += 1,
            Err(Refused::NotHere) => {}
            Err(Refused::UnknownSender) => {
                *unknown_senders += 1;
                if *unknown_senders == 1 {
                    let from = bytes.get(6..12).and_then(|bytes| bytes.try_into().ok()).map(MacAddr);
                    let from = from.map_or_else(String::new, |from| from.to_string());
                    tracing::warn!("{from} is not in the job, or of another one; its frames are dropped");
                }
            }
        })?;
        Ok(())
    }

    /// Sends the links' frames in turn.
    fn give(&mut self) -> Result<(), Error> {
        let Frames { port, addresses, links, turn, start, .. } = self;
        let mut left = MOST_FRAMES;
        port.transmit(&mut |buffer| {
            left = left.checked_sub(1)?;
            let now = start.elapsed();
            for _ in 0..links.len() {
                let place = *turn;
                *turn = (place + 1) % links.len();
                if let Some(words) = links[place].next_frame(now) {
                    let written = addresses.write(place, &words, buffer);
                    return written
                        .inspect_err(|error| tracing::error!("a frame was not sent: {error}"))
                        .ok();
                }
            }
            None
        })?;
        Ok(())
    }

    /// Acknowledges arrivals for a while. Returns the counters.
    pub async fn close(mut self) -> Connections {
        let Frames { unknown_senders, malformed, ended, .. } = self;
        let mut counted = Connections { unknown_senders, malformed, ended, ..Connections::default() };
        let until = Instant::now() + LINGER;
        while Instant::now() < until {
            // Further events have no effect; without the interface no acknowledgement can leave.
            if self.next(until).await.is_err() {
                break;
            }
        }
        for counters in self.links.iter().map(FrameLink::counters) {
            counted.frames.malformed += counters.malformed;
            counted.frames.other_connection += counters.other_connection;
            counted.frames.repeated += counters.repeated;
            counted.frames.sent_again += counters.sent_again;
        }
        counted
    }
}
