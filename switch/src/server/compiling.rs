//! Compilations that clients ask for: one at a time, each only while its client waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Mutex;
use tonic::Status;

use super::limits;
use crate::tables::array_bytes;
use crate::{CompileError, Program};

/// The place for a compilation.
#[derive(Debug, Default)]
pub(crate) struct Compiling(Arc<Mutex<()>>);

/// Stops the work when the call that waits for it ends.
struct Caller(Arc<AtomicBool>);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Compiling {
    /// Runs work that ends soon after its argument becomes true, which happens when the caller disconnects.
    /// The place is free again when the work has ended.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&AtomicBool) -> Result<T, Status> + Send + 'static,
    ) -> Result<T, Status> {
        let turn = self.0.clone().lock_owned().await;
        let stop = Arc::new(AtomicBool::new(false));
        let _caller = Caller(stop.clone());
        let work = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&stop)
        });
        work.await.map_err(|error| Status::internal(error.to_string()))?
    }
}

/// Returns the status for a program that does not compile.
pub(crate) fn refused(error: &CompileError, what: &str, hint: &str) -> Status {
    match error.is_limit {
        true => limits::beyond(format!("{what}: {error}")),
        false => Status::invalid_argument(format!("{what}: {error}{hint}")),
    }
}

/// Rejects a program whose arrays, together with the existing ones, take too much memory.
pub(crate) fn check_arrays(
    held: impl Iterator<Item = Arc<Program>>,
    program: &Program,
) -> Result<(), Status> {
    let (held, given) = (held.map(|held| array_bytes(&held)).sum::<u64>(), array_bytes(program));
    match held + given > limits::ARRAY_BYTES {
        true => Err(limits::beyond(format!(
            "arrays: the program takes {given} bytes and those that the switch holds {held}, together at most {}",
            limits::ARRAY_BYTES
        ))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn work_ends_with_its_caller_and_holds_the_place_until_then() {
        let compiling = Arc::new(Compiling::default());
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let first = compiling.clone();
        let call = tokio::spawn(async move {
            let endless = move |stop: &AtomicBool| {
                let _ = begun.send(());
                while !stop.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                // Still at work: the place must not be free.
                let _ = ended.recv();
                Ok(())
            };
            first.run(endless).await
        });
        begins.await.expect("it begins");
        call.abort();
        assert!(call.await.is_err());
        let second = compiling.run(|_| Ok(7));
        tokio::pin!(second);
        let early = tokio::time::timeout(Duration::from_millis(50), &mut second).await;
        assert!(early.is_err(), "two at a time");
        end.send(()).expect("it waits");
        assert_eq!(
            tokio::time::timeout(Duration::from_secs(20), second).await.expect("in time").ok(),
            Some(7)
        );
    }
}
