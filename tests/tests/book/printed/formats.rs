//! Formats of files, from the constants by which files are written and read.

use inart_formats::Format;

use super::super::messages;

/// All formats, each with the files that carry it and the place of its number.
const ALL: [(&Format, &str, &str); 7] = [
    (&inart_planner_aggregation::PLAN_FORMAT, "output of `inart plan --json`", "key `format`"),
    (&inart_planner_sites::PLAN_FORMAT, "output of `inart plan --json`", "key `format`"),
    (&inart_planner_peers::PLAN_FORMAT, "output of `inart plan --json`", "key `format`"),
    (
        &inart_controller_api::ASSIGNMENT_FORMAT,
        "`DIR/JOB.json` of `inart apply --assignments DIR`",
        "key `format`",
    ),
    (&inart_controller::RECORDS_FORMAT, "`DIR/NETWORK.json` of `--state DIR` (`.inart`)", "key `format`"),
    (&inart_ps_host::CHECKPOINT_FORMAT, "file of `--checkpoint`", "eighth byte, an ASCII digit"),
    (&inart_experiments::MEASURED_FORMAT, "file of `inart experiment --measure`", "line `# format: N`"),
];

/// Returns the table of all formats.
pub fn table() -> String {
    let row = |(format, files, place): &(&Format, &str, &str)| {
        format!("| {} | {files} | {place} | {} | {} |\n", format.kind, format.newest, format.range())
    };
    let head = "| Kind | Files | Number | Written | Read |\n|---|---|---|---|---|\n";
    ALL.iter().map(row).fold(head.to_owned(), |table, row| table + &row)
}

/// The sources declare no format that the table lacks.
#[test]
fn every_format_is_in_the_table() {
    let declared = messages::sources().matches("_FORMAT: Format = Format {").count();
    assert_eq!(declared, ALL.len(), "add the format to the table");
}
