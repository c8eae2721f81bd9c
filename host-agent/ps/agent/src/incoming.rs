//! Incoming values, chunk by chunk.

use crate::chunk::Tag;
use crate::message::Span;

/// Result of inserting a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertOutcome {
    /// Inserted.
    New,
    /// Duplicate.
    Repeated,
    /// Invalid: the chunk's number is out of range, or its length differs.
    Wrong,
}

/// An update or a model with missing chunks.
#[derive(Debug, Clone)]
pub struct Incoming {
    pub tag: Tag,
    values: Vec<f32>,
    chunk_values: usize,
    has: Vec<bool>,
    left: usize,
}

impl Incoming {
    /// Creates a buffer without chunks for `values` values.
    pub fn new(tag: Tag, values: usize, chunk_values: usize) -> Self {
        let chunks = values.div_ceil(chunk_values);
        Incoming { tag, values: vec![0.0; values], chunk_values, has: vec![false; chunks], left: chunks }
    }

    /// Inserts a chunk.
    pub fn take(&mut self, number: u32, values: &[f32]) -> InsertOutcome {
        let Some(has) = self.has.get_mut(number as usize) else { return InsertOutcome::Wrong };
        let first = number as usize * self.chunk_values;
        let last = (first + self.chunk_values).min(self.values.len());
        if values.len() != last - first {
            return InsertOutcome::Wrong;
        }
        if *has {
            return InsertOutcome::Repeated;
        }
        *has = true;
        self.left -= 1;
        self.values[first..last].copy_from_slice(values);
        InsertOutcome::New
    }

    pub fn is_whole(&self) -> bool {
        self.left == 0
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// Returns the missing chunks.
    pub fn missing(&self) -> Vec<Span> {
        spans((0..self.has.len() as u32).filter(|number| !self.has[*number as usize]))
    }
}

/// Returns ascending numbers as spans.
pub fn spans(numbers: impl IntoIterator<Item = u32>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some(span) if span.first + span.count == number => span.count += 1,
            _ => spans.push(Span { first: number, count: 1 }),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: Tag = Tag { worker_incarnation: 1, server_incarnation: 1, ticket: 1, version: 0 };

    #[test]
    fn chunks_arrive_in_any_order_and_once() {
        let mut incoming = Incoming::new(TAG, 5, 2);
        assert_eq!(incoming.missing(), [Span { first: 0, count: 3 }]);
        assert_eq!(incoming.take(2, &[5.0]), InsertOutcome::New);
        assert_eq!(incoming.take(0, &[1.0, 2.0]), InsertOutcome::New);
        assert_eq!(incoming.take(0, &[9.0, 9.0]), InsertOutcome::Repeated);
        assert_eq!(incoming.missing(), [Span { first: 1, count: 1 }]);
        for (number, values) in [(3, &[1.0][..]), (1, &[1.0]), (2, &[1.0, 2.0]), (u32::MAX, &[])] {
            assert_eq!(incoming.take(number, values), InsertOutcome::Wrong);
        }
        assert_eq!(incoming.take(1, &[3.0, 4.0]), InsertOutcome::New);
        assert!(incoming.is_whole() && incoming.missing().is_empty());
        assert_eq!(incoming.into_values(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn a_model_of_no_values_is_whole() {
        assert!(Incoming::new(TAG, 0, 4).is_whole());
    }
}
