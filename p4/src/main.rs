//! Prints the generated P4, compiles the program and has p4testgen make cases for it: `cargo run -p inart-p4`
//! from anywhere in the workspace.

use std::path::Path;
use std::process::ExitCode;

use inart_p4::{
    Barefoot, CASES, Error, P4c, P4test, P4testgen, build_tofino, build_tofino_multicast, generated_path,
    tofino_generated, values_p4,
};
use inart_wire::ValuesPerFrame;

fn main() -> ExitCode {
    match run(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(dir: &Path) -> Result<(), Error> {
    for values in ValuesPerFrame::ALL {
        let path = dir.join(generated_path(values));
        std::fs::write(&path, values_p4(values)).map_err(|source| Error::File { path, source })?;
    }
    for (file, text) in tofino_generated() {
        let path = dir.join(file);
        std::fs::write(&path, text).map_err(|source| Error::File { path, source })?;
    }
    match (P4test::find(), Barefoot::find()) {
        (Some(p4test), Some(barefoot)) => {
            build_tofino_multicast(dir, &p4test, &barefoot)?;
            build_tofino(dir, &p4test, &barefoot)?;
            let (p4test, barefoot) = (p4test.version(), barefoot.version());
            eprintln!("tofino/ is up to date, by p4test {p4test} and p4c-barefoot {barefoot}");
        }
        _ => eprintln!(
            "tofino/generated/ is up to date; tofino/build/ is not: p4test, p4c-barefoot and bfas are not all on the PATH"
        ),
    }
    match P4c::find() {
        Some(p4c) => {
            p4c.build(dir)?;
            eprintln!("generated/ and build/ are up to date, by p4c-bm2-ss {}", p4c.version());
        }
        None => eprintln!("generated/ is up to date; build/ is not: p4c-bm2-ss is not on the PATH"),
    }
    match P4testgen::find() {
        Some(p4testgen) => {
            eprintln!("{CASES}/ is up to date, with {} cases by p4testgen", p4testgen.build(dir)?)
        }
        None => eprintln!("{CASES}/ is as it was: p4testgen is not on the PATH"),
    }
    Ok(())
}
