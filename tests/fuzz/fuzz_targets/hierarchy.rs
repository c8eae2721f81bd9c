//! libFuzzer's program for `inart_fuzz::hierarchy`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::hierarchy::run);
