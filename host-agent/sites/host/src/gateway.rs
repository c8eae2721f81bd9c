//! Gateway between the workers inside a site and the other sites: the workers' parameter server, whose sum is
//! the site's gradient.
//!
//! The gateway works chunk by chunk: it sends each chunk that the workers have summed up the site's trees at
//! once, and returns each sum over all sites to the workers at once.

use std::time::Instant;

use bytes::Bytes;
use inart_host_agent::{OnwardEvent, OnwardServer, SumsBack};
use inart_protocol_aggregation::{Failure, ServerCounters};
use inart_sites_agent::{DriverError, Inside, SiteCommand};

use crate::ending::Ending;
use crate::error::HostError;
use crate::next::Next;
use crate::site::SiteHost;
use crate::site_side::SiteEvent;

/// Round of a site with workers inside.
#[derive(Debug, Clone, PartialEq)]
pub struct GatewayRound {
    /// Round, counted from 1.
    pub round: u32,
    /// Time of a worker's first frame.
    pub began: Instant,
    /// Time when all workers had contributed to all chunks.
    pub own: Instant,
    /// Time when the site had all sums over all sites.
    pub ended: Instant,
    /// Version of the plan of the round.
    pub version: u64,
    /// Sum over all workers of all sites.
    pub sum: Vec<f32>,
}

/// Counters at the end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GatewayEnding {
    /// Counters of the site.
    pub site: Ending,
    /// Counters of the parameter server.
    pub server: ServerCounters,
}

/// Times of the current round. Workers may begin the next round before this site has been notified of the end
/// of the current one.
#[derive(Debug, Default)]
struct Times {
    began: Option<Instant>,
    own: Option<Instant>,
    /// Time of the first frame after all workers had contributed to all chunks of the current round.
    next_began: Option<Instant>,
}

impl Times {
    /// Records the first frame of a chunk.
    fn begin(&mut self, now: Instant) {
        self.began.get_or_insert(now);
        self.next_began.get_or_insert(now);
    }

    /// Records a chunk of the current round that all workers have contributed to.
    fn fill(&mut self, now: Instant) {
        self.own = Some(now);
        self.next_began = None;
    }

    /// Ends the round. Returns its start, and the time when all workers had contributed to all chunks.
    fn end(&mut self, now: Instant) -> (Instant, Instant) {
        let ended = std::mem::take(self);
        self.began = ended.next_began;
        (ended.began.unwrap_or(now), ended.own.unwrap_or(now))
    }
}

struct Gateway<'a> {
    site: &'a SiteHost,
    inside: Inside,
    back: SumsBack,
    rounds: u32,
    /// The round that may begin or has begun; none before the site is ready.
    round: Option<u32>,
    is_open: bool,
    times: Times,
    /// Error that stops the gateway.
    error: Option<HostError>,
    site_ending: Option<Ending>,
    server_ending: Option<ServerCounters>,
}

impl SiteHost {
    /// Runs `rounds` rounds of a site whose gradient comes from the workers of `server`'s job; calls
    /// `on_round` after each. Ends when all workers have all sums and the other sites have finished, too.
    ///
    /// # Errors
    /// The cause of the end of the job, at this site or another one. All sites and all workers have been
    /// notified.
    pub fn serve(
        self,
        inside: Inside,
        mut server: OnwardServer,
        rounds: u32,
        on_round: &mut dyn FnMut(GatewayRound),
    ) -> Result<GatewayEnding, HostError> {
        let (back, teller) = (server.sums_back(), self.event_sender());
        let run = move || {
            let news = |news| drop(teller.send(SiteEvent::Inside(news)));
            let ended = server.run(&mut { news });
            // The receiver is closed when the site has ended.
            let _ = teller.send(SiteEvent::InsideEnded(ended.map(|()| server.counters())));
        };
        let thread = std::thread::Builder::new().name("inside".into()).spawn(run);
        let thread = thread.map_err(inart_connections::Error::Runtime)?;
        let mut gateway = Gateway {
            site: &self,
            inside,
            back: back.clone(),
            rounds,
            round: None,
            is_open: false,
            times: Times::default(),
            error: None,
            site_ending: None,
            server_ending: None,
        };
        let ending = gateway.run(on_round);
        if let Err(error) = &ending {
            // Workers are notified for some time; already notified workers ignore the repetition.
            back.abort(error.to_string());
        }
        let _ = thread.join(); // a panic there has been printed already
        ending
    }
}

