package test.example.client;

import static test.example.client.Main.require;
import static test.example.client.Main.step;

import com.google.protobuf.ByteString;
import com.google.protobuf.Timestamp;
import com.google.protobuf.util.Durations;
import com.google.protobuf.util.Timestamps;
import dev.hallmark.v1.AuthorizeRequest;
import dev.hallmark.v1.AuthorizeResponse;
import dev.hallmark.v1.Decision;
import dev.hallmark.v1.FailureCode;
import dev.hallmark.v1.GateServiceGrpc.GateServiceBlockingStub;
import dev.hallmark.v1.Grant;
import dev.hallmark.v1.OutstandingRequest;
import dev.hallmark.v1.ProposedCall;
import dev.hallmark.v1.Retry;
import dev.hallmark.v1.Scope;
import dev.hallmark.v1.ToolResult;
import dev.hallmark.v1.TransportError;
import dev.hallmark.v1.Upstream;
import dev.hallmark.v1.ValidateRequest;
import dev.hallmark.v1.ValidateResponse;
import dev.hallmark.v1.Values;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/** Runs one task of a user: find the failed run of a project, and start it again. */
final class Orchestrator {
  static final String PRINCIPAL = "ana@example.test";
  private static final String ARGUMENTS =
      "{\"project_id\":\"bluebird\",\"run_id\":\"run_A1b2C3d4E5f6\"}";

  private final GateServiceBlockingStub gate;
  private final String session = "task-" + UUID.randomUUID();

  Orchestrator(GateServiceBlockingStub gate) {
    this.gate = gate;
  }

  /** A permission to execute: the permit and the bytes that it is for. */
  record Allowed(String permit, ByteString arguments) {}

  Allowed restart() {
    Judged[] results = new Judged[2];
    step("list_runs: data, and a receipt", () -> {
      results[0] = result("list_runs", 1, "{\"project_id\":\"bluebird\"}", List.of(), Orchestrator::listRuns);
      results[0].requireReceipt();
    });
    step("job_status: no connection, then as advised a failed run, and a receipt", () -> {
      results[1] = result("job_status", 2, ARGUMENTS, List.of(results[0].receipt), unreachableOnce(Orchestrator::jobStatus));
      results[1].requireReceipt();
    });
    step("what this client does not know is a refusal", Orchestrator::refusesTheUnknown);

    AuthorizeResponse denied = propose(List.of());
    step("job_restart without evidence: the model reads " + denied.getModelPayload(), () ->
        require(!permitted(denied) && !denied.getModelPayload().isEmpty(), "it is not refused"));
    AuthorizeResponse allowed = propose(List.of(results[1].receipt));
    step("job_restart with the receipt: a permit", () ->
        require(permitted(allowed), allowed.getDecision() + " " + allowed.getReasonsList()));
    return new Allowed(allowed.getPermit(), allowed.getArgumentsJsonBytes());
  }

  /** What a tool returned, and how it came; null bytes: there was no reply. */
  private record Reply(ByteString raw, Upstream upstream) {}

  /** A judged result; payload is for the model's context. */
  private record Judged(Outcome outcome, String receipt, String payload) {
    void requireReceipt() {
      require(outcome instanceof Outcome.Facts && !receipt.isEmpty(), "no data with a receipt, but " + outcome);
    }
  }

  private sealed interface Outcome {
    record Facts(String json) implements Outcome {}

    record Words(String content) implements Outcome {}

    record Refusal(FailureCode code, boolean retryable) implements Outcome {}
  }

  /** Takes a result apart. What this client does not know is a broken contract. */
  private static Outcome read(ToolResult result) {
    return switch (result.getOutcomeCase()) {
      case DATA -> new Outcome.Facts(result.getData().getJson());
      case TEXT -> new Outcome.Words(result.getText().getContent());
      case FAILURE -> new Outcome.Refusal(result.getFailure().getCode(), result.getFailure().getRetryable());
      default -> new Outcome.Refusal(FailureCode.FAILURE_CODE_INVALID_RESPONSE, false);
    };
  }

