//! The orchestrator's task: find the failed run of a project, and start it again.

use std::time::{Duration, SystemTime};

use prost_types::Timestamp;

use crate::{
    Error, Gate,
    hallmark::v1::{
        AuthorizeRequest, AuthorizeResponse, Decision, FailureCode, Grant, OutstandingRequest,
        ProposedCall, Scope, ToolResult, TransportError, Upstream, ValidateRequest, Values,
        authorize_request, grant, scope, tool_result::Outcome, upstream, validate_request,
    },
    patiently, require, step,
};

pub const PRINCIPAL: &str = "ana@example.test";
const ARGUMENTS: &str = r#"{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6"}"#;

/// A permission to execute: the permit, and the bytes that it is for.
pub struct Allowed {
    pub permit: String,
    pub arguments: String,
}

pub async fn restart(gate: &Gate) -> Result<Allowed, Error> {
    let task = Task { gate, session: unique("task-")? };
    let runs = task
        .result("list_runs", 1, r#"{"project_id":"bluebird"}"#, vec![], |_| list_runs())
        .await
        .and_then(Judged::with_receipt);
    let runs = step("list_runs: data, and a receipt", runs)?;
    // A tool that cannot be reached the first time.
    let flaky = |attempt| if attempt == 1 { unreachable() } else { job_status() };
    let job = task
        .result("job_status", 2, ARGUMENTS, vec![runs.receipt], flaky)
        .await
        .and_then(Judged::with_receipt);
    let job = step("job_status: no connection, then as advised a failed run, and a receipt", job)?;
    step("what this client does not know is a refusal", refuses_the_unknown())?;

    let denied = task.propose(vec![]).await?;
    let refused = !permitted(&denied) && !denied.model_payload.is_empty();
    let what = format!("job_restart without evidence: the model reads {}", denied.model_payload);
    step(&what, require(refused, "it is not refused"))?;
    let allowed = task.propose(vec![job.receipt]).await?;
    let reasons = format!("{} {:?}", allowed.decision, allowed.reasons);
    step("job_restart with the receipt: a permit", require(permitted(&allowed), reasons))?;
    Ok(Allowed { permit: allowed.permit, arguments: allowed.arguments_json })
}

/// A judged result, and the receipt for it.
struct Judged {
    outcome: Judgement,
    receipt: String,
}

#[derive(Debug, PartialEq)]
#[allow(dead_code, reason = "what an orchestrator gives to its model is shown whole")]
enum Judgement {
    Data { json: String },
    Text { content: String },
    Failure { code: FailureCode, retryable: bool },
}

/// Takes a result apart. What this client does not know is a broken contract.
fn read(result: Option<ToolResult>) -> Judgement {
    match result.and_then(|r| r.outcome) {
        Some(Outcome::Data(data)) => Judgement::Data { json: data.json },
        Some(Outcome::Text(text)) => Judgement::Text { content: text.content },
        Some(Outcome::Failure(failure)) => match FailureCode::try_from(failure.code) {
            Ok(code) => Judgement::Failure { code, retryable: failure.retryable() },
            Err(_) => Judgement::Failure { code: FailureCode::InvalidResponse, retryable: false },
        },
        None => Judgement::Failure { code: FailureCode::InvalidResponse, retryable: false },
    }
}

impl Judged {
    fn with_receipt(self) -> Result<Judged, Error> {
        let usable = matches!(self.outcome, Judgement::Data { .. }) && !self.receipt.is_empty();
        require(usable, format!("no data with a receipt, but {:?}", self.outcome))?;
        Ok(self)
    }
}

/// What a tool returned, and how it came; no bytes: there was no reply.
type Reply = (Option<Vec<u8>>, Upstream);

/// One task of a user.
struct Task<'a> {
    gate: &'a Gate,
    session: String,
}

