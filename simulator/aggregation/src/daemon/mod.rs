//! The controller's daemon in virtual time, for changing jobs and hosts. The decisions are the controller's
//! own code: [`Membership`](inart_controller::membership::Membership), the records, and the steps of each
//! change. This module carries them out one command at a time, with message delays.

mod audit;
mod dispatch;
mod duplicate_hosts;
mod hosts;
mod jobs;
mod meeting;
mod member;
mod orders;
mod plan_updater;
mod program;
mod rendezvous;
mod state;
mod usage_checks;
mod verdict;
mod views;
mod work;

pub(crate) use state::Daemon;
