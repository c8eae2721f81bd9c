//! Words that docs' style replaces: they leave the actor out, or the field has another word for them.

/// Words that no text of the workspace's programs has.
pub const PRINTED: [&str; 21] = [
    "whoever",
    "nobody",
    "somebody",
    "anybody",
    "anew",
    "mended",
    "told",
    "tells",
    "goes on",
    "is gone",
    "are gone",
    "comes back",
    "so long",
    "so many",
    "is none",
    "given up",
    "gives up",
    "takes in",
    "heard from",
    "added up",
    "the paper",
];

/// Further words that no help text has.
pub const IN_HELP: [&str; 6] = ["tell", "go on", "come back", "so much", "so often", "that there is"];
