//! Permits, as an executor checks them just before it acts.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ed25519_dalek::{Signature, VerifyingKey};
use serde::{Deserialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

/// What was not right; a permit that is refused for anything is refused.
pub type Refused = &'static str;

const SKEW: Duration = Duration::from_secs(5);
const MAX_LIFE: Duration = Duration::from_secs(60);
const MAX_BYTES: usize = 8192;

/// The published keys that verify permits, by their id.
pub struct Keys(BTreeMap<String, VerifyingKey>);

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    hallmark_kind: String,
    kid: String,
    #[serde(default)]
    crv: String,
    #[serde(default)]
    x: String,
}

impl Keys {
    /// Reads a JWK Set; keys of other kinds are left out.
    pub fn read(jwks: &str) -> Result<Keys, Refused> {
        let set: KeySet = serde_json::from_str(jwks).map_err(|_| "no JWK Set")?;
        let mut keys = BTreeMap::new();
        for key in set.keys {
            if key.hallmark_kind == "permit" && key.crv == "Ed25519" {
                let point = decode(&key.x)?.try_into().map_err(|_| "no Ed25519 key")?;
                let verifier = VerifyingKey::from_bytes(&point).map_err(|_| "no Ed25519 key")?;
                keys.insert(key.kid, verifier);
            }
        }
        Ok(Keys(keys))
    }
}

/// The header has these members and no others: nothing that a header could ask for has a
/// place to stand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    alg: String,
    typ: String,
    kid: String,
}

/// What a permit says.
#[derive(Deserialize)]
pub struct Claims {
    iss: String,
    ten: String,
    aud: String,
    tool: String,
    ver: u32,
    pub principal: String,
    iat: u64,
    exp: u64,
    jti: String,
    args_sha256: String,
    obl: Vec<String>,
}

/// What the executor knows of the call that it is asked to execute.
#[derive(Clone)]
pub struct Expect {
    pub issuer: String,
    pub tenant: String,
    pub audience: String,
    pub tool: String,
    pub version: u32,
    pub principal: String,
    pub obligations: Vec<String>,
}

/// Checks a permit for the arguments that are about to be executed. An unknown key is a
/// reason to fetch the keys again, once.
pub fn verify(
    token: &str,
    keys: &Keys,
    want: &Expect,
    arguments: &[u8],
    now: SystemTime,
) -> Result<Claims, Refused> {
    check(token.len() <= MAX_BYTES, "size")?;
    let (signed, signature) = token.rsplit_once('.').ok_or("form")?;
    let (header, claims) = signed.split_once('.').ok_or("form")?;
    let header: Header = object(header).map_err(|_| "header")?;
    check(header.typ == "hallmark-permit+jwt", "typ")?;
    let key = keys.0.get(&header.kid).ok_or("kid")?;
    check(header.alg == "EdDSA", "alg")?;
    let signature = Signature::from_slice(&decode(signature)?).map_err(|_| "signature")?;
    key.verify_strict(signed.as_bytes(), &signature).map_err(|_| "signature")?;

    let claims: Claims = object(claims)?;
    let (issued, expires) = (moment(claims.iat)?, moment(claims.exp)?);
    let life = expires.duration_since(issued).map_err(|_| "exp")?;
    check(!life.is_zero() && life <= MAX_LIFE, "exp")?;
    check(claims.iss == want.issuer, "iss")?;
    check(claims.ten == want.tenant, "ten")?;
    check(claims.aud == want.audience, "aud")?;
    check(claims.tool == want.tool, "tool")?;
    check(claims.ver == want.version, "ver")?;
    check(claims.principal == want.principal, "principal")?;
    check(issued <= now + SKEW, "iat")?;
    check(now < expires + SKEW, "exp")?;
    check(claims.args_sha256 == format!("{:x}", Sha256::digest(arguments)), "args_sha256")?;
    let known = claims.obl.iter().all(|o| want.obligations.contains(o));
    check(known, "obl")?;
    check(!claims.jti.is_empty(), "jti")?;
    Ok(claims)
}

/// Reads an object; serde would also take its members as a list.
fn object<T: DeserializeOwned>(segment: &str) -> Result<T, Refused> {
    let text = decode(segment)?;
    check(text.starts_with(b"{"), "no object")?;
    serde_json::from_slice(&text).map_err(|_| "claims")
}

fn decode(segment: &str) -> Result<Vec<u8>, Refused> {
    BASE64_URL_SAFE_NO_PAD.decode(segment).map_err(|_| "base64url")
}

fn moment(seconds: u64) -> Result<SystemTime, Refused> {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).filter(|_| seconds < 1 << 40).ok_or("time")
}

fn check(holds: bool, place: Refused) -> Result<(), Refused> {
    if holds { Ok(()) } else { Err(place) }
}

/// Remembers permits until they are over, for an executor that is one process.
pub struct Seen {
    most: usize,
    ids: BTreeSet<(SystemTime, String)>,
}

impl Seen {
    pub fn new(most: usize) -> Seen {
        Seen { most, ids: BTreeSet::new() }
    }

    /// True exactly once for a permit; a full record refuses instead of forgetting.
    pub fn first(&mut self, claims: &Claims, now: SystemTime) -> bool {
        self.ids.retain(|(end, _)| now < *end);
        match moment(claims.exp) {
            Ok(expires) if now < expires + SKEW && self.ids.len() < self.most => {
                self.ids.insert((expires + SKEW, claims.jti.clone()))
            }
            _ => false,
        }
    }
}
