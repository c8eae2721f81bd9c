//! Writes versions of the model without holding up connections.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::error::HostError;
use crate::kept_file::{KeptFile, KeptTraining};
use crate::transport::{Event, Next, Transport};

/// Events that wait for the end of a write; connections are slowed down when there are more.
const MOST_EVENTS: usize = 4096;
const LOOK: Duration = Duration::from_millis(500);

/// The file, and what has happened while it was written.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    file: Option<KeptFile>,
    waiting: VecDeque<Event>,
    is_closed: bool,
}

impl Keeper {
    pub fn new(file: Option<KeptFile>) -> Self {
        Keeper { file, ..Keeper::default() }
    }

    pub fn is_there(&self) -> bool {
        self.file.is_some()
    }

    /// Whether nothing will happen on the transport any more.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// What happened on the transport while the file was written.
    pub fn next_event(&mut self) -> Option<Event> {
        self.waiting.pop_front()
    }

    /// Writes a version on a thread of its own; returns once it is on the disk. Connections stay alive.
    ///
    /// # Errors
    /// What the system says; an interface that cannot be used any more.
    pub async fn write(
        &mut self,
        training: KeptTraining,
        transport: &mut Transport,
    ) -> Result<(), HostError> {
        let Some(file) = self.file.clone() else { return Ok(()) };
        let mut written = tokio::task::spawn_blocking(move || file.write_training(&training));
        loop {
            let has_room = self.waiting.len() < MOST_EVENTS && !self.is_closed;
            tokio::select! {
                done = &mut written => return match done {
                    Ok(written) => Ok(written?),
                    Err(_) => Err(HostError::Gone), // a panic there has been printed already
                },
                next = transport.next(Instant::now() + LOOK), if has_room => match next? {
                    Next::Event(event) => self.waiting.push_back(event),
                    Next::Due => {}
                    Next::Closed => self.is_closed = true,
                },
            }
        }
    }
}
