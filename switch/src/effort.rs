//! Limits of one compilation. A document can name a part of itself twice, and that part another one twice,
//! and so on: a few kilobytes could demand unbounded work.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{CompileError, Result};

/// Nodes that a compiler looks at, and operations that it makes, for one program. Ours take less than a
/// tenth.
const MAX_STEPS: u64 = 16 << 20;
/// Objects, and values, of a document.
const MAX_OBJECTS: usize = 1 << 19;
const MAX_VALUES: usize = 1 << 22;
/// Steps between two looks at the sign to stop.
const PATIENCE: u64 = 1 << 10;

/// Remaining budget of a compilation.
#[derive(Debug)]
pub(crate) struct Effort<'a> {
    steps: Cell<u64>,
    most: u64,
    stop: Option<&'a AtomicBool>,
    stopped: Cell<bool>,
}

impl<'a> Effort<'a> {
    /// Returns the effort for one program. The compilation ends soon after `stop` becomes true.
    pub fn new(stop: Option<&'a AtomicBool>) -> Self {
        Self { steps: Cell::new(0), most: MAX_STEPS, stop, stopped: Cell::new(false) }
    }

    /// Counts a step; false if there may be no more.
    #[inline]
    pub fn step(&self) -> bool {
        self.steps(1)
    }

    /// Counts several steps; false if there may be no more.
    #[inline]
    pub fn steps(&self, count: u64) -> bool {
        let (before, steps) = (self.steps.get(), self.steps.get().saturating_add(count));
        self.steps.set(steps);
        if steps / PATIENCE > before / PATIENCE && self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
        {
            self.stopped.set(true);
        }
        steps <= self.most && !self.stopped.get()
    }

    /// Returns the part of all steps that was taken.
    #[cfg(test)]
    pub fn taken(&self) -> f64 {
        self.steps.get() as f64 / self.most as f64
    }

    /// Refuses to go on after the last step.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn check(&self) -> Result<()> {
        if self.stopped.get() {
            return Err(CompileError::limit(
                "the program",
                "its client does not wait for the compilation any more",
            ));
        }
        if self.steps.get() > self.most {
            let most = self.most;
            return Err(CompileError::limit(
                "the program",
                format!(
                    "its compilation takes more than {most} steps; parts that the document names again count \
                     each time"
                ),
            ));
        }
        Ok(())
    }
}

/// Rejects a document whose parsed form would take much more memory than its text.
///
/// # Errors
/// Returns an error for too many objects or values.
pub(crate) fn check_document(text: &[u8]) -> Result<()> {
    let (mut objects, mut values, mut in_string, mut escaped) = (0, 0, false, false);
    for &byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => (objects, values) = (objects + 1, values + 1),
            b',' | b'[' => values += 1,
            _ => {}
        }
    }
    for (count, most, what) in [(objects, MAX_OBJECTS, "objects"), (values, MAX_VALUES, "values")] {
        if count > most {
            return Err(CompileError::limit(
                "the document",
                format!("the document has {count} {what}, at most {most}"),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_values_outside_strings_are_counted() {
        let many = |part: &str, count: usize| format!("[{}0]", part.repeat(count));
        assert!(check_document(many("{},", MAX_OBJECTS).as_bytes()).is_ok());
        assert!(check_document(many("{},", MAX_OBJECTS + 1).as_bytes()).is_err());
        assert!(check_document(many("0,", MAX_VALUES).as_bytes()).is_err());
        assert!(check_document(format!("\"\\\"{}\"", ",{".repeat(MAX_VALUES)).as_bytes()).is_ok());
    }

    #[test]
    fn steps_end_at_the_limit_and_soon_after_the_sign() {
        let effort = Effort { most: 3, ..Effort::new(None) };
        assert!((0..3).all(|_| effort.step()) && effort.check().is_ok());
        assert!(!effort.step() && effort.check().is_err());
        let stop = AtomicBool::new(false);
        let effort = Effort::new(Some(&stop));
        assert!(effort.step());
        stop.store(true, Ordering::Relaxed);
        assert!((0..PATIENCE).filter(|_| effort.step()).count() < PATIENCE as usize);
        assert!(effort.check().is_err());
    }
}
