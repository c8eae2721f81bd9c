//! libFuzzer's program for `inart_fuzz::plan`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::plan::run);
