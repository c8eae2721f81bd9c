//! Compiles the `.proto` file of the controller's own API with protox, so that no `protoc` is needed.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let descriptors = protox::compile(["inart/v1/controller.proto"], ["proto"])?;
    tonic_prost_build::configure()
        .type_attribute(".inart.v1", "#[derive(serde::Serialize)]")
        .compile_fds(descriptors)?;
    Ok(())
}
