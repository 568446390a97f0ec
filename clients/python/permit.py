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
        header = json.loads(_decode(head))
        if len(token) > 8192 or header != {"alg": "EdDSA", "typ": "hallmark-permit+jwt", "kid": header["kid"]}:
            raise PermitRefused("header")  # another member, type or algorithm than these keys have
        keys[header["kid"]].verify(_decode(tail), f"{head}.{body}".encode())
        claims: dict[str, Any] = json.loads(_decode(body))
        expected = {**want, "args_sha256": hashlib.sha256(arguments).hexdigest()}
        for name in ("iss", "ten", "aud", "tool", "ver", "principal", "args_sha256"):
            if claims[name] != expected[name]:
                raise PermitRefused(name)
        if not claims["iat"] - SKEW <= now < claims["exp"] + SKEW <= claims["iat"] + 60 + SKEW:
            raise PermitRefused("exp")
        if not set(claims["obl"]) <= set(want["obligations"]):
            raise PermitRefused("obl")
    except (InvalidSignature, LookupError, RecursionError, TypeError, ValueError) as fault:
        raise PermitRefused(type(fault).__name__) from None
    return claims


def _decode(segment: str) -> bytes:
    decoded = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    if base64.urlsafe_b64encode(decoded).decode().rstrip("=") != segment:
        raise ValueError("not base64url")  # one token has one spelling
    return decoded
