//! libFuzzer's program for `inart_fuzz::tna`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::tna::run);
