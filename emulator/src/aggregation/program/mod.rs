//! A user's own program as the workers of a job: one process per rank, in the worker's namespace.

mod environment;
mod figures;
mod gate;
mod output;
mod rank_end;
mod ranks;
mod table;

use std::ffi::OsString;
use std::path::Path;

use inart_host_agent::StopSignal;

use crate::error::Error;

pub(crate) use environment::Surroundings;
pub use figures::{ProgramJob, ProgramScheme, ProgramSummary, SizeFigures, WorkerFigures};
pub(crate) use output::relayed;
pub use output::{Printer, Stream};
pub use rank_end::RankEnd;
pub(crate) use ranks::Ranks;

/// A user's program.
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Takes what the ranks print.
    pub printer: Printer,
    /// Signals that end all ranks.
    pub stop: StopSignal,
}

impl Program {
    /// An error if a signal came before there were ranks to end.
    pub(crate) fn check_for_signals(&mut self) -> Result<(), Error> {
        let signal = self.stop.next_signal().map_err(Error::system("read signals"))?;
        signal.map_or(Ok(()), |signal| Err(Error::Interrupted(signal as i32)))
    }

    /// Refuses a command that cannot be started.
    ///
    /// # Errors
    /// [`Error::Option`] names it, and why.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |problem| Err(Error::Option { option: "command", problem });
        let Some(program) = self.command.first() else {
            return refuse("none is given; name a program".into());
        };
        let (path, name) = (Path::new(program), program.to_string_lossy());
        if name.contains('/') {
            if !path.is_file() {
                return refuse(format!("program {name} does not exist; give the path of a program"));
            }
        } else {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            if !std::env::split_paths(&folders).any(|folder| folder.join(path).is_file()) {
                return refuse(format!("{name} is not on the PATH; install it, or give its path"));
            }
        }
        Ok(())
    }
}
