//! A user's own plan in a file: whole, as `inart plan --json` prints plans, or only the user's choices.

use std::path::Path;

use anyhow::{Context, anyhow};
use inart_formats::{DocumentError, Format};
use serde::de::DeserializeOwned;

use crate::commands::document;

/// Description of a plan's file in errors.
pub const PLAN: &str = "a plan, as `inart plan --json` prints it";

/// Contents of a plan's file.
pub enum Given<Whole, Chosen> {
    /// All fields, derived ones included.
    Whole(Whole),
    /// The user's choices; the rest is derived.
    Chosen(Chosen),
}

/// Reads the file of a plan of that format. A document is whole if it has the field `derived`. `form` shows
/// users what to write.
pub fn read<Whole: DeserializeOwned, Chosen: DeserializeOwned>(
    place: &str,
    path: &Path,
    format: &Format,
    derived: &str,
    form: &str,
) -> anyhow::Result<Given<Whole, Chosen>> {
    let text = document::read(path).with_context(|| place.to_owned())?;
    document::refuse_network(&text, PLAN).with_context(|| place.to_owned())?;
    format.number(text.as_bytes()).with_context(|| place.to_owned())?;
    let document: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| anyhow!("{place}: {error}; write {form}"))?;
    let wrong = |error: DocumentError| anyhow!("{place}: it is not a plan: {error}; write {form}");
    // From the text and not from the value: errors name their lines.
    Ok(match document.get(derived) {
        Some(_) => Given::Whole(format.read(text.as_bytes()).map_err(wrong)?),
        None => Given::Chosen(format.read(text.as_bytes()).map_err(wrong)?),
    })
}

/// Reads what a user chooses, whether the rest is in the file or not.
pub fn read_chosen<Chosen: DeserializeOwned>(
    place: &str,
    path: &Path,
    format: &Format,
    form: &str,
) -> anyhow::Result<Chosen> {
    // No field has an empty name.
    match read::<Chosen, Chosen>(place, path, format, "", form)? {
        Given::Whole(chosen) | Given::Chosen(chosen) => Ok(chosen),
    }
}

/// Returns the error of a whole plan, with the way to derive the plan again.
pub fn refused(place: &str, wrong: &str, network: &Path) -> anyhow::Error {
    let network = network.display();
    anyhow!("{place}: {wrong}; derive what follows again with `inart plan {network} --complete FILE`")
}
