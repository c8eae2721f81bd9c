//! The controller's daemon in virtual time, for jobs that come and go and for hosts that do. The decisions
//! are the controller's own code: [`Membership`](inart_controller::membership::Membership), the records, and
//! where each change leads. What is here carries them out: one command after the other, with messages that
//! take their time.

mod audit;
mod dispatch;
mod doubles;
mod hosts;
mod jobs;
mod looks;
mod meeting;
mod member;
mod orders;
mod plan_updater;
mod program;
mod rendezvous;
mod state;
mod verdict;
mod views;
mod work;

pub(crate) use state::Daemon;
