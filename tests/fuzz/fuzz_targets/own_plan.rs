//! libFuzzer's program for `inart_fuzz::own_plan`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::own_plan::run);
