//! libFuzzer's program for `inart_fuzz::topology`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::topology::run);
