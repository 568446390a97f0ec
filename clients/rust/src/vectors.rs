//! Runs the shared vectors; ../vectors/README.md says what their members mean.

use std::{fs, io::Read, path::Path, time::SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};
use prost_types::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};
use tonic::Status;

use crate::{
    Error, Gate,
    hallmark::v1::{AuthorizeRequest, ValidateRequest, authorize_request, validate_request},
    require, step,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    why: String,
    rpc: String,
    request: Value,
    raw_repeat: Option<Repeat>,
    want: Want,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeat {
    byte: String,
    times: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Want {
    code: String,
    #[serde(default)]
    response: Map<String, Value>,
}

pub async fn run_all(gate: &Gate, dir: &str) -> Result<(), Error> {
    let descriptors = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.binpb"));
    let pool = DescriptorPool::decode(descriptors.as_slice())?;
    let mut files: Vec<_> =
        fs::read_dir(dir)?.map(|f| f.map(|f| f.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|e| e == "json"));
    files.sort();
    step("there are vectors", require(!files.is_empty(), dir))?;
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let ran = match read(&file, &name) {
            Ok(vector) => vector.run(gate.clone(), &pool).await,
            Err(fault) => Err(fault),
        };
        step(&format!("vector {name}"), ran)?;
    }
    Ok(())
}

/// Sixteen random characters of 0-9a-f.
pub fn random_id() -> Result<String, Error> {
    let mut bytes = [0; 8];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// Fills in the placeholders and reads a file, strictly.
fn read(file: &Path, name: &str) -> Result<Vector, Error> {
    let text = fs::read_to_string(file)?.replace("{{id}}", &random_id()?);
    let now = Timestamp::from(SystemTime::now()).seconds;
    let mut parts = text.split("{{now");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (offset, rest) = part.split_once("s}}").ok_or("a placeholder does not end")?;
        let time = Timestamp { seconds: now + offset.parse::<i64>()?, nanos: 0 };
        filled.push_str(&time.to_string());
        filled.push_str(rest);
    }
    let vector: Vector = serde_json::from_str(&filled)?;
    require(vector.name == name && !vector.why.is_empty(), "its name is not the file's")?;
    Ok(vector)
}

impl Vector {
    async fn run(self, gate: Gate, pool: &DescriptorPool) -> Result<(), Error> {
        let (code, got) = match self.send(gate, pool).await? {
            Ok(response) => ("OK".to_owned(), serde_json::to_value(response)?),
            Err(status) => (screaming(&format!("{:?}", status.code())), Value::Null),
        };
        require(code == self.want.code, format!("status {code}"))?;
        if code == "OK" {
            matches(&Value::Object(self.want.response), Some(&got), "")?;
        }
        Ok(())
    }

    /// Makes the request and calls the method that the vector names.
    async fn send(
        &self,
        mut gate: Gate,
        pool: &DescriptorPool,
    ) -> Result<Result<DynamicMessage, Status>, Error> {
        let name = |what| format!("hallmark.v1.{}{what}", self.rpc);
        let input = pool.get_message_by_name(&name("Request")).ok_or("no such method")?;
        let output = pool.get_message_by_name(&name("Response")).ok_or("no such method")?;
        let request = DynamicMessage::deserialize(input, self.request.clone())?;
        let raw = match &self.raw_repeat {
            Some(repeat) => Some(BASE64_STANDARD.decode(&repeat.byte)?.repeat(repeat.times)),
            None => None,
        };
        let answer = match self.rpc.as_str() {
            "Validate" => {
                let mut request: ValidateRequest = request.transcode_to()?;
                if let Some(raw) = raw {
                    request.payload = Some(validate_request::Payload::Raw(raw));
                }
                gate.validate(request).await.map(|r| r.into_inner().encode_to_vec())
            }
            "Authorize" => {
                let mut request: AuthorizeRequest = request.transcode_to()?;
                if let Some(raw) = raw {
                    request.payload = Some(authorize_request::Payload::Raw(raw));
                }
                gate.authorize(request).await.map(|r| r.into_inner().encode_to_vec())
            }
            other => return Err(format!("no method {other}").into()),
        };
        match answer {
            Ok(bytes) => Ok(Ok(DynamicMessage::decode(output, bytes.as_slice())?)),
            Err(status) => Ok(Err(status)),
        }
    }
}

/// InvalidArgument as INVALID_ARGUMENT.
fn screaming(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.chars().enumerate() {
        if i > 0 && c.is_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

/// Says where a response is not what was wanted.
fn matches(want: &Value, got: Option<&Value>, at: &str) -> Result<(), String> {
    match (want, got) {
        (Value::Null, got) => require(got.is_none(), format!("{at} is there")),
        (Value::Object(want), Some(Value::Object(got))) => want
            .iter()
            .try_for_each(|(name, value)| matches(value, got.get(name), &format!("{at}/{name}"))),
        (Value::Array(want), Some(Value::Array(got))) if want.len() == got.len() => want
            .iter()
            .zip(got)
            .enumerate()
            .try_for_each(|(i, (want, got))| matches(want, Some(got), &format!("{at}/{i}"))),
        (want, got) => require(got == Some(want), format!("{at} is {got:?}, not {want}")),
    }
}
