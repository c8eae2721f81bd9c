//! Entry point of libFuzzer.

/// Makes a target the one that libFuzzer runs in this program, which has no `main` of its own.
#[macro_export]
macro_rules! libfuzzer_entry {
    ($run:path) => {
        /// Runs the target on one input.
        #[unsafe(no_mangle)]
        extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> i32 {
            // SAFETY: libFuzzer hands over that many bytes, and keeps them until this returns.
            let bytes = if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, size) } };
            if std::panic::catch_unwind(|| $run(bytes)).is_err() {
                // libFuzzer takes note of the input.
                std::process::abort();
            }
            0
        }
    };
}
