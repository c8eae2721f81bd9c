//! Participants that vanish and return.

/// A participant is gone for a while: what it computes and transfers is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Absence {
    /// Its position among the job's participants.
    pub participant: usize,
    /// From when, in seconds.
    pub from_s: f64,
    /// Until when, in seconds; for good unless told.
    pub until_s: Option<f64>,
    /// Whether the server is told when it goes, as by a connection that breaks; else it has to find out.
    pub is_noticed: bool,
}
