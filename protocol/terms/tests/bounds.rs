//! Bounds of sent and of accepted terms.

use inart_terms::{
    MOST_LINE_BYTES, MOST_NAME_BYTES, MOST_TERMS, MOST_VALUE_BYTES, Term, Terms, TermsError, one_line,
};
use proptest::prelude::*;

fn term(name: &str, value: &str) -> Term {
    Term { name: name.to_owned(), value: value.to_owned() }
}

#[test]
fn own_values_that_are_too_long_are_cut_and_still_differ_at_their_end() {
    let long = "é".repeat(300);
    let (a, b) =
        (Terms::new([("sites", &long)]).unwrap(), Terms::new([("sites", format!("{long}x"))]).unwrap());
    let value = a.value("sites").unwrap();
    assert!(value.starts_with("éé") && value.len() <= MOST_VALUE_BYTES, "{value}");
    assert_eq!(a.differs(&b).unwrap().name, "sites");
    assert_eq!(a, Terms::new([("sites", &long)]).unwrap());
    let exact = "x".repeat(MOST_VALUE_BYTES);
    assert_eq!(Terms::new([("sites", &exact)]).unwrap().value("sites"), Some(&*exact));
    // A log shows it on one line.
    assert_eq!(Terms::new([("job", "a\nb")]).unwrap().value("job"), Some("a\\nb"));
}

#[test]
fn terms_of_others_outside_the_bounds_are_refused_by_name() {
    let long = "x".repeat(MOST_VALUE_BYTES + 1);
    let many: Vec<Term> = (0..=MOST_TERMS).map(|at| term(&at.to_string(), "")).collect();
    for (terms, wrong) in [
        (many.clone(), TermsError::Many(65)),
        (vec![term("", "1")], TermsError::Name(0)),
        (vec![term(&"n".repeat(MOST_NAME_BYTES + 1), "1")], TermsError::Name(65)),
        (vec![term("seed", &long)], TermsError::Value { name: "seed".into(), bytes: 257 }),
        (vec![term("seed", "1\n")], TermsError::Control("seed".into())),
        (vec![term("se\u{1b}ed", "1")], TermsError::Control("se\u{1b}ed".into())),
        (vec![term("seed", "1"), term("seed", "2")], TermsError::Twice("seed".into())),
    ] {
        let text = wrong.to_string();
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert_eq!(Terms::from_message(terms), Err(wrong));
    }
    assert!(Terms::from_message(many[1..].to_vec()).is_ok());
    assert_eq!(Terms::new([("", 1)]), Err(TermsError::Name(0)));
}

#[test]
fn bytes_that_are_too_many_are_refused_before_they_are_read() {
    // Valid protocol buffers: one term with a value of 1 MB.
    let mut bytes = vec![0x0a, 0xc4, 0x84, 0x3d, 0x12, 0xc0, 0x84, 0x3d];
    bytes.resize(bytes.len() + 1_000_000, b'x');
    assert_eq!(Terms::decode(&bytes), Err(TermsError::Encoding(bytes.len())));
    let most =
        Terms::new((0..MOST_TERMS).map(|at| (format!("{at:064}"), "v".repeat(MOST_VALUE_BYTES)))).unwrap();
    assert_eq!(Terms::decode(&most.encode()), Ok(most));
}

proptest! {
    #[test]
    fn encoded_terms_decode(pairs in prop::collection::btree_map("[a-z ]{1,64}", "[ -~é€]{0,300}", 0..64)) {
        let terms = Terms::new(pairs).unwrap();
        prop_assert_eq!(Terms::decode(&terms.encode()), Ok(terms.clone()));
        prop_assert_eq!(Terms::from_message(terms.message()), Ok(terms));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Terms::decode(&bytes);
    }
}

#[test]
fn texts_of_other_processes_are_one_line_of_bounded_length() {
    assert_eq!(one_line("site n1: why"), "site n1: why");
    assert_eq!(one_line("a\nb\u{1b}[2J"), "a\\nb\\u{1b}[2J");
    for text in ["x".repeat(1 << 20), "é".repeat(1 << 20), "\n".repeat(1 << 20)] {
        let line = one_line(&text);
        assert!(line.ends_with("...") && line.len() <= MOST_LINE_BYTES, "{} bytes", line.len());
        assert!(line.len() > MOST_LINE_BYTES - 8 && !line.contains('\n'), "{} bytes", line.len());
    }
    let exact = "é".repeat(MOST_LINE_BYTES / 2);
    assert_eq!(one_line(&exact), exact);
}
