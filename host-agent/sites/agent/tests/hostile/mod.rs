//! Effects that a neighbor or a scheduler with a valid certificate can have on a site, by mistake or by
//! intent (docs/explanation/threat-model.md, "Sites").
#![allow(clippy::unwrap_used)]

mod bounds;
mod names;
mod plans;
mod states;
mod terms;
mod world;
