package test.example.client;

import static test.example.client.Main.require;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Offers {@link Permit} what every language takes and refuses; ../README.md says what the members mean. */
final class Permits {
  private Permits() {}

  static void runAll(Path path) throws IOException, GeneralSecurityException {
    JsonObject file = JsonParser.parseString(Files.readString(path)).getAsJsonObject();
    Map<String, PublicKey> keys = Permit.keys(file.get("jwks").toString());
    JsonObject bound = file.getAsJsonObject("expect");
    Set<String> obligations = new HashSet<>();
    bound.getAsJsonArray("obligations").forEach(o -> obligations.add(o.getAsString()));
    Permit.Expect expect =
        new Permit.Expect(
            bound.get("iss").getAsString(), bound.get("ten").getAsString(), bound.get("aud").getAsString(),
            bound.get("tool").getAsString(), bound.get("ver").getAsInt(), bound.get("principal").getAsString(),
            obligations);
    for (JsonElement element : file.getAsJsonArray("permits")) {
      JsonObject row = element.getAsJsonObject();
      Instant now = Instant.ofEpochSecond(either(row, file, "now").getAsLong());
      byte[] arguments = either(row, file, "arguments").getAsString().getBytes(StandardCharsets.UTF_8);
      boolean taken = taken(row.get("token").getAsString(), keys, expect, arguments, now);
      String name = row.get("name").getAsString();
      require(taken == row.get("taken").getAsBoolean(), "permit " + name + ": taken is " + taken);
    }
  }

  private static JsonElement either(JsonObject row, JsonObject file, String name) {
    return row.has(name) ? row.get(name) : file.get(name);
  }

  private static boolean taken(
      String token, Map<String, PublicKey> keys, Permit.Expect expect, byte[] arguments, Instant now) {
    try {
      Permit.verify(token, keys, expect, arguments, now);
      return true;
    } catch (GeneralSecurityException e) {
      return false;
    }
  }
}
