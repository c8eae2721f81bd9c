//! libFuzzer's program for `inart_fuzz::network`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::network::run);