impl Task<'_> {
    /// Calls a tool and has its reply judged, again for as long as the service advises.
    async fn result(
        &self,
        tool: &str,
        version: u32,
        arguments: &str,
        evidence: Vec<String>,
        mut call: impl FnMut(u32) -> Reply,
    ) -> Result<Judged, Error> {
        let mut request = OutstandingRequest {
            tool: tool.into(),
            contract_version: version,
            request_id: unique("req.")?,
            session_id: self.session.clone(),
            arguments_json: arguments.into(),
            evidence,
            first_attempt_at: Some(SystemTime::now().into()),
            ..Default::default()
        };
        loop {
            request.attempt += 1;
            request.issued_at = Some(SystemTime::now().into());
            let (raw, upstream) = call(request.attempt);
            let message = ValidateRequest {
                request: Some(request.clone()),
                payload: raw.map(validate_request::Payload::Raw),
                upstream: Some(upstream),
            };
            let judged = patiently(|| {
                let (mut gate, message) = (self.gate.clone(), message.clone());
                async move { gate.validate(message).await }
            })
            .await?;
            let advice = judged.retry.unwrap_or_default();
            let pause = Duration::try_from(advice.delay.unwrap_or_default())?;
            let end = SystemTime::try_from(advice.not_after.unwrap_or_default())?;
            if !advice.allowed.unwrap_or_default() || SystemTime::now() + pause > end {
                return Ok(Judged { outcome: read(judged.result), receipt: judged.receipt });
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Asks whether the call may be executed, with what the user's task allows.
    async fn propose(&self, evidence: Vec<String>) -> Result<AuthorizeResponse, Error> {
        let bluebird = Scope {
            name: "project".into(),
            allowed: Some(scope::Allowed::Values(Values { values: vec!["bluebird".into()] })),
        };
        let request = AuthorizeRequest {
            call: Some(ProposedCall {
                tool: "job_restart".into(),
                request_id: unique("req.")?,
                session_id: self.session.clone(),
                principal: PRINCIPAL.into(),
                ..Default::default()
            }),
            payload: Some(authorize_request::Payload::Raw(ARGUMENTS.into())),
            grants: vec![Grant {
                id: "restart-bluebird".into(),
                tool: "job_restart".into(),
                scopes: vec![bluebird],
                not_after: Some((SystemTime::now() + Duration::from_secs(3600)).into()),
                uses: Some(grant::Uses::MaxUses(1)),
            }],
            evidence,
            ..Default::default()
        };
        let answer = patiently(|| {
            let (mut gate, request) = (self.gate.clone(), request.clone());
            async move { gate.authorize(request).await }
        });
        Ok(answer.await?)
    }
}

/// Whether a call may be executed: ALLOW, and nothing else. An enum of a later service
/// arrives as its number.
fn permitted(answer: &AuthorizeResponse) -> bool {
    answer.decision == Decision::Allow as i32
}

/// Feeds this client what a later service might answer.
fn refuses_the_unknown() -> Result<(), String> {
    let invalid = Judgement::Failure { code: FailureCode::InvalidResponse, retryable: false };
    let unknown = read(Some(ToolResult::default()));
    require(unknown == invalid, format!("an unknown outcome is read as {unknown:?}"))?;
    let later = AuthorizeResponse { decision: 99, ..Default::default() };
    let permits = permitted(&later) || permitted(&AuthorizeResponse::default());
    require(!permits, "an unknown decision is a permission")
}

/// A name that nobody has had before.
pub fn unique(prefix: &str) -> Result<String, Error> {
    Ok(format!("{prefix}{}", crate::vectors::random_id()?))
}

// The tools: a CI system, as it might answer.

fn list_runs() -> Reply {
    let body = format!(
        r#"{{"project_id":"bluebird","runs":[{{"run_id":"run_A1b2C3d4E5f6","state":"failed","started_at":"{}"}}]}}"#,
        ago(1200)
    );
    answered("https://ci.example.test/runs", body)
}

fn job_status() -> Reply {
    let body = format!(
        r#"{{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6","state":"failed","observed_at":"{}"}}"#,
        ago(20)
    );
    answered("https://ci.example.test/runs/1", body)
}

fn unreachable() -> Reply {
    let upstream = Upstream {
        source: "https://ci.example.test/runs/1".into(),
        status: Some(upstream::Status::TransportError(TransportError::Connect as i32)),
        ..Default::default()
    };
    (None, upstream)
}

fn answered(source: &str, body: String) -> Reply {
    let upstream = Upstream {
        source: source.into(),
        media_type: "application/json".into(),
        status: Some(upstream::Status::HttpStatus(200)),
        received_at: Some(SystemTime::now().into()),
        ..Default::default()
    };
    (Some(body.into_bytes()), upstream)
}

fn ago(seconds: i64) -> String {
    let now = Timestamp::from(SystemTime::now());
    Timestamp { seconds: now.seconds - seconds, nanos: 0 }.to_string()
}
