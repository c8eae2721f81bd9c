//! Compiles the `.proto` files with protox, so that no `protoc` is needed.

use std::error::Error;
use std::path::Path;

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let descriptors = protox::compile(["p4/v1/p4runtime.proto"], ["proto"])?;
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().include_file("protos.rs").compile_fds(descriptors)?;
    Ok(())
}
