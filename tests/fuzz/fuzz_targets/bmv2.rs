//! libFuzzer's program for `inart_fuzz::bmv2`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::bmv2::run);
