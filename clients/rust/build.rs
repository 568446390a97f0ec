//! Generates the client from proto/ with a compiler that is a crate: no protoc needed.
//! validate.proto, which the sources import for rules that clients do not use, is the one
//! that `make` writes from the Go module.

use std::{env, fs, path::PathBuf};

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sources = ["../../proto", "../../.tmp/deps/protovalidate"];
    for folder in sources {
        println!("cargo:rerun-if-changed={folder}");
    }
    let files =
        protox::compile(["hallmark/v1/gate.proto", "hallmark/v1/contracts.proto"], sources)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.binpb"), files.encode_to_vec())?;
    tonic_prost_build::configure().build_server(false).compile_fds(files)?;
    Ok(())
}
