"""How an orchestrator talks to Hallmark: the connection, outcomes, retries, decisions."""

import itertools
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import grpc
from hallmark.v1.authorization_pb2 import DECISION_ALLOW
from hallmark.v1.gate_pb2 import AuthorizeResponse, OutstandingRequest, Upstream, ValidateRequest, ValidateResponse
from hallmark.v1.gate_pb2_grpc import GateServiceStub
from hallmark.v1.result_pb2 import FAILURE_CODE_INVALID_RESPONSE, Data, Failure, Text, ToolResult

DEADLINE = 10  # seconds for one call, its repeats included

# What came of a call of a tool: the bytes as received, or None where there was no reply.
Reply = tuple[bytes | None, Upstream]

SERVICE_CONFIG = (Path(__file__).parent.parent / "service-config.json").read_text()


def dial(address: str, ca: bytes, certificate: bytes, key: bytes) -> grpc.Channel:
    """A channel with mutual TLS, over all addresses of the name. Close it after use."""
    credentials = grpc.ssl_channel_credentials(ca, key, certificate)
    return grpc.secure_channel(address, credentials, options=[("grpc.service_config", SERVICE_CONFIG)])


def outcome(result: ToolResult) -> Data | Text | Failure:
    """What a result says; an outcome that this program does not know is a broken reply."""
    match result.WhichOneof("outcome"):
        case "data":
            return result.data
        case "text":
            return result.text
        case "failure":
            return result.failure
        case _:
            return Failure(code=FAILURE_CODE_INVALID_RESPONSE, retryable=False)


def permitted(answer: AuthorizeResponse) -> bool:
    """Whether a call may be executed: anything but ALLOW, known or not, is a refusal."""
    return answer.decision == DECISION_ALLOW


def judge(gate: GateServiceStub, request: OutstandingRequest, call_tool: Callable[[], Reply]) -> ValidateResponse:
    """Calls the tool and has its bytes judged, again for as long as the service advises it.

    Until this returns, nothing goes to the model.
    """
    request.issued_at.GetCurrentTime()
    request.first_attempt_at.CopyFrom(request.issued_at)
    for request.attempt in itertools.count(1):
        raw, upstream = call_tool()
        question = ValidateRequest(request=request, upstream=upstream)
        if raw is not None:
            question.raw = raw
        reply = gate.Validate(question, timeout=DEADLINE)
        retry, delay = reply.retry, reply.retry.delay.ToTimedelta()
        end = retry.not_after.ToDatetime(UTC)
        if not retry.allowed or datetime.now(UTC) + delay > end:
            return reply
        time.sleep(delay.total_seconds())
    raise AssertionError("unreachable")
