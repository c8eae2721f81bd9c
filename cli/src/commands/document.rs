//! Files that commands are given besides networks: plans, schedules, assignments.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::bail;
use inart_topologies::{Network, ReadError, read};

static READ: Mutex<Option<HashMap<PathBuf, String>>> = Mutex::new(None);

/// Returns a printer of the notice that the command waits for a pipe or a terminal, every few seconds.
pub fn waiting(path: &Path) -> impl FnMut(Duration) {
    move |_| eprintln!("waiting for the text of {}", path.display())
}

/// Returns the text of a document, without a byte order mark. A pipe has its text only once, so a second call
/// returns the text of the first.
///
/// # Errors
/// As of [`read::text`], without the path.
pub fn read(path: &Path) -> io::Result<String> {
    let known = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = known.as_ref().and_then(|all| all.get(path)) {
        return Ok(text.clone());
    }
    drop(known);
    let text = match read::text(path, &mut waiting(path)) {
        // The document's own reader refuses an empty document and names its kind.
        Err(ReadError::File { problem, .. }) if problem.starts_with(read::EMPTY) => String::new(),
        read => read.map_err(problem)?,
    };
    if !std::fs::metadata(path)?.is_file() {
        let mut all = READ.lock().unwrap_or_else(PoisonError::into_inner);
        all.get_or_insert_default().insert(path.to_owned(), text.clone());
    }
    Ok(text)
}

/// Returns the bytes of a file, at most as many as a document has.
///
/// # Errors
/// As of [`read::bytes`], without the path.
pub fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    read::bytes(path, &mut waiting(path)).map_err(problem)
}

/// Names a network that was given in place of another document, such as `a fault schedule`.
///
/// # Errors
/// The text is a network's document.
pub fn refuse_network(text: &str, wanted: &str) -> anyhow::Result<()> {
    match Network::from_yaml(text) {
        Ok(network) => bail!("this is a network of {}; name {wanted}", network.kind()),
        Err(_) => Ok(()),
    }
}

/// Whether a text is a plan of any kind, as `inart plan --json` prints it.
pub fn is_plan(text: &str) -> bool {
    let document: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let has = |document: &serde_json::Value| {
        ["flows", "plans", "trees", "tasks", "between"].iter().any(|field| document.get(field).is_some())
    };
    document.is_some_and(|document| has(&document))
}

/// Returns the error without the path: callers name the flag and the path.
fn problem(error: ReadError) -> io::Error {
    io::Error::other(match error {
        ReadError::File { problem, .. } => problem,
        ReadError::Document { error, .. } => error.to_string(),
    })
}
