package test.example.client;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;

/** A checked permit. Instances come from {@link #verify} alone. */
record Permit(String id, Instant expires) {
  private static final long SKEW_SECONDS = 5;
  private static final int MAX_CHARS = 8192;

  /** What the executor knows of the call that it is asked to execute. */
  record Expect(String issuer, String tenant, String audience, String tool, int version,
      String principal, Set<String> obligations) {}

  /** Reads the published keys that verify permits, by their id; keys of other kinds are left out. */
  static Map<String, PublicKey> keys(String jwks) throws GeneralSecurityException {
    Map<String, PublicKey> keys = new HashMap<>();
    byte[] prefix = HexFormat.of().parseHex("302a300506032b6570032100"); // X.509 of Ed25519 (RFC 8410)
    for (JsonElement element : JsonParser.parseString(jwks).getAsJsonObject().getAsJsonArray("keys")) {
      JsonObject key = element.getAsJsonObject();
      if (!"permit".equals(text(key, "hallmark_kind")) || !"Ed25519".equals(text(key, "crv"))) {
        continue;
      }
      byte[] point = Base64.getUrlDecoder().decode(text(key, "x"));
      byte[] encoded = new byte[prefix.length + point.length];
      System.arraycopy(prefix, 0, encoded, 0, prefix.length);
      System.arraycopy(point, 0, encoded, prefix.length, point.length);
      keys.put(text(key, "kid"), KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded)));
    }
    return keys;
  }

  /**
   * Checks a permit for the arguments that are about to be executed. An unknown key is a reason to
   * fetch the keys again, once.
   */
  static Permit verify(String token, Map<String, PublicKey> keys, Expect want, byte[] arguments, Instant now)
      throws GeneralSecurityException {
    String[] part = token.split("\\.", -1);
    require(token.length() <= MAX_CHARS && part.length == 3, "form");
    JsonObject header = object(part[0]);
    // These members and no others: nothing that a header could ask for has a place to stand.
    require(header.keySet().equals(Set.of("alg", "typ", "kid")), "header");
    require("hallmark-permit+jwt".equals(text(header, "typ")), "typ");
    PublicKey key = keys.get(text(header, "kid"));
    require(key != null, "kid");
    require("EdDSA".equals(text(header, "alg")), "alg");
    Signature signature = Signature.getInstance("Ed25519");
    signature.initVerify(key);
    signature.update((part[0] + "." + part[1]).getBytes(StandardCharsets.US_ASCII));
    require(signature.verify(Base64.getUrlDecoder().decode(part[2])), "signature");

    JsonObject claims = object(part[1]);
    require(want.issuer.equals(text(claims, "iss")), "iss");
    require(want.tenant.equals(text(claims, "ten")), "ten");
    require(want.audience.equals(text(claims, "aud")), "aud");
    require(want.tool.equals(text(claims, "tool")), "tool");
    require(claims.get("ver").getAsInt() == want.version, "ver");
    require(want.principal.equals(text(claims, "principal")), "principal");
    Instant issued = Instant.ofEpochSecond(claims.get("iat").getAsLong());
    Instant expires = Instant.ofEpochSecond(claims.get("exp").getAsLong());
    require(!issued.isAfter(now.plusSeconds(SKEW_SECONDS)), "iat");
    require(now.isBefore(expires.plusSeconds(SKEW_SECONDS)), "exp");
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(arguments);
    require(HexFormat.of().formatHex(digest).equals(text(claims, "args_sha256")), "args_sha256");
    JsonArray obligations = claims.has("obl") ? claims.getAsJsonArray("obl") : new JsonArray();
    for (JsonElement obligation : obligations) {
      require(want.obligations.contains(obligation.getAsString()), "obl");
    }
    require(!text(claims, "jti").isEmpty(), "jti");
    return new Permit(text(claims, "jti"), expires);
  }

  private static JsonObject object(String segment) {
    String json = new String(Base64.getUrlDecoder().decode(segment), StandardCharsets.UTF_8);
    return JsonParser.parseString(json).getAsJsonObject();
  }

  /** The text of a member; empty where there is none. */
  private static String text(JsonObject object, String name) {
    return object.has(name) ? object.get(name).getAsString() : "";
  }

  private static void require(boolean holds, String place) throws GeneralSecurityException {
    if (!holds) {
      throw new GeneralSecurityException("the permit is refused: " + place);
    }
  }

  /** Remembers permits until they are over, for an executor that is one process. */
  static final class Seen {
    private final int max;
    private final Map<String, Instant> ids = new HashMap<>();

    Seen(int max) {
      this.max = max;
    }

    /** True exactly once for a permit; a full record refuses instead of forgetting. */
    synchronized boolean first(Permit permit, Instant now) {
      ids.values().removeIf(end -> !now.isBefore(end));
      Instant end = permit.expires.plusSeconds(SKEW_SECONDS);
      return now.isBefore(end) && ids.size() < max && ids.putIfAbsent(permit.id, end) == null;
    }
  }
}