impl Gateway<'_> {
    fn run(&mut self, on_round: &mut dyn FnMut(GatewayRound)) -> Result<GatewayEnding, HostError> {
        loop {
            // When the site has left, its workers may still lack results.
            let news = self.site.next_event(self.site_ending.is_some())?;
            self.handle(news, on_round)?;
            self.give_what_is_ready()?;
            if let (Some(site), Some(server)) = (self.site_ending, self.server_ending) {
                return Ok(GatewayEnding { site, server });
            }
        }
    }

    fn handle(&mut self, news: SiteEvent, on_round: &mut dyn FnMut(GatewayRound)) -> Result<(), HostError> {
        let name = || self.site.name().to_owned();
        match news {
            SiteEvent::Ready(Next::Round { round, training: None }) => self.round = Some(round),
            SiteEvent::Ready(_) => {
                let error = HostError::CameBack { site: name() };
                return self.end(error.to_string(), error);
            }
            SiteEvent::Inside(OnwardEvent::Started) => {
                self.times.begin(Instant::now());
            }
            SiteEvent::Inside(OnwardEvent::Sum { sum, reported_length: reported }) => {
                if let Err(error) = self.inside.take(sum, reported) {
                    let error = HostError::Fit { site: name(), error };
                    return self.end(error.to_string(), error);
                }
            }
            SiteEvent::Inside(OnwardEvent::Aborted(failure)) => {
                let reason = in_words(&name(), &failure);
                return self.end(reason, HostError::Inside { site: name(), error: Box::new(failure.into()) });
            }
            SiteEvent::Inside(OnwardEvent::Stopped) => {
                let error = HostError::Stopped { site: name() };
                return self.end(error.to_string(), error);
            }
            SiteEvent::InsideEnded(Ok(counters)) => self.server_ending = Some(counters),
            SiteEvent::InsideEnded(Err(error)) => {
                let error = HostError::Inside { site: name(), error: Box::new(error) };
                return self.end(error.to_string(), error);
            }
            SiteEvent::Summed { round, chunk, values } => {
                self.inside
                    .complete(round, chunk, values)
                    .into_iter()
                    .for_each(|answer| self.back.give(answer));
            }
            SiteEvent::Reduced { round, sum, version } => self.end_round(round, sum, version, on_round)?,
            SiteEvent::Failed(error) => {
                let reason = match &error {
                    HostError::Driver(DriverError::Elsewhere { reason }) => reason.clone(),
                    other => other.to_string(),
                };
                self.back.abort(reason);
                return Err(self.error.take().unwrap_or(error));
            }
            SiteEvent::Exited(ending) => self.site_ending = Some(ending),
            // A site cannot rejoin where sites have workers inside.
            SiteEvent::StateWanted { .. } => {}
        }
        Ok(())
    }

    /// Ends the job at all sites; the site then reports its failure.
    fn end(&mut self, reason: String, error: HostError) -> Result<(), HostError> {
        if self.error.is_some() {
            return Ok(());
        }
        self.back.abort(reason.clone());
        self.site.command(SiteCommand::End(reason))?;
        self.error = Some(error);
        Ok(())
    }

    fn give_what_is_ready(&mut self) -> Result<(), HostError> {
        let Some(round) = self.round.filter(|_| self.error.is_none()) else { return Ok(()) };
        while let Some(ready) = self.inside.next_ready(round) {
            if !std::mem::replace(&mut self.is_open, true) {
                self.site.command(SiteCommand::Begin)?;
            }
            self.times.fill(Instant::now());
            let (chunk, values) = (ready.chunk, ready.values);
            self.site.command(SiteCommand::Contribute { chunk, values })?;
        }
        Ok(())
    }

    fn end_round(
        &mut self,
        round: u32,
        sum: Vec<f32>,
        version: u64,
        on_round: &mut dyn FnMut(GatewayRound),
    ) -> Result<(), HostError> {
        let ended = Instant::now();
        let (began, own) = self.times.end(ended);
        on_round(GatewayRound { round, began, own, ended, version, sum });
        self.is_open = false;
        self.round = Some(round + 1).filter(|next| *next <= self.rounds);
        if self.round.is_none() {
            self.back.finish(self.inside.end_of(self.rounds));
            self.site.command(SiteCommand::Finish(Bytes::new().into()))?;
        }
        Ok(())
    }
}

/// Describes a failure of a worker for all sites and their workers.
fn in_words(site: &str, failure: &Failure) -> String {
    match failure {
        Failure::Aborted { name, reason, .. } => format!("site {site}: worker {name} {reason}"),
        other => format!("site {site}: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_round_that_begins_before_the_one_before_has_ended_keeps_its_beginning() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut times = Times::default();
        // Two chunks of round 1; the second one begins after the first one is full.
        times.begin(at(1));
        times.fill(at(2));
        times.begin(at(3));
        times.fill(at(4));
        // Round 2 starts.
        times.begin(at(5));
        times.begin(at(6));
        assert_eq!(times.end(at(7)), (at(1), at(4)));
        times.fill(at(8));
        assert_eq!(times.end(at(9)), (at(5), at(8)));
    }
}
