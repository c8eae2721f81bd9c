//! Batches of updates, decoded one at a time.

use inart_p4runtime::p4::v1::Update;
use inart_p4runtime::p4::v1::write_request::Atomicity;
use prost::bytes::Bytes;
use tonic::Status;

use super::check::invalid;
use super::limits::{self, at_most};
use super::pipeline::Pipeline;
use super::request;

/// Remaining budget of one write.
struct Budget {
    cells: u64,
    undo: usize,
}

/// Applies updates as `atomicity` requires. Returns one result for each.
pub(super) fn apply(
    pipeline: &mut Pipeline,
    updates: &[Bytes],
    atomicity: i32,
) -> Result<Vec<Result<(), Status>>, Status> {
    let mut budget = Budget { cells: limits::CELLS, undo: limits::UNDO };
    match Atomicity::try_from(atomicity) {
        Ok(Atomicity::ContinueOnError) => {
            let one =
                |update: &Bytes| budget.decode(pipeline, update).and_then(|update| pipeline.write(&update));
            Ok(updates.iter().map(one).collect())
        }
        Ok(Atomicity::RollbackOnError) => Ok(whole_or_not(pipeline, updates, &mut budget)),
        Ok(Atomicity::DataplaneAtomic) => Err(Status::unimplemented(
            "this switch applies updates one by one: use CONTINUE_ON_ERROR or ROLLBACK_ON_ERROR",
        )),
        Err(_) => Err(invalid(format!("atomicity {atomicity} is not known"))),
    }
}

impl Budget {
    fn decode(&mut self, pipeline: &Pipeline, update: &Bytes) -> Result<Update, Status> {
        at_most(update.len(), limits::UPDATE_BYTES, "bytes of an update", "write less at a time")?;
        let update = request::decode(update.clone(), "the update")?;
        limits::spend(&mut self.cells, pipeline.cells(&update))?;
        Ok(update)
    }
}

/// Applies a batch completely or not at all: at the first failure the updates before are undone, in reverse.
fn whole_or_not(pipeline: &mut Pipeline, updates: &[Bytes], budget: &mut Budget) -> Vec<Result<(), Status>> {
    let mut undo = Vec::new();
    for (index, update) in updates.iter().enumerate() {
        let done = budget.decode(pipeline, update).and_then(|update| {
            let inverse = pipeline.inverse(&update, budget.undo)?;
            pipeline.write(&update)?;
            budget.undo = budget.undo.saturating_sub(inverse.len());
            Ok(inverse)
        });
        match done {
            Ok(inverse) => undo.push(inverse),
            Err(failure) => {
                for inverse in undo.iter().rev().flatten() {
                    if let Err(status) = pipeline.write(inverse) {
                        tracing::error!(%status, "an update could not be undone");
                    }
                }
                let aborted = || Err(Status::aborted("undone: another update of the batch failed"));
                let mut results: Vec<_> = updates.iter().map(|_| aborted()).collect();
                results[index] = Err(failure);
                return results;
            }
        }
    }
    updates.iter().map(|_| Ok(())).collect()
}
