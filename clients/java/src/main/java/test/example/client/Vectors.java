package test.example.client;

import static test.example.client.Main.require;
import static test.example.client.Main.step;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.util.JsonFormat;
import dev.hallmark.v1.AuthorizeRequest;
import dev.hallmark.v1.GateServiceGrpc.GateServiceBlockingStub;
import dev.hallmark.v1.ValidateRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Runs the shared vectors; ../vectors/README.md says what their members mean. */
final class Vectors {
  private static final Pattern OFFSET = Pattern.compile("\\{\\{now([+-][0-9]+)s}}");

  private Vectors() {}

  static void runAll(GateServiceBlockingStub gate, Path dir) throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> all = Files.list(dir)) {
      all.filter(file -> file.toString().endsWith(".json")).sorted().forEach(files::add);
    }
    step("there are vectors", () -> require(!files.isEmpty(), "none in " + dir));
    for (Path file : files) {
      String name = file.getFileName().toString().replaceFirst("\\.json$", "");
      step("vector " + name, () -> run(gate, read(file, name)));
    }
  }

  /** Fills in the placeholders and reads a file, strictly. */
  private static JsonObject read(Path file, String name) throws IOException {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    byte[] id = new byte[8];
    new SecureRandom().nextBytes(id);
    String text =
        OFFSET.matcher(Files.readString(file))
            .replaceAll(place -> now.plusSeconds(Long.parseLong(place.group(1))).toString())
            .replace("{{id}}", HexFormat.of().formatHex(id));
    JsonObject vector = JsonParser.parseString(text).getAsJsonObject();
    known(vector, "name", "why", "rpc", "request", "raw_repeat", "want");
    known(vector.getAsJsonObject("want"), "code", "response");
    require(vector.get("name").getAsString().equals(name), "its name is not the file's");
    return vector;
  }

  private static void known(JsonObject object, String... names) {
    for (String name : object.keySet()) {
      require(Set.of(names).contains(name), "no member is called " + name);
    }
  }

  private static void run(GateServiceBlockingStub gate, JsonObject vector) throws IOException {
    JsonObject want = vector.getAsJsonObject("want");
    Status.Code code = Status.Code.valueOf(want.get("code").getAsString());
    MessageOrBuilder reply;
    try {
      reply = send(gate, vector);
    } catch (StatusRuntimeException e) {
      require(e.getStatus().getCode() == code, "status " + e.getStatus());
      return;
    }
    require(code == Status.Code.OK, "status OK");
    matches(want.get("response"), JsonParser.parseString(JsonFormat.printer().print(reply)), "");
  }

  private static MessageOrBuilder send(GateServiceBlockingStub gate, JsonObject vector) throws IOException {
    String json = vector.get("request").toString();
    ByteString raw = repeated(vector.getAsJsonObject("raw_repeat"));
    switch (vector.get("rpc").getAsString()) {
      case "Validate" -> {
        ValidateRequest.Builder request = ValidateRequest.newBuilder();
        JsonFormat.parser().merge(json, request);
        return gate.validate((raw == null ? request : request.setRaw(raw)).build());
      }
      case "Authorize" -> {
        AuthorizeRequest.Builder request = AuthorizeRequest.newBuilder();
        JsonFormat.parser().merge(json, request);
        return gate.authorize((raw == null ? request : request.setRaw(raw)).build());
      }
      default -> throw new IllegalStateException("no method " + vector.get("rpc"));
    }
  }

  private static ByteString repeated(JsonObject repeat) {
    if (repeat == null) {
      return null;
    }
    known(repeat, "byte", "times");
    byte[] unit = Base64.getDecoder().decode(repeat.get("byte").getAsString());
    byte[] all = new byte[unit.length * repeat.get("times").getAsInt()];
    for (int i = 0; i < all.length; i++) {
      all[i] = unit[i % unit.length];
    }
    return ByteString.copyFrom(all);
  }

  /** Says where a response is not what was wanted. */
  private static void matches(JsonElement want, JsonElement got, String at) {
    if (want.isJsonNull()) {
      require(got == null, at + " is there");
    } else if (want instanceof JsonObject object) {
      require(got instanceof JsonObject, at + " is no object");
      for (Map.Entry<String, JsonElement> member : object.entrySet()) {
        matches(member.getValue(), got.getAsJsonObject().get(member.getKey()), at + "/" + member.getKey());
      }
    } else if (want instanceof JsonArray list) {
      require(got instanceof JsonArray array && array.size() == list.size(), at + " is not a list of " + list.size());
      for (int i = 0; i < list.size(); i++) {
        matches(list.get(i), got.getAsJsonArray().get(i), at + "/" + i);
      }
    } else {
      require(want.equals(got), at + " is " + got + ", not " + want);
    }
  }
}
