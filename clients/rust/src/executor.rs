//! What the executor of job_restart does with a permit and the bytes that it is to act on.

use std::{
    env,
    time::{Duration, SystemTime},
};

use tonic::transport::Channel;

use crate::{
    Error, Gate,
    hallmark::v1::{
        GetKeysRequest, ReasonCode, RedeemRequest, contract_service_client::ContractServiceClient,
    },
    orchestrator::{Allowed, PRINCIPAL},
    patiently,
    permit::{self, Expect, Keys, Seen},
    require, step,
};

pub async fn execute(
    gate: &Gate,
    contracts: ContractServiceClient<Channel>,
    allowed: &Allowed,
) -> Result<(), Error> {
    let published = patiently(|| {
        let mut contracts = contracts.clone();
        async move { contracts.get_keys(GetKeysRequest {}).await }
    });
    let keys = Keys::read(&published.await?.jwks_json)?;
    // What the executor knows from its configuration, never from the permit.
    let expect = Expect {
        issuer: env::var("HALLMARK_ISSUER")?,
        tenant: env::var("HALLMARK_TENANT")?,
        audience: "job_restart".into(),
        tool: "job_restart".into(),
        version: 1,
        principal: PRINCIPAL.into(),
        obligations: Vec::new(),
    };
    let arguments = allowed.arguments.as_bytes();
    let now = SystemTime::now();
    let checked = permit::verify(&allowed.permit, &keys, &expect, arguments, now);
    let claims = step("the permit is good for these bytes", checked)?;
    step("and for no others", takes_no_other(allowed, &keys, &expect))?;

    // Recorded before the act: nothing acts twice on one permit.
    let mut seen = Seen::new(1000);
    require(seen.first(&claims, SystemTime::now()), "a new permit counts as used")?;
    println!("       restarting {} for {}", allowed.arguments, claims.principal);
    let again = seen.first(&claims, SystemTime::now());
    step("the permit is used up", require(!again, "it is good twice"))?;
    step("Redeem, for executors without a record: once", redeem(gate, allowed).await)
}

/// Offers the permit for what it was not issued for.
fn takes_no_other(good: &Allowed, keys: &Keys, expect: &Expect) -> Result<(), String> {
    let now = SystemTime::now();
    let longer = format!("{} ", good.arguments);
    let at = good.permit.len() - 10;
    let other = if good.permit[at..].starts_with('A') { "B" } else { "A" };
    let mut forged = good.permit.clone();
    forged.replace_range(at..=at, other);
    let eve = Expect { principal: "eve@example.test".into(), ..expect.clone() };
    let elsewhere = Expect { audience: "deploy".into(), ..expect.clone() };
    let (earlier, later) = (now - Duration::from_secs(60), now + Duration::from_secs(120));
    for (what, token, expect, arguments, now) in [
        ("one byte more", &good.permit, expect, &longer, now),
        ("another signature", &forged, expect, &good.arguments, now),
        ("later", &good.permit, expect, &good.arguments, later),
        ("earlier", &good.permit, expect, &good.arguments, earlier),
        ("another executor", &good.permit, &elsewhere, &good.arguments, now),
        ("another user", &good.permit, &eve, &good.arguments, now),
    ] {
        let refused = permit::verify(token, keys, expect, arguments.as_bytes(), now).is_err();
        require(refused, format!("it is good for: {what}"))?;
    }
    Ok(())
}

/// Leaves check and record to the service.
async fn redeem(gate: &Gate, allowed: &Allowed) -> Result<(), Error> {
    let request = RedeemRequest {
        permit: allowed.permit.clone(),
        arguments: allowed.arguments.clone().into_bytes(),
        audience: "job_restart".into(),
    };
    let once = || {
        let (mut gate, request) = (gate.clone(), request.clone());
        async move { gate.redeem(request).await }
    };
    let (first, second) = (patiently(once).await?, patiently(once).await?);
    let right = first.redeemed() && !second.redeemed() && second.reason() == ReasonCode::Replayed;
    require(right, format!("redeemed {first:?}, then {second:?}"))?;
    Ok(())
}
