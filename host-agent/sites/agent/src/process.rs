//! Site as a process: peer numbers, and when the process exits.

use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine, Output, PeerNo, Seen};
use inart_protocol_sites::SiteNo;

use crate::driver::{Driver, DriverError, Output as DriverOutput, Peer};
use crate::state::TrainingState;

/// Time between two ticks of the driver.
const TICK: Duration = Duration::from_millis(100);
/// Time to send queued messages after the program has exited.
const FINAL_REPORT: Duration = Duration::from_secs(2);
/// Additional time for neighbors to reconnect: a connection to a restarted site takes 5 s to close, and up to
/// a second to open again.
const LATE_REPORT: Duration = Duration::from_secs(8);
/// Time after which a finished site exits although others are still connected.
const LONGEST_END: Duration = Duration::from_secs(30);

/// Command of a site's training loop.
#[derive(Debug)]
pub enum SiteCommand {
    /// Gradient to sum over all sites.
    AllReduce(Vec<f32>),
    /// Start of a round whose chunks are passed one by one.
    Begin,
    /// Chunk of a round that was started by `Begin`.
    Contribute {
        /// Number of the chunk.
        chunk: usize,
        /// Values of the chunk.
        values: Vec<f32>,
    },
    /// End of the job at all sites. The text names the site and the cause.
    End(String),
    /// State of the training program before a round.
    State {
        /// The round.
        round: u32,
        /// The state.
        training: TrainingState,
    },
    /// End of the training at this site, with its final state.
    Finish(TrainingState),
}

/// Event of a site for its training loop.
#[derive(Debug, Clone, PartialEq)]
pub enum SiteNews {
    /// Notice that a round may start.
    Ready {
        /// The round.
        round: u32,
        /// State to load first, when this site has restarted.
        training: Option<Bytes>,
    },
    /// Notice that the training had ended when this site rejoined.
    Ended {
        /// Final state of the training program.
        training: Bytes,
    },
    /// Sum of a round.
    Reduced {
        /// The round.
        round: u32,
        /// One value per parameter.
        sum: Vec<f32>,
        /// Version of the plan.
        version: u64,
    },
    /// Sum of a chunk, in a round whose chunks are passed one by one.
    Summed {
        /// The round.
        round: u32,
        /// Number of the chunk.
        chunk: usize,
        /// Values of the sum.
        values: Vec<f32>,
    },
    /// Request for the training program's state before a round.
    StateWanted {
        /// The round.
        round: u32,
    },
    /// Line for the log.
    Warned(String),
    /// Failure of the site. Its process ends when its program does.
    Failed(DriverError),
}

/// Site as a process. Peer numbers are site numbers, followed by the scheduler's.
#[derive(Debug)]
pub struct SiteProcess {
    driver: Driver,
    sites: u32,
    tick_at: Duration,
    /// Time when the program finished, or when the last state was sent since.
    finishing: Option<Duration>,
    /// Time when the program exited.
    abandoned: Option<Duration>,
    has_finished: bool,
    has_ended: bool,
}

impl SiteProcess {
    /// Creates the process of a site in a network of `sites` sites.
    pub fn new(driver: Driver, sites: usize) -> Self {
        SiteProcess {
            driver,
            sites: sites as u32,
            tick_at: Duration::ZERO,
            finishing: None,
            abandoned: None,
            has_finished: false,
            has_ended: false,
        }
    }

    /// Returns the driver.
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Returns the driver, for reports that are returned once.
    pub fn driver_mut(&mut self) -> &mut Driver {
        &mut self.driver
    }

    /// Whether the site has exited after its last round.
    pub fn has_finished(&self) -> bool {
        self.has_finished
    }

    /// Returns the number of a peer.
    pub fn number(&self, peer: Peer) -> PeerNo {
        match peer {
            Peer::Site(site) => PeerNo(site.0.into()),
            Peer::Scheduler => PeerNo(self.sites),
        }
    }

    fn peer(&self, number: PeerNo) -> Peer {
        match u16::try_from(number.0) {
            Ok(site) if number.0 < self.sites => Peer::Site(SiteNo(site)),
            _ => Peer::Scheduler,
        }
    }

