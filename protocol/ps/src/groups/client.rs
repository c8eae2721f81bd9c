//! Clients by number.

/// A client's number; its group is the number modulo M.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientNo(pub u32);

impl ClientNo {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Action for a client's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClientStep {
    /// Join the server, which answers with the model.
    Join,
    /// Pull the model.
    Pull,
    /// Train on the model for a round.
    Compute,
    /// Push the trained model.
    Push {
        /// Round of the model.
        round: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stage {
    Joining,
    Pulling {
        round: u64,
    },
    Computing {
        round: u64,
    },
    /// Pushing, or waiting after a push.
    Pushing {
        round: u64,
    },
}

/// State machine of one client. Late and duplicate events cause no step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    stage: Stage,
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

impl Client {
    /// Creates a client that must [`start`](Self::start).
    pub fn new() -> Self {
        Client { stage: Stage::Joining }
    }

    /// Starts the client, or restarts it on a new connection: earlier activity is void.
    pub fn start(&mut self) -> ClientStep {
        self.stage = Stage::Joining;
        ClientStep::Join
    }

    /// Starts with the model of a round.
    pub fn start_with(&mut self, round: u64) -> ClientStep {
        self.stage = Stage::Computing { round };
        ClientStep::Compute
    }

    /// Takes the server's answer: the model, for a round.
    pub fn answered(&mut self, round: u64) -> Option<ClientStep> {
        if let Stage::Pulling { .. } | Stage::Computing { .. } = self.stage {
            return None;
        }
        self.stage = Stage::Pulling { round };
        Some(ClientStep::Pull)
    }

    /// Takes note that the model has arrived.
    pub fn pulled(&mut self) -> Option<ClientStep> {
        let Stage::Pulling { round } = self.stage else { return None };
        self.stage = Stage::Computing { round };
        Some(ClientStep::Compute)
    }

    /// Takes note that the round is trained.
    pub fn computed(&mut self) -> Option<ClientStep> {
        let Stage::Computing { round } = self.stage else { return None };
        self.stage = Stage::Pushing { round };
        Some(ClientStep::Push { round })
    }
}
