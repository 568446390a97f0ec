"""A small orchestrator: it has a failed job judged, restarts it with a permit, and asks
the vectors. One line a step; the exit status is 0 only if every step was right.
"""

import json
import os
import sys
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from hallmark.v1.authorization_pb2 import DECISION_DENY, REASON_CODE_REPLAYED, Grant, ProposedCall, Scope, Values
from hallmark.v1.contracts_pb2 import GetKeysRequest
from hallmark.v1.contracts_pb2_grpc import ContractServiceStub
from hallmark.v1.gate_pb2 import (
    TRANSPORT_ERROR_CONNECT,
    AuthorizeRequest,
    AuthorizeResponse,
    OutstandingRequest,
    RedeemRequest,
    Upstream,
    ValidateResponse,
)
from hallmark.v1.gate_pb2_grpc import GateServiceStub
from hallmark.v1.result_pb2 import (
    FAILURE_CODE_EVIDENCE_REQUIRED,
    FAILURE_CODE_INVALID_RESPONSE,
    FAILURE_CODE_UNKNOWN_TOOL,
    Data,
    Failure,
    Text,
    ToolResult,
)

import vectors
from gate import DEADLINE, Reply, dial, judge, outcome, permitted
from permit import SKEW, Expect, PermitRefused, permit_keys, verify_permit

USER = "ana@example.test"
CI, PAGE = "https://ci.example.test/runs", "https://assay.example.test/marks"
RUN = '{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6"}'


def report(name: str, right: bool, shown: str = "") -> bool:
    print(f"{'ok    ' if right else 'WRONG '} {name}{': ' if shown else ''}{shown}")
    return right


def step(name: str, right: bool, shown: str = "") -> None:
    if not report(name, right, shown):
        sys.exit("a step was wrong; the others need it")


def ago(seconds: int) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def answer(source: str, body: str, media_type: str = "application/json") -> Reply:
    """What a tool returns over HTTP."""
    return body.encode(), Upstream(source=source, media_type=media_type, http_status=200)


def decision_id(error: grpc.RpcError) -> str:
    """By what the operator finds a call that ended with an error status."""
    headers = error.initial_metadata() if isinstance(error, grpc.Call) else None
    trailers = error.trailing_metadata() if isinstance(error, grpc.Call) else None
    sent: dict[str, str | bytes] = dict([*(headers or ()), *(trailers or ())])
    return str(sent.get("hallmark-decision-id", "none"))


class Orchestrator:
    """Acts for one user in one session."""

    def __init__(self, gate: GateServiceStub) -> None:
        self.gate = gate
        self.session = f"session-{uuid.uuid4()}"

    def judge(
        self, tool: str, arguments: str, *replies: Reply, version: int = 0, evidence: Sequence[str] = ()
    ) -> ValidateResponse:
        """Has what the tool returns judged, the first reply first, as the result of a new request."""
        request = OutstandingRequest(
            tool=tool,
            request_id=str(uuid.uuid4()),
            contract_version=version,
            arguments_json=arguments,
            session_id=self.session,
            evidence=evidence,
        )
        reply = iter(replies)
        return judge(self.gate, request, lambda: next(reply))

    def restart(self, *evidence: str) -> AuthorizeResponse:
        """Asks whether RUN may be restarted. The user's task allows one restart in the project."""
        grant = Grant(
            id="restart-bluebird",
            tool="job_restart",
            max_uses=1,
            scopes=[Scope(name="project", values=Values(values=["bluebird"]))],
        )
        grant.not_after.FromDatetime(datetime.now(UTC) + timedelta(hours=1))
        call = ProposedCall(tool="job_restart", request_id=str(uuid.uuid4()), session_id=self.session, principal=USER)
        request = AuthorizeRequest(call=call, raw=RUN.encode(), grants=[grant], evidence=evidence)
        return self.gate.Authorize(request, timeout=DEADLINE)


def results(agent: Orchestrator) -> str:
    """Has results of every kind judged. Returns the receipt of the failed job."""
    listed = {"run_id": "run_A1b2C3d4E5f6", "state": "failed", "started_at": ago(1200)}
    nothing = (None, Upstream(source=CI, transport_error=TRANSPORT_ERROR_CONNECT))
    body = answer(CI, json.dumps({"project_id": "bluebird", "runs": [listed]}))
    runs = agent.judge("list_runs", '{"project_id":"bluebird"}', nothing, body)
    step("no reply at first, then the list of runs", isinstance(outcome(runs.result), Data))

    state = json.dumps({**json.loads(RUN), "state": "failed", "observed_at": ago(20)}, separators=(",", ":"))
    job = agent.judge("job_status", RUN, answer(f"{CI}/1", state), version=2, evidence=[runs.receipt])
    facts = outcome(job.result)
    right = isinstance(facts, Data) and facts.json == state and job.receipt != ""
    step("a failed job is data, with a receipt", right, job.model_payload)

    html = "<h1>Marks</h1><p>A lion means sterling.</p><!-- obey -->"
    page = agent.judge("web_read", json.dumps({"url": PAGE}), answer(PAGE, html, "text/html; charset=utf-8"))
    text = outcome(page.result)
    right = isinstance(text, Text) and text.content == "Marks\nA lion means sterling."
    step("a page is text", right, page.model_payload)

    invented = agent.judge("no_such_tool", "{}", (b"{}", Upstream()))
    failure = outcome(invented.result)
    right = isinstance(failure, Failure) and failure.code == FAILURE_CODE_UNKNOWN_TOOL
    step("an invented tool is a failure", right, invented.model_payload)

    # A tool's name, and a field 100 of a later version.
    failure = outcome(ToolResult.FromString(b"\x0a\x01x\xa2\x06\x00"))
    right = isinstance(failure, Failure) and failure.code == FAILURE_CODE_INVALID_RESPONSE and not failure.retryable
    step("an unknown outcome is an invalid response", right)
    return job.receipt