    fn order(&mut self, command: SiteCommand, now: Duration) -> Result<(), DriverError> {
        match command {
            SiteCommand::AllReduce(gradient) => return self.driver.all_reduce(gradient, now),
            SiteCommand::Begin => return self.driver.begin(now),
            SiteCommand::Contribute { chunk, values } => return self.driver.contribute(chunk, values, now),
            SiteCommand::End(reason) => self.driver.end_everywhere(&reason),
            SiteCommand::State { round, training } => self.driver.give_state(round, training, now),
            SiteCommand::Finish(training) => {
                self.finishing = Some(now);
                // A site that rejoined after the end has already finished.
                let _ = self.driver.finish(training, now);
            }
        }
        Ok(())
    }

    fn news(&self, output: DriverOutput) -> Output<SiteNews> {
        Output::Report(match output {
            DriverOutput::Send { to, id, data, priority } => {
                return Output::Send { to: self.number(to), id, data, priority };
            }
            DriverOutput::Ready { round, training } => SiteNews::Ready { round, training },
            DriverOutput::Ended { training } => SiteNews::Ended { training },
            DriverOutput::Reduced { round, sum } => {
                SiteNews::Reduced { round, sum, version: self.driver.policy_version() }
            }
            DriverOutput::Summed { round, chunk, values } => SiteNews::Summed { round, chunk, values },
            DriverOutput::StateWanted { round } => SiteNews::StateWanted { round },
            DriverOutput::Warned(text) => SiteNews::Warned(text),
            DriverOutput::Failed(error) => SiteNews::Failed(error),
        })
    }

    /// Whether the process may end now.
    fn may_leave(&mut self, now: Duration) -> bool {
        if let Some(since) = self.abandoned {
            let are_notified = self.driver.is_final_report_delivered();
            let patience = if are_notified { FINAL_REPORT } else { LATE_REPORT };
            if self.driver.has_delivered_all() && are_notified || now.saturating_sub(since) > patience {
                return true;
            }
        }
        let Some(since) = self.finishing else { return false };
        // A site that is being sent this site's state is waited for: the transfer may be long.
        if self.driver.is_giving() {
            self.finishing = Some(now);
            return false;
        }
        self.has_finished = self.driver.may_leave() || now.saturating_sub(since) > LONGEST_END;
        self.has_finished
    }
}

impl Machine for SiteProcess {
    type Command = SiteCommand;
    type Report = SiteNews;
    type Done = ();

    fn up(&mut self, peer: PeerNo, now: Duration) {
        self.driver.up(self.peer(peer), now);
    }

    fn down(&mut self, peer: PeerNo, now: Duration) {
        self.driver.down(self.peer(peer), now);
    }

    fn received(&mut self, from: PeerNo, data: &Bytes, seen: Option<Seen>, now: Duration) {
        let from = self.peer(from);
        if let (Peer::Site(site), Some(Seen { bits, seconds })) = (from, seen) {
            self.driver.measured(site, bits, seconds);
        }
        self.driver.message(from, data.clone(), now);
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        match is_taken {
            true => self.driver.delivered(id, now),
            false => self.driver.failed(id, now),
        }
    }

    fn command(&mut self, command: SiteCommand, now: Duration) {
        if let Err(error) = self.order(command, now) {
            self.driver.refuse(error);
        }
    }

    /// Ends the process after the other sites have received the final report, or after some seconds.
    fn abandoned(&mut self, now: Duration) {
        self.abandoned.get_or_insert(now);
    }

    fn stop(&mut self, _why: &str, _now: Duration) {
        self.driver.stop();
    }

    fn tick(&mut self, now: Duration) {
        self.driver.tick(now);
        self.tick_at = now + TICK;
    }

    fn wake_at(&self) -> Option<Duration> {
        Some(self.tick_at)
    }

    fn next(&mut self, now: Duration) -> Option<Output<SiteNews>> {
        if let Some(output) = self.driver.next_output() {
            return Some(self.news(output));
        }
        let is_over = !self.has_ended && self.may_leave(now);
        self.has_ended |= is_over;
        is_over.then_some(Output::Over)
    }

    fn may_end(&self, peer: PeerNo) -> bool {
        self.driver.may_end(self.peer(peer))
    }
}
