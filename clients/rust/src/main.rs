//! A small orchestrator and executor: it has a result judged, asks whether a call may be
//! executed, checks the permit, and acts. It prints one line a step and exits 0 if every
//! answer was the right one.

mod executor;
mod orchestrator;
mod permit;
mod permits;
mod vectors;

use std::{env, error, fmt::Display, fs, process::ExitCode, time::Duration};

use tonic::{
    Code, Status,
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity},
};

use hallmark::v1::{
    contract_service_client::ContractServiceClient, gate_service_client::GateServiceClient,
};

/// The generated code.
mod hallmark {
    pub mod v1 {
        #![allow(clippy::all)]
        tonic::include_proto!("hallmark.v1");
    }
}

type Gate = GateServiceClient<Channel>;
type Error = Box<dyn error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            println!("FAILED {fault}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Error> {
    step("permits of all languages", permits::run_all("../permits.json"))?;
    let channel = dial().await?;
    let gate = GateServiceClient::new(channel.clone());
    let allowed = orchestrator::restart(&gate).await?;
    executor::execute(&gate, ContractServiceClient::new(channel), &allowed).await?;
    vectors::run_all(&gate, &env::var("HALLMARK_VECTORS")?).await
}

/// Connects by TLS with a certificate of one's own, to every replica behind the name:
/// calls are spread over them. tonic reads no service configuration; this and [`patiently`]
/// do what ../service-config.json says.
async fn dial() -> Result<Channel, Error> {
    let addr = env::var("HALLMARK_ADDR")?;
    let (host, _) = addr.rsplit_once(':').ok_or("HALLMARK_ADDR is not host:port")?;
    let tls = ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(fs::read(env::var("HALLMARK_CA")?)?))
        .identity(Identity::from_pem(
            fs::read(env::var("HALLMARK_CERT")?)?,
            fs::read(env::var("HALLMARK_KEY")?)?,
        ))
        .domain_name(host);
    let mut replicas = Vec::new();
    for replica in tokio::net::lookup_host(&addr).await? {
        let endpoint = Endpoint::from_shared(format!("https://{replica}"))?
            .tls_config(tls.clone())?
            .timeout(Duration::from_secs(10));
        replicas.push(endpoint);
    }
    Ok(Channel::balance_list(replicas.into_iter()))
}

/// Makes a call, again while the service is UNAVAILABLE, up to four times in all.
async fn patiently<T, F>(mut call: impl FnMut() -> F) -> Result<T, Status>
where
    F: Future<Output = Result<tonic::Response<T>, Status>>,
{
    let mut pause = Duration::from_millis(100);
    for _ in 0..3 {
        match call().await {
            Err(status) if status.code() == Code::Unavailable => {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            answer => return answer.map(tonic::Response::into_inner),
        }
    }
    call().await.map(tonic::Response::into_inner)
}

/// Prints what was done, or says which step went wrong.
fn step<T, E: Display>(what: &str, done: Result<T, E>) -> Result<T, Error> {
    match done {
        Ok(value) => {
            println!("ok     {what}");
            Ok(value)
        }
        Err(fault) => Err(format!("{what}: {fault}").into()),
    }
}

fn require(holds: bool, otherwise: impl Display) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_string()) }
}
