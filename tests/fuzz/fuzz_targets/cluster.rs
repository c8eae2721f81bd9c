//! libFuzzer's program for `inart_fuzz::cluster`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::cluster::run);
