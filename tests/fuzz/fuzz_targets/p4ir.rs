//! libFuzzer's program for `inart_fuzz::p4ir`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::p4ir::run);
