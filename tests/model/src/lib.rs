//! Workers, switches and a parameter server as a model whose reachable states are all explored, so that the
//! invariants of docs/protocol/reliability.md are shown for every loss, duplication, reordering, delay and
//! restart at once, in small networks.
//!
//! **The network.** A frame once sent is in flight forever: it may arrive at any later moment, any number of
//! times, or never. This covers loss, duplication, reordering and delay without bounds. Restarts of switches
//! are unbounded, too ([`Config`] lists the faults).
//!
//! **Reductions.** More frames in flight never make less possible, so every step that adds frames and changes
//! no node is taken immediately: a worker's gradients are in flight with and without flag bypass as soon as
//! the window lets the worker send the chunk (a timeout may happen at any moment, so the number of timeouts
//! before bypass does not matter), and a frame that passes a switch without touching a slot is forwarded
//! immediately. Frames that the server has received and can never use again (of another plan version or run,
//! or of a complete chunk) are no longer in flight. A state of this model stands for all states of the full
//! one with the same hosts and switches and fewer frames: an invariant that breaks in one of those breaks
//! here. Two facts are left out because no decision of this round reads them: the flag congestion, and the
//! worker whose frame completed a partial in flight (the model uses the lowest rank). The repeats since a
//! partial or result last left only ever keep frames from being sent, so they are part of the state only with
//! [`Config::waves`], for *Ends*.
//!
//! **Scales.** With [`Config::scaled`] a tensor starts with a chunk of maxima. A worker's frame of this chunk
//! has the worker's own size of the tensor; switches and the server take the greatest size. A worker sends
//! values only with that result, scaled by the maximum, and reads their sums by the maximum. The exponent of
//! a frame of values follows from the maximum, so frames of two maxima have two shapes. Each sum shows which
//! maximum its values were scaled by, and *Once* includes that the maximum was the right one. The model
//! leaves out that a worker aborts the job over a maximum below its own size: no server sends one.
//!
//! **Values that no worker may send.** With [`Config::saturation`] workers are broken. Values saturate in
//! slots, between [`LIMITS`], in every order. The server discards partials that saturated or are too large,
//! asks for their gradients by bypass, and aborts the job over the first gradient that is too large.
//!
//! **Incarnations.** With [`Config::rerun`] and [`Config::reborn`], hosts first learn each other's
//! incarnations, message by message; otherwise they know them. A worker's second generation has other values
//! than its first, so a sum shows which generation it contains. A worker that aborts does not notify the
//! server here: a server of another run would discard the message, and any other has aborted before. With
//! [`Config::shorter`], only frames reveal different lengths, although real workers also report their
//! lengths.
//!
//! **Migrations.** With [`Config::moves`] every host migrates to another plan version at a moment of its own;
//! with [`Config::undo`], back and forth. Frames of both are of one run, so [`Run::Moved`] stands for the
//! second plan version of the first run. There, bitmap indices are the ranks in reverse; elsewhere they equal
//! the ranks. Two facts are left out. The server repeats results that a worker may lack when it migrates:
//! this only saves time. A worker that watches the server continues in the first plan version with chunks of
//! that version: such a frame is equal to one that was sent before and arrives late.
//!
//! **Different tensors of one length** are in [`pairing`], a model of its own, since no frame shows them.
//!
//! **Tofino.** With [`Config::tofino`] switches follow the rules of the program for Tofino
//! (docs/protocol/tofino.md). Runs may have the same mark, optionally also equal to that of an unused slot. A
//! frame that leaves a switch may be lost inside, before its egress has processed it. A partial names the
//! worker whose frame made it leave, where this decides which repeats were received. A value at a limit stays
//! there. With [`Config::halves`] frames that use slots pass the switch twice; in between they are in flight
//! like frames on links, so they overtake each other, arrive late, twice or never. A frame whose halves are
//! of two sums has digits that no sum has. The model leaves out frames that the switch would drop, and frames
//! that are too long.
//!
//! **Sums sent to a larger job.** With [`Config::onward`] the server sends the sums over all workers to a
//! larger job, in the order of chunks. The larger job returns its sums at any later moment, in any order:
//! both run in one process, so no sum is lost or duplicated on this way. Maxima are not sent. A restarted
//! server has other maxima. The larger job's contribution shows in a sum as the contribution of an earlier
//! worker would ([`Config::of_others`]).
//!
//! **Ends**, which is about time, is decided for each reachable state separately: all frames in flight are
//! lost, no later frame is, timeouts expire, the larger job returns its sums unless it has ended, and every
//! live worker must reach its results or a named error. This is "under fair loss" for a finite system: the
//! run without loss has a bounded number of frames, so with independent loss below 1 it happens from every
//! state with at least some fixed probability, and a round that does not end has probability 0. The model
//! assumes that the peer timeout is longer than the timeouts take; durations are for the simulation to show.
//!
//! **What ties it to the code**: tests run the real switch program, `core::ServerShard` and
//! `core::WorkerFlow` in step with random walks of this model and compare what each of them sends. [`Mutant`]
//! lists mistakes, each of which breaks an invariant.

mod arrival;
mod back;
mod config;
mod ends;
mod frame;
mod halves;
mod invariant;
mod marks;
mod mutant;
mod node;
mod onward;
pub mod pairing;
mod passes;
pub mod rendezvous;
mod report;
mod run;
mod scale;
mod server;
mod size;
mod slot;
mod state;
mod sum;
mod switch;
mod system;
mod tofino;
mod worker;

pub use arrival::Arrival;
pub use config::{Config, Entry};
pub use frame::{Contribution, FirstPass, Frame, Peer, Talk};
pub use invariant::{Broken, Invariant};
pub use marks::Marks;
pub use mutant::Mutant;
pub use node::{Node, Ranks, one, ranks};
pub use onward::Onward;
pub use report::{Report, explore, search};
pub use run::{Generation, MigrationPhase, Run};
pub use scale::{Exponent, NOT_FINITE};
pub use server::{Chunk, Handled, Outgoing, Server, Verdict};
pub use size::{MAX_CHUNKS, MAX_TENSORS, MAX_WINDOW, MAX_WORKERS};
pub use slot::{Registers, Slot, Slots, slot_of};
pub use state::State;
pub use sum::{BEFORE, DIGITS, LIMITS, NEXT_TENSOR, SECOND_GENERATION, SECOND_RUN, Sum};
pub use switch::step;
pub use system::{Action, Rules, System};
pub use worker::Worker;
