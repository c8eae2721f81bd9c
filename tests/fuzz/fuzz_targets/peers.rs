//! libFuzzer's program for `inart_fuzz::peers`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::peers::run);
