//! Audits against records of right runs, and of the same runs with one thing falsified.
#![allow(clippy::unwrap_used)]

mod groups;
mod record;
mod workers;

/// Tests change the records of processes.
impl<E> std::ops::DerefMut for super::records::OfIncarnation<E> {
    fn deref_mut(&mut self) -> &mut E {
        &mut self.event
    }
}
