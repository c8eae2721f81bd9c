//! libFuzzer's program for `inart_fuzz::p4runtime`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::p4runtime::run);
