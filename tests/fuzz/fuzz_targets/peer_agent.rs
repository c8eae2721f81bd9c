//! libFuzzer's program for `inart_fuzz::peer_agent`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::peer_agent::run);
