/**
 * The recipe: what an executor checks before it acts. Copy this file. It reads one shape of
 * JWS, so that nothing in a token can choose a key, an algorithm or an extension (RFC 8725).
 */
import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";

export const SKEW = 5; // seconds that two clocks may be apart
export type Keys = ReadonlyMap<string, KeyObject>;
export type Bound = { iss: string; ten: string; aud: string; tool: string; ver: number; principal: string };
/** What the executor knows from its configuration and the request, never from the token, and what it fulfils, always. */
export type Expect = Bound & { obligations: ReadonlySet<string> };
export type Claims = Bound & { args_sha256: string; iat: number; exp: number; jti: string; obl: string[] };

/** The permit does not allow this call. The message is the claim or the fault, for logs. */
export class PermitRefused extends Error {}

/** Keys of permits by kid, from GetKeys. Fetch anew every few minutes: revoked ones vanish. */
export function permitKeys(jwksJson: string): Keys {
  const { keys } = JSON.parse(jwksJson) as { keys: Record<string, string>[] };
  const usable = keys.filter((k) => k.hallmark_kind === "permit" && k.crv === "Ed25519");
  return new Map(usable.map((k) => [String(k.kid), createPublicKey({ format: "jwk", key: k })]));
}

/**
 * The claims of a permit for these argument bytes, as they were received. Next record jti until
 * exp + SKEW, and only then act: a permit is good once. Throws PermitRefused, and nothing else.
 */
export function verifyPermit(token: string, keys: Keys, want: Expect, args: Uint8Array, now: number): Claims {
  try {
    const [head = "", body = "", tail = "", ...more] = token.split(".");
    const header = object(head);
    need(token.length <= 8192 && more.length === 0 && Object.keys(header).sort().join() === "alg,kid,typ", "header");
    need(header.typ === "hallmark-permit+jwt" && header.alg === "EdDSA", "typ or alg");
    const key = keys.get(header.kid);
    need(key !== undefined && verify(null, Buffer.from(`${head}.${body}`), key, decode(tail)), "kid or signature");
    const claims = object(body);
    const expected = { ...want, args_sha256: createHash("sha256").update(args).digest("hex") };
    for (const name of ["iss", "ten", "aud", "tool", "ver", "principal", "args_sha256"] as const)
      need(claims[name] !== undefined && claims[name] === expected[name], name);
    const { iat, exp, jti, obl } = claims;
    need(Number.isInteger(iat) && Number.isInteger(exp) && iat < exp && exp - iat <= 60, "iat or exp");
    need(iat - SKEW <= now && now < exp + SKEW, "exp");
    need(typeof jti === "string" && jti !== "", "jti");
    need(Array.isArray(obl) && obl.every((o) => want.obligations.has(o)), "obl");
    return claims;
  } catch (fault) {
    throw fault instanceof PermitRefused ? fault : new PermitRefused("malformed");
  }
}

function need(right: boolean, what: string): void {
  if (!right) throw new PermitRefused(what);
}

/** An object as the service writes it: JSON.parse passes over a name that stands twice. */
function object(segment: string) {
  const text = decode(segment).toString();
  const value = JSON.parse(text);
  need(JSON.stringify(value) === text, "JSON");
  return value;
}

function decode(segment: string): Buffer {
  const decoded = Buffer.from(segment, "base64url");
  need(decoded.toString("base64url") === segment, "base64url"); // one token has one spelling
  return decoded;
}
