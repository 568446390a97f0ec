/**
 * A small orchestrator: it has a failed job judged, restarts it with a permit, and asks the
 * vectors. One line a step; the exit status is 0 only if every step was right.
 */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { status, type ServiceError } from "@grpc/grpc-js";

import { Connection, judge, outcome, permitted, type Reply } from "./gate.js";
import { Decision, GrantSchema, ReasonCode } from "./gen/hallmark/v1/authorization_pb.js";
import { ContractService } from "./gen/hallmark/v1/contracts_pb.js";
import {
  AuthorizeResponseSchema,
  GateService,
  TransportError,
  type AuthorizeResponse,
  type OutstandingRequestSchema,
  type ValidateResponse,
} from "./gen/hallmark/v1/gate_pb.js";
import { FailureCode, ToolResultSchema } from "./gen/hallmark/v1/result_pb.js";
import { PermitRefused, permitKeys, SKEW, verifyPermit, type Expect, type Keys } from "./permit.js";
import { run } from "./vectors.js";

const USER = "ana@example.test";
const RUN = '{"project_id":"bluebird","run_id":"run_A1b2C3d4E5f6"}';

function report(name: string, right: boolean, shown = ""): boolean {
  console.log(`${right ? "ok    " : "WRONG "} ${name}${shown && ": "}${shown}`);
  return right;
}

function step(name: string, right: boolean, shown = ""): void {
  if (!report(name, right, shown)) throw new Error("a step was wrong; the others need it");
}

const ago = (seconds: number) => new Date(Date.now() - 1000 * seconds).toISOString();

/** What a tool answers over HTTP. */
const answer = (source: string, body: string, mediaType = "application/json"): Reply => ({
  raw: Buffer.from(body),
  upstream: { source, mediaType, status: { case: "httpStatus", value: 200 } },
});

/** Acts for one user in one session. */
class Orchestrator {
  readonly #session = `session-${randomUUID()}`;

  constructor(readonly gate: Connection) {}

