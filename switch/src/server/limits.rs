//! Limits of the server. Any client that may connect can reach these, so together they bound the memory of
//! the process that also forwards the frames (`docs/reference/connection-limits.md`, section "Limits of the
//! P4Runtime server").

use std::time::Duration;

use inart_tls::accept::Limits;
use tonic::Status;

/// Handshakes and connections of one server. A live client answers a ping every [`KEEPALIVE`].
pub(crate) const ACCEPT: Limits = Limits {
    handshakes: 128,
    handshake_time: Duration::from_secs(8),
    connections: 256,
    silence: Duration::from_secs(60),
};
/// Between two pings of HTTP/2.
pub(crate) const KEEPALIVE: Duration = Duration::from_secs(20);
/// Calls and streams at a time in one connection; HTTP/2 lets a client wait with more.
pub(crate) const CALLS_PER_CONNECTION: u32 = 128;

/// Calls at a time, except those that follow.
pub(crate) const CALLS: usize = 64;
/// Reads at a time.
pub(crate) const READS: usize = 64;
/// `StreamChannel`s at a time.
pub(crate) const STREAMS: usize = 256;
/// Pipeline configurations in transfer at a time, per direction.
pub(super) const PIPELINES: usize = 4;
/// For a call's request to arrive and be done.
pub(crate) const CALL_TIME: Duration = Duration::from_secs(120);
/// For the first message of a stream.
pub(crate) const FIRST_MESSAGE: Duration = Duration::from_secs(20);

/// Bytes of the request of a write, a read, and of a message of a stream.
pub(super) const WRITE_BYTES: usize = 4 << 20;
pub(crate) const READ_BYTES: usize = 1 << 20;
pub(super) const STREAM_BYTES: usize = 256 << 10;
/// Bytes of a pipeline configuration, and of the P4Info in it, whose decoded form is many times larger.
pub(crate) const PIPELINE_BYTES: usize = 32 << 20;
pub(super) const P4INFO_BYTES: usize = 2 << 20;
/// Updates in a write, and bytes of one.
pub(crate) const UPDATES: usize = 1 << 16;
pub(super) const UPDATE_BYTES: usize = 1 << 20;
/// Filters in a read, and bytes of one.
pub(crate) const FILTERS: usize = 1 << 14;
pub(super) const FILTER_BYTES: usize = 64 << 10;
/// Cells of arrays that one write may set: as many as a program may have.
pub(crate) const CELLS: u64 = 1 << 26;
/// Bytes of the arrays of all programs that a switch holds: the one that runs, and those that wait.
pub(crate) const ARRAY_BYTES: u64 = 1 << 30;
/// Entities that a write with ROLLBACK_ON_ERROR remembers.
pub(super) const UNDO: usize = 1 << 16;
/// Bytes of the metadata that an entry keeps for its controller.
pub(super) const METADATA_BYTES: usize = 4 << 10;
/// Bytes that the entities of one pipeline take: each those of its message and 512 more.
pub(super) const WRITTEN_BYTES: u64 = 1 << 29;
/// Replicas of all multicast groups and clone sessions together.
pub(crate) const REPLICAS: usize = 1 << 20;
/// Groups of all action profiles, and the members of all groups and of all entries with action sets.
pub(crate) const GROUPS: usize = 1 << 16;
pub(super) const GROUP_MEMBERS: usize = 1 << 20;

/// Entities that an answer of a read holds at most, or that were looked at for it.
pub(crate) const PAGE: usize = 1024;
/// Bytes after which an answer of a read is full.
pub(super) const PAGE_BYTES: usize = 256 << 10;
/// Cells or entries looked at under one lock of the data plane.
pub(crate) const STRIDE: usize = 64;
/// Longest time that a read keeps writes waiting.
pub(crate) const READ_TURN: Duration = Duration::from_secs(1);
/// Longest time that a read waits for its client to take an answer.
pub(crate) const READ_PATIENCE: Duration = Duration::from_secs(60);

/// Roles of a device, controllers of a role, and bytes of a role's name.
pub(super) const ROLES: usize = 16;
pub(super) const CONTROLLERS: usize = 64;
pub(super) const ROLE_BYTES: usize = 256;

/// Messages, and bytes of them, that wait for one controller.
pub(crate) const WAITING: usize = 1024;
pub(super) const WAITING_BYTES: usize = 8 << 20;
/// Bytes of a frame that a controller sends out.
pub(super) const FRAME_BYTES: usize = 1 << 16;

/// Returns the status of an exceeded limit.
pub(crate) fn beyond(message: impl Into<String>) -> Status {
    Status::resource_exhausted(message)
}

/// Rejects values above `most`.
pub(crate) fn at_most(given: usize, most: usize, what: &str, hint: &str) -> Result<(), Status> {
    match given > most {
        true => Err(beyond(format!("{what}: {given} are more than {most}: {hint}"))),
        false => Ok(()),
    }
}

/// Takes from the work that one write may still do.
pub(crate) fn spend(work: &mut u64, cost: u64) -> Result<(), Status> {
    *work = work.checked_sub(cost).ok_or_else(|| {
        beyond(format!("a write sets at most {CELLS} cells of arrays and copies of groups: send several"))
    })?;
    Ok(())
}

/// Returns the status for a message that is longer than `most` bytes.
pub(crate) fn too_long(most: usize) -> Status {
    beyond(format!("the message is longer than {most} bytes: send less at a time"))
}
