//! Clients by number.

/// A client's number; its group is the number modulo M.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientNo(pub u32);

impl ClientNo {
    /// The number as a position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a client has its host do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClientStep {
    /// Join, and tell the server who this is; it answers with the model.
    Join,
    /// Pull the model.
    Pull,
    /// Train on it for a round.
    Compute,
    /// Push what came of it.
    Push {
        /// The round that it is of.
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
    /// It pushes, or has pushed and waits.
    Pushing {
        round: u64,
    },
}

/// The state machine of one client. What comes too late, or twice, is answered with no step.
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
    /// A client that has to [`start`](Self::start).
    pub fn new() -> Self {
        Client { stage: Stage::Joining }
    }

    /// It has just started, or its connection to the server is new: what it had begun is void.
    pub fn start(&mut self) -> ClientStep {
        self.stage = Stage::Joining;
        ClientStep::Join
    }

    /// It has the model of a round already.
    pub fn start_with(&mut self, round: u64) -> ClientStep {
        self.stage = Stage::Computing { round };
        ClientStep::Compute
    }

    /// The server's answer has come: the model, for a round.
    pub fn answered(&mut self, round: u64) -> Option<ClientStep> {
        if let Stage::Pulling { .. } | Stage::Computing { .. } = self.stage {
            return None;
        }
        self.stage = Stage::Pulling { round };
        Some(ClientStep::Pull)
    }

    /// The model has come.
    pub fn pulled(&mut self) -> Option<ClientStep> {
        let Stage::Pulling { round } = self.stage else { return None };
        self.stage = Stage::Computing { round };
        Some(ClientStep::Compute)
    }

    /// The round is trained.
    pub fn computed(&mut self) -> Option<ClientStep> {
        let Stage::Computing { round } = self.stage else { return None };
        self.stage = Stage::Pushing { round };
        Some(ClientStep::Push { round })
    }
}
