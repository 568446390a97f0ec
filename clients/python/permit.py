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
Expect = TypedDict("Expect", {"iss": str, "ten": str, "aud": str, "tool": str, "ver": int, "principal": str})


class PermitRefused(Exception):
    """The permit does not allow this call. The text is the claim or the fault, for logs."""


def permit_keys(jwks_json: str) -> dict[str, Ed25519PublicKey]:
    """Keys of permits by kid, from GetKeys. Fetch anew every few minutes: revoked ones vanish."""
    return {
        key["kid"]: Ed25519PublicKey.from_public_bytes(_decode(key["x"]))
        for key in json.loads(jwks_json)["keys"]
        if key.get("hallmark_kind") == "permit" and key.get("crv") == "Ed25519"
    }


def verify_permit(token: str, keys: Mapping[str, Ed25519PublicKey], want: Expect,
                  obligations: Collection[str], arguments: bytes, now: float) -> dict[str, Any]:
    """The claims of a permit for these bytes, as received. `want` comes from configuration and
    the request, never from the token; `obligations` are those that this executor fulfils.
    Then record jti until exp + SKEW, and only then act: a permit is good once."""
    if len(token) > 8192:
        raise PermitRefused("size")
    try:
        head, body, tail = token.split(".")
        header, claims = json.loads(_decode(head)), json.loads(_decode(body))
        if header != {"alg": "EdDSA", "typ": "hallmark-permit+jwt", "kid": header["kid"]}:
            raise PermitRefused("header")  # another member, type or algorithm than these keys have
        keys[header["kid"]].verify(_decode(tail), f"{head}.{body}".encode())
        for name, value in {**want, "args_sha256": hashlib.sha256(arguments).hexdigest()}.items():
            if claims[name] != value:
                raise PermitRefused(name)
        if not claims["iat"] - SKEW <= now < claims["exp"] + SKEW <= claims["iat"] + 60 + SKEW:
            raise PermitRefused("exp")
        if not set(claims["obl"]) <= set(obligations):
            raise PermitRefused("obl")
    except (InvalidSignature, LookupError, RecursionError, TypeError, ValueError) as fault:
        raise PermitRefused(type(fault).__name__) from None
    return dict(claims)


def _decode(segment: str) -> bytes:
    decoded = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    if base64.urlsafe_b64encode(decoded).decode().rstrip("=") != segment:
        raise ValueError("not base64url")  # one token has one spelling
    return decoded
