//! Offers [`permit::verify`] what every language takes and refuses; ../README.md says what
//! the members mean.

use std::{
    fs,
    time::{Duration, UNIX_EPOCH},
};

use serde::Deserialize;
use serde_json::Value;

use crate::{
    Error,
    permit::{self, Expect, Keys},
    require,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    jwks: Value,
    now: u64,
    arguments: String,
    expect: Bound,
    permits: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bound {
    iss: String,
    ten: String,
    aud: String,
    tool: String,
    ver: u32,
    principal: String,
    obligations: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    taken: bool,
    now: Option<u64>,
    arguments: Option<String>,
    token: String,
}

pub fn run_all(path: &str) -> Result<(), Error> {
    let file: File = serde_json::from_slice(&fs::read(path)?)?;
    let keys = Keys::read(&file.jwks.to_string())?;
    let bound = file.expect;
    let expect = Expect {
        issuer: bound.iss,
        tenant: bound.ten,
        audience: bound.aud,
        tool: bound.tool,
        version: bound.ver,
        principal: bound.principal,
        obligations: bound.obligations,
    };
    for row in file.permits {
        let now = UNIX_EPOCH + Duration::from_secs(row.now.unwrap_or(file.now));
        let arguments = row.arguments.as_ref().unwrap_or(&file.arguments);
        let taken = permit::verify(&row.token, &keys, &expect, arguments.as_bytes(), now).is_ok();
        require(taken == row.taken, format!("permit {}: taken is {taken}", row.name))?;
    }
    Ok(())
}
