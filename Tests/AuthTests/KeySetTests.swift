import Testing

@testable import Auth

@Suite struct KeySetTests {
    @Test func aShortSecretIsRefused() throws {
        #expect(throws: KeyFailure("an HS256 secret needs at least 32 bytes, this one has 31")) {
            try KeySet(secret: [UInt8](repeating: 1, count: 31))
        }
        #expect(throws: KeyFailure.self) { try TokenSigner(secret: [UInt8](repeating: 1, count: 31)) }
        _ = try KeySet(secret: [UInt8](repeating: 1, count: 32))
        #expect(throws: KeyFailure.self) { try KeySet(secret: Golden.edPEM.utf8) }
    }

    @Test(arguments: [
        ("", "holds no key"), (#"{"keys":[]}"#, "holds no key"), ("{", "is no valid JSON at byte"),
        (#"{"kty":"EC"}"#, "has no array \"keys\""), (#"{"keys":[{}]}"#, "key 0 has no kty"),
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
        (Golden.rsaPEM, "neither P-256 nor Ed25519"), ("-----BEGIN PRIVATE KEY-----\n", "only BEGIN PUBLIC KEY"),
        ("-----BEGIN PUBLIC KEY-----\n", "without an end"), ("hello", "neither a JWK set nor PEM"),
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

    @Test func whatIsSignedVerifies() throws {
        let now = Golden.issuedAt
        let raw = [UInt8](repeating: 7, count: 32)
        let signers = [try TokenSigner(secret: raw), try TokenSigner(p256: raw), try TokenSigner(ed25519: raw)]
        let tokens = try signers.map {
            try $0.token(
                user: "u", color: "#f00", rooms: [("a", .preview), ("*", .view)], issuer: "i", audience: "b", at: now,
                lifetime: 60)
        }
        let claims = try TokenVerifier(keys: KeySet(secret: raw), issuer: "i", audience: "b").verify(tokens[0], at: now)
        #expect(claims.user == "u" && claims.color == "#f00" && claims.expiresAt == now + 60)
        #expect(claims.rights.right(in: "a") == .preview && claims.rights.right(in: "b") == .view)
        for token in tokens[1...] {
            #expect(throws: TokenFailure.unknownKey) {
                try TokenVerifier(keys: KeySet(secret: raw), issuer: "i", audience: "b").verify(token, at: now)
            }
        }
        #expect(Set(tokens).count == 3)
    }

    @Test func base64URLRoundTripsAndHasOneSpelling() {
        var seed: UInt64 = 0x9E37_79B9_7F4A_7C15
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: seed >> 33)
            }
            let text = Base64URL.encode(bytes)
            #expect(Base64URL.decode(text) == bytes, "length \(length)")
        }
        #expect(Base64URL.decode("Zg".utf8) == Array("f".utf8))
        for text in ["Zh", "Z", "Zg==", "Zm9", "Z+8", "Z g", "Zg\n", "Zgé"] {
            #expect(Base64URL.decode(text.utf8) == nil, "\(text)")
        }
    }
}
