//! Reads in answers of bounded size: where one ends the next goes on, however slowly they are taken.

use inart_p4runtime::p4::v1::Entity;
use inart_p4runtime::update_errors_status;
use prost::bytes::Bytes;
use tonic::Status;

use super::page::{Page, Position};
use super::pipeline::Pipeline;
use super::request;

/// A read in progress.
#[derive(Debug)]
pub(super) struct Reading {
    filters: Vec<Bytes>,
    at: Position,
    results: Vec<Result<(), Status>>,
    /// Number of writes that the pipeline had processed when the read started.
    writes: u64,
}

impl Reading {
    pub fn new(filters: Vec<Bytes>, writes: u64) -> Self {
        Self { filters, at: Position::Start, results: Vec::new(), writes }
    }

    /// Returns the next answer, which may be empty; `None` after the last. An error ends the read.
    pub fn next(&mut self, pipeline: &Pipeline, writes: u64) -> Result<Option<Vec<Entity>>, Status> {
        if writes != self.writes {
            return Err(Status::aborted("a write happened between the answers of this read: read again"));
        }
        if self.results.len() == self.filters.len() {
            let all = self.results.iter().all(Result::is_ok);
            return if all { Ok(None) } else { Err(update_errors_status(&self.results)) };
        }
        let mut page = Page::default();
        while let Some(filter) = self.filters.get(self.results.len())
            && !page.is_full()
        {
            page.look(1);
            let at = std::mem::take(&mut self.at);
            let found = request::decode(filter.clone(), "an entity to read")
                .and_then(|filter: Entity| pipeline.read(&filter, at, &mut page));
            match found {
                Ok(Some(at)) => self.at = at,
                ended => self.results.push(ended.map(|_| ())),
            }
        }
        Ok(Some(page.found))
    }
}

#[cfg(test)]
#[path = "reads_tests.rs"]
#[allow(clippy::unwrap_used)]
mod tests;
