//! libFuzzer's program for `inart_fuzz::overlay`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::overlay::run);
