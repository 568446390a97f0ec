/** What the recipe takes and refuses, with keys of the test's own. */
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { PermitRefused, permitKeys, verifyPermit, type Expect } from "./permit.js";

const NOW = 1_800_000_000;
const ARGUMENTS = Buffer.from('{"run_id":"run_A1b2C3d4E5f6"}');
const BOUND = {
  iss: "gate.example.test",
  ten: "acme",
  aud: "ci",
  tool: "job_restart",
  ver: 1,
  principal: "ana@example.test",
};
const WANT = { ...BOUND, obligations: new Set(["no-redirects"]) };
const HEADER = { alg: "EdDSA", typ: "hallmark-permit+jwt", kid: "k1" };
const CLAIMS = {
  ...BOUND,
  iat: NOW,
  exp: NOW + 60,
  jti: "p1",
  sid: "s",
  req: "r",
  dec: "d",
  args_sha256: createHash("sha256").update(ARGUMENTS).digest("hex"),
  obl: ["no-redirects"],
};
const SIGNER = generateKeyPairSync("ed25519");
const OTHER = generateKeyPairSync("ed25519");

const encode = (text: string) => Buffer.from(text).toString("base64url");

function sign(header: unknown, claims: unknown, { privateKey } = SIGNER): string {
  const signed = `${encode(JSON.stringify(header))}.${encode(JSON.stringify(claims))}`;
  return `${signed}.${signBytes(null, Buffer.from(signed), privateKey).toString("base64url")}`;
}

const jwk = (kid: string, { publicKey } = SIGNER, kind = "permit") => ({
  ...publicKey.export({ format: "jwk" }),
  kid,
  hallmark_kind: kind,
});
const KEYS = permitKeys(
  JSON.stringify({ keys: [jwk("k1"), jwk("k2", OTHER, "challenge"), { kty: "AKP", hallmark_kind: "permit" }] }),
);

const check = (token: string, now = NOW, args: Uint8Array = ARGUMENTS, want: Partial<Expect> = WANT) =>
  verifyPermit(token, KEYS, want as Expect, args, now);
const refused = (line: string, verify: () => unknown) => assert.throws(verify, PermitRefused, line);
const good = sign(HEADER, CLAIMS);

test("permits of all languages", () => {
  const file = JSON.parse(readFileSync("../permits.json", "utf8"));
  const keys = permitKeys(JSON.stringify(file.jwks));
  const want = { ...file.expect, obligations: new Set(file.expect.obligations) };
  for (const { name, taken, token, now = file.now, arguments: args = file.arguments } of file.permits) {
    const verify = () => verifyPermit(token, keys, want, Buffer.from(args), now);
    taken ? assert.doesNotThrow(verify, name) : refused(name, verify);
  }
});

test("takes", () => {
  for (const now of [NOW - 5, NOW, NOW + 64.9]) assert.deepEqual(check(good, now), CLAIMS);
  const { alg, typ, kid } = HEADER;
  assert.equal(
    check(sign({ kid, typ, alg }, { ...CLAIMS, obl: [] }), NOW, ARGUMENTS, { ...WANT, obligations: new Set() }).jti,
    "p1",
  );
});

test("refuses tokens", () => {
  const [head, body, tail = ""] = good.split(".");
  const last = tail.slice(0, -1) + String.fromCharCode(tail.charCodeAt(tail.length - 1) + 1); // other bits that no byte has
  const without = (name: string) => Object.fromEntries(Object.entries(CLAIMS).filter(([n]) => n !== name));
  const rows: Record<string, string> = {
    "no key": sign({ ...HEADER, kid: "k9" }, CLAIMS),
    "a member of every object": sign({ ...HEADER, kid: "constructor" }, CLAIMS),
    "key of another kind": sign({ ...HEADER, kid: "k2" }, CLAIMS, OTHER),
    "another's signature": sign(HEADER, CLAIMS, OTHER),
    "header of lists": sign([["alg", "EdDSA"]], CLAIMS),
    "header null": sign(null, CLAIMS),
    "kid a list": sign({ ...HEADER, kid: ["k1"] }, CLAIMS),
    "claims a list": sign(HEADER, [CLAIMS]),
    "claims null": sign(HEADER, null),
    deep: `${encode("[".repeat(6000))}.e30.AA`,
    long: sign(HEADER, { ...CLAIMS, note: "A".repeat(9000) }),
    empty: "",
    "two parts": `${head}.${body}`,
    "four parts": `${good}.`,
    "no signature": `${head}.${body}.`,
    padded: `${good}==`,
    "line end": `${good}\n`,
    "stray bits": `${head}.${body}.${last}`,
    "life of an hour": sign(HEADER, { ...CLAIMS, exp: NOW + 3600 }),
    "end as text": sign(HEADER, { ...CLAIMS, exp: `${NOW + 60}` }),
    "start as text": sign(HEADER, { ...CLAIMS, iat: `${NOW}` }),
    "unknown obligation": sign(HEADER, { ...CLAIMS, obl: ["open-beneath"] }),
    "obligation as text": sign(HEADER, { ...CLAIMS, obl: "no-redirects" }),
  };
  for (const alg of ["none", "HS256", "ES256", "eddsa", null]) rows[`alg ${alg}`] = sign({ ...HEADER, alg }, CLAIMS);
  for (const typ of ["JWT", "hallmark-challenge+jwt", "hallmark-receipt+jwt"])
    rows[`typ ${typ}`] = sign({ ...HEADER, typ }, CLAIMS);
  for (const name of ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "cty"])
    rows[`header ${name}`] = sign({ ...HEADER, [name]: [] }, CLAIMS);
  for (const name of ["alg", "typ", "kid"])
    rows[`header without ${name}`] = sign({ ...HEADER, [name]: undefined }, CLAIMS);
  for (const name of [...Object.keys(BOUND), "args_sha256", "iat", "exp", "obl"])
    rows[`without ${name}`] = sign(HEADER, without(name));
  for (const name of [...Object.keys(BOUND), "args_sha256"])
    rows[`other ${name}`] = sign(HEADER, { ...CLAIMS, [name]: "other" });
  for (const [line, token] of Object.entries(rows)) refused(line, () => check(token));
});

test("refuses circumstances", () => {
  for (const now of [NOW - 5.1, NOW + 65, NaN]) refused(`at ${now}`, () => check(good, now));
  for (const text of ["", `${ARGUMENTS} `, `${ARGUMENTS}`.toUpperCase()])
    refused(text, () => check(good, NOW, Buffer.from(text)));
  for (const name of Object.keys(WANT)) {
    const want = { ...WANT, [name]: undefined };
    refused(`no ${name} is expected`, () => check(good, NOW, ARGUMENTS, want));
    const token = sign(HEADER, { ...CLAIMS, [name]: undefined });
    if (name in BOUND) refused(`no ${name} is there either`, () => check(token, NOW, ARGUMENTS, want));
  }
  for (const name of Object.keys(BOUND))
    refused(`another ${name} is expected`, () => check(good, NOW, ARGUMENTS, { ...WANT, [name]: "other" }));
  const obligations = new Set(["open-beneath"]);
  refused("obligation that nobody fulfils", () => check(good, NOW, ARGUMENTS, { ...WANT, obligations }));
});
