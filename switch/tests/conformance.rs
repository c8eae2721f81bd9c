//! The STF runner on cases of its own, and on the cases in `../shared`, or in the folder that
//! `INART_CONFORMANCE` names.

use std::path::PathBuf;

use inart_switch::conformance::run_directory;

#[test]
fn cases_of_a_folder_pass() {
    let named = std::env::var_os("INART_CONFORMANCE").map(PathBuf::from);
    let shared = PathBuf::from(concat!(env!("INART_ROOT"), "/../shared/conformance"));
    let Some(directory) = named.or_else(|| shared.is_dir().then_some(shared)) else {
        eprintln!("skipped: no ../shared; set INART_CONFORMANCE to a folder of NAME.json with NAME.stf");
        return;
    };
    let report = run_directory(&directory).expect("the folder can be read");
    for failure in &report.failed {
        eprintln!("{}: {}", failure.name, failure.why);
    }
    eprintln!("{} of {} pass", report.passed, report.total);
    assert!(report.failed.is_empty(), "{} cases fail", report.failed.len());
}

#[test]
fn a_case_passes_or_says_why_not() {
    let folder = tempfile::tempdir().expect("a folder for cases");
    let json = inart_p4::artifact(inart_wire::ValuesPerFrame::N32).json;
    let script = |expected: &str| {
        format!(
            "# ordinary traffic is switched by its destination\n\
             add mac dst:0x020000000001 send(port:3)\n\
             packet 1 020000000001 020000000002 0800 11223344\n\
             {expected}\n"
        )
    };
    let cases = [
        ("exact", "expect 3 020000000001 020000000002 0800 11223344$", None),
        ("stars", "expect 3 02000000000* 020000000002 ****", None),
        ("any", "expect 3", None),
        ("shorter", "expect 3 020000000001$", Some("port 3, packet 0: expected 020000000001$, got 0200")),
        (
            "other",
            "expect 3 020000000001 02000000000f",
            Some("port 3, packet 0: expected 02000000000102000000000f"),
        ),
        ("twice", "expect 3\nexpect 3", Some("port 3: 2 packets expected, 1 arrived")),
        ("more", "packet 3 020000000009 020000000002 0800", Some("port 3: 0 packets expected, 1 arrived")),
        ("typo", "expcet 3", Some("the command expcet is not known")),
        ("line", "packet 3 0", Some("line 4: cannot read \"packet 3 0\"")),
    ];
    for (name, expected, _) in cases {
        std::fs::write(folder.path().join(format!("{name}.json")), &json).expect("the file is written");
        std::fs::write(folder.path().join(format!("{name}.stf")), script(expected))
            .expect("the file is written");
    }
    let report = run_directory(folder.path()).expect("the folder can be read");
    assert_eq!(report.total, cases.len());
    for (name, _, why) in cases {
        let failure = report.failed.iter().find(|failure| failure.name == name);
        match (why, failure) {
            (None, None) => {}
            (Some(why), Some(failure)) => assert!(failure.why.starts_with(why), "{name}: {}", failure.why),
            (_, failure) => panic!("{name}: {failure:?}"),
        }
    }
    assert_eq!(report.passed, 3);
}
