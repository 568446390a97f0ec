/**
 * The recipe: what an executor checks before it acts. Copy this file. It reads one shape of
 * JWS, so that nothing in a token can choose a key, an algorithm or an extension (RFC 8725).
 */
import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";

export const SKEW = 5; // seconds that two clocks may be apart
export type Expect = { iss: string; ten: string; aud: string; tool: string; ver: number; principal: string };
export type Claims = Expect & { args_sha256: string; iat: number; exp: number; jti: string; obl: string[] };

/** The permit does not allow this call. The message is the claim or the fault, for logs. */
export class PermitRefused extends Error {}

/** Keys of permits by kid, from GetKeys. Fetch anew every few minutes: revoked ones vanish. */
export function permitKeys(jwksJson: string): Map<string, KeyObject> {
  const { keys } = JSON.parse(jwksJson) as { keys: Record<string, string>[] };
  return new Map(keys
    .filter((k) => k.hallmark_kind === "permit" && k.kty === "OKP" && k.crv === "Ed25519")
    .map((k) => [String(k.kid), createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: String(k.x) } })]));
}

/**
 * The claims of a permit for these bytes, as received. `want` comes from configuration and the
 * request, never from the token; `obligations` are those that this executor fulfils. Then record
 * jti until exp + SKEW, and only then act: a permit is good once.
 */
export function verifyPermit(token: string, keys: ReadonlyMap<string, KeyObject>, want: Expect,
  obligations: ReadonlySet<string>, args: Uint8Array, now = Date.now() / 1000): Claims {
  const refuseUnless = (right: boolean, what: string) => { if (!right) throw new PermitRefused(what); };
  try {
    refuseUnless(token.length <= 8192, "size");
    const [head = "", body = "", tail = "", ...more] = token.split(".");
    const header = JSON.parse(decode(head).toString());
    refuseUnless(more.length === 0 && Object.keys(header).sort().join() === "alg,kid,typ", "header");
    refuseUnless(header.typ === "hallmark-permit+jwt" && header.alg === "EdDSA", "typ or alg");
    const key = keys.get(header.kid);
    refuseUnless(key !== undefined && verify(null, Buffer.from(`${head}.${body}`), key, decode(tail)), "signature");
    const claims = JSON.parse(decode(body).toString());
    const expected = { ...want, args_sha256: createHash("sha256").update(args).digest("hex") };
    for (const [name, value] of Object.entries(expected)) refuseUnless(claims[name] === value, name);
    const { iat, exp, obl } = claims;
    refuseUnless(Number.isInteger(iat) && Number.isInteger(exp) && exp - iat <= 60, "iat and exp");
    refuseUnless(iat - SKEW <= now && now < exp + SKEW, "exp");
    refuseUnless(Array.isArray(obl) && obl.every((o) => obligations.has(o)), "obl");
    return claims;
  } catch (fault) {
    throw fault instanceof PermitRefused ? fault : new PermitRefused("malformed");
  }
}

function decode(segment: string): Buffer {
  const decoded = Buffer.from(segment, "base64url");
  if (decoded.toString("base64url") !== segment) throw new PermitRefused("base64url"); // one spelling
  return decoded;
}
