/** How an orchestrator talks to Hallmark: the connection, outcomes, retries, decisions. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { durationMs, timestampMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { Client, credentials, Metadata } from "@grpc/grpc-js";

import { Decision } from "./gen/hallmark/v1/authorization_pb.js";
import {
  GateService,
  type AuthorizeResponse,
  type OutstandingRequestSchema,
  type UpstreamSchema,
  type ValidateResponse,
} from "./gen/hallmark/v1/gate_pb.js";
import {
  FailureCode,
  FailureSchema,
  type Data,
  type Failure,
  type Text,
  type ToolResult,
} from "./gen/hallmark/v1/result_pb.js";

const DEADLINE_MS = 10_000; // for one call, its repeats included

const SERVICE_CONFIG = readFileSync(new URL("../../service-config.json", import.meta.url), "utf8");

/** A connection with mutual TLS, over all addresses of the name. Close it after use. */
export class Connection {
  readonly #client: Client;

  constructor(address: string, ca: Buffer, certificate: Buffer, key: Buffer) {
    this.#client = new Client(address, credentials.createSsl(ca, key, certificate), {
      "grpc.service_config": SERVICE_CONFIG,
    });
  }

  /** Calls a method of a generated service. Rejects with a ServiceError of grpc-js. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        `/${method.parent.typeName}/${method.name}`,
        (message: MessageShape<I>) => Buffer.from(toBinary(method.input, message)),
        (bytes: Buffer) => fromBinary(method.output, bytes),
        create(method.input, request),
        new Metadata(),
        { deadline: Date.now() + DEADLINE_MS },
        (error, reply) => (error ? reject(error) : resolve(reply as MessageShape<O>)),
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}

/** What a result says; an outcome that this program does not know is a broken reply. */
export function outcome(result: ToolResult | undefined): Data | Text | Failure {
  switch (result?.outcome.case) {
    case "data":
    case "text":
    case "failure":
      return result.outcome.value;
    default:
      return create(FailureSchema, { code: FailureCode.INVALID_RESPONSE, retryable: false });
  }
}

/** Whether a call may be executed: anything but ALLOW, known or not, is a refusal. */
export function permitted(answer: AuthorizeResponse): boolean {
  return answer.decision === Decision.ALLOW;
}

/** What came of a call of a tool: the bytes as received, or none where there was no reply. */
export type Reply = { raw?: Uint8Array; upstream: MessageInitShape<typeof UpstreamSchema> };

/**
 * Calls the tool and has its bytes judged, again for as long as the service advises it.
 * Until this resolves, nothing goes to the model.
 */
export async function judge(
  gate: Connection,
  about: MessageInitShape<typeof OutstandingRequestSchema>,
  callTool: () => Promise<Reply>,
): Promise<ValidateResponse> {
  const now = timestampNow();
  for (let attempt = 1; ; attempt++) {
    const { raw, upstream } = await callTool();
    const request = { ...about, issuedAt: now, firstAttemptAt: now, attempt };
    const payload = raw ? { case: "raw" as const, value: raw } : { case: undefined };
    const reply = await gate.call(GateService.method.validate, { request, payload, upstream });
    const { allowed, delay, notAfter } = reply.retry ?? {};
    const pause = delay ? durationMs(delay) : 0;
    if (!allowed || !notAfter || Date.now() + pause > timestampMs(notAfter)) return reply;
    await sleep(pause);
  }
}
