//! libFuzzer's program for `inart_fuzz::hosts`.
#![no_main]

inart_fuzz::libfuzzer_entry!(inart_fuzz::hosts::run);
