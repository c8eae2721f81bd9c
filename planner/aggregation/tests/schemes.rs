//! The list of schemes, and its readers.

use std::collections::BTreeSet;

use inart_planner_aggregation::{SeveralJobs, schemes};

/// Rows of the table in docs/reference/schemes.md: name and summary.
fn table() -> Vec<(String, String)> {
    let page = include_str!("../../../docs/reference/schemes.md");
    let (_, rest) = page
        .split_once("| scheme | what it does |\n|---|---|\n")
        .expect("docs/reference/schemes.md has a table of schemes");
    let rows = rest.lines().take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        (cells[0].trim_matches('`').to_owned(), cells[1].to_owned())
    })
    .collect()
}

#[test]
fn the_reference_has_the_list() {
    let list = schemes::ALL.iter().map(|scheme| (scheme.name().to_owned(), scheme.summary().to_owned()));
    assert_eq!(table(), list.collect::<Vec<_>>());
}

#[test]
fn names_are_the_keys_of_the_list() {
    let names: BTreeSet<&str> = schemes::ALL.iter().map(|scheme| scheme.name()).collect();
    assert_eq!(names.len(), schemes::ALL.len());
    for &scheme in schemes::ALL {
        assert_eq!(schemes::named(scheme.name()), Some(scheme));
        assert_eq!(format!("{scheme:>16}").len(), 16);
    }
    assert_eq!((schemes::named("fast"), schemes::named("optimized")), (None, Some(schemes::DEFAULT)));
}

/// A published scheme names its source in its summary, and ours claims no other's.
#[test]
fn summaries_are_plain_and_say_whose_work_it_is() {
    for scheme in schemes::ALL {
        let (summary, promises) = (scheme.summary(), scheme.promises());
        assert!(
            !summary.contains('\n') && !summary.contains('|') && summary.chars().count() <= 120,
            "{scheme}"
        );
        let named = promises.stands_for.filter(|name| *name != "LBMM");
        assert!(named.is_none_or(|name| summary.contains(name)), "{scheme}: {summary}");
        assert_eq!(summary.starts_with("ours"), *scheme == schemes::DEFAULT, "{scheme}");
    }
    let together = schemes::ALL.iter().filter(|s| s.promises().several_jobs == SeveralJobs::Together);
    assert_eq!(together.map(|s| s.name()).collect::<Vec<_>>(), ["optimized"]);
}
