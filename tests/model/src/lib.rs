//! Workers, switches and a parameter server as a model whose reachable states are all explored, so that the
//! invariants of docs/protocol/reliability.md are shown for every loss, duplication, reordering, delay and
//! restart at once, in small networks.
//!
//! **The network.** A frame once sent is under way for ever: it may arrive at any later moment, any number of
//! times, or never. This is loss, duplication, reordering and delay without bounds. Restarts of switches are
//! unbounded, too ([`Config`] lists what may go wrong).
//!
//! **What makes it small.** More frames under way never make less possible, so whatever adds frames and
//! changes nobody is done at once: a worker's gradients are under way with and without flag bypass as soon as
//! the window lets it send the chunk (a timeout may come at any moment, so the number of timeouts before
//! bypass does not matter), and a frame that passes a switch without touching a slot goes on at once. What
//! the server has seen and can make nothing of ever again (another plan version's or run's, a complete
//! chunk's) is no longer under way. A state of this model stands for all states of the full one with the same
//! hosts and switches and fewer frames: an invariant that breaks in one of those breaks here. Two things are
//! left out because no decision of this round reads them: the flag congestion, and in a partial under way,
//! whose frame completed it (it is given its lowest rank). Who has asked again since a partial or result last
//! left only ever keeps frames from being sent, so it is part of the state only with [`Config::waves`], for
//! *Ends*.
//!
//! **Scales.** With [`Config::scaled`] a tensor begins with a chunk of maxima. A worker's frame of this chunk
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
//! **Lives.** With [`Config::rerun`] and [`Config::reborn`], hosts begin by learning of each other's
//! incarnations, message by message; else they know. A worker's second generation has other values than its
//! first, so a sum tells which of them is in it. A worker that gives up tells nobody here: a server of
//! another run would not listen, and any other has given up before. With [`Config::shorter`], what tells
//! lengths apart is the frames alone, though workers tell them as well.
//!
//! **Moves.** With [`Config::moves`] every host moves to another plan version at a moment of its own; with
//! [`Config::undo`], back and forth. Frames of both are of one run, so [`Run::Moved`] stands for the second
//! plan version of the first. Bitmap indices are there what ranks are everywhere else, in reverse. That the
//! server sends results again that a worker may lack when it moves is left out: it only saves time. So is
//! that a worker which follows the server goes on in the first plan version with chunks that belong there:
//! such a frame is one that was sent before, and comes late.
//!
//! **Other tensors of one length** are in [`pairing`], a model of its own, since no frame shows them.
//!
//! **Tofino.** With [`Config::tofino`] switches follow the rules that the program for Tofino has
//! (docs/protocol/tofino.md). Runs may have the same mark, which is that of an unused slot, too, if
//! wanted. What leaves a switch may be lost inside, before its egress has noticed. A partial tells whose
//! frame made it leave, where that decides who has asked. A value at a limit stays there. With
//! [`Config::halves`] what a slot takes passes the switch twice; in between it is under way as frames are on
//! links, so frames overtake each other there, come late, twice or never. A frame whose halves are of two
//! sums has digits that no sum has. Frames that the switch would drop, and frames that are too long, are none
//! of this model's.
//!
//! **Sums that go on.** With [`Config::onward`] the server gives the sums over all workers to others, in the
//! order of chunks, and the others give the sums of all back at any later moment, in any order: it is the
//! same process that does, so nothing of this is lost or doubled. Maxima do not go on. A server that is
//! restarted has other ones. What others add shows in a sum as what a worker sent before would
//! ([`Config::of_others`]).
//!
//! **Ends**, which speaks of time, is decided for each reachable state by itself: everything under way is
//! lost, from then on nothing is, timeouts come, what is with others comes back unless the larger job has
//! ended, and every live worker must reach its results or a named error. This is "under fair loss" for a
//! finite system: the run without loss has some number of frames at most, so with independent loss of less
//! than 1 it happens from every state with at least some fixed probability, and a round that does not end has
//! probability 0. That the peer timeout is longer than the timeouts take is assumed; how long things take is
//! for the simulation to show.
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
pub use run::{Generation, Place, Run};
pub use scale::{Exponent, NOT_FINITE};
pub use server::{Chunk, Handled, Outgoing, Server, Verdict};
pub use size::{MAX_CHUNKS, MAX_TENSORS, MAX_WINDOW, MAX_WORKERS};
pub use slot::{Registers, Slot, Slots, slot_of};
pub use state::State;
pub use sum::{BEFORE, DIGITS, LIMITS, NEXT_TENSOR, SECOND_GENERATION, SECOND_RUN, Sum};
pub use switch::step;
pub use system::{Action, Rules, System};
pub use worker::Worker;
