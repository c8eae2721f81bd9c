//! libFuzzer's program for `inart_fuzz::order_agent`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::order_agent::run);
