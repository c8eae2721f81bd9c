//! libFuzzer's program for `inart_fuzz::ps_agent`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::ps_agent::run);
