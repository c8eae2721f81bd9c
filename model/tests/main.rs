//! All tests of this crate but those with folders of their own: one program is built sooner than many.

mod invariants;
mod mutants;
mod reduction;
mod rendezvous;
mod tofino;
