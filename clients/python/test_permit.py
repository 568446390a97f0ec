"""What the recipe takes and refuses, with keys of the test's own."""

import base64
import hashlib
import json
import unittest
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from permit import PermitRefused, permit_keys, verify_permit

NOW = 1_800_000_000
ARGUMENTS = b'{"run_id":"run_A1b2C3d4E5f6"}'
BOUND: Any = {
    "iss": "gate.example.test",
    "ten": "acme",
    "aud": "ci",
    "tool": "job_restart",
    "ver": 1,
    "principal": "ana",
}
WANT: Any = {**BOUND, "obligations": {"no-redirects"}}
HEADER = {"alg": "EdDSA", "typ": "hallmark-permit+jwt", "kid": "k1"}
CLAIMS: dict[str, Any] = {
    **BOUND, "iat": NOW, "exp": NOW + 60, "jti": "p1", "sid": "s", "req": "r", "dec": "d",
    "args_sha256": hashlib.sha256(ARGUMENTS).hexdigest(), "obl": ["no-redirects"],
}  # fmt: skip
SIGNER, OTHER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign(header: Any, claims: Any, signer: Ed25519PrivateKey = SIGNER) -> str:
    signed = ".".join(encode(json.dumps(part, separators=(",", ":")).encode()) for part in (header, claims))
    return f"{signed}.{encode(signer.sign(signed.encode()))}"


def jwk(kid: str, signer: Ed25519PrivateKey, kind: str) -> dict[str, str]:
    public = encode(signer.public_key().public_bytes_raw())
    return {"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": public, "hallmark_kind": kind}


KEYS = permit_keys(
    json.dumps(
        {
            "keys": [
                jwk("k1", SIGNER, "permit"),
                jwk("k2", OTHER, "challenge"),
                {"kty": "AKP", "hallmark_kind": "permit"},
            ]
        }
    )
)


def verify(token: str, now: float = NOW, arguments: bytes = ARGUMENTS, **want: Any) -> dict[str, Any]:
    expect: Any = {**WANT, **want}
    return verify_permit(token, KEYS, expect, arguments, now)


class Recipe(unittest.TestCase):
    def test_permits_of_all_languages(self) -> None:
        file = json.loads(Path("../permits.json").read_text(encoding="utf-8"))
        keys = permit_keys(json.dumps(file["jwks"]))
        for row in file["permits"]:
            with self.subTest(row["name"]):
                arguments = row.get("arguments", file["arguments"]).encode()
                try:
                    verify_permit(row["token"], keys, file["expect"], arguments, row.get("now", file["now"]))
                    taken = True
                except PermitRefused:
                    taken = False
                self.assertEqual(taken, row["taken"])

    def test_takes(self) -> None:
        good = sign(HEADER, CLAIMS)
        for now in (NOW - 5, NOW, NOW + 64.9):
            self.assertEqual(verify(good, now), CLAIMS)
        plain = sign(dict(reversed(HEADER.items())), {**CLAIMS, "obl": []})
        self.assertEqual(verify(plain, obligations=())["jti"], "p1")

    def test_refuses(self) -> None:
        good = sign(HEADER, CLAIMS)
        head, body, tail = good.split(".")
        last = tail[:-1] + chr(ord(tail[-1]) + 1)  # other bits that no byte has
        rows = {
            "no key": sign({**HEADER, "kid": "k9"}, CLAIMS),
            "key of another kind": sign({**HEADER, "kid": "k2"}, CLAIMS, OTHER),
            "another's signature": sign(HEADER, CLAIMS, OTHER),
            "header of lists": sign([["alg", "EdDSA"]], CLAIMS),
            "kid a list": sign({**HEADER, "kid": ["k1"]}, CLAIMS),
            "no kid": sign({"alg": "EdDSA", "typ": HEADER["typ"]}, CLAIMS),
            "claims a list": sign(HEADER, [CLAIMS]),
            "deep": f"{encode(b'[' * 6000)}.e30.AA",
            "long": sign(HEADER, {**CLAIMS, "note": "A" * 9000}),
            "two parts": f"{head}.{body}",
            "four parts": f"{good}.",
            "no signature": f"{head}.{body}.",
            "padded": f"{good}==",
            "line end": f"{good}\n",
            "stray bits": f"{head}.{body}.{last}",
            "lone surrogate": f"{good}\ud800",
            "life of an hour": sign(HEADER, {**CLAIMS, "exp": NOW + 3600}),
            "end as text": sign(HEADER, {**CLAIMS, "exp": str(NOW + 60)}),
            "start as text": sign(HEADER, {**CLAIMS, "iat": str(NOW)}),
            "no time": sign(HEADER, {**CLAIMS, "exp": float("nan")}),
            "unknown obligation": sign(HEADER, {**CLAIMS, "obl": ["open-beneath"]}),
        }
        for alg in ("none", "HS256", "ES256", "eddsa", None):
            rows[f"alg {alg}"] = sign({**HEADER, "alg": alg}, CLAIMS)
        for typ in ("JWT", "hallmark-challenge+jwt", "hallmark-receipt+jwt"):
            rows[f"typ {typ}"] = sign({**HEADER, "typ": typ}, CLAIMS)
        for name in ("jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "cty"):
            rows[f"header {name}"] = sign({**HEADER, name: []}, CLAIMS)
        for name in (*BOUND, "args_sha256", "iat", "exp", "obl"):
            rows[f"without {name}"] = sign(HEADER, {k: v for k, v in CLAIMS.items() if k != name})
        for name in (*BOUND, "args_sha256"):
            rows[f"other {name}"] = sign(HEADER, {**CLAIMS, name: "other"})
        for line, token in rows.items():
            with self.subTest(line), self.assertRaises(PermitRefused):
                verify(token)

    def test_refuses_circumstances(self) -> None:
        good = sign(HEADER, CLAIMS)
        for now in (NOW - 5.1, NOW + 65, float("nan")):
            with self.subTest(now), self.assertRaises(PermitRefused):
                verify(good, now)
        for arguments in (b"", ARGUMENTS + b" ", ARGUMENTS.upper()):
            with self.subTest(arguments), self.assertRaises(PermitRefused):
                verify(good, arguments=arguments)
        for name in WANT:
            with self.subTest(f"no {name} is expected"), self.assertRaises(PermitRefused):
                less: Any = {k: v for k, v in WANT.items() if k != name}
                verify_permit(good, KEYS, less, ARGUMENTS, NOW)
        for name in BOUND:
            with self.subTest(f"another {name} is expected"), self.assertRaises(PermitRefused):
                other: Any = {**WANT, name: "other"}
                verify_permit(good, KEYS, other, ARGUMENTS, NOW)
        with self.subTest("obligation that nobody fulfils"), self.assertRaises(PermitRefused):
            verify(good, obligations={"open-beneath"})


if __name__ == "__main__":
    unittest.main()
