//! Mistakes of hosts and of agents: each breaks one rule of docs/protocol/ps.md ("Push and pull"). Those of
//! agents are made where they speak and hear, or behind the server's order, so the agents are those that are
//! used.

/// A mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// A server that starts again has the incarnation that it had.
    ServersIncarnation,
    /// A worker that starts again has the incarnation that it had.
    WorkersIncarnation,
    /// A worker whose incarnation the server does not know, or not any more, does not hear so.
    NotUnknown,
    /// A permission's number is that of its iteration.
    NumbersAgain,
    /// The server takes a chunk for the permission that counts now, whatever number it has.
    AnyPermission,
    /// Chunks of a permission's model are those of the newest version when they leave.
    NewestModel,
    /// What was lost is told to be taken, and is not sent again.
    LostIsTaken,
    /// Messages do not wait for the one before.
    AllAtOnce,
    /// Ends of connections are not told to the server.
    NoDown,
    /// A hello names no permission.
    NamesNothing,
    /// The answer to a hello says that no chunk is missing.
    NothingMissing,
    /// The server takes each hello for one of the connection before.
    EarlierHellos,
    /// The worker takes any answer for one to its last hello.
    EarlierAnswers,
    /// The server does not look at values.
    AnyValues,
    /// A refused update is not held until its turn: it is applied as nothing.
    RefusedIsNothing,
    /// Who does not come back has not left.
    NobodyLeaves,
    /// Who may not pull is not told so.
    NotNotPermitted,
    /// A server that starts again goes on from a model whose count of versions it has forgotten.
    Version,
    /// A server that starts again has forgotten what workers had done.
    Done,
    /// A server that starts again has all workers begin where the first of them is.
    Ahead,
    /// A server that starts again takes a worker for one that had left.
    Left,
    /// The training is over when one worker has done its iterations.
    OneIsEnough,
    /// Updates under way at the end are not waited for.
    NotUnderWay,
    /// The end is told once, and not again on a new connection.
    OverOnce,
    /// A push of a round that is over counts in the next one.
    LateCounts,
    /// A client that pushes again in a round has it taken again.
    PushedAgain,
    /// A chunk that float16 does not reach goes as float16.
    BeyondHalf,
    /// Values are cut off, not rounded.
    CutOff,
}
