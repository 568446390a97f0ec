"""Runs one vector: one question to the service and its one right answer. The format is
described in ../vectors/README.md.
"""

import base64
import json
import re
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import json_format
from google.protobuf.message import Message
from hallmark.v1.gate_pb2 import AuthorizeRequest, AuthorizeResponse, ValidateRequest, ValidateResponse
from hallmark.v1.gate_pb2_grpc import GateServiceStub

from gate import DEADLINE


def run(gate: GateServiceStub, path: Path) -> tuple[bool, str]:
    """Sends the vector of a file; whether the answer is right, and how it is wrong."""
    vector = json.loads(_fill(path.read_text(encoding="utf-8")), object_pairs_hook=_members)
    _only(vector, {"name", "why", "rpc", "request", "raw_repeat", "want"})
    _only(vector["want"], {"code", "response"})
    request = {"Validate": ValidateRequest, "Authorize": AuthorizeRequest}[vector["rpc"]]()
    json_format.ParseDict(vector["request"], request)
    if repeat := vector.get("raw_repeat"):
        _only(repeat, {"byte", "times"})
        request.raw = base64.b64decode(repeat["byte"], validate=True) * repeat["times"]
    code, response = "OK", None
    try:
        response = _send(gate, request)
    except grpc.RpcError as error:
        code = error.code().name
    if vector["name"] != path.stem or code != vector["want"]["code"]:
        return False, f"{vector['name']} ended with {code}"
    if response is None:
        return "response" not in vector["want"], ""
    wrong = _differs(vector["want"]["response"], json_format.MessageToDict(response), "response")
    return wrong == "", wrong


def _send(gate: GateServiceStub, request: Message) -> ValidateResponse | AuthorizeResponse:
    if isinstance(request, ValidateRequest):
        return gate.Validate(request, timeout=DEADLINE)
    assert isinstance(request, AuthorizeRequest)
    return gate.Authorize(request, timeout=DEADLINE)


def _fill(text: str) -> str:
    now = datetime.now(UTC)
    text = text.replace("{{id}}", secrets.token_hex(8))
    return re.sub(
        r"\{\{now([+-]\d+)s\}\}",
        lambda m: (now + timedelta(seconds=int(m[1]))).strftime("%Y-%m-%dT%H:%M:%SZ"),
        text,
    )


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is there twice")
    return members


def _only(value: dict[str, Any], known: set[str]) -> None:
    if unknown := value.keys() - known:
        raise ValueError(f"unknown members: {sorted(unknown)}")


def _differs(want: Any, got: Any, at: str) -> str:
    """Where got differs from want; "" where it is right."""
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return f"{at} is {got!r}"
        return next(filter(None, (_member(value, got, name, at) for name, value in want.items())), "")
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return f"{at} is {got!r}"
        return next(
            filter(None, (_differs(w, g, f"{at}[{i}]") for i, (w, g) in enumerate(zip(want, got, strict=True)))), ""
        )
    return "" if type(want) is type(got) and want == got else f"{at} is {got!r}, not {want!r}"


def _member(want: Any, got: dict[str, Any], name: str, at: str) -> str:
    if want is None:
        return f"{at}.{name} is there" if name in got else ""
    return _differs(want, got[name], f"{at}.{name}") if name in got else f"{at}.{name} is missing"
