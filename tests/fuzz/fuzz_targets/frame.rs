//! libFuzzer's program for `inart_fuzz::frame`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::frame::run);