  /** Calls a tool and has its reply judged, again for as long as the service advises. */
  private Judged result(String tool, int version, String arguments, List<String> evidence, Supplier<Reply> call)
      throws InterruptedException {
    Timestamp first = Timestamps.now();
    String id = "req." + UUID.randomUUID();
    for (int attempt = 1; ; attempt++) {
      OutstandingRequest request =
          OutstandingRequest.newBuilder()
              .setTool(tool).setContractVersion(version).setRequestId(id).setSessionId(session)
              .setArgumentsJson(arguments).addAllEvidence(evidence)
              .setAttempt(attempt).setFirstAttemptAt(first).setIssuedAt(Timestamps.now())
              .build();
      Reply reply = call.get();
      ValidateRequest.Builder message = ValidateRequest.newBuilder().setRequest(request).setUpstream(reply.upstream);
      if (reply.raw != null) {
        message.setRaw(reply.raw);
      }
      ValidateResponse judged = gate.validate(message.build());
      Retry retry = judged.getRetry();
      Timestamp next = Timestamps.add(Timestamps.now(), retry.getDelay());
      if (!retry.getAllowed() || Timestamps.compare(next, retry.getNotAfter()) > 0) {
        return new Judged(read(judged.getResult()), judged.getReceipt(), judged.getModelPayload());
      }
      Thread.sleep(Durations.toMillis(retry.getDelay()) + 1);
    }
  }

  /** Asks whether the call may be executed, with what the user's task allows. */
  private AuthorizeResponse propose(List<String> evidence) {
    return gate.authorize(
        AuthorizeRequest.newBuilder()
            .setCall(
                ProposedCall.newBuilder()
                    .setTool("job_restart").setRequestId("req." + UUID.randomUUID())
                    .setSessionId(session).setPrincipal(PRINCIPAL))
            .setRaw(ByteString.copyFromUtf8(ARGUMENTS))
            .addGrants(
                Grant.newBuilder()
                    .setId("restart-bluebird").setTool("job_restart").setMaxUses(1)
                    .setNotAfter(Timestamps.add(Timestamps.now(), Durations.fromHours(1)))
                    .addScopes(Scope.newBuilder().setName("project").setValues(Values.newBuilder().addValues("bluebird"))))
            .addAllEvidence(evidence)
            .build());
  }

  /** Whether a call may be executed: ALLOW, and nothing else. */
  private static boolean permitted(AuthorizeResponse answer) {
    return answer.getDecision() == Decision.DECISION_ALLOW;
  }

  /** Feeds this client what a later service might answer. */
  private static void refusesTheUnknown() {
    Outcome invalid = new Outcome.Refusal(FailureCode.FAILURE_CODE_INVALID_RESPONSE, false);
    require(read(ToolResult.getDefaultInstance()).equals(invalid), "an unknown outcome is no failure");
    require(!permitted(AuthorizeResponse.newBuilder().setDecisionValue(99).build()), "an unknown decision is a permission");
    require(!permitted(AuthorizeResponse.getDefaultInstance()), "no decision is a permission");
  }

  // The tools: a CI system, as it might answer.

  private static Reply listRuns() {
    return answered("https://ci.example.test/runs",
        "{\"project_id\":\"bluebird\",\"runs\":[{\"run_id\":\"run_A1b2C3d4E5f6\",\"state\":\"failed\",\"started_at\":\"" + ago(1200) + "\"}]}");
  }

  private static Reply jobStatus() {
    return answered("https://ci.example.test/runs/1",
        "{\"project_id\":\"bluebird\",\"run_id\":\"run_A1b2C3d4E5f6\",\"state\":\"failed\",\"observed_at\":\"" + ago(20) + "\"}");
  }

  /** A tool that cannot be reached the first time. */
  private static Supplier<Reply> unreachableOnce(Supplier<Reply> call) {
    int[] calls = new int[1];
    return () -> ++calls[0] > 1 ? call.get() : new Reply(null,
        Upstream.newBuilder()
            .setSource("https://ci.example.test/runs/1")
            .setTransportError(TransportError.TRANSPORT_ERROR_CONNECT)
            .build());
  }

  private static Reply answered(String source, String body) {
    return new Reply(ByteString.copyFromUtf8(body),
        Upstream.newBuilder()
            .setSource(source).setMediaType("application/json").setHttpStatus(200).setReceivedAt(Timestamps.now())
            .build());
  }

  private static String ago(long seconds) {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(seconds).toString();
  }
}
