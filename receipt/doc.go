// Package receipt makes and checks the tokens of Hallmark, and keeps the keys for them.
//
// # Terms
//
// A token is a JWS in compact form (RFC 7515) over JSON claims (RFC 7519). There are five
// kinds. A receipt says that a caller reported bytes which passed a contract. A permit
// says that one call may be executed once, with exactly these argument bytes. A challenge
// is what a person must see before a call that needs approval; an approval is that
// person's signed answer. A grant token is a user's grants, signed by an issuer that the
// operator configured.
//
// A key set holds the keys of one kind. A key is active while it signs; after a rotation
// the one before goes on verifying until the overlap ends. The owner of a key is the
// approver or the issuer in whose name alone it signs.
//
// # What a token proves
//
// A receipt proves that the caller sub reported these facts at that time, nothing about
// an adapter that lies. A permit proves a decision of this service about these bytes; it
// is good for one execution only if the executor records its id before it acts. An
// approval proves that the holder of the approver's key saw a challenge with this digest.
//
// # How tokens are checked
//
// The rules of RFC 8725, in this order, the first that fails being the one reported:
//
//   - the size, before anything is decoded; three segments of base64url without padding,
//     white space or stray bits (RFC 7515 section 2), so that a token has one spelling;
//   - the header: alg, typ and kid, each exactly once, and nothing else: jku, jwk, x5u,
//     x5c, crit, b64, zip and names nobody has thought of are refused alike (3.10);
//   - typ, which must be the one of the kind, byte for byte (3.11);
//   - kid, looked up in the keys of that kind only. The algorithm belongs to the key;
//     the header's alg must agree with it and decides nothing (3.1);
//   - the key, which must not be revoked or past its time;
//   - the signature, over the bytes as received, MACs in constant time. Before this
//     point no byte of the claims is looked at;
//   - the claims: JSON that two readers cannot understand differently (no duplicate or
//     unknown member at any level that has a meaning here, no duplicate at any other,
//     UTF-8, no lone surrogates), every claim of its type and within its bounds;
//   - the times iat and exp, against the caller's now with [Skew], and exp - iat against
//     the longest life of the kind;
//   - who made it, for whom, for what: each verifier says what it expects in a struct of
//     values, and a value left empty refuses instead of matching anything (3.8, 3.9).
//
// Errors are an [*Error] with a [Reason] and the name of a claim or header member of the
// specification; never a byte of the token.
//
// # Keys at rest
//
// A directory holds one JWK Set (RFC 7517) a file: receipt-mac, receipt, permit,
// challenge. [Dir.Load] reads it into an immutable [KeySet], which is safe for concurrent
// use and prints nothing of its secrets, whatever verb or encoder looks at it. Writers
// take a lock, write beside, sync and rename. Symmetric keys are never published. The
// kid of a public key is its thumbprint (RFC 7638), that of a MAC key is random.
//
// The package needs the standard library only, because executors import it by way of
// package permit.
package receipt
