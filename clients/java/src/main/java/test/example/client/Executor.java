package test.example.client;

import static test.example.client.Main.env;
import static test.example.client.Main.require;
import static test.example.client.Main.step;

import com.google.protobuf.ByteString;
import dev.hallmark.v1.ContractServiceGrpc.ContractServiceBlockingStub;
import dev.hallmark.v1.GateServiceGrpc.GateServiceBlockingStub;
import dev.hallmark.v1.GetKeysRequest;
import dev.hallmark.v1.ReasonCode;
import dev.hallmark.v1.RedeemRequest;
import dev.hallmark.v1.RedeemResponse;
import java.security.PublicKey;
import java.time.Instant;
import java.util.Map;
import java.util.Set;

/** What the executor of job_restart does with a permit and the bytes that it is to act on. */
final class Executor {
  private final GateServiceBlockingStub gate;
  private final ContractServiceBlockingStub contracts;

  Executor(GateServiceBlockingStub gate, ContractServiceBlockingStub contracts) {
    this.gate = gate;
    this.contracts = contracts;
  }

  void execute(Orchestrator.Allowed allowed) throws Exception {
    Map<String, PublicKey> keys =
        Permit.keys(contracts.getKeys(GetKeysRequest.getDefaultInstance()).getJwksJson());
    // What the executor knows from its configuration, never from the permit.
    Permit.Expect expect =
        new Permit.Expect(
            env("HALLMARK_ISSUER"), env("HALLMARK_TENANT"), "job_restart", "job_restart", 1,
            Orchestrator.PRINCIPAL, Set.of());
    byte[] arguments = allowed.arguments().toByteArray();
    Permit[] permit = new Permit[1];
    step("the permit is good for these bytes", () ->
        permit[0] = Permit.verify(allowed.permit(), keys, expect, arguments, Instant.now()));
    step("and for no others", () -> takesNoOther(allowed, keys, expect));

    // Recorded before the act: nothing acts twice on one permit.
    Permit.Seen seen = new Permit.Seen(1000);
    step("the permit is used up", () -> {
      require(seen.first(permit[0], Instant.now()), "it counts as used");
      System.out.println("       restarting " + allowed.arguments().toStringUtf8() + " for " + expect.principal());
      require(!seen.first(permit[0], Instant.now()), "it is good twice");
    });
    step("Redeem, for executors without a record: once", () -> redeem(allowed));
  }

  /** Offers the permit for what it was not issued for. */
  private static void takesNoOther(Orchestrator.Allowed good, Map<String, PublicKey> keys, Permit.Expect expect) {
    byte[] arguments = good.arguments().toByteArray();
    byte[] longer = good.arguments().concat(ByteString.copyFromUtf8(" ")).toByteArray();
    StringBuilder forged = new StringBuilder(good.permit());
    int at = forged.length() - 10;
    forged.setCharAt(at, forged.charAt(at) == 'A' ? 'B' : 'A');
    Permit.Expect eve =
        new Permit.Expect(
            expect.issuer(), expect.tenant(), expect.audience(), expect.tool(), expect.version(),
            "eve@example.test", Set.of());
    Permit.Expect elsewhere =
        new Permit.Expect(
            expect.issuer(), expect.tenant(), "deploy", expect.tool(), expect.version(),
            expect.principal(), Set.of());
    Instant now = Instant.now();
    refused("one byte more", () -> Permit.verify(good.permit(), keys, expect, longer, now));
    refused("another signature", () -> Permit.verify(forged.toString(), keys, expect, arguments, now));
    refused("later", () -> Permit.verify(good.permit(), keys, expect, arguments, now.plusSeconds(120)));
    refused("earlier", () -> Permit.verify(good.permit(), keys, expect, arguments, now.minusSeconds(60)));
    refused("another executor", () -> Permit.verify(good.permit(), keys, elsewhere, arguments, now));
    refused("another user", () -> Permit.verify(good.permit(), keys, eve, arguments, now));
  }

  private static void refused(String what, Main.Checked verify) {
    try {
      verify.run();
    } catch (Exception e) {
      return;
    }
    throw new IllegalStateException("it is good for: " + what);
  }

  /** Leaves check and record to the service. */
  private void redeem(Orchestrator.Allowed allowed) {
    RedeemRequest request =
        RedeemRequest.newBuilder()
            .setPermit(allowed.permit()).setArguments(allowed.arguments()).setAudience("job_restart")
            .build();
    RedeemResponse first = gate.redeem(request);
    RedeemResponse second = gate.redeem(request);
    require(
        first.getRedeemed() && !second.getRedeemed()
            && second.getReason() == ReasonCode.REASON_CODE_REPLAYED,
        "redeemed " + first.getRedeemed() + ", then " + second.getRedeemed() + " for " + second.getReason());
  }
}
