import Crypto
import JSONBytes
import Testing

@testable import Auth

@Suite struct KeySetTests {
    @Test func aShortSecretIsRefused() async throws {
        #expect(throws: KeyFailure("an HS256 secret needs at least 32 bytes, this one has 31")) {
            try KeySet(secret: [UInt8](repeating: 1, count: 31))
        }
        await #expect(throws: KeyFailure.self) { try await TokenSigner(secret: [UInt8](repeating: 1, count: 31)) }
        _ = try KeySet(secret: [UInt8](repeating: 1, count: 32))
        #expect(throws: KeyFailure.self) { try KeySet(secret: Golden.edPEM.utf8) }
    }

    @Test(arguments: [
        ("", "holds no key"), (#"{"keys":[]}"#, "holds no key"), ("{", "line 1: is no valid JSON"),
        (#"{"kty":"EC"}"#, "has no array \"keys\""), (#"{"keys":[{}]}"#, "line 1: key 0 has no kty"),
        ("{\"keys\":[\n{\"kty\":\"oct\",\"k\":\"AQAB\"}]}", "line 2: key 0 an HS256 secret needs"),
        (#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#, "not supported"),
        (#"{"keys":[{"kty":"oct","k":"AQAB"}]}"#, "needs at least 32 bytes, this one has 3"),
        (#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AQAB"}]}"#, "no valid \"x\""),
        (
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"EZxNnF5dOuFzv6uTSgWAaKv8PSOlvuOq73BfHArAD40","d":"AA"}]}"#,
            "private"
        ),
        (
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"EZxNnF5dOuFzv6uTSgWAaKv8PSOlvuOq73BfHArAD40","alg":"HS256"}]}"#,
            "another algorithm"
        ),
        (
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"EZxNnF5dOuFzv6uTSgWAaKv8PSOlvuOq73BfHArAD40","use":"enc"}]}"#,
            "not for signatures"
        ),
        (
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"EZxNnF5dOuFzv6uTSgWAaKv8PSOlvuOq73BfHArAD40","y":"EZxNnF5dOuFzv6uTSgWAaKv8PSOlvuOq73BfHArAD40"}]}"#,
            "no point"
        ),
        (Golden.rsaPEM, "neither P-256 nor Ed25519"),
        (
            "-----BEGIN PRIVATE KEY-----\n",
            "line 1: holds a block \"-----BEGIN PRIVATE KEY-----\"; only BEGIN PUBLIC KEY"
        ),
        ("-----BEGIN PUBLIC KEY-----\n", "without an end"), ("\nhello", "line 2: is neither a JWK set nor PEM"),
        ("-----BEGIN PUBLIC KEY-----\n???\n-----END PUBLIC KEY-----", "no base64"),
    ])
    func aBadKeyFileSaysWhy(_ text: String, _ reason: String) {
        do {
            _ = try KeySet(parsing: text.utf8)
            Issue.record("accepted")
        } catch {
            #expect(error.description.contains(reason), "\(error)")
        }
    }

    @Test func aKeyIdStandsOnce() {
        let key = #"{"kty":"OKP","crv":"Ed25519","kid":"a","x":"EZxNnF5dOuFzv6uTSgWAaKv8PSOlvuOq73BfHArAD40"}"#
        #expect(throws: KeyFailure("the kid \"a\" stands twice")) {
            try KeySet(parsing: #"{"keys":[\#(key),\#(key)]}"#.utf8)
        }
    }

    @Test func aKeyIsTheSameInAnyFile() throws {
        let published = try KeySet(parsing: Golden.jwkSet.utf8)
        let pem = try KeySet(parsing: (Golden.ecPEM + Golden.edPEM).utf8)
        #expect(Set(published.keys.map(\.fingerprint)) == Set(pem.keys.map(\.fingerprint)))
        #expect(Set(pem.keys.map(\.fingerprint)).count == 2)
        #expect(published != pem, "only one of them has key ids")
        #expect(try pem == KeySet(parsing: (Golden.ecPEM + "\n" + Golden.edPEM).utf8))
    }

    @Test func aPEMBlockMayHaveLinesOfAnyLength() async throws {
        let lines = Golden.ecPEM.split(separator: "\n")
        let single = "\(lines[0])\r\n\(lines[1])\(lines[2])\r\n\(lines[3])\r\n"
        #expect(try KeySet(parsing: single.utf8).keys.map(\.algorithm) == [.es256])
        let short = "\(lines[0])\n\(lines[1].prefix(50))\n\(lines[1].dropFirst(50))\n\(lines[2])\n\(lines[3])\n"
        #expect(try KeySet(parsing: short.utf8).keys.map(\.algorithm) == [.es256])
    }

    @Test func anExchangeKeyIsNoEd25519Key() throws {
        // The same 32 bytes under the object identifier of X25519 (RFC 8410 section 3).
        let exchange = Golden.edPEM.replacing("MCowBQYDK2VwAyEA", with: "MCowBQYDK2VuAyEA")
        #expect(exchange != Golden.edPEM)
        #expect(throws: KeyFailure("line 3: holds a public key that is neither P-256 nor Ed25519")) {
            try KeySet(parsing: exchange.utf8)
        }
    }

    @Test func whatIsSignedVerifies() async throws {
        let now = Golden.issuedAt
        let raw = [UInt8](repeating: 7, count: 32)
        let token = try await TokenSigner(secret: raw).token(
            user: "u", color: "#f00", rooms: [("a", .preview), ("*", .view)], issuer: "i", audience: "b", at: now,
            lifetime: 60)
        let verifier = try await TokenVerifier(keys: KeySet(secret: raw), issuer: "i", audience: "b")
        let claims = try verifier.verify(token, at: now)
        #expect(claims.user == "u" && claims.color == "#f00" && claims.expiresAt == now + 60)
        #expect(claims.rights.right(in: "a") == .preview && claims.rights.right(in: "b") == .view)
    }

    @Test func aTokenOfAnotherAlgorithmHasAnUnknownKey() async throws {
        let verifier = try await TokenVerifier(
            keys: KeySet(secret: Golden.secret), issuer: "touchsync", audience: "touchsync")
        let header = #"{"alg":"ES256","typ":"JWT"}"#
        let raw = [UInt8](repeating: 7, count: 32)
        let message = Array("\(Forgery.encoded(header)).\(Forgery.encoded(Forgery.payload()))".utf8)
        let signature = try P256.Signing.PrivateKey(rawRepresentation: raw).signature(for: message)
        let es256 = Forgery.unsigned(
            header: header, Forgery.payload(), signature: Array(signature.rawRepresentation))
        for token in [es256, Golden.es256, Golden.eddsa] {
            #expect(throws: TokenFailure.unknownKey) { try verifier.verify(token, at: Golden.issuedAt) }
        }
        #expect(Set([es256, Golden.es256, Golden.eddsa]).count == 3)
    }

    @Test func base64URLRoundTripsAndHasOneSpelling() {
        var seed: UInt64 = 0x9E37_79B9_7F4A_7C15
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: seed >> 33)
            }
            let text = Base64.encodeURL(bytes)
            #expect(Base64.decodeURL(text) == bytes, "length \(length)")
        }
        #expect(Base64.decodeURL("Zg".utf8) == Array("f".utf8))
        for text in ["Zh", "Z", "Zg==", "Zm9", "Z+8", "Z g", "Zg\n", "Zgé"] {
            #expect(Base64.decodeURL(text.utf8) == nil, "\(text)")
        }
    }
}
