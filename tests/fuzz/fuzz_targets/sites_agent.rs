//! libFuzzer's program for `inart_fuzz::sites_agent`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::sites_agent::run);
