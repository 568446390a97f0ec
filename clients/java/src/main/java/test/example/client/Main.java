package test.example.client;

import com.google.gson.Gson;
import dev.hallmark.v1.ContractServiceGrpc;
import dev.hallmark.v1.GateServiceGrpc;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A small orchestrator and executor: it has a result judged, asks whether a call may be executed,
 * checks the permit, and acts. It prints one line a step and exits 0 if every answer was right.
 */
final class Main {
  private Main() {}

  public static void main(String[] args) throws Exception {
    ManagedChannel channel = dial();
    try {
      step("permits of all languages", () -> Permits.runAll(Path.of("../permits.json")));
      GateServiceGrpc.GateServiceBlockingStub gate = GateServiceGrpc.newBlockingStub(channel);
      Orchestrator.Allowed allowed = new Orchestrator(gate).restart();
      new Executor(gate, ContractServiceGrpc.newBlockingStub(channel)).execute(allowed);
      Vectors.runAll(gate, Path.of(env("HALLMARK_VECTORS")));
    } catch (StepFailed e) {
      System.out.println("FAILED " + e.getMessage());
      System.exit(1);
    } finally {
      channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
    }
  }

  /**
   * Connects by TLS with a certificate of one's own. The service configuration spreads calls over
   * the replicas behind a name and repeats those that are UNAVAILABLE, no others.
   */
  private static ManagedChannel dial() throws IOException {
    @SuppressWarnings("unchecked")
    Map<String, ?> config =
        new Gson().fromJson(Files.readString(Path.of("../service-config.json")), Map.class);
    return Grpc.newChannelBuilder(
            "dns:///" + env("HALLMARK_ADDR"),
            TlsChannelCredentials.newBuilder()
                .trustManager(new File(env("HALLMARK_CA")))
                .keyManager(new File(env("HALLMARK_CERT")), new File(env("HALLMARK_KEY")))
                .build())
        .defaultServiceConfig(config)
        .build();
  }

  static String env(String name) {
    String value = System.getenv(name);
    if (value == null || value.isEmpty()) {
      throw new IllegalStateException(name + " is not set");
    }
    return value;
  }

  /** Prints what was done, or ends the program by saying which step went wrong. */
  static void step(String what, Checked check) {
    try {
      check.run();
    } catch (Exception e) {
      throw new StepFailed(what + ": " + e.getMessage(), e);
    }
    System.out.println("ok     " + what);
  }

  static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }

  interface Checked {
    void run() throws Exception;
  }

  static final class StepFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    StepFailed(String message, Exception cause) {
      super(message, cause);
    }
  }
}
