//! libFuzzer's program for `inart_fuzz::switch`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::switch::run);
