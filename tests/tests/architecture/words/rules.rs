//! The words: single ones, phrases, and stems of British spellings.

/// Words and phrases of the style guide's list, in lower case.
pub const PHRASES: &[&str] = &[
    "whoever",
    "nobody",
    "somebody",
    "anew",
    "mended",
    "told",
    "as it has to be",
    "that there is",
    "is none",
    "so many",
    "so long",
    "as anybody",
    "goes on from",
    "hang on",
    "at all with",
    // There are four.
    "the paper",
];

/// Stems of British spellings: any word that has one counts for it.
pub const BRITISH: &[&str] = &[
    "analysed",
    "analyser",
    "analysing",
    "artefact",
    "behaviour",
    "catalogue",
    "centralis",
    "centre",
    "colour",
    "defence",
    "favour",
    "generalis",
    "honour",
    "initialis",
    "judgement",
    "labelled",
    "labelling",
    "licence",
    "maximise",
    "maximising",
    "minimise",
    "minimising",
    "modelled",
    "modelling",
    "neighbour",
    "normalis",
    "optimisa",
    "optimise",
    "optimising",
    "organisa",
    "organise",
    "prioritis",
    "quantis",
    "randomis",
    "recognis",
    "serialis",
    "signalled",
    "summaris",
    "synchronis",
    "travelled",
    "utilis",
    "visualis",
    "whilst",
];

/// First words of a docstring that need the text around it.
pub const OPENINGS: &[(&str, &str)] = &[
    ("The same", "docs: The same"),
    ("It", "docs: It"),
    ("Its", "docs: Its"),
    ("Which", "docs: Which"),
    ("What", "docs: What"),
    ("Who", "docs: Who"),
    ("Of", "docs: Of"),
    ("That", "docs: That"),
];

/// A flag of the command line in a message of a library.
pub const FLAG: &str = "flag in a library";
