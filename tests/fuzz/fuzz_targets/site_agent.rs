//! libFuzzer's program for `inart_fuzz::site_agent`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::site_agent::run);
