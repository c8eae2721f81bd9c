//! Networks of peers: workers of decentralised training behind one switch fabric, each of which sends its update
//! to some of the others (SELMCAST).
//!
//! Pure functions without I/O and without a clock.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
