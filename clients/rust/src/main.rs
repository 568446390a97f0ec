pub mod hallmark { pub mod v1 { tonic::include_proto!("hallmark.v1"); } }
fn main() {}
