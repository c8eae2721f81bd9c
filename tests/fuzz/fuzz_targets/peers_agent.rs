//! libFuzzer's program for `inart_fuzz::peers_agent`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::peers_agent::run);
