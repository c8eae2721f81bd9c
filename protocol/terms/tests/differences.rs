//! Differences between two processes, by name.

use inart_terms::{Agreement, Difference, Terms, digest_of_bytes, digest_of_values};

fn terms(pairs: &[(&str, &str)]) -> Terms {
    Terms::new(pairs.iter().copied()).unwrap()
}

#[test]
fn the_first_difference_is_named_with_both_values() {
    let own = terms(&[("job", "a"), ("seed", "1"), ("rounds", "100")]);
    let other = terms(&[("job", "a"), ("seed", "9"), ("rounds", "20")]);
    let seed = Difference { name: "seed".into(), own: Some("1".into()), other: Some("9".into()) };
    assert_eq!(seed.between("n2", "this site"), "n2 has seed 9, this site has seed 1");
    assert_eq!(own.differs(&other), Some(seed));
    assert_eq!(other.differs(&own).unwrap().between("n1", "n2"), "n1 has seed 1, n2 has seed 9");
    assert_eq!(own.differs(&own.clone()), None);
    // The order of another process does not matter.
    assert_eq!(own.differs(&terms(&[("rounds", "100"), ("seed", "1"), ("job", "a")])), None);
}

#[test]
fn a_term_that_only_one_has_differs_at_both() {
    let (with, without) = (terms(&[("job", "a"), ("step", "0.3")]), terms(&[("job", "a")]));
    let at_one = with.differs(&without).unwrap();
    assert_eq!(at_one.between("n2", "this site"), "n2 has no step, this site has step 0.3");
    let at_other = without.differs(&with).unwrap();
    assert_eq!(at_other.between("n1", "n2"), "n1 has step 0.3, n2 has no step");
    // It is named before terms that follow from it, such as a plan.
    let (two, three) = (
        terms(&[("link a-b", "1"), ("plan", "x")]),
        terms(&[("link a-b", "1"), ("link a-c", "2"), ("plan", "y")]),
    );
    assert_eq!(two.differs(&three).unwrap().name, "link a-c");
    assert_eq!(three.differs(&two).unwrap().name, "link a-c");
    // The order does not depend on the names.
    let two = terms(&[("job", "a"), ("plan", "x")]);
    let three = terms(&[("job", "a"), ("rate", "2"), ("plan", "y")]);
    assert_eq!(two.differs(&three).unwrap().name, "rate");
    assert_eq!(three.differs(&two).unwrap().name, "rate");
    assert!(Terms::default().differs(&Terms::default()).is_none());
}

/// A server, and workers that bring terms that it does not know.
#[test]
fn a_joining_process_is_compared_with_all_others_but_not_its_past() {
    let mut agreement = Agreement::new(terms(&[("job", "a")]));
    let seed = |seed: &str| terms(&[("job", "a"), ("seed", seed)]);
    assert_eq!(agreement.admit("s", "w1", seed("1")), Ok(()));
    let other = Err("w2 has seed 2, w1 has seed 1".to_owned());
    assert_eq!(agreement.admit("s", "w2", seed("2")), other);
    assert_eq!(agreement.all(), seed("1"), "a refused worker adds no terms");
    // w1 restarts with another seed, and then w2's is right.
    assert_eq!(agreement.admit("s", "w1", seed("2")), Ok(()));
    assert_eq!(agreement.admit("s", "w2", seed("2")), Ok(()));
    let other = Err("w1 has seed 1, w2 has seed 2".to_owned());
    assert_eq!(agreement.admit("s", "w1", seed("1")), other);
    let other = Err("w3 has job b, s has job a".to_owned());
    assert_eq!(agreement.admit("s", "w3", terms(&[("job", "b")])), other);
}

/// FIPS 180-4's own example of SHA-256, and values that `sha256sum` was given as bytes.
#[test]
fn digests_are_those_of_sha256sum() {
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(digest_of_bytes(b"abc"), abc);
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(digest_of_values(&[]), empty);
    // "abcd" as one little-endian float32, 1500 times, so that it takes more than one buffer.
    let values = vec![f32::from_le_bytes(*b"abcd"); 1500];
    assert_eq!(digest_of_values(&values), digest_of_bytes("abcd".repeat(1500).as_bytes()));
    assert_ne!(digest_of_values(&[0.0]), digest_of_values(&[-0.0]));
}
