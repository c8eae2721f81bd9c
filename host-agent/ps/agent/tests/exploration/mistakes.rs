//! Mistakes of hosts and of agents: each breaks one rule of docs/protocol/ps.md ("Push and pull"). Mistakes
//! of agents are made at their messages, or behind the server's order, so the agents are the real ones.

/// Deliberate mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// A restarted server keeps its incarnation.
    ServersIncarnation,
    /// A restarted worker keeps its incarnation.
    WorkersIncarnation,
    /// A worker of an unknown incarnation is not notified.
    NotUnknown,
    /// A permission's number is that of its iteration.
    NumbersAgain,
    /// The server takes a chunk for the current permission, whatever its number.
    AnyPermission,
    /// Chunks of a permission's model are those of the newest version when they leave.
    NewestModel,
    /// Lost packets are reported as delivered, and not retransmitted.
    LostIsTaken,
    /// Messages do not wait for the previous one.
    AllAtOnce,
    /// Ends of connections are not reported to the server.
    NoDown,
    /// A hello names no permission.
    NamesNothing,
    /// The answer to a hello reports no missing chunk.
    NothingMissing,
    /// The server takes each hello for one of the previous connection.
    EarlierHellos,
    /// The worker takes any answer for one to its last hello.
    EarlierAnswers,
    /// The server does not check values.
    AnyValues,
    /// A refused update is not held until its turn: it is applied as nothing.
    RefusedIsNothing,
    /// A worker that does not reconnect does not leave.
    NeverLeaves,
    /// A worker that may not pull is not notified.
    NotNotPermitted,
    /// A restarted server loses the version number of its model.
    Version,
    /// A restarted server loses the workers' iteration counts.
    Done,
    /// A restarted server sets all workers to the iteration of the fastest.
    Ahead,
    /// A restarted server takes a worker for one that had left.
    Left,
    /// The training is over when one worker has done its iterations.
    OneIsEnough,
    /// Updates in flight at the end are not awaited.
    NotUnderWay,
    /// The end is sent once, and not again on a new connection.
    OverOnce,
    /// A push of a past round counts in the next one.
    LateCounts,
    /// A client's second push in a round is accepted again.
    PushedAgain,
    /// A chunk outside float16's range travels as float16.
    BeyondHalf,
    /// Values are truncated, not rounded.
    CutOff,
}
