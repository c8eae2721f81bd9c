//! End-to-end tests across crates; the tests themselves live in `tests/`.