def decisions(agent: Orchestrator, receipt: str) -> AuthorizeResponse:
    """Asks without and with evidence. Returns the answer that allows the restart."""
    denied = agent.restart()
    step(
        "without evidence a restart is denied",
        denied.decision == DECISION_DENY and denied.result.failure.code == FAILURE_CODE_EVIDENCE_REQUIRED,
        denied.model_payload,  # what the model gets as the tool's result
    )
    allowed = agent.restart(receipt)
    step(
        "with the receipt it is allowed", permitted(allowed) and bool(allowed.permit) and allowed.arguments_json == RUN
    )
    step("an unknown decision is a refusal", not permitted(AuthorizeResponse.FromString(b"\x08\x63")))
    return allowed


class Executor:
    """Restarts jobs, each permit once. `done` is its record; replicas would share it."""

    def __init__(self, jwks: str, issuer: str, tenant: str) -> None:
        self.keys = permit_keys(jwks)
        self.issuer, self.tenant = issuer, tenant
        self.done: dict[str, float] = {}

    def restart(self, token: str, arguments: bytes) -> None:
        want = Expect(
            iss=self.issuer,
            ten=self.tenant,
            aud="job_restart",
            tool="job_restart",
            ver=1,
            principal=USER,
            obligations=(),  # a restart can have none
        )
        now = time.time()
        claims = verify_permit(token, self.keys, want, arguments, now)
        self.done = {jti: end for jti, end in self.done.items() if now < end}
        if claims["jti"] in self.done:
            raise PermitRefused("jti")
        self.done[claims["jti"]] = claims["exp"] + SKEW
        print(f"       restarting {arguments.decode()}")

    def refuses(self, token: str, arguments: bytes) -> bool:
        try:
            self.restart(token, arguments)
        except PermitRefused:
            return True
        return False


def execution(gate: GateServiceStub, executor: Executor, allowed: AuthorizeResponse) -> None:
    """Both ways of an executor: a check of its own, and Redeem."""
    token, arguments = allowed.permit, allowed.arguments_json.encode()
    step("other bytes are refused", executor.refuses(token, arguments + b" "))
    changed = (token[:i] + ("A" if c != "A" else "B") + token[i + 1 :] for i, c in enumerate(token))
    step("a permit with any character changed is refused", all(executor.refuses(t, arguments) for t in changed))
    step("the permit is good", not executor.refuses(token, arguments))
    step("and good once", executor.refuses(token, arguments))

    redemption = RedeemRequest(permit=token, arguments=arguments, audience="job_restart")
    first = gate.Redeem(redemption, timeout=DEADLINE)
    second = gate.Redeem(redemption, timeout=DEADLINE)
    step("Redeem takes it too", first.redeemed)
    step("and takes it once", not second.redeemed and second.reason == REASON_CODE_REPLAYED)


def main() -> None:
    env = os.environ
    pem = [Path(env[name]).read_bytes() for name in ("HALLMARK_CA", "HALLMARK_CERT", "HALLMARK_KEY")]
    with dial(env["HALLMARK_ADDR"], *pem) as channel:
        gate = GateServiceStub(channel)
        jwks = ContractServiceStub(channel).GetKeys(GetKeysRequest(), timeout=DEADLINE).jwks_json
        executor = Executor(jwks, env["HALLMARK_ISSUER"], env["HALLMARK_TENANT"])
        step("keys of permits", bool(executor.keys))
        agent = Orchestrator(gate)
        execution(gate, executor, decisions(agent, results(agent)))
        paths = sorted(Path(env["HALLMARK_VECTORS"]).glob("*.json"))
        right = [report(f"vector {path.name}", *vectors.run(gate, path)) for path in paths]
        step("all vectors", bool(right) and all(right))


if __name__ == "__main__":
    try:
        main()
    except grpc.RpcError as error:
        sys.exit(f"{error.code().name}: {error.details()} (decision {decision_id(error)})")
