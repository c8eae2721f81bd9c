//! Only there to have `libfuzzer-sys` build libFuzzer.
