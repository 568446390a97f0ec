/** Runs one vector: one question to the service and its one right answer; see ../vectors/README.md. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";

import { fromJson, toJson, type DescMethodUnary, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { status, type ServiceError } from "@grpc/grpc-js";

import type { Connection } from "./gate.js";
import { GateService } from "./gen/hallmark/v1/gate_pb.js";

type Vector = {
  name: string;
  why: string;
  rpc: "Validate" | "Authorize";
  request: JsonObject;
  raw_repeat?: { byte: string; times: number };
  want: { code: string; response?: JsonValue };
};

/** How the answer to the vector of a file is wrong; "" where it is right. */
export async function run(gate: Connection, path: string): Promise<string> {
  const vector: Vector = JSON.parse(fill(await readFile(path, "utf8")));
  only(vector, "name", "why", "rpc", "request", "raw_repeat", "want");
  only(vector.want, "code", "response");
  if (`${vector.name}.json` !== basename(path)) return `it is called ${vector.name}`;
  const { validate, authorize } = GateService.method;
  const [code, response] =
    vector.rpc === "Validate" ? await send(gate, validate, vector) : await send(gate, authorize, vector);
  if (code !== vector.want.code) return `ended with ${code}`;
  return code === "OK" ? differs(vector.want.response, response, "response") : "";
}

async function send(
  gate: Connection,
  method: typeof GateService.method.validate | typeof GateService.method.authorize,
  vector: Vector,
): Promise<[string, JsonValue]> {
  const any: DescMethodUnary = method;
  const request = fromJson(any.input, vector.request);
  if (vector.raw_repeat) {
    only(vector.raw_repeat, "byte", "times");
    const value = Buffer.alloc(vector.raw_repeat.times, Buffer.from(vector.raw_repeat.byte, "base64"));
    Object.assign(request, { payload: { case: "raw", value } });
  }
  try {
    return ["OK", toJson(any.output, await gate.call(any, request))];
  } catch (error) {
    return [status[(error as ServiceError).code] ?? String(error), null];
  }
}

function fill(text: string): string {
  const now = Date.now();
  const id = randomBytes(8).toString("hex");
  return text
    .replaceAll("{{id}}", id)
    .replace(/\{\{now([+-]\d+)s\}\}/g, (_, seconds) =>
      new Date(now + 1000 * Number(seconds)).toISOString().replace(/\.\d+Z$/, "Z"),
    );
}

function only(value: object, ...known: string[]): void {
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`unknown members: ${unknown}`);
}

/** Where got differs from want; "" where it is right. */
function differs(want: JsonValue | undefined, got: JsonValue | undefined, at: string): string {
  const is = `${at} is ${JSON.stringify(got)}`;
  if (want === null) return got === undefined ? "" : is;
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length) return is;
    return want.map((element, i) => differs(element, got[i], `${at}[${i}]`)).find(Boolean) ?? "";
  }
  if (typeof want === "object") {
    if (typeof got !== "object" || got === null || Array.isArray(got)) return is;
    return (
      Object.keys(want)
        .map((name) => differs(want[name], got[name], `${at}.${name}`))
        .find(Boolean) ?? ""
    );
  }
  return want === got ? "" : `${is}, not ${JSON.stringify(want)}`;
}
