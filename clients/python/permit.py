"""The recipe: what an executor checks before it acts. Copy this file. It reads one shape of
JWS, so that nothing in a token can choose a key, an algorithm or an extension (RFC 8725)."""

import base64
import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any, TypedDict

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SKEW = 5  # seconds that two clocks may be apart
Keys = Mapping[str, Ed25519PublicKey]
# From configuration and request, never from the token; obligations: those it always fulfils.
Expect = TypedDict(
    "Expect",
    {"iss": str, "ten": str, "aud": str, "tool": str, "ver": int, "principal": str, "obligations": Collection[str]},
)


class PermitRefused(Exception):
    """The permit does not allow this call. The text is the claim or the fault, for logs."""


def permit_keys(jwks_json: str) -> Keys:
    """Keys of permits by kid, from GetKeys. Fetch anew every few minutes: revoked ones vanish."""
    keys = [key for key in json.loads(jwks_json)["keys"] if key.get("hallmark_kind") == "permit"]
    return {k["kid"]: Ed25519PublicKey.from_public_bytes(_decode(k["x"])) for k in keys if k.get("crv") == "Ed25519"}


def verify_permit(token: str, keys: Keys, want: Expect, arguments: bytes, now: float) -> dict[str, Any]:
    """The claims of a permit for these argument bytes, as they were received. Next record jti
    until exp + SKEW, and only then act: a permit is good once."""
    try:
        head, body, tail = token.split(".")
        header = _object(head)
        if len(token) > 8192 or header != {"alg": "EdDSA", "typ": "hallmark-permit+jwt", "kid": header["kid"]}:
            raise PermitRefused("header")  # another member, type or algorithm than these keys have
        keys[header["kid"]].verify(_decode(tail), f"{head}.{body}".encode())
        claims = _object(body)
        expected = {**want, "args_sha256": hashlib.sha256(arguments).hexdigest()}
        for name in ("iss", "ten", "aud", "tool", "ver", "principal", "args_sha256"):
            if (type(claims[name]), claims[name]) != (type(expected[name]), expected[name]):
                raise PermitRefused(name)  # True == 1 == 1.0, but not here
        iat, exp, obligations = claims["iat"], claims["exp"], claims["obl"]
        if (type(iat), type(exp)) != (int, int) or not 0 < exp - iat <= 60 or not iat - SKEW <= now < exp + SKEW:
            raise PermitRefused("exp")
        if type(obligations) is not list or not set(obligations) <= set(want["obligations"]):
            raise PermitRefused("obl")
        if type(claims["jti"]) is not str or not claims["jti"]:
            raise PermitRefused("jti")
    except (InvalidSignature, LookupError, RecursionError, TypeError, ValueError) as fault:
        raise PermitRefused(type(fault).__name__) from None
    return claims


def _object(segment: str) -> dict[str, Any]:
    text = _decode(segment).decode()
    value = json.loads(text)
    if type(value) is not dict or json.dumps(value, ensure_ascii=False, separators=(",", ":")) != text:
        raise ValueError("not as the service writes it")  # a name that stands twice, say
    return value


def _decode(segment: str) -> bytes:
    decoded = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    if base64.urlsafe_b64encode(decoded).decode().rstrip("=") != segment:
        raise ValueError("not base64url")  # one token has one spelling
    return decoded