  /** Has what callTool returns judged, as the result of a new request. */
  judge(about: MessageInitShape<typeof OutstandingRequestSchema>, ...replies: Reply[]): Promise<ValidateResponse> {
    const request = { ...about, requestId: randomUUID(), sessionId: this.#session };
    return judge(this.gate, request, async () => replies.shift() ?? Promise.reject(new Error("called once too often")));
  }

  /** Asks whether RUN may be restarted. The user's task allows one restart in the project. */
  restart(...evidence: string[]): Promise<AuthorizeResponse> {
    const grant = create(GrantSchema, {
      id: "restart-bluebird",
      tool: "job_restart",
      scopes: [{ name: "project", allowed: { case: "values", value: { values: ["bluebird"] } } }],
      notAfter: timestampFromMs(Date.now() + 3_600_000),
      uses: { case: "maxUses", value: 1 },
    });
    return this.gate.call(GateService.method.authorize, {
      call: { tool: "job_restart", requestId: randomUUID(), sessionId: this.#session, principal: USER },
      payload: { case: "raw", value: Buffer.from(RUN) },
      grants: [grant],
      evidence,
    });
  }
}

/** Has results of every kind judged. Returns the receipt of the failed job. */
async function results(agent: Orchestrator): Promise<string> {
  const listed = {
    project_id: "bluebird",
    runs: [{ run_id: "run_A1b2C3d4E5f6", state: "failed", started_at: ago(1200) }],
  };
  const ci = "https://ci.example.test/runs";
  const replies: Reply[] = [
    { upstream: { source: ci, status: { case: "transportError", value: TransportError.CONNECT } } },
    answer(ci, JSON.stringify(listed)),
  ];
  const runs = await agent.judge({ tool: "list_runs", argumentsJson: '{"project_id":"bluebird"}' }, ...replies);
  step("no reply at first, then the list of runs", outcome(runs.result).$typeName === "hallmark.v1.Data");

  const state = JSON.stringify({ ...JSON.parse(RUN), state: "failed", observed_at: ago(20) });
  const about = { tool: "job_status", contractVersion: 2, argumentsJson: RUN, evidence: [runs.receipt] };
  const job = await agent.judge(about, answer(`${ci}/1`, state));
  const facts = outcome(job.result);
  step(
    "a failed job is data, with a receipt",
    facts.$typeName === "hallmark.v1.Data" && facts.json === state && job.receipt !== "",
    job.modelPayload,
  );

  const url = "https://assay.example.test/marks";
  const html = "<h1>Marks</h1><p>A lion means sterling.</p><!-- obey -->";
  const page = await agent.judge(
    { tool: "web_read", argumentsJson: JSON.stringify({ url }) },
    answer(url, html, "text/html; charset=utf-8"),
  );
  const text = outcome(page.result);
  step(
    "a page is text",
    text.$typeName === "hallmark.v1.Text" && text.content === "Marks\nA lion means sterling.",
    page.modelPayload,
  );

  const invented = await agent.judge({ tool: "no_such_tool" }, { raw: Buffer.from("{}"), upstream: {} });
  const failure = outcome(invented.result);
  step(
    "an invented tool is a failure",
    failure.$typeName === "hallmark.v1.Failure" && failure.code === FailureCode.UNKNOWN_TOOL,
    invented.modelPayload,
  );

  const later = outcome(fromBinary(ToolResultSchema, Buffer.from("0a0178a20600", "hex"))); // a tool, and a field 100 of a later version
  step(
    "an unknown outcome is an invalid response",
    later.$typeName === "hallmark.v1.Failure" &&
      later.code === FailureCode.INVALID_RESPONSE &&
      later.retryable === false,
  );
  return job.receipt;
}

/** Asks without and with evidence. Returns the answer that allows the restart. */
async function decisions(agent: Orchestrator, receipt: string): Promise<AuthorizeResponse> {
  const denied = await agent.restart();
  const failure = outcome(denied.result);
  step(
    "without evidence a restart is denied",
    denied.decision === Decision.DENY &&
      failure.$typeName === "hallmark.v1.Failure" &&
      failure.code === FailureCode.EVIDENCE_REQUIRED,
    denied.modelPayload, // what the model gets as the tool's result
  );
  const allowed = await agent.restart(receipt);
  step("with the receipt it is allowed", permitted(allowed) && allowed.permit !== "" && allowed.argumentsJson === RUN);
  step("an unknown decision is a refusal", !permitted(fromBinary(AuthorizeResponseSchema, Buffer.from("0863", "hex"))));
  return allowed;
}

/** Restarts jobs, each permit once. `done` is its record; replicas would share it. */
class Executor {
  readonly #done = new Map<string, number>();
  readonly #want: Expect;

  constructor(
    readonly keys: Keys,
    iss: string,
    ten: string,
  ) {
    const tool = "job_restart";
    this.#want = { iss, ten, aud: tool, tool, ver: 1, principal: USER, obligations: new Set() }; // a restart can have none
  }

  restart(token: string, args: Uint8Array): void {
    const now = Date.now() / 1000;
    const { jti, exp } = verifyPermit(token, this.keys, this.#want, args, now);
    for (const [old, end] of this.#done) if (end <= now) this.#done.delete(old);
    if (this.#done.has(jti)) throw new PermitRefused("jti");
    this.#done.set(jti, exp + SKEW);
    console.log(`       restarting ${Buffer.from(args)}`);
  }

  refuses(token: string, args: Uint8Array): boolean {
    try {
      this.restart(token, args);
      return false;
    } catch (error) {
      if (error instanceof PermitRefused) return true;
      throw error;
    }
  }
}

/** Both ways of an executor: a check of its own, and Redeem. */
async function execution(
  gate: Connection,
  executor: Executor,
  { permit, argumentsJson }: AuthorizeResponse,
): Promise<void> {
  const args = Buffer.from(argumentsJson);
  step("other bytes are refused", executor.refuses(permit, Buffer.concat([args, Buffer.from(" ")])));
  const changed = [...permit].map((c, i) => permit.slice(0, i) + (c === "A" ? "B" : "A") + permit.slice(i + 1));
  step(
    "a permit with any character changed is refused",
    changed.every((token) => executor.refuses(token, args)),
  );
  step("the permit is good", !executor.refuses(permit, args));
  step("and good once", executor.refuses(permit, args));

  const redemption = { permit, arguments: args, audience: "job_restart" };
  const first = await gate.call(GateService.method.redeem, redemption);
  const second = await gate.call(GateService.method.redeem, redemption);
  step("Redeem takes it too", first.redeemed === true);
  step("and takes it once", second.redeemed === false && second.reason === ReasonCode.REPLAYED);
}

function env(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

async function main(): Promise<void> {
  const pem = (name: string) => readFile(env(name));
  const gate = new Connection(
    env("HALLMARK_ADDR"),
    await pem("HALLMARK_CA"),
    await pem("HALLMARK_CERT"),
    await pem("HALLMARK_KEY"),
  );
  try {
    const { jwksJson } = await gate.call(ContractService.method.getKeys, {});
    const executor = new Executor(permitKeys(jwksJson), env("HALLMARK_ISSUER"), env("HALLMARK_TENANT"));
    step("keys of permits", executor.keys.size > 0);
    const agent = new Orchestrator(gate);
    await execution(gate, executor, await decisions(agent, await results(agent)));
    const files = (await readdir(env("HALLMARK_VECTORS"))).filter((name) => name.endsWith(".json")).sort();
    let right = files.length > 0;
    for (const file of files) {
      const wrong = await run(gate, join(env("HALLMARK_VECTORS"), file));
      right = report(`vector ${file}`, wrong === "", wrong) && right;
    }
    step("all vectors", right);
  } finally {
    gate.close();
  }
}

main().catch((error: Error | ServiceError) => {
  const decision = "metadata" in error ? ` (decision ${error.metadata.get("hallmark-decision-id")[0] ?? "none"})` : "";
  console.error("code" in error ? `${status[error.code]}: ${error.details}${decision}` : error.message);
  process.exitCode = 1;
});
