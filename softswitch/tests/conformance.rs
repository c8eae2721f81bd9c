//! Runs folders of STF cases: those of the repository's tests, and one named by `INART_CONFORMANCE`.

use std::path::PathBuf;

use inart_softswitch::conformance::run_directory;

#[test]
fn cases_from_the_environment() {
    let Some(directory) = std::env::var_os("INART_CONFORMANCE").map(PathBuf::from) else {
        eprintln!("skipped: set INART_CONFORMANCE to a folder of NAME.json with NAME.stf");
        return;
    };
    let report = run_directory(&directory).expect("the folder can be read");
    for failure in &report.failed {
        eprintln!("{}: {}", failure.name, failure.why);
    }
    eprintln!("{} of {} pass", report.passed, report.total);
    assert!(report.failed.is_empty(), "{} cases fail", report.failed.len());
}
