//! Processes of a training, as their hosts run them.

use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine, Output, PeerNo, Seen};
use inart_planner_sites::PlanError;
use inart_protocol_sites::TransmissionPolicy;
use inart_sites_agent::{Driver, SchedulerNews, SchedulerProcess, SiteCommand, SiteNews, SiteProcess};

use crate::stranger::Stranger;

/// Plan, or the reason why there is none.
type Planned = Result<TransmissionPolicy, PlanError>;

/// Process.
#[derive(Debug)]
pub(crate) enum Agent {
    /// Process of a site.
    Site(Box<SiteProcess>),
    /// Process of the scheduler.
    Scheduler(Box<SchedulerProcess>),
    /// Process of a scheduler with another document.
    Stranger(Box<Stranger>),
}

/// Event of a process.
#[derive(Debug)]
pub(crate) enum News {
    /// Event of a site.
    Site(SiteNews),
    /// Event of a scheduler.
    Scheduler(SchedulerNews),
}

impl Agent {
    /// Returns the driver of a site.
    pub fn driver(&self) -> Option<&Driver> {
        match self {
            Agent::Site(process) => Some(process.driver()),
            Agent::Scheduler(_) | Agent::Stranger(_) => None,
        }
    }
}

impl Machine for Agent {
    type Command = SiteCommand;
    type Report = News;
    type Done = Planned;

    fn up(&mut self, peer: PeerNo, now: Duration) {
        match self {
            Agent::Site(process) => process.up(peer, now),
            Agent::Scheduler(process) => process.up(peer, now),
            Agent::Stranger(process) => process.up(peer, now),
        }
    }

    fn down(&mut self, peer: PeerNo, now: Duration) {
        match self {
            Agent::Site(process) => process.down(peer, now),
            Agent::Scheduler(process) => process.down(peer, now),
            Agent::Stranger(process) => process.machine().down(peer, now),
        }
    }

    fn received(&mut self, from: PeerNo, data: &Bytes, seen: Option<Seen>, now: Duration) {
        match self {
            Agent::Site(process) => process.received(from, data, seen, now),
            Agent::Scheduler(process) => process.received(from, data, seen, now),
            Agent::Stranger(process) => process.machine().received(from, data, seen, now),
        }
    }

    fn ended(&mut self, id: u64, is_taken: bool, now: Duration) {
        match self {
            Agent::Site(process) => process.ended(id, is_taken, now),
            Agent::Scheduler(process) => process.ended(id, is_taken, now),
            // Schedulers do not track the delivery of their messages.
            Agent::Stranger(_) => {}
        }
    }

    /// Passes an order to a site; a scheduler has no program.
    fn command(&mut self, command: SiteCommand, now: Duration) {
        if let Agent::Site(process) = self {
            process.command(command, now);
        }
    }

    fn done(&mut self, done: Planned, now: Duration) {
        match self {
            Agent::Site(_) => {}
            Agent::Scheduler(process) => process.done(done, now),
            Agent::Stranger(process) => process.machine().done(done, now),
        }
    }

    fn stop(&mut self, why: &str, now: Duration) {
        match self {
            Agent::Site(process) => process.stop(why, now),
            Agent::Scheduler(process) => process.stop(why, now),
            Agent::Stranger(process) => process.machine().stop(why, now),
        }
    }

    fn tick(&mut self, now: Duration) {
        match self {
            Agent::Site(process) => process.tick(now),
            Agent::Scheduler(process) => process.tick(now),
            Agent::Stranger(process) => process.machine().tick(now),
        }
    }

    fn wake_at(&self) -> Option<Duration> {
        match self {
            Agent::Site(process) => process.wake_at(),
            Agent::Scheduler(process) => process.wake_at(),
            Agent::Stranger(process) => process.wake_at(),
        }
    }

    fn next(&mut self, now: Duration) -> Option<Output<News, Planned>> {
        match self {
            Agent::Site(process) => loop {
                return Some(match process.next(now)? {
                    Output::Send { to, id, data, priority } => Output::Send { to, id, data, priority },
                    Output::Copy(frame) => Output::Copy(frame),
                    Output::Report(news) => Output::Report(News::Site(news)),
                    Output::Over => Output::Over,
                    // Work takes no virtual time.
                    Output::Work(work) => {
                        work.run();
                        process.done((), now);
                        continue;
                    }
                });
            },
            Agent::Scheduler(process) => process.next(now).map(of_scheduler),
            Agent::Stranger(process) => process.next(now).map(of_scheduler),
        }
    }

    fn may_end(&self, peer: PeerNo) -> bool {
        match self {
            Agent::Site(process) => process.may_end(peer),
            Agent::Scheduler(process) => process.may_end(peer),
            Agent::Stranger(_) => true,
        }
    }
}

fn of_scheduler(output: Output<SchedulerNews, Planned>) -> Output<News, Planned> {
    match output {
        Output::Send { to, id, data, priority } => Output::Send { to, id, data, priority },
        Output::Copy(frame) => Output::Copy(frame),
        Output::Work(work) => Output::Work(work),
        Output::Report(news) => Output::Report(News::Scheduler(news)),
        Output::Over => Output::Over,
    }
}
