//! Audits against records of right runs, and of the same runs with one thing falsified.
#![allow(clippy::unwrap_used)]

mod groups;
mod record;
mod workers;

/// Tests change what processes have said.
impl<E> std::ops::DerefMut for super::said::OfIncarnation<E> {
    fn deref_mut(&mut self) -> &mut E {
        &mut self.event
    }
}
