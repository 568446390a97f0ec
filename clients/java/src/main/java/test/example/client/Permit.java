package test.example.client;

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
  private static final long MAX_SECONDS = 60;
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
      if (!is(key, "hallmark_kind", "permit") || !is(key, "crv", "Ed25519")) {
        continue;
      }
      byte[] point = decode(text(key, "x"));
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
    try {
      return checked(token, keys, want, arguments, now);
    } catch (RuntimeException e) { // of a parser, for what is no permit at all
      throw new GeneralSecurityException("the permit is refused: malformed", e);
    }
  }

  private static Permit checked(String token, Map<String, PublicKey> keys, Expect want, byte[] arguments, Instant now)
      throws GeneralSecurityException {
    String[] part = token.split("\\.", -1);
    require(token.length() <= MAX_CHARS && part.length == 3, "form");
    JsonObject header = object(part[0]);
    // These members and no others: nothing that a header could ask for has a place to stand.
    require(header.keySet().equals(Set.of("alg", "typ", "kid")), "header");
    require(text(header, "typ").equals("hallmark-permit+jwt"), "typ");
    PublicKey key = keys.get(text(header, "kid"));
    require(key != null, "kid");
    require(text(header, "alg").equals("EdDSA"), "alg");
    Signature signature = Signature.getInstance("Ed25519");
    signature.initVerify(key);
    signature.update((part[0] + "." + part[1]).getBytes(StandardCharsets.US_ASCII));
    require(signature.verify(decode(part[2])), "signature");

    JsonObject claims = object(part[1]);
    require(text(claims, "iss").equals(want.issuer), "iss");
    require(text(claims, "ten").equals(want.tenant), "ten");
    require(text(claims, "aud").equals(want.audience), "aud");
    require(text(claims, "tool").equals(want.tool), "tool");
    require(integer(claims, "ver") == want.version, "ver");
    require(text(claims, "principal").equals(want.principal), "principal");
    long issued = integer(claims, "iat");
    long expires = integer(claims, "exp");
    require(issued < expires && expires - issued <= MAX_SECONDS, "exp");
    require(!Instant.ofEpochSecond(issued - SKEW_SECONDS).isAfter(now), "iat");
    require(now.isBefore(Instant.ofEpochSecond(expires + SKEW_SECONDS)), "exp");
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(arguments);
    require(text(claims, "args_sha256").equals(HexFormat.of().formatHex(digest)), "args_sha256");
    for (JsonElement obligation : claims.getAsJsonArray("obl")) {
      require(isText(obligation) && want.obligations.contains(obligation.getAsString()), "obl");
    }
    require(!text(claims, "jti").isEmpty(), "jti");
    return new Permit(text(claims, "jti"), Instant.ofEpochSecond(expires));
  }

  /** An object as the service writes it: a parser passes over a name that stands twice. */
  private static JsonObject object(String segment) throws GeneralSecurityException {
    String json = new String(decode(segment), StandardCharsets.UTF_8);
    JsonObject object = JsonParser.parseString(json).getAsJsonObject();
    require(object.toString().equals(json), "JSON");
    return object;
  }

  /** One token has one spelling: no padding, no bits that no byte has. */
  private static byte[] decode(String segment) throws GeneralSecurityException {
    byte[] decoded = Base64.getUrlDecoder().decode(segment);
    require(Base64.getUrlEncoder().withoutPadding().encodeToString(decoded).equals(segment), "base64url");
    return decoded;
  }

  /** The text of a member that must be one. */
  private static String text(JsonObject object, String name) throws GeneralSecurityException {
    require(isText(object.get(name)), name);
    return object.get(name).getAsString();
  }

  private static boolean is(JsonObject object, String name, String value) {
    return isText(object.get(name)) && object.get(name).getAsString().equals(value);
  }

  private static boolean isText(JsonElement element) {
    return element != null && element.isJsonPrimitive() && element.getAsJsonPrimitive().isString();
  }

  /** The number of a member that must be one, written with digits alone. */
  private static long integer(JsonObject object, String name) throws GeneralSecurityException {
    JsonElement element = object.get(name);
    require(element != null && element.isJsonPrimitive() && element.getAsJsonPrimitive().isNumber()
        && element.getAsString().matches("[0-9]{1,12}"), name);
    return element.getAsLong();
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
